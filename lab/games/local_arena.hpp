// local_arena: a filter that never learns, in the same game. A control: every false positive stays
// one.
//
// There is no remote range to read. A filter that cannot erase keeps the key, and only the arena
// records the erase. In a store the same happens: erased keys are false positives for good.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "genista/filters/filter.hpp"
#include "lab/experiment.hpp"
#include "lab/games/arena.hpp"

namespace genista::lab {

template <local_filter Filter>
class local_arena final : public counting_arena {
  public:
    explicit local_arena(const filter_options& options)
        : filter_{must(Filter::make(options))}, rate_{options.false_positive_rate} {}

    [[nodiscard]] std::string_view filter_name() const noexcept override { return Filter::name; }
    [[nodiscard]] double rate() const noexcept override { return rate_; }

    reply query(std::uint64_t key) override {
        const reply seen{.maybe = filter_.may_contain(key), .member = members_.contains(key), .reads = 0};
        count(seen);
        return seen;
    }
    hunt query_run(std::uint64_t first, std::uint64_t most) override { return this->hunt_in(filter_, first, most); }
    unsigned insert(std::uint64_t key) override {
        ++score_.operations;
        if (!members_.insert(key)) return 0;
        if (filter_.insert(key) == insert_outcome::full) throw std::runtime_error{"local_arena: full"};
        return 0;
    }
    unsigned erase(std::uint64_t key) override {
        ++score_.operations;
        if (!members_.erase(key)) return 0;
        if constexpr (locally_erasable_filter<Filter>) (void)filter_.erase(key);
        return 0;
    }

    void save() override { saved_ = saved_bytes(filter_); }
    void restart() override { filter_ = must(Filter::load(saved_)); }

    [[nodiscard]] Filter& filter() noexcept { return filter_; }

  private:
    Filter filter_;
    double rate_;
    std::vector<std::byte> saved_;
};

}  // namespace genista::lab
