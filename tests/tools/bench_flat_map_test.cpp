// The bench's own R. flat_map beside memory_map, which is the reference: both give the same
// answers. And the meter around it, which must not change an answer.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "genista/remote/memory_map.hpp"
#include "tests/support/visit_range.hpp"
#include "tools/genista/bench/clocked_map.hpp"
#include "tools/genista/bench/flat_map.hpp"

namespace genista::test::bench_flat_map_test {
namespace {

using tool::bench::bytes_of;
using tool::bench::clocked_map;
using tool::bench::flat_map;
using tool::bench::flat_record;
using tool::bench::flat_records;
using tool::bench::remote_meter;

// Odd factors are bijections: keys are distinct.
std::uint64_t key_at(std::uint64_t i) {
    return i * 0x9e3779b97f4a7c15;
}

std::shared_ptr<const flat_records> records_of(const hasher& hash, std::uint64_t count, unsigned threads) {
    const auto fill = [](std::uint64_t first, std::span<std::uint64_t> out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = key_at(first + i);
    };
    auto made = flat_records::make(hash, count, fill, threads);
    EXPECT_TRUE(made);
    return std::make_shared<const flat_records>(*std::move(made));
}

// Drives both with the same operations on keys 0 … count - 1 and looks at ranges of all lengths in
// between.
void drive_side_by_side(const hasher& hash, std::uint64_t count, unsigned threads) {
    flat_map flat{records_of(hash, count, threads)};
    clocked_map<flat_map> clocked{flat};
    memory_map tree;
    std::mt19937_64 chance{count};
    for (int step = 0; step < 4000; ++step) {
        const auto key = bytes_of(key_at(chance() % count));
        const key_view view{key.data(), key.size()};
        const digest at = hash(view);
        switch (chance() % 5) {
            case 0:
            case 1:
                ASSERT_EQ(*flat.put(at, view), *tree.put(at, view));
                break;
            case 2:
                ASSERT_EQ(*clocked.erase(at, view), *tree.erase(at, view));
                break;
            case 3:
                ASSERT_EQ(*clocked.contains(at, view), *tree.contains(at, view));
                break;
            default: {
                const std::uint64_t first = chance() % 4 == 0 ? at.position : chance();
                const std::uint64_t length = chance() >> (chance() % 64);
                const std::uint64_t last = first + std::min(length, UINT64_MAX - first);
                const std::size_t most = chance() % 3 == 0 ? 3 : SIZE_MAX;
                ASSERT_EQ(visit_range(flat, first, last, most), visit_range(tree, first, last, most));
                ASSERT_EQ(visit_range(clocked, first, last, most), visit_range(tree, first, last, most));
            }
        }
    }
    EXPECT_EQ(visit_range(flat, 0, UINT64_MAX), visit_range(tree, 0, UINT64_MAX));
    EXPECT_TRUE(visit_range(flat, 7, 6).empty());
    flat.clear();
    EXPECT_TRUE(visit_range(flat, 0, UINT64_MAX).empty());
}

TEST(bench_flat_map, answers_as_a_memory_map_does) {
    const hasher hash{hash_key::from_seed(3)};
    for (const std::uint64_t count : {1u, 2u, 31u, 32u, 63u, 64u, 65u, 1000u, 5000u})
        drive_side_by_side(hash, count, 1);
    drive_side_by_side(hash, 5000, 2);
    drive_side_by_side(hash, 4099, 3);
}

// A hash that gives many keys one digest, and leaves most of the positions empty.
TEST(bench_flat_map, separates_keys_that_share_a_digest_or_a_position) {
    const auto coarse = [](const void*, key_view key) noexcept {
        const auto low = std::to_integer<std::uint64_t>(key.data[0]);
        return digest{low % 8 == 7 ? UINT64_MAX : (low % 8) << 20, low % 3};
    };
    const hasher hash = hasher::custom(coarse, nullptr);
    for (const std::uint64_t count : {1u, 10u, 300u, 4500u}) drive_side_by_side(hash, count, 2);
}

TEST(bench_flat_map, is_sorted_the_same_by_any_number_of_threads) {
    const hasher hash{hash_key::from_seed(4)};
    const auto one = records_of(hash, 20'001, 1), three = records_of(hash, 20'001, 3);
    ASSERT_EQ(one->size(), three->size());
    for (std::uint64_t i = 0; i < one->size(); ++i) {
        ASSERT_EQ((*one)[i].at, (*three)[i].at);
        if (i > 0) {
            ASSERT_TRUE((*one)[i - 1] < (*one)[i]);
        }
    }
}

TEST(bench_flat_map, refuses_to_put_a_key_that_was_not_announced) {
    const hasher hash{hash_key::from_seed(5)};
    flat_map flat{records_of(hash, 100, 1)};
    const auto absent_key = bytes_of(key_at(100));
    const key_view view{absent_key.data(), absent_key.size()};
    EXPECT_EQ(flat.put(hash(view), view).error().code(), error_code::invalid_argument);
    EXPECT_FALSE(*flat.erase(hash(view), view));
    EXPECT_FALSE(*flat.contains(hash(view), view));
    EXPECT_FALSE(*flat.contains(hash(view), "no eight bytes"));
    const std::uint64_t keys[] = {key_at(0), key_at(100), key_at(99)};
    EXPECT_EQ(flat.put_all(hash, keys), 1u);
    EXPECT_EQ(visit_range(flat, 0, UINT64_MAX).size(), 2u);
}

TEST(bench_flat_map, maps_of_the_same_records_are_independent) {
    const hasher hash{hash_key::from_seed(6)};
    const auto records = records_of(hash, 1000, 1);
    flat_map one{records}, other{records};
    const std::uint64_t keys[] = {key_at(1), key_at(2), key_at(3)};
    EXPECT_EQ(one.put_all(hash, keys), 0u);
    EXPECT_EQ(visit_range(one, 0, UINT64_MAX).size(), 3u);
    EXPECT_TRUE(visit_range(other, 0, UINT64_MAX).empty());
}

// Neighbours share words of live bits: threads that flip their own keys must not undo each other.
// Only two words, so that they conflict often.
TEST(bench_flat_map, threads_do_not_undo_each_other) {
    const hasher hash{hash_key::from_seed(7)};
    constexpr std::uint64_t count = 128, threads = 4;
    constexpr int laps = 20'001;
    flat_map flat{records_of(hash, count, 1)};
    std::atomic<std::uint64_t> undone{0};
    std::latch start{threads};
    const auto flip_own = [&](std::uint64_t t) {
        start.arrive_and_wait();
        for (int lap = 0; lap < laps; ++lap) {
            for (std::uint64_t i = t; i < count; i += threads) {
                const auto key = bytes_of(key_at(i));
                const key_view view{key.data(), key.size()};
                const digest at = hash(view);
                undone += *(lap % 2 == 0 ? flat.put(at, view) : flat.erase(at, view)) ? 0u : 1u;
            }
        }
    };
    {
        std::vector<std::jthread> team;
        for (std::uint64_t t = 0; t < threads; ++t) team.emplace_back(flip_own, t);
    }
    EXPECT_EQ(undone, 0u);
    EXPECT_EQ(visit_range(flat, 0, UINT64_MAX).size(), count);
}

TEST(bench_flat_map, its_meter_counts_the_range_reads_of_each_thread) {
    const hasher hash{hash_key::from_seed(8)};
    flat_map flat{records_of(hash, 100, 1)};
    clocked_map<flat_map> clocked{flat};
    const remote_meter before = remote_meter::of_this_thread();
    visit_range(clocked, 0, UINT64_MAX);
    visit_range(clocked, 9, 8);
    std::jthread{[&] {
        EXPECT_EQ(remote_meter::of_this_thread().range_reads, 0u);
        visit_range(clocked, 0, UINT64_MAX);
        EXPECT_EQ(remote_meter::of_this_thread().range_reads, 1u);
    }}.join();
    EXPECT_EQ(remote_meter::of_this_thread().range_reads - before.range_reads, 2u);
    EXPECT_GE(remote_meter::of_this_thread().spent, before.spent);
}

}  // namespace
}  // namespace genista::test::bench_flat_map_test
