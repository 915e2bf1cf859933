// memory_map under many threads: present records stay visible, a range is sorted and shows one
// moment, and counts add up. Also run under tsan.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "genista/remote/memory_map.hpp"
#include "remote/remote_support.hpp"
#include "tests/support/scale.hpp"

namespace genista::test::memory_map_threads_test {
namespace {

TEST(memory_map_threads, readers_always_see_the_stable_records_in_order_beside_writers) {
    basic_memory_map<4, 4> map;  // tiny nodes: nearly every write moves something
    constexpr std::uint64_t stable = 500;
    for (std::uint64_t i = 0; i < stable; ++i) ASSERT_TRUE(*map.put(digest{i * 10, i}, "stable"));

    const int rounds = scaled(40'000, 1'000'000);
    std::atomic<int> faults{0};
    std::vector<std::thread> threads;
    for (unsigned writer = 0; writer < 2; ++writer) {
        threads.emplace_back([&, writer] {
            std::mt19937_64 random{writer};
            const std::string key = "writer number " + std::to_string(writer);
            for (int i = 0; i < rounds; ++i) {
                const digest where{random() % (stable * 10), 1'000'000};
                // No other thread uses this writer's key, so its own answers must be exact.
                if (!*map.put(where, key) || !*map.contains(where, key) || !*map.erase(where, key)) ++faults;
            }
        });
    }
    for (unsigned reader = 0; reader < 2; ++reader) {
        threads.emplace_back([&, reader] {
            std::mt19937_64 random{100 + reader};
            for (int i = 0; i < rounds / 8; ++i) {
                const std::uint64_t first = random() % (stable * 10);
                const std::uint64_t last = std::min(first + 200, stable * 10 - 1);
                std::uint64_t seen = 0;
                digest previous{};
                const auto done = map.for_each(first, last, [&](const digest& where, key_view key) {
                    if (where < previous || where.position < first || where.position > last) ++faults;
                    previous = where;
                    if (key.text() == "stable") ++seen;
                    return true;
                });
                const std::uint64_t expected = last / 10 - (first + 9) / 10 + 1;
                if (!done || seen != expected || !*map.contains(digest{first / 10 * 10, first / 10}, "stable")) {
                    ++faults;
                }
            }
        });
    }
    for (auto& each : threads) each.join();
    EXPECT_EQ(faults, 0);
    EXPECT_EQ(map.size(), stable);
    EXPECT_TRUE(map.audit());
}

TEST(memory_map_threads, of_many_puts_of_one_record_exactly_one_reports_it_as_new) {
    memory_map map;
    constexpr std::uint64_t records = 2'000;
    std::atomic<std::uint64_t> fresh{0};
    std::atomic<std::uint64_t> gone{0};
    const auto everywhere = [](auto&& work) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back(work);
        for (auto& each : threads) each.join();
    };
    everywhere([&] {
        for (std::uint64_t i = 0; i < records; ++i) fresh += *map.put(digest{i % 50, i}, "same key for all") ? 1 : 0;
    });
    EXPECT_EQ(fresh, records);
    EXPECT_EQ(map.size(), records);
    everywhere([&] {
        for (std::uint64_t i = 0; i < records; ++i) gone += *map.erase(digest{i % 50, i}, "same key for all") ? 1 : 0;
    });
    EXPECT_EQ(gone, records);
    EXPECT_EQ(map.size(), 0u);
}

TEST(memory_map_threads, a_batch_is_seen_whole_or_not_at_all) {
    basic_memory_map<4, 4> map;
    const std::string key = "a key beyond eight bytes";
    ASSERT_TRUE(*map.put(digest{1, 0}, key));
    constexpr std::uint64_t places = 100;  // in many leaves, each with another record that stays
    for (std::uint64_t i = 0; i < places; ++i) ASSERT_TRUE(*map.put(digest{i, 1}, "another"));
    std::atomic<int> faults{0};
    std::atomic<bool> done{false};
    std::vector<std::thread> readers;
    for (unsigned reader = 0; reader < 2; ++reader) {
        readers.emplace_back([&] {
            while (!done.load()) {
                std::uint64_t seen = 0;
                const auto read = map.for_each(0, places, [&](const digest&, key_view) { return ++seen > 0; });
                if (!read || seen != places + 1) ++faults;
            }
        });
    }
    // One record moves from leaf to leaf.
    const int rounds = scaled(10'000, 200'000);
    std::uint64_t at = 1;
    for (int i = 0; i < rounds; ++i) {
        const std::uint64_t next = (at + 37) % places;
        const record_change move[] = {{digest{at, 0}, key, false}, {digest{next, 0}, key}};
        if (!map.apply(move)) ++faults;
        at = next;
    }
    done = true;
    for (auto& each : readers) each.join();
    EXPECT_EQ(faults, 0);
    EXPECT_TRUE(*map.contains(digest{at, 0}, key));
    EXPECT_EQ(map.size(), places + 1);
}

}  // namespace
}  // namespace genista::test::memory_map_threads_test
