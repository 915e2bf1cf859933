// range_of_bin is the exact inverse of scale, at every size that a filter can have. And which types
// the concept accepts.
#include "genista/remote/remote.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "genista/remote/memory_map.hpp"
#include "support/remote/counting_map.hpp"
#include "support/remote/faulty_map.hpp"

namespace genista::remote_test {
namespace {

static_assert(remote_map<memory_map>);
static_assert(remote_map<basic_memory_map<2, 4>>);
static_assert(remote_map<counting_map<memory_map>>);
static_assert(remote_map<faulty_map<memory_map>>);
static_assert(remote_map<counting_map<faulty_map<counting_map<memory_map>>>>);
static_assert(!remote_map<int>);
struct cannot_fail {  // its operations hide their failures, so it is not a remote
    bool put(const digest&, key_view);
    bool erase(const digest&, key_view);
    bool contains(const digest&, key_view);
    void for_each(std::uint64_t, std::uint64_t, remote_detail::any_visitor);
};
static_assert(!remote_map<cannot_fail>);

static_assert(range_of_bin(0, 1) == position_range{});
static_assert(range_of_bin(1, 2).first == std::uint64_t{1} << 63);

constexpr std::uint64_t last_position = ~std::uint64_t{0};

// The ends of the range are in the bin, and their outer neighbours are not. scale is monotone, so
// no other position need be tested.
void expect_inverse(std::uint64_t bin, std::uint64_t bins) {
    const position_range range = range_of_bin(bin, bins);
    ASSERT_LE(range.first, range.last) << bin << " of " << bins;
    ASSERT_EQ(scale(range.first, bins), bin) << bins;
    ASSERT_EQ(scale(range.last, bins), bin) << bins;
    if (bin == 0) {
        ASSERT_EQ(range.first, 0u) << bins;
    } else {
        ASSERT_EQ(scale(range.first - 1, bins), bin - 1) << bins;
    }
    if (bin == bins - 1) {
        ASSERT_EQ(range.last, last_position) << bins;
    } else {
        ASSERT_EQ(scale(range.last + 1, bins), bin + 1) << bins;
    }
}

TEST(range_of_bin, tiles_all_positions_without_gap_or_overlap_for_every_number_of_bins_up_to_1000) {
    for (std::uint64_t bins = 1; bins <= 1000; ++bins) {
        std::uint64_t next = 0;
        for (std::uint64_t bin = 0; bin < bins; ++bin) {
            const position_range range = range_of_bin(bin, bins);
            ASSERT_EQ(range.first, next);
            ASSERT_GE(range.last, range.first);
            ASSERT_EQ(scale(range.first, bins), bin);
            ASSERT_EQ(scale(range.last, bins), bin);
            next = range.last + 1;  // wraps to 0 after the last bin
        }
        ASSERT_EQ(next, 0u) << bins;
    }
}

TEST(range_of_bin, is_exact_at_the_edges_of_every_power_of_two) {
    for (unsigned power = 0; power <= 64; ++power) {
        for (std::int64_t off = -3; off <= 3; ++off) {
            const std::uint64_t centre = power == 64 ? 0 : std::uint64_t{1} << power;  // 2^64 wraps to 0
            const std::uint64_t bins = centre + static_cast<std::uint64_t>(off);
            if (bins == 0 || (power < 4 && bins > 64) || (power == 64 && off >= 0)) continue;
            for (std::uint64_t step = 0; step < 70 && step < bins; ++step) {
                expect_inverse(step, bins);
                expect_inverse(bins - 1 - step, bins);
                expect_inverse((bins / 2 + step) % bins, bins);
                expect_inverse((bins / 3 + step) % bins, bins);
            }
        }
    }
}

TEST(range_of_bin, is_exact_for_random_bins_of_random_sizes) {
    std::mt19937_64 random{20240601};
    for (int round = 0; round < 1'000'000; ++round) {
        std::uint64_t bins = random() >> (random() % 64);
        if (bins == 0) bins = 1;
        expect_inverse(random() % bins, bins);
        if (HasFatalFailure()) return;
    }
}

TEST(range_of_bin, contains_exactly_the_positions_that_scale_to_its_bin) {
    std::mt19937_64 random{7};
    for (int round = 0; round < 200'000; ++round) {
        const std::uint64_t bins = (random() >> (random() % 64)) | 1;
        const std::uint64_t position = round % 16 == 0 ? last_position - random() % 3 : random();
        const std::uint64_t bin = scale(position, bins);
        ASSERT_TRUE(range_of_bin(bin, bins).contains(position));
        if (bin > 0) {
            ASSERT_FALSE(range_of_bin(bin - 1, bins).contains(position));
        }
        if (bin + 1 < bins) {
            ASSERT_FALSE(range_of_bin(bin + 1, bins).contains(position));
        }
    }
}

}  // namespace
}  // namespace genista::remote_test
