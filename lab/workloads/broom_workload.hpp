// broom_workload: a broom filter, its R in memory with a counter on it, and the operations that
// experiments are made of.
//
// Filter is genista::broom_filter of the variant in force (faults.hpp): a template parameter, so
// that workloads of the two variants are two types. Stored keys are 0, 1, …; absent keys are taken
// from first_absent_key upward and never twice, unless an experiment remembers them. Remote is the
// R that this kind of filter needs (games/remotes.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "genista/detail/base/random_source.hpp"
#include "genista/filters/filter.hpp"
#include "genista/hash/hasher.hpp"
#include "lab/experiment.hpp"
#include "lab/games/remotes.hpp"
#include "lab/workloads/queries.hpp"

namespace genista::lab {

inline constexpr unsigned slots_of_a_bin = 48;

// Options is genista::broom_options of the variant in force. Everything random comes from the seed.
template <class Options>
[[nodiscard]] Options seeded(std::uint64_t capacity, double rate, std::uint64_t seed, bool grows = false) {
    Options made;
    made.capacity = capacity;
    made.false_positive_rate = rate;
    made.hash = hasher{hash_key::from_seed(seed)};
    made.random = repeatable(seed);
    if constexpr (requires { made.grows; }) made.grows = grows;
    return made;
}

// Calls found(key) for each key of first, first + 1, … for which the filter answers maybe, until it
// returns false or `count` keys were asked. It asks in batches, so an answer may be as old as its
// batch. Returns how many keys were asked.
template <class Filter, class Found>
std::uint64_t scan(const Filter& filter, std::uint64_t first, std::uint64_t count, Found found) {
    constexpr std::size_t batch = 2048;
    std::vector<std::uint64_t> keys(batch);
    std::vector<std::uint64_t> answers(words_for(batch));
    for (std::uint64_t done = 0; done < count;) {
        const auto asked = static_cast<std::size_t>(std::min<std::uint64_t>(batch, count - done));
        for (std::size_t i = 0; i < asked; ++i) keys[i] = first + done + i;
        filter.may_contain(std::span<const std::uint64_t>{keys.data(), asked}, answers);
        for (std::size_t word = 0; word < words_for(asked); ++word) {
            for (std::uint64_t bits = answers[word]; bits != 0; bits &= bits - 1) {
                const std::size_t i = 64 * word + static_cast<std::size_t>(std::countr_zero(bits));
                if (!found(keys[i])) return done + i + 1;
            }
        }
        done += asked;
    }
    return count;
}

template <class Filter>
[[nodiscard]] std::uint64_t count_positives(const Filter& filter, std::uint64_t first, std::uint64_t count) {
    std::uint64_t positives = 0;
    scan(filter, first, count, [&](std::uint64_t) { return ++positives, true; });
    return positives;
}

template <class Filter, class Remote = records_in_memory>
class broom_workload {
  public:
    template <class Options>
    explicit broom_workload(const Options& options) : filter_{must(Filter::make(options))} {}

    // Inserts first, …, first + count - 1 into R in R's order and from there into the filter in one
    // sweep.
    void load(std::uint64_t first, std::uint64_t count) {
        put(first, count);
        must(filter_.rebuild(remote()));
    }
    // The store's part of an insert, for many keys.
    void put(std::uint64_t first, std::uint64_t count) {
        struct record {
            digest where;
            std::uint64_t key;
        };
        std::vector<record> records(count);
        for (std::uint64_t i = 0; i < count; ++i) records[i] = {filter_.hash()(first + i), first + i};
        std::sort(records.begin(), records.end(), [](const record& a, const record& b) { return a.where < b.where; });
        for (const record& each : records) (void)must(remote().put(each.where, integer_key{each.key}.view()));
    }

