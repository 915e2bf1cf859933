// R of billion_bench: computed_map beside a memory_map that holds the same integers.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "bench/computed_map.hpp"
#include "genista/filters/broom.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/visit_range.hpp"

namespace genista::test::bench_computed_map_test {
namespace {

using bench::computed_map;
using bench::computed_map_options;
using tool::bench::bytes_of;

void fill(memory_map& tree, const hasher& hash, std::uint64_t keys) {
    for (std::uint64_t i = 0; i < keys; ++i) {
        const auto bytes = bytes_of(i);
        const key_view view{bytes.data(), bytes.size()};
        ASSERT_TRUE(*tree.put(hash(view), view));
    }
}

void compare_ranges(const hasher& hash, const computed_map_options& options) {
    computed_map computed{hash, options};
    memory_map tree;
    fill(tree, hash, options.keys);
    EXPECT_EQ(visit_range(computed, 0, UINT64_MAX), visit_range(tree, 0, UINT64_MAX));
    EXPECT_TRUE(visit_range(computed, 7, 6).empty());
    std::mt19937_64 chance{options.keys};
    for (int step = 0; step < 60; ++step) {
        const std::uint64_t first = chance();
        const std::uint64_t last = first + std::min<std::uint64_t>(chance() >> (chance() % 64), UINT64_MAX - first);
        const std::size_t most = step % 3 == 0 ? 3 : SIZE_MAX;
        ASSERT_EQ(visit_range(computed, first, last, most), visit_range(tree, first, last, most));
    }
    for (const auto& [position, seed, key] : visit_range(tree, 0, UINT64_MAX, 20)) {
        ASSERT_EQ(visit_range(computed, position, position), visit_range(tree, position, position));
    }
}

TEST(bench_computed_map, answers_as_a_memory_map_of_the_same_integers) {
    const hasher hash{hash_key::from_seed(1)};
    for (const std::uint64_t keys : {0u, 1u, 511u, 512u, 513u, 5000u}) {
        for (const std::uint64_t slices : {1u, 2u, 7u, 64u}) compare_ranges(hash, {.keys = keys, .slices = slices});
    }
}

// A hash that gives many keys one digest, leaves most slices empty and fills others with far more
// than their share.
TEST(bench_computed_map, separates_keys_that_share_a_digest_or_a_position) {
    const auto coarse = [](const void*, key_view key) noexcept {
        const auto low = std::to_integer<std::uint64_t>(key.data[0]);
        return digest{low % 8 == 7 ? UINT64_MAX : (low % 8) << 60, low % 3};
    };
    const hasher hash = hasher::custom(coarse, nullptr);
    for (const std::uint64_t slices : {1u, 5u, 16u}) compare_ranges(hash, {.keys = 3000, .slices = slices});
}

TEST(bench_computed_map, contains_its_integers_and_nothing_else) {
    const hasher hash{hash_key::from_seed(2)};
    computed_map computed{hash, {.keys = 100, .slices = 4}};
    const auto holds = [&](std::uint64_t key) {
        const auto bytes = bytes_of(key);
        return *computed.contains(hash(key), key_view{bytes.data(), bytes.size()});
    };
    EXPECT_TRUE(holds(0));
    EXPECT_TRUE(holds(99));
    EXPECT_FALSE(holds(100));
    EXPECT_FALSE(holds(UINT64_MAX));
    const auto bytes = bytes_of(5);
    EXPECT_FALSE(*computed.contains(hash(6u), key_view{bytes.data(), bytes.size()}));
    EXPECT_FALSE(*computed.contains(hash(6u), "no eight bytes"));
}

TEST(bench_computed_map, refuses_writes) {
    const hasher hash{hash_key::from_seed(3)};
    computed_map computed{hash, {.keys = 10, .slices = 1}};
    EXPECT_EQ(computed.put(digest{}, "key").error().code(), error_code::unsupported);
    EXPECT_EQ(computed.erase(digest{}, "key").error().code(), error_code::unsupported);
}

TEST(bench_computed_map, computes_each_slice_once_for_a_sequential_read) {
    const hasher hash{hash_key::from_seed(4)};
    std::uint64_t slices_done = 0;
    computed_map computed{
        hash, {.keys = 20'000, .slices = 8, .seats = 1, .on_slice = [&](std::uint64_t n) { slices_done = n; }}};
    std::size_t records = 0;
    constexpr std::uint64_t reads = 1000;  // some of them straddle two slices
    for (std::uint64_t i = 0; i < reads; ++i) {
        const position_range range = range_of_bin(i, reads);
        records += visit_range(computed, range.first, range.last).size();
    }
    EXPECT_EQ(records, 20'000u);
    EXPECT_EQ(computed.slices_computed(), 8u);
    EXPECT_EQ(slices_done, 8u);
}

// More readers than seats, at random places: slices are evicted while other threads read them.
TEST(bench_computed_map, serves_more_threads_than_it_has_seats) {
    const hasher hash{hash_key::from_seed(5)};
    computed_map computed{hash, {.keys = 2000, .slices = 5, .seats = 2}};
    const visited all = visit_range(computed, 0, UINT64_MAX);
    std::vector<visited> seen(4);
    {
        std::vector<std::jthread> team;
        for (visited& mine : seen) {
            team.emplace_back([&] {
                for (int lap = 0; lap < 20; ++lap) mine = visit_range(computed, 0, UINT64_MAX);
            });
        }
    }
    for (const visited& each : seen) EXPECT_EQ(each, all);
}

TEST(bench_computed_map, makes_a_filter_that_an_audit_accepts) {
    const hasher hash{hash_key::from_seed(6)};
    computed_map computed{hash, {.keys = 50'000, .slices = 8, .seats = 2}};
    auto filter = broom_filter::build({.capacity = 50'000, .hash = hash, .random = repeatable(1)}, computed, 2);
    ASSERT_TRUE(filter);
    EXPECT_EQ(filter->stats().keys, 50'000u);
    EXPECT_TRUE(filter->audit(computed));
}

}  // namespace
}  // namespace genista::test::bench_computed_map_test
