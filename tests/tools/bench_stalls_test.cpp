// What growth_bench measures with: times, their longest by the millisecond, and when a filter grew.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "bench/growth_watch.hpp"
#include "bench/stalls.hpp"
#include "genista/filters/broom.hpp"
#include "genista/remote/memory_map.hpp"
#include "tools/genista/bench/flat_map.hpp"

namespace genista::test::bench_stalls_test {
namespace {

using bench::growth_watch;
using bench::stall_clock;
using bench::timed_insert;
using bench::timeline;
using bench::timing;
using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(bench_stalls, a_timing_has_its_longest_and_its_rare_times) {
    timing times;
    EXPECT_EQ(times.longest_ns(), 0u);
    EXPECT_EQ(times.percentile_ns(0.5), 0u);
    for (int i = 0; i < 9'990; ++i) times.record(100);
    for (int i = 0; i < 9; ++i) times.record(10'000);
    times.record(5'000'000);
    EXPECT_EQ(times.count(), 10'000u);
    EXPECT_EQ(times.longest_ns(), 5'000'000u);
    EXPECT_NEAR(static_cast<double>(times.percentile_ns(0.99)), 100, 10);
    EXPECT_NEAR(static_cast<double>(times.percentile_ns(0.9999)), 10'000, 700);
    EXPECT_EQ(times.percentile_ns(1), 5'000'000u);
}

TEST(bench_stalls, a_timeline_finds_operations_that_began_or_ended_in_between) {
    const stall_clock::time_point start{};
    const auto at = [&](int us) { return start + microseconds{us}; };
    timeline line{start, milliseconds{10}};
    line.record(at(500), at(501));
    line.record(at(1'900), at(4'100));  // begins in millisecond 1, ends in 4
    line.record(at(20'000), at(20'007));
    line.record(start - milliseconds{1}, at(3));
    EXPECT_EQ(line.longest_ns(at(0), at(999)), 1'003'000u);
    EXPECT_EQ(line.longest_ns(at(1'000), at(1'001)), 2'200'000u);
    EXPECT_EQ(line.longest_ns(at(2'000), at(3'999)), 0u);
    EXPECT_EQ(line.longest_ns(at(2'000), at(4'000)), 2'200'000u);
    EXPECT_EQ(line.longest_ns(at(5'000), at(8'999)), 0u);
    EXPECT_EQ(line.longest_ns(at(5'000), at(90'000)), 7'000u);
    EXPECT_EQ(line.longest_ns(at(4'000), at(3'000)), 2'200'000u);
}

TEST(bench_stalls, a_gap_is_no_longer_than_the_watch) {
    const auto begin = stall_clock::now();
    const std::uint64_t gap = bench::longest_gap_ns(milliseconds{2});
    const auto taken = std::chrono::nanoseconds{stall_clock::now() - begin}.count();
    EXPECT_GT(gap, 0u);
    EXPECT_LE(gap, static_cast<std::uint64_t>(taken));
}

// Polled after every insert, it must agree with the counters of the filter.
TEST(bench_stalls, a_watch_sees_every_growth_from_begin_to_end) {
    memory_map remote;
    auto filter =
        broom_filter::make({.capacity = 1'000, .hash = hasher{hash_key::from_seed(1)}, .random = repeatable(1)});
    ASSERT_TRUE(filter);
    growth_watch watch{1'000, filter->stats()};
    for (std::uint64_t i = 0; i < 40'000; ++i) {
        const auto bytes = tool::bench::bytes_of(i);
        ASSERT_TRUE(remote.put(filter->hash()(i), key_view{bytes.data(), bytes.size()}));
        ASSERT_TRUE(filter->insert(i, remote));
        watch.after({.begin = {}, .end = {}, .own_ns = i, .number = i}, filter->stats(), filter->is_growing());
        if (i % 50 == 0 && filter->details().growth_done > 0) {
            ASSERT_TRUE(watch.growing()) << i;
        }
    }
    const auto ended = static_cast<std::uint64_t>(
        std::count_if(watch.seen().begin(), watch.seen().end(), [](const auto& each) { return each.ended; }));
    EXPECT_GE(ended, 5u);
    EXPECT_EQ(ended, filter->details().growths);
    for (const auto& each : watch.seen()) {
        EXPECT_EQ(each.first_own_ns, each.keys_at_begin);
        if (each.ended) {
            EXPECT_EQ(each.last_own_ns, each.keys_at_begin + each.inserts - 1);
        }
    }
}

}  // namespace
}  // namespace genista::test::bench_stalls_test