    // Returns the range reads that it cost. Throws if the filter is full.
    std::uint64_t insert(std::uint64_t key) {
        (void)must(remote().put(filter_.hash()(key), integer_key{key}.view()));
        const std::uint64_t before = reads();
        if (must(filter_.insert(key, remote())) == insert_outcome::full) throw workload_error{"the filter is full"};
        return reads() - before;
    }
    std::uint64_t erase(std::uint64_t key) {
        const std::uint64_t before = reads();
        (void)must(filter_.erase(key, remote()));
        return reads() - before;
    }
    // Asks, and adapts after a false positive, as a guard would. Returns true if it was one.
    bool query_absent_key(std::uint64_t key) {
        return filter_.may_contain(key) && must(filter_.adapt(key, remote())) == adapt_outcome::fixed;
    }
    // Asks fresh absent keys and adapts after each false positive, until `wanted` were found or
    // `most` were asked. found(key) sees each. Returns how many were asked.
    template <class Found>
    std::uint64_t attack(std::uint64_t wanted, Found found, std::uint64_t most = std::uint64_t{1} << 60) {
        if (wanted == 0) return 0;
        const std::uint64_t asked = scan(filter_, next_absent_key_, most, [&](std::uint64_t key) {
            if (must(filter_.adapt(key, remote())) != adapt_outcome::fixed) return true;  // repaired since the batch
            found(key);
            return --wanted > 0;
        });
        next_absent_key_ += asked;
        return asked;
    }
    // Absent keys that were not queried before.
    std::uint64_t fresh_absent_keys(std::uint64_t count) {
        next_absent_key_ += count;
        return next_absent_key_ - count;
    }

    [[nodiscard]] bool sound() { return filter_.audit(store()).has_value(); }
    [[nodiscard]] std::uint64_t reads() const noexcept { return remote_.reads(); }
    [[nodiscard]] double bits_per_key() const noexcept {
        const filter_stats now = filter_.stats();
        return 8.0 * static_cast<double>(now.local_bytes) / static_cast<double>(now.keys);
    }
    [[nodiscard]] Filter& filter() noexcept { return filter_; }
    [[nodiscard]] const Filter& filter() const noexcept { return filter_; }
    [[nodiscard]] auto& remote() noexcept { return remote_.map(); }
    [[nodiscard]] auto& store() noexcept { return remote_.uncounted(); }  // R without the counter
    [[nodiscard]] const Remote& counted() const noexcept { return remote_; }

  private:
    Remote remote_;
    Filter filter_;
    std::uint64_t next_absent_key_ = first_absent_key;
};

// How many keys make the given share of all slots in use.
template <class Filter>
[[nodiscard]] std::uint64_t keys_at_load(const Filter& filter, double load) {
    return static_cast<std::uint64_t>(load * static_cast<double>(filter.details().bins) * slots_of_a_bin);
}

// What look-ups of fresh absent keys touch, averaged over those the filter calls absent.
struct line_use {
    std::uint64_t negatives = 0;
    std::uint64_t lines = 0;
    std::uint64_t left_the_line = 0;  // read a side block or a tail
    std::uint64_t read_side = 0;
    [[nodiscard]] double mean_lines() const { return static_cast<double>(lines) / static_cast<double>(negatives); }
    [[nodiscard]] double side_share() const { return static_cast<double>(read_side) / static_cast<double>(negatives); }
    [[nodiscard]] double leaving_share() const {
        return static_cast<double>(left_the_line) / static_cast<double>(negatives);
    }
};

template <class Filter>
[[nodiscard]] line_use trace_absent_keys(const Filter& filter, std::uint64_t first, std::uint64_t count) {
    line_use seen;
    for (std::uint64_t key = first; key < first + count; ++key) {
        const auto touched = filter.trace(filter.hash()(key));
        if (touched.maybe) continue;
        ++seen.negatives;
        seen.lines += touched.cache_lines;
        seen.read_side += touched.read_side ? 1u : 0u;
        seen.left_the_line += touched.read_side || touched.read_tails ? 1u : 0u;
    }
    return seen;
}

}  // namespace genista::lab
