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
#include "genista/format/sink.hpp"
#include "lab/experiment.hpp"
#include "lab/games/arena.hpp"
#include "lab/games/batched_hunt.hpp"
#include "lab/workloads/number_set.hpp"

namespace genista::lab {

template <local_filter Filter>
class local_arena final : public arena {
  public:
    explicit local_arena(const filter_options& options)
        : filter_{must(Filter::make(options))}, rate_{options.false_positive_rate} {}

    [[nodiscard]] std::string_view filter_name() const noexcept override { return Filter::name; }
    [[nodiscard]] double rate() const noexcept override { return rate_; }
    [[nodiscard]] std::uint64_t bins() const noexcept override { return 0; }

    reply query(std::uint64_t key) override {
        const reply seen{.maybe = filter_.may_contain(key), .member = members_.contains(key), .reads = 0};
        ++score_.operations;
        if (seen.member) {
            score_.false_negatives += seen.maybe ? 0u : 1u;
        } else {
            ++score_.negatives;
            score_.false_positives += seen.maybe ? 1u : 0u;
        }
        return seen;
    }
    hunt query_run(std::uint64_t first, std::uint64_t most) override {
        const auto count = [this](std::uint64_t, std::uint64_t negatives) {
            score_.negatives += negatives;
            score_.operations += negatives;
        };
        return batched_hunt(
            filter_, first, most, [](std::uint64_t key) { return key; }, count,
            [this](std::uint64_t key) { return query(key); });
    }
    reply guess(std::uint64_t key) override {
        const reply seen = query(key);
        if (!seen.member) {
            ++score_.guesses;
            score_.right_guesses += seen.maybe ? 1u : 0u;
        }
        return seen;
    }
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
    [[nodiscard]] bool is_member(std::uint64_t key) const override { return members_.contains(key); }
    [[nodiscard]] std::uint64_t size() const noexcept override { return members_.size(); }

    void grow() override { throw std::runtime_error{std::string{Filter::name} + " does not grow"}; }
    void save() override {
        vector_sink out;
        must(filter_.save(out));
        saved_.assign(out.bytes().begin(), out.bytes().end());
    }
    void restart() override { filter_ = must(Filter::load(saved_)); }

    [[nodiscard]] const score& counted() const noexcept override { return score_; }
    [[nodiscard]] Filter& filter() noexcept { return filter_; }

  private:
    Filter filter_;
    double rate_;
    number_set members_;
    std::vector<std::byte> saved_;
    score score_;
};

}  // namespace genista::lab
