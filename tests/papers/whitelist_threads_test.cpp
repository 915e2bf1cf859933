// whitelist_filter with several threads: some adapt keys while others insert them. A key whose
// insert has returned is never answered no.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "genista/remote/memory_map.hpp"
#include "papers/whitelist.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::whitelist_threads_test {
namespace {

// A Bloom filter far beyond its capacity answers maybe for nearly every key, so that every adapt
// reaches the list.
whitelist_filter crowded(memory_map& remote) {
    auto filter = *whitelist_filter::make({8, 0.5, hasher{hash_key::from_seed(3)}, 4096});
    for (std::uint64_t key = 1'000'000; key < 1'002'000; ++key) {
        EXPECT_TRUE(remote.put(filter.hash()(key), integer_key{key}.view()));
        EXPECT_TRUE(filter.insert(key, remote));
    }
    return filter;
}

TEST(whitelist_threads, keys_inserted_while_others_adapt_them_are_not_answered_no) {
    const auto rounds = test::scaled<std::uint64_t>(3'000, 300'000);
    memory_map remote;
    whitelist_filter filter = crowded(remote);
    ASSERT_TRUE(filter.may_contain(std::uint64_t{1}));
    std::atomic<std::uint64_t> round{0}, denied{0}, failed{0}, fixed{0};
    std::atomic<bool> done{false};
    // Two threads adapt the key of this round, the next ones and earlier ones, as fast as they can.
    std::array<std::thread, 2> adapters;
    for (std::uint64_t i = 0; i < adapters.size(); ++i) {
        adapters[i] = std::thread{[&, i] {
            test::splitmix chance{i};
            while (!done) {
                const std::uint64_t now = round;
                const std::uint64_t key = now + chance.below(3) - (now > 4 ? chance.below(4) : 0);
                const auto outcome = filter.adapt(key, remote);
                failed += outcome ? 0u : 1u;
                fixed += outcome && *outcome == adapt_outcome::fixed ? 1u : 0u;
            }
        }};
    }
    std::thread reader{[&] {
        std::vector<std::uint64_t> keys(2'000), answers(words_for(2'000));
        for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = 1'000'000 + i;
        while (!done) {
            filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
            for (std::uint64_t i = 0; i < keys.size(); ++i) denied += answers[i / 64] >> (i % 64) & 1 ? 0u : 1u;
        }
    }};
    // Every round begins with a key that is on the list or is being put there: its writer commits
    // and inserts it.
    for (std::uint64_t key = 0; key < rounds; ++key) {
        round = key;
        failed += filter.adapt(key, remote) ? 0u : 1u;
        failed += remote.put(filter.hash()(key), integer_key{key}.view()) ? 0u : 1u;
        failed += filter.insert(key, remote) ? 0u : 1u;
        for (int again = 0; again < 3; ++again) denied += filter.may_contain(key) ? 0u : 1u;
        if (key >= 2) denied += filter.may_contain(key - 2) ? 0u : 1u;
    }
    done = true;
    for (std::thread& each : adapters) each.join();
    reader.join();
    EXPECT_EQ(denied, 0u);
    EXPECT_EQ(failed, 0u);
    EXPECT_GT(filter.stats().adapts, rounds / 2) << "hardly any key was ever on the list";
    const auto sound = filter.audit(remote);
    EXPECT_TRUE(sound) << sound.error().message();
}

// An R that lets a writer run between its answer and the moment in which the filter receives it.
struct interrupted_map {
    memory_map& inner;
    std::function<void()> before_answering;

    result<bool> put(const digest& where, key_view key) { return inner.put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return inner.erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return inner.contains(where, key); }
    template <class Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        auto done = inner.for_each(first, last, visit);
        before_answering();
        return done;
    }
};

// R has answered that the key is absent. Then the key is committed, and inserted as soon as the
// filter allows. The test waits a moment for the writer: a writer that is late makes the test
// weaker, not wrong.
TEST(whitelist_threads, a_key_inserted_after_r_answered_no_is_not_listed) {
    memory_map remote;
    whitelist_filter filter = crowded(remote);
    for (std::uint64_t key = 0; key < 20; ++key) {
        std::atomic<bool> inserted{false};
        std::thread writer;
        interrupted_map slow{remote, [&] {
                                 EXPECT_TRUE(remote.put(filter.hash()(key), integer_key{key}.view()));
                                 writer = std::thread{[&] {
                                     EXPECT_TRUE(filter.insert(key, remote));
                                     inserted = true;
                                 }};
                                 for (int wait = 0; wait < 20 && !inserted; ++wait)
                                     std::this_thread::sleep_for(std::chrono::milliseconds{1});
                             }};
        EXPECT_TRUE(filter.adapt(key, slow));
        writer.join();
        EXPECT_TRUE(filter.may_contain(key)) << key;
    }
    EXPECT_TRUE(filter.audit(remote));
}

// Each writer inserts and erases keys of its own in R, while all threads adapt all keys.
TEST(whitelist_threads, keys_erased_and_inserted_again_are_not_answered_no_while_stored) {
    const auto steps = test::scaled<std::uint64_t>(3'000, 200'000);
    memory_map remote;
    whitelist_filter filter = crowded(remote);
    std::atomic<std::uint64_t> denied{0}, failed{0};
    std::array<std::thread, 3> writers;
    for (std::uint64_t i = 0; i < writers.size(); ++i) {
        writers[i] = std::thread{[&, i] {
            test::splitmix chance{100 + i};
            std::array<bool, 16> is_in{};
            for (std::uint64_t step = 0; step < steps; ++step) {
                const std::uint64_t which = chance.below(16), key = 16 * i + which;
                if (is_in[which]) {
                    denied += filter.may_contain(key) ? 0u : 1u;
                    failed += remote.erase(filter.hash()(key), integer_key{key}.view()) ? 0u : 1u;
                } else {
                    failed += remote.put(filter.hash()(key), integer_key{key}.view()) ? 0u : 1u;
                    failed += filter.insert(key, remote) ? 0u : 1u;
                    denied += filter.may_contain(key) ? 0u : 1u;
                }
                is_in[which] = !is_in[which];
                failed += filter.adapt(chance.below(48), remote) ? 0u : 1u;
                for (std::uint64_t own = 0; own < 16; ++own)
                    denied += is_in[own] && !filter.may_contain(16 * i + own) ? 1u : 0u;
            }
        }};
    }
    for (std::thread& each : writers) each.join();
    EXPECT_EQ(denied, 0u);
    EXPECT_EQ(failed, 0u);
    EXPECT_GT(filter.stats().adapts, steps / 8);
    EXPECT_TRUE(filter.audit(remote));
}

}  // namespace
}  // namespace genista::whitelist_threads_test
