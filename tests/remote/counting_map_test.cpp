// counting_map counts exactly, changes no answer, and loses no count between threads.
#include "support/remote/counting_map.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "genista/remote/memory_map.hpp"
#include "remote/remote_support.hpp"
#include "support/remote/faulty_map.hpp"

namespace genista::test::counting_map_test {
namespace {

TEST(counting_map, counts_every_call_every_key_visited_and_every_byte_of_it) {
    memory_map map;
    counting_map counted{map};
    EXPECT_EQ(counted.counts(), remote_counts{});
    EXPECT_TRUE(*counted.put(digest{1, 0}, "abc"));
    EXPECT_FALSE(*counted.put(digest{1, 0}, "abc"));
    EXPECT_TRUE(*counted.put(digest{2, 0}, ""));
    EXPECT_TRUE(*counted.put(digest{3, 0}, "a longer key"));
    EXPECT_TRUE(*counted.contains(digest{1, 0}, "abc"));
    EXPECT_FALSE(*counted.contains(digest{1, 0}, "abd"));
    EXPECT_EQ(read_all(counted).size(), 3u);
    EXPECT_EQ(read_range(counted, 4, 9).size(), 0u);
    EXPECT_TRUE(counted.for_each(0, 9, [](const digest&, key_view) { return false; }));  // visits one, then stops
    EXPECT_TRUE(*counted.erase(digest{1, 0}, "abc"));
    EXPECT_FALSE(*counted.erase(digest{1, 0}, "abc"));
    EXPECT_EQ(counted.counts(), (remote_counts{.range_reads = 3,
                                               .point_reads = 2,
                                               .keys_visited = 4,
                                               .key_bytes_visited = 3 + 0 + 12 + 3,
                                               .puts = 4,
                                               .erases = 2,
                                               .failures = 0}));
    EXPECT_EQ(map.size(), 2u);
    counted.reset();
    EXPECT_EQ(counted.counts(), remote_counts{});
}

TEST(counting_map, counts_a_failed_call_as_a_call_and_as_a_failure_and_the_prefix_it_visited) {
    memory_map map;
    for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(*map.put(digest{i, 0}, "four"));
    faulty_map faulty{map};
    counting_map counted{faulty};
    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::error_midway, 0, fault_scope::ranges, 3),
                                           fault_rule::from(fault_kind::error_before, 0)}}));
    EXPECT_FALSE(counted.for_each(0, last_position, [](const digest&, key_view) { return true; }));
    EXPECT_FALSE(counted.put(digest{1, 0}, "k"));
    EXPECT_FALSE(counted.erase(digest{1, 0}, "k"));
    EXPECT_FALSE(counted.contains(digest{1, 0}, "k"));
    EXPECT_EQ(counted.counts(), (remote_counts{.range_reads = 1,
                                               .point_reads = 1,
                                               .keys_visited = 3,
                                               .key_bytes_visited = 12,
                                               .puts = 1,
                                               .erases = 1,
                                               .failures = 4}));
}

TEST(counting_map, counts_what_a_throwing_visitor_saw) {
    memory_map map;
    ASSERT_TRUE(*map.put(digest{1, 0}, "abc"));
    counting_map counted{map};
    EXPECT_THROW((void)counted.for_each(0, 9, [](const digest&, key_view) -> bool { throw std::runtime_error{"no"}; }),
                 std::runtime_error);
    EXPECT_EQ(counted.counts().keys_visited, 1u);
    EXPECT_EQ(counted.counts().key_bytes_visited, 3u);
}

TEST(counting_map, lets_several_counters_share_one_map) {
    memory_map map;
    counting_map first{map};
    counting_map second{map};
    EXPECT_TRUE(*first.put(digest{1, 0}, "abc"));
    EXPECT_TRUE(*second.contains(digest{1, 0}, "abc"));
    EXPECT_EQ(first.counts(), remote_counts{.puts = 1});
    EXPECT_EQ(second.counts(), remote_counts{.point_reads = 1});
}

TEST(counting_map, loses_no_count_between_threads) {
    memory_map map;
    for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(*map.put(digest{i, 0}, "12"));
    counting_map counted{map};
    constexpr std::uint64_t rounds = 5'000;
    std::vector<std::thread> threads;
    for (std::uint64_t id = 0; id < 4; ++id) {
        threads.emplace_back([&, id] {
            for (std::uint64_t i = 0; i < rounds; ++i) {
                (void)counted.for_each(0, 4, [](const digest&, key_view) { return true; });
                (void)counted.put(digest{100 + id, i}, "x");
                (void)counted.contains(digest{100 + id, i}, "x");
                (void)counted.erase(digest{100 + id, i}, "x");
            }
        });
    }
    for (auto& each : threads) each.join();
    EXPECT_EQ(counted.counts(), (remote_counts{.range_reads = 4 * rounds,
                                               .point_reads = 4 * rounds,
                                               .keys_visited = 20 * rounds,
                                               .key_bytes_visited = 40 * rounds,
                                               .puts = 4 * rounds,
                                               .erases = 4 * rounds,
                                               .failures = 0}));
}

}  // namespace
}  // namespace genista::test::counting_map_test
