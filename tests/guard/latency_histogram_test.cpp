// Buckets follow each other without a gap, and percentiles are right within a bucket.
#include "genista/detail/guard/latency_histogram.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace genista::test::latency_histogram_test {
namespace {

TEST(latency_histogram, every_bucket_ends_where_the_next_begins) {
    for (unsigned b = 0; b + 1 < latency_histogram::buckets; ++b) {
        const std::uint64_t end = latency_histogram::end_of(b);
        EXPECT_EQ(latency_histogram::bucket_of(end - 1), b);
        EXPECT_EQ(latency_histogram::bucket_of(end), b + 1);
    }
    EXPECT_EQ(latency_histogram::bucket_of(0), 0u);
    EXPECT_EQ(latency_histogram::bucket_of(63), 0u);
    EXPECT_EQ(latency_histogram::bucket_of(~std::uint64_t{0}), latency_histogram::buckets - 1);
}

TEST(latency_histogram, percentiles_are_right_within_a_bucket) {
    const auto times = std::make_unique<latency_histogram>();
    EXPECT_EQ(times->percentile(0.5), 0u);
    for (std::uint64_t us = 1; us <= 1000; ++us) times->record(us * 1000);
    for (const double share : {0.001, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const double wanted = share * 1e6;
        EXPECT_GE(static_cast<double>(times->percentile(share)), wanted);
        EXPECT_LE(static_cast<double>(times->percentile(share)), wanted * 17 / 16 + 1000);
    }
    EXPECT_EQ(times->count(), 1000u);
    EXPECT_EQ(times->total_nanoseconds(), 500'500'000u);
    EXPECT_EQ(times->count_below_octave(10), 1u);  // 1 µs is below 1.024 µs
    const auto sum = std::make_unique<latency_histogram>();
    sum->add(*times);
    sum->add(*times);
    EXPECT_EQ(sum->count(), 2000u);
    EXPECT_EQ(sum->percentile(0.5), times->percentile(0.5));
}

}  // namespace
}  // namespace genista::test::latency_histogram_test
