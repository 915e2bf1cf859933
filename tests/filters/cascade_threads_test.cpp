// Threads query stored keys of a cascade while others change it and it takes new hash functions all
// the time. It is small, so that they meet: a look-up during a move must find its key in one level
// or the other.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/cascade_world.hpp"
#include "tests/support/scale.hpp"

namespace genista::cascade_threads_test {
namespace {

struct shared_cascade {
    memory_map records, index;
    with_index<memory_map, memory_map> remote{records, index};
    cascade_filter filter;
    std::atomic<std::uint64_t> denied{0}, failed{0}, fixed{0};

    explicit shared_cascade(const cascade_options& options) : filter{*cascade_filter::make(options)} {}

    void insert(std::uint64_t key) {
        if (!records.put(filter.hash()(key), integer_key{key}.view())) ++failed;
        const auto outcome = filter.insert(key, remote);
        if (!outcome || *outcome == insert_outcome::full) ++failed;
        if (!filter.may_contain(key)) ++denied;
    }
    void erase(std::uint64_t key) {
        const auto outcome = filter.erase(key, remote);
        if (!outcome || *outcome != erase_outcome::erased) ++failed;
    }
};

// Queries the keys 0 .. keys-1, which are stored all the time, one by one and in batches.
void read_until(const std::atomic<bool>& done, shared_cascade& shared, std::uint64_t keys) {
    std::vector<std::uint64_t> asked(keys), answers(words_for(keys));
    for (std::uint64_t key = 0; key < keys; ++key) asked[key] = key;
    do {
        for (const std::uint64_t key : asked) shared.denied += shared.filter.may_contain(key) ? 0u : 1u;
        shared.filter.may_contain(std::span<const std::uint64_t>{asked}, answers);
        for (std::uint64_t key = 0; key < keys; ++key) shared.denied += answers[key / 64] >> (key % 64) & 1 ? 0u : 1u;
    } while (!done);
}

// Inserts and erases keys of its own, adapts false positives, and now and then rebuilds the filter.
void write(shared_cascade& shared, std::uint64_t first_key, std::uint64_t keys, std::uint64_t steps) {
    test::splitmix chance{first_key};
    std::vector<bool> mine(keys);
    std::uint64_t absent_key = first_key << 32;
    for (std::uint64_t step = 0; step < steps; ++step) {
        const std::uint64_t i = chance.below(keys), kind = chance.below(64);
        if (kind < 32 && !mine[i]) {
            shared.insert(first_key + i);
            mine[i] = true;
        } else if (kind < 32) {
            shared.erase(first_key + i);
            mine[i] = false;
        } else if (kind < 63) {
            for (int asked = 0; asked < 20 && !shared.filter.may_contain(absent_key); ++asked) ++absent_key;
            const auto outcome = shared.filter.adapt(absent_key, shared.remote);
            if (!outcome) ++shared.failed;
            if (outcome && *outcome == adapt_outcome::fixed) ++shared.fixed;
        } else if (!shared.filter.rebuild(shared.remote) || !shared.filter.stats().capacity) {
            ++shared.failed;
        }
    }
    for (std::uint64_t i = 0; i < keys; ++i) {
        if (mine[i] && !shared.filter.may_contain(first_key + i)) ++shared.denied;
    }
}

TEST(cascade_threads, no_false_negative_beside_changes_and_new_hash_functions) {
    shared_cascade shared{test::cascade_made(200, 0.25)};
    constexpr std::uint64_t fixed_keys = 80;
    for (std::uint64_t key = 0; key < fixed_keys; ++key) shared.insert(key);
    std::atomic<bool> done{false};
    std::vector<std::thread> readers, writers;
    for (int i = 0; i < 2; ++i) readers.emplace_back([&] { read_until(done, shared, fixed_keys); });
    const auto steps = test::scaled<std::uint64_t>(400, 20'000);
    for (std::uint64_t i = 1; i <= 2; ++i) writers.emplace_back([&, i] { write(shared, 1'000 * i, 40, steps); });
    for (std::thread& each : writers) each.join();
    done = true;
    for (std::thread& each : readers) each.join();
    EXPECT_EQ(shared.denied, 0u);
    EXPECT_EQ(shared.failed, 0u);
    EXPECT_GT(shared.fixed, 20u);
    EXPECT_GT(shared.filter.details().rebuilds, 5u);
    const auto sound = shared.filter.audit(shared.remote);
    EXPECT_TRUE(sound) << sound.error().message();
}

}  // namespace
}  // namespace genista::cascade_threads_test
