// The adaptive Bloom filter with several threads: queries run during inserts, repairs and changes
// of hash functions. No stored key is ever answered no.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "genista/filters/adaptive_bloom.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::adaptive_bloom_threads_test {
namespace {

// A filter and its R; all calls may come from any thread.
struct shared_filter {
    memory_map map, index;
    with_index<memory_map, memory_map> remote{map, index};
    adaptive_bloom_filter filter;
    std::atomic<std::uint64_t> denied{0}, failed{0};

    explicit shared_filter(std::uint64_t capacity, double rate)
        : filter{*adaptive_bloom_filter::make({.capacity = capacity,
                                               .false_positive_rate = rate,
                                               .hash = hasher{hash_key::from_seed(3)},
                                               .random = repeatable(3)})} {}

    void put(std::uint64_t key) {
        if (!map.put(filter.hash()(key), integer_key{key}.view())) ++failed;
    }
    void insert(std::uint64_t key) {
        put(key);
        const auto outcome = filter.insert(key, remote);
        if (!outcome || *outcome != insert_outcome::inserted) ++failed;
        if (!filter.may_contain(key)) ++denied;
    }
};

// Queries the keys 0 .. keys-1, which are stored all the time, one by one and in batches.
void read_until(const std::atomic<bool>& done, shared_filter& shared, std::uint64_t keys) {
    std::vector<std::uint64_t> asked(keys), answers(words_for(keys));
    for (std::uint64_t key = 0; key < keys; ++key) asked[key] = key;
    do {
        for (const std::uint64_t key : asked) shared.denied += shared.filter.may_contain(key) ? 0u : 1u;
        shared.filter.may_contain(std::span<const std::uint64_t>{asked}, answers);
        for (std::uint64_t key = 0; key < keys; ++key) shared.denied += answers[key / 64] >> (key % 64) & 1 ? 0u : 1u;
        (void)shared.filter.stats();
    } while (!done);
}

// Inserts keys of its own, erases some of them in R, adapts false positives, and now and then
// rebuilds the filter.
void write(shared_filter& shared, std::uint64_t first_key, std::uint64_t keys, std::uint64_t steps) {
    test::splitmix chance{first_key};
    std::vector<bool> mine(keys);
    std::uint64_t absent_key = first_key << 32;
    for (std::uint64_t step = 0; step < steps; ++step) {
        const std::uint64_t i = chance.below(keys), kind = chance.below(32);
        if (kind < 8 && !mine[i]) {
            shared.insert(first_key + i);
            mine[i] = true;
        } else if (kind < 8) {
            if (!shared.map.erase(shared.filter.hash()(first_key + i), integer_key{first_key + i}.view()))
                ++shared.failed;
            mine[i] = false;
        } else if (kind < 31) {
            for (int asked = 0; asked < 100 && !shared.filter.may_contain(absent_key); ++asked) ++absent_key;
            if (!shared.filter.adapt(kind < 12 && !mine[i] ? first_key + i : absent_key, shared.remote))
                ++shared.failed;
        } else if (!shared.filter.rebuild(shared.remote)) {
            ++shared.failed;
        }
        for (std::uint64_t own = 0; own < keys; own += 3)
            shared.denied += mine[own] && !shared.filter.may_contain(first_key + own) ? 1u : 0u;
    }
}

TEST(adaptive_bloom_threads, no_false_negative_while_others_write) {
    constexpr std::uint64_t stable = 40, own = 20;
    for (const double rate : {0.5, 0x1p-4}) {
        shared_filter shared{10 * stable, rate};
        for (std::uint64_t key = 0; key < stable; ++key) shared.insert(key);
        std::atomic<bool> done{false};
        std::thread readers[] = {std::thread{[&] { read_until(done, shared, stable); }},
                                 std::thread{[&] { read_until(done, shared, stable); }}};
        const auto steps = test::scaled<std::uint64_t>(400, 50'000);
        std::thread writers[] = {std::thread{[&] { write(shared, 1'000, own, steps); }},
                                 std::thread{[&] { write(shared, 2'000, own, steps); }}};
        for (std::thread& each : writers) each.join();
        done = true;
        for (std::thread& each : readers) each.join();
        EXPECT_EQ(shared.denied, 0u);
        EXPECT_EQ(shared.failed, 0u);
        EXPECT_GT(shared.filter.stats().renewals, 10u);
        const auto sound = shared.filter.audit(shared.remote);
        EXPECT_TRUE(sound) << sound.error().message();
    }
}

// Tables of some pages, so that queries run in the middle of repairs.
TEST(adaptive_bloom_threads, no_false_negative_while_a_large_filter_repairs_itself) {
    constexpr std::uint64_t keys = 20'000;
    shared_filter shared{keys, 0.25};
    for (std::uint64_t key = 0; key < keys; ++key) shared.put(key);
    ASSERT_TRUE(shared.filter.rebuild(shared.remote));
    std::atomic<bool> done{false};
    std::thread reader{[&] { read_until(done, shared, 2'000); }};
    for (std::uint64_t absent_key = 1'000'000, end = absent_key + test::scaled<std::uint64_t>(20'000, 1'000'000);
         absent_key < end; ++absent_key) {
        if (shared.filter.may_contain(absent_key) && !shared.filter.adapt(absent_key, shared.remote)) ++shared.failed;
    }
    done = true;
    reader.join();
    EXPECT_EQ(shared.denied, 0u);
    EXPECT_EQ(shared.failed, 0u);
    EXPECT_GT(shared.filter.stats().adapts, 1'000u);
    EXPECT_TRUE(shared.filter.audit(shared.remote));
}

}  // namespace
}  // namespace genista::adaptive_bloom_threads_test
