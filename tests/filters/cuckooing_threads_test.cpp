// cuckooing_filter with several threads: a key inserted before is never answered no, while other
// threads insert, erase, adapt and rebuild; afterwards the filter agrees with R.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "filters/cuckoo_family_filters.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::cuckooing_threads_test {
namespace {

// A filter and its R; all calls may come from any thread.
template <class Filter>
struct shared_filter {
    memory_map map, index;
    with_index<memory_map, memory_map> remote{map, index};
    Filter filter;
    std::atomic<std::uint64_t> denied{0}, failed{0};

    explicit shared_filter(const cuckoo_options& options) : filter{*Filter::make(options)} {}

    bool insert(std::uint64_t key) {
        const digest where = filter.hash()(key);
        if (!map.put(where, integer_key{key}.view())) ++failed;
        const auto outcome = filter.insert(key, remote);
        if (!outcome) ++failed;
        if (outcome && *outcome != insert_outcome::full) {
            if (!filter.may_contain(key)) ++denied;
            return true;
        }
        // The store takes it back; another thread's rebuild may have given it a slot meanwhile.
        if (!map.erase(where, integer_key{key}.view())) ++failed;
        if (!filter.forget(integer_key{key}.view(), remote)) ++failed;
        return false;
    }
    void erase(std::uint64_t key) {
        const auto outcome = filter.erase(key, remote);
        if (!outcome || *outcome != erase_outcome::erased) ++failed;
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
    } while (!done);
}

// Inserts and erases keys of its own, adapts false positives, and now and then rebuilds the filter.
template <class Filter>
void write(shared_filter<Filter>& shared, std::uint64_t first_key, std::uint64_t keys, std::uint64_t steps,
           std::uint64_t seed) {
    test::splitmix chance{seed};
    std::vector<bool> mine(keys);
    std::uint64_t absent_key = first_key << 32;
    for (std::uint64_t step = 0; step < steps; ++step) {
        const std::uint64_t i = chance.below(keys);
        const std::uint64_t kind = chance.below(16);
        if (kind < 8 && !mine[i]) {
            mine[i] = shared.insert(first_key + i);
        } else if (kind < 8) {
            shared.erase(first_key + i);
            mine[i] = false;
        } else if (kind < 15) {
            for (int asked = 0; asked < 1'000 && !shared.filter.may_contain(absent_key); ++asked) ++absent_key;
            if (!shared.filter.adapt(absent_key, shared.remote)) ++shared.failed;
        } else if (!shared.filter.rebuild(shared.remote)) {
            ++shared.failed;
        }
        for (std::uint64_t own = 0; own < keys; own += 3) {
            shared.denied += mine[own] && !shared.filter.may_contain(first_key + own) ? 1u : 0u;
        }
    }
}

TEST(cuckooing_threads, no_false_negative_while_others_write) {
    constexpr std::uint64_t stable = 20, own = 12;
    for (const test::cuckoo_form& form : test::cuckoo_forms<cuckooing_filter>()) {
        shared_filter<cuckooing_filter> shared{test::cuckoo_made(form, stable + 2 * own - 6, 6)};
        for (std::uint64_t key = 0; key < stable; ++key) ASSERT_TRUE(shared.insert(key));
        std::atomic<bool> done{false};
        std::thread readers[] = {std::thread{[&] { read_until(done, shared, stable); }},
                                 std::thread{[&] { read_until(done, shared, stable); }}};
        const auto steps = test::scaled<std::uint64_t>(400, 100'000);
        std::thread writers[] = {std::thread{[&] { write(shared, 1'000, own, steps, 1); }},
                                 std::thread{[&] { write(shared, 2'000, own, steps, 2); }}};
        for (std::thread& each : writers) each.join();
        done = true;
        for (std::thread& each : readers) each.join();
        EXPECT_EQ(shared.denied, 0u);
        EXPECT_EQ(shared.failed, 0u);
        EXPECT_GT(shared.filter.rehashes(), 10u);
        const auto sound = shared.filter.audit(shared.remote);
        EXPECT_TRUE(sound) << sound.error().message();
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
    for (std::uint64_t key = 0; key < keys; ++key) {
        ASSERT_TRUE(shared.map.put(shared.filter.hash()(key), integer_key{key}.view()));
    }
    ASSERT_TRUE(shared.filter.rebuild(shared.remote));
    std::atomic<bool> done{false};
    std::thread reader{[&] { read_until(done, shared, 500); }};
    for (int round = 0; round < test::scaled(3, 100); ++round) {
        if (!shared.filter.rebuild(shared.remote)) ++shared.failed;
    }
    done = true;
    reader.join();
    EXPECT_EQ(shared.denied, 0u);
    EXPECT_EQ(shared.failed, 0u);
    const auto sound = shared.filter.audit(shared.remote);
    EXPECT_TRUE(sound) << sound.error().message();
}

}  // namespace
}  // namespace genista::cuckooing_threads_test
