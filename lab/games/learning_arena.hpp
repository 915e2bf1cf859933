// learning_arena: a filter that adapts, with its R in memory. Remote is one of remotes.hpp: what this kind of filter asks of R.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

#include "genista/filters/filter.hpp"
#include "genista/format/sink.hpp"
#include "lab/games/arena.hpp"
#include "lab/games/batched_hunt.hpp"
#include "lab/workloads/experiment_run.hpp"

namespace genista::lab {

template <class Filter, class Remote>
class learning_arena final : public arena {
  public:
    template <class Options>
    explicit learning_arena(const Options& options) : filter_{must(Filter::make(options))} {}

    [[nodiscard]] std::string_view filter_name() const noexcept override { return Filter::name; }
    [[nodiscard]] double rate() const noexcept override { return filter_.rate(); }
    [[nodiscard]] std::uint64_t bins() const noexcept override {
        if constexpr (requires { filter_.details().bins; }) {
            return filter_.details().bins;
        } else if constexpr (requires { filter_.shape().bins; }) {
            return filter_.shape().bins;
        } else {
            return 0;
        }
    }

    reply query(std::uint64_t key) override {
        reply seen;
        seen.maybe = filter_.may_contain(key);
        seen.member = members_.contains(key);
        ++score_.operations;
        if (seen.member) {
            score_.false_negatives += seen.maybe ? 0u : 1u;
            return seen;
        }
        ++score_.negatives;
        if (seen.maybe) {
            ++score_.false_positives;
            const std::uint64_t before = remote_.reads();
            (void)must(filter_.adapt(key, remote()));
            seen.reads = reads_since(before);
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
        const std::uint64_t before = remote_.reads();
        (void)must(remote().put(filter_.hash()(key), integer_key{key}.view()));
        if (must(filter_.insert(key, remote())) == insert_outcome::full) throw std::runtime_error{"the arena is full"};
        members_.insert(key);
        return reads_since(before);
    }
    unsigned erase(std::uint64_t key) override {
        ++score_.operations;
        const std::uint64_t before = remote_.reads();
        if constexpr (requires { filter_.erase(key, remote()); }) {
            (void)must(filter_.erase(key, remote()));
        } else {  // the filter keeps what it knows of the key, as it would in a store
            (void)must(remote().erase(filter_.hash()(key), integer_key{key}.view()));
        }
        members_.erase(key);
        return reads_since(before);
    }
    [[nodiscard]] bool is_member(std::uint64_t key) const override { return members_.contains(key); }
    [[nodiscard]] std::uint64_t size() const noexcept override { return members_.size(); }

    // All at once, where the filter has a way: a filter just made.
    void fill(std::uint64_t keys) override {
        if constexpr (Remote::has_part_of_filter) {
            for (std::uint64_t key = 0; key < keys; ++key) {
                (void)must(remote().put(filter_.hash()(key), integer_key{key}.view()));
                members_.insert(key);
            }
            must(filter_.rebuild(remote()));
        } else {
            arena::fill(keys);
        }
    }

    void grow() override {
        if constexpr (requires { filter_.grow(remote()); }) {
            must(filter_.grow(remote()));
        } else {
            throw std::runtime_error{std::string{Filter::name} + " does not grow"};
        }
    }
    void save() override {
        vector_sink out;
        must(filter_.save(out));
        saved_.assign(out.bytes().begin(), out.bytes().end());
    }
    void restart() override {
        filter_ = must(Filter::load(saved_));
        if constexpr (Remote::has_part_of_filter) must(filter_.rebuild(remote()));
    }

    [[nodiscard]] const score& counted() const noexcept override { return score_; }
    [[nodiscard]] Filter& filter() noexcept { return filter_; }
    [[nodiscard]] auto& remote() noexcept { return remote_.map(); }

  private:
    unsigned reads_since(std::uint64_t before) {
        const std::uint64_t reads = remote_.reads() - before;
        score_.reads += reads;
        return static_cast<unsigned>(reads);
    }

    Remote remote_;
    Filter filter_;
    std::unordered_set<std::uint64_t> members_;
    std::vector<std::byte> saved_;
    score score_;
};

}  // namespace genista::lab
