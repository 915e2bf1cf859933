// The filters that learn with several threads: adaptive_bloom, cascade and cuckooing. Threads query
// stored keys, alone and in batches, while others insert, erase, adapt and rebuild. No stored key
// is ever answered no, and afterwards the filter agrees with R.
#include <gtest/gtest.h>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "filters/cuckoo_family_filters.hpp"
#include "genista/filters/adaptive_bloom.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/cascade_world.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::learning_threads_test {
namespace {

// A filter and its R; all calls may come from any thread.
template <class Filter>
struct shared_filter {
    static constexpr bool erases = !std::same_as<Filter, adaptive_bloom_filter>;
    static constexpr bool may_be_full = std::same_as<Filter, cuckooing_filter>;

    memory_map map, index;
    with_index<memory_map, memory_map> remote{map, index};
    Filter filter;
    std::atomic<std::uint64_t> denied{0}, failed{0}, fixed{0};

    template <class Options>
    explicit shared_filter(const Options& options) : filter{*Filter::make(options)} {}

    void put(std::uint64_t key) {
        if (!map.put(filter.hash()(key), integer_key{key}.view())) ++failed;
    }
    void take_out(std::uint64_t key) {
        if (!map.erase(filter.hash()(key), integer_key{key}.view())) ++failed;
    }
    // False: the filter is full.
    bool insert(std::uint64_t key) {
        put(key);
        const auto outcome = filter.insert(key, remote);
        const bool full = outcome && *outcome == insert_outcome::full;
        if (!outcome || (full && !may_be_full)) ++failed;
        if (!erases && outcome && *outcome != insert_outcome::inserted) ++failed;
        if constexpr (may_be_full) {
            if (!outcome || full) {
                // The store takes it back; another thread's rebuild may have given it a slot
                // meanwhile.
                take_out(key);
                if (!filter.forget(integer_key{key}.view(), remote)) ++failed;
                return false;
            }
        }
        if (!filter.may_contain(key)) ++denied;
        return true;
    }
    void erase(std::uint64_t key) {
        if constexpr (erases) {
            const auto outcome = filter.erase(key, remote);
            if (!outcome || *outcome != erase_outcome::erased) ++failed;
        } else {
            take_out(key);
        }
    }
    void adapt(std::uint64_t key) {
        const auto outcome = filter.adapt(key, remote);
        if (!outcome) ++failed;
        if (outcome && *outcome == adapt_outcome::fixed) ++fixed;
    }
    void expect_sound() {
        EXPECT_EQ(denied, 0u);
        EXPECT_EQ(failed, 0u);
        const auto sound = filter.audit(remote);
        EXPECT_TRUE(sound) << sound.error().message();
    }
};

// Queries the keys 0 .. keys-1, which are stored all the time, one by one and in batches.
template <class Filter>
void read_until(const std::atomic<bool>& done, shared_filter<Filter>& shared, std::uint64_t keys) {
    std::vector<std::uint64_t> asked(keys), answers(words_for(keys));
    for (std::uint64_t key = 0; key < keys; ++key) asked[key] = key;
    do {
        for (const std::uint64_t key : asked) shared.denied += shared.filter.may_contain(key) ? 0u : 1u;
        shared.filter.may_contain(std::span<const std::uint64_t>{asked}, answers);
        for (std::uint64_t key = 0; key < keys; ++key) shared.denied += answers[key / 64] >> (key % 64) & 1 ? 0u : 1u;
        if constexpr (std::same_as<Filter, adaptive_bloom_filter>) (void)shared.filter.stats();
    } while (!done);
}

// Runs change() beside threads that query the keys 0 .. keys-1.
template <class Filter, class Change>
void while_reading(shared_filter<Filter>& shared, unsigned readers, std::uint64_t keys, const Change& change) {
    std::atomic<bool> done{false};
    std::vector<std::thread> all;
    for (unsigned i = 0; i < readers; ++i) all.emplace_back([&] { read_until(done, shared, keys); });
    change();
    done = true;
    for (std::thread& each : all) each.join();
    shared.expect_sound();
}

// What a writer does: of `kinds` steps so many insert or erase a key of its own, one rebuilds the
// filter, and the others adapt an absent key.
struct mix {
    std::uint64_t kinds, changes;
    int hunt;                         // absent keys queried for one false positive
    std::uint64_t erased_adapts = 0;  // steps that adapt a key of its own that was erased
    bool checks_each_step = true;     // that its keys are not denied
    std::uint64_t seed = 1'000;       // of the first writer; the second one has twice as much
};

template <class Filter>
void write(shared_filter<Filter>& shared, const mix& what, std::uint64_t first_key, std::uint64_t keys,
           std::uint64_t steps, std::uint64_t seed) {
    test::splitmix chance{seed};
    std::vector<bool> mine(keys);
    std::uint64_t absent_key = first_key << 32;
    const auto check = [&](std::uint64_t every) {
        for (std::uint64_t own = 0; own < keys; own += every)
            shared.denied += mine[own] && !shared.filter.may_contain(first_key + own) ? 1u : 0u;
    };
    for (std::uint64_t step = 0; step < steps; ++step) {
        const std::uint64_t i = chance.below(keys), kind = chance.below(what.kinds);
        if (kind < what.changes && !mine[i]) {
            mine[i] = shared.insert(first_key + i);
        } else if (kind < what.changes) {
            shared.erase(first_key + i);
            mine[i] = false;
        } else if (kind + 1 < what.kinds) {
            for (int asked = 0; asked < what.hunt && !shared.filter.may_contain(absent_key); ++asked) ++absent_key;
            const bool own = kind < what.changes + what.erased_adapts && !mine[i];
            shared.adapt(own ? first_key + i : absent_key);
        } else if (!shared.filter.rebuild(shared.remote) || shared.filter.stats().capacity == 0) {
            ++shared.failed;
        }
        if (what.checks_each_step) check(3);
    }
    check(1);
}

// Two readers of the keys 0 .. stable-1, and two writers with `own` other keys each.
template <class Filter>
void read_and_write(shared_filter<Filter>& shared, const mix& what, std::uint64_t stable, std::uint64_t own,
                    std::uint64_t steps) {
    while_reading(shared, 2, stable, [&] {
        std::vector<std::thread> writers;
        for (std::uint64_t i = 1; i <= 2; ++i)
            writers.emplace_back([&, i] { write(shared, what, 1'000 * i, own, steps, what.seed * i); });
        for (std::thread& each : writers) each.join();
    });
}

adaptive_bloom_options adaptive_bloom_made(std::uint64_t capacity, double rate) {
    return {.capacity = capacity,
            .false_positive_rate = rate,
            .hash = hasher{hash_key::from_seed(3)},
            .random = repeatable(3)};
}

TEST(adaptive_bloom_threads, no_false_negative_while_others_write) {
    constexpr std::uint64_t stable = 40;
    for (const double rate : {0.5, 0x1p-4}) {
        shared_filter<adaptive_bloom_filter> shared{adaptive_bloom_made(10 * stable, rate)};
        for (std::uint64_t key = 0; key < stable; ++key) ASSERT_TRUE(shared.insert(key));
        const mix what{.kinds = 32, .changes = 8, .hunt = 100, .erased_adapts = 4};
        read_and_write(shared, what, stable, 20, test::scaled<std::uint64_t>(400, 50'000));
        EXPECT_GT(shared.filter.stats().renewals, 10u);
    }
}

// Tables of some pages, so that queries run in the middle of repairs.
TEST(adaptive_bloom_threads, no_false_negative_while_a_large_filter_repairs_itself) {
    constexpr std::uint64_t keys = 20'000;
    shared_filter<adaptive_bloom_filter> shared{adaptive_bloom_made(keys, 0.25)};
    for (std::uint64_t key = 0; key < keys; ++key) shared.put(key);
    ASSERT_TRUE(shared.filter.rebuild(shared.remote));
    while_reading(shared, 1, 2'000, [&] {
        for (std::uint64_t absent_key = 1'000'000, end = absent_key + test::scaled<std::uint64_t>(20'000, 1'000'000);
             absent_key < end; ++absent_key) {
            if (shared.filter.may_contain(absent_key)) shared.adapt(absent_key);
        }
    });
    EXPECT_GT(shared.filter.stats().adapts, 1'000u);
}

// The cascade takes new hash functions all the time. It is small, so that the threads meet: a
// look-up during a move must find its key in one level or the other.
TEST(cascade_threads, no_false_negative_beside_changes_and_new_hash_functions) {
    shared_filter<cascade_filter> shared{test::cascade_made(200, 0.25)};
    constexpr std::uint64_t stable = 80;
    for (std::uint64_t key = 0; key < stable; ++key) ASSERT_TRUE(shared.insert(key));
    // Queries make new hash functions due, so a writer queries its own keys at the end only.
    const mix what{.kinds = 64, .changes = 32, .hunt = 20, .checks_each_step = false};
    read_and_write(shared, what, stable, 40, test::scaled<std::uint64_t>(400, 20'000));
    EXPECT_GT(shared.fixed, 20u);
    EXPECT_GT(shared.filter.details().rebuilds, 5u);
}

TEST(cuckooing_threads, no_false_negative_while_others_write) {
    constexpr std::uint64_t stable = 20, own = 12;
    for (const test::cuckoo_form& form : test::cuckoo_forms<cuckooing_filter>()) {
        shared_filter<cuckooing_filter> shared{test::cuckoo_made(form, stable + 2 * own - 6, 6)};
        for (std::uint64_t key = 0; key < stable; ++key) ASSERT_TRUE(shared.insert(key));
        const mix what{.kinds = 16, .changes = 8, .hunt = 1'000, .seed = 1};
        read_and_write(shared, what, stable, own, test::scaled<std::uint64_t>(400, 100'000));
        EXPECT_GT(shared.filter.rehashes(), 10u);
    }
}

// Copying tables of some pages takes long enough for queries to run meanwhile.
TEST(cuckooing_threads, no_false_negative_while_large_tables_change_their_hash_functions) {
    constexpr std::uint64_t keys = 20'000;
    cuckoo_options options;
    options.capacity = keys;
    options.hash = hasher{hash_key::from_seed(5)};
    options.random = repeatable(5);
    shared_filter<cuckooing_filter> shared{options};
    for (std::uint64_t key = 0; key < keys; ++key) shared.put(key);
    ASSERT_TRUE(shared.filter.rebuild(shared.remote));
    while_reading(shared, 1, 500, [&] {
        for (int round = 0; round < test::scaled(3, 100); ++round) {
            if (!shared.filter.rebuild(shared.remote)) ++shared.failed;
        }
    });
}

}  // namespace
}  // namespace genista::learning_threads_test
