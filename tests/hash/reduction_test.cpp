// The reduction from approximate to exact membership: its ranges, and the permutations of a
// universe.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "genista/detail/hash/families.hpp"
#include "hash/key_stream.hpp"
#include "hash/reduction.hpp"

namespace genista::reduction_test {
namespace {

// ---- reductions ---------------------------------------------------------------------------------

// The ranges of the reduction from approximate to exact membership are the smallest ones, checked
// from both sides. tests/lab/ppr_reduction_test.cpp shows function by function that they keep the
// promise.

TEST(reduction, universal_range_is_the_exact_ceiling_of_n_over_rate) {
    EXPECT_EQ(*range_for_universal(1'000'000, 1.0 / 256), 256'000'000u);
    EXPECT_EQ(*range_for_universal(3, 0.25), 12u);
    EXPECT_EQ(*range_for_universal(1, 0.75), 2u);
    EXPECT_EQ(*range_for_universal(7, 0.9), 8u);
    EXPECT_EQ(*range_for_universal(std::uint64_t{1} << 52, 0x1p-11), std::uint64_t{1} << 63);
    EXPECT_EQ(*range_for_2universal(1'000'000, 1.0 / 256), 512'000'000u);
}

TEST(reduction, rates_that_are_no_binary_fractions_round_to_the_safe_side) {
    // 0.3 as a double is a little less than three tenths, so 3 / 0.3 is a little more than 10.
    EXPECT_EQ(*range_for_universal(3, 0.3), 11u);
    for (std::uint64_t n = 1; n < 2000; ++n) {
        for (const double rate : {0.001, 0.01, 0.1, 0.3, 1.0 / 3, 0.7}) {
            const std::uint64_t m = *range_for_universal(n, rate);
            EXPECT_LE(static_cast<long double>(n), static_cast<long double>(m) * static_cast<long double>(rate));
            EXPECT_GT(static_cast<long double>(n), static_cast<long double>(m - 1) * static_cast<long double>(rate));
        }
    }
}

TEST(reduction, four_wise_range_is_least_and_smaller_than_the_universal_one) {
    using field = mersenne_field<89>;
    for (const std::uint64_t n : {2ull, 3ull, 4ull, 5ull, 100ull, 10'000ull, 1'000'000ull, 1'000'000'000'000ull}) {
        for (const double rate : {0.5, 0.25, 0.1, 1.0 / 256, 1.0 / 65536}) {
            const std::uint64_t m = *range_for_4wise<field>(n, rate);
            EXPECT_LE(m, *range_for_universal(n, rate) + 1) << n << " keys at " << rate;
            EXPECT_LE(false_positive_bound_4wise(n, 1.0 / static_cast<double>(m)), rate);
            EXPECT_GT(false_positive_bound_4wise(n, 1.0 / static_cast<double>(m - 1)), rate * (1 - 1e-9));
        }
    }
    // The saving that reduction.hpp states.
    EXPECT_NEAR(static_cast<double>(*range_for_4wise<field>(1'000'000, 0.5)) / 1e6, 1.475, 0.001);
    EXPECT_NEAR(static_cast<double>(*range_for_4wise<field>(1'000'000, 0.25)) / 1e6, 3.48, 0.01);
    EXPECT_NEAR(static_cast<double>(*range_for_4wise<field>(1'000'000, 1.0 / 256)) / 1e6, 255.5, 0.01);
}

TEST(reduction, four_wise_range_pays_for_the_unequal_cells_of_a_small_field) {
    EXPECT_EQ(*range_for_4wise<prime_field<11>>(3, 0.25), 11u);  // all cells of one value
    // 12 of 13 cells: one cell holds two values, so its probability is 2/13, and only the whole
    // field suffices.
    EXPECT_EQ(*range_for_4wise<prime_field<13>>(3, 0.25), 13u);
    EXPECT_FALSE(range_for_4wise<prime_field<7>>(3, 0.25));  // no range of 7 values suffices
}

TEST(reduction, four_wise_bound_is_the_inclusion_exclusion_sum) {
    EXPECT_DOUBLE_EQ(false_positive_bound_4wise(1, 0.125), 0.125);
    EXPECT_DOUBLE_EQ(false_positive_bound_4wise(2, 0.125), 2 * 0.125 - 0.125 * 0.125);
    EXPECT_DOUBLE_EQ(false_positive_bound_4wise(3, 1.0 / 11), 331.0 / 1331);
    EXPECT_DOUBLE_EQ(false_positive_bound_4wise(5, 0.1), 5 * 0.1 - 10 * 0.01 + 10 * 0.001);
}

TEST(reduction, refuses_no_keys_and_rates_outside_0_to_1_and_ranges_beyond_64_bits) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double rate : {0.0, -0.5, 1.0, 2.0, nan, std::numeric_limits<double>::infinity()}) {
        EXPECT_FALSE(range_for_universal(10, rate)) << rate;
        EXPECT_FALSE(range_for_2universal(10, rate)) << rate;
        EXPECT_FALSE(range_for_4wise<mersenne_field<89>>(10, rate)) << rate;
    }
    EXPECT_FALSE(range_for_universal(0, 0.5));
    EXPECT_FALSE(range_for_4wise<mersenne_field<89>>(0, 0.5));
    EXPECT_FALSE(range_for_universal(~std::uint64_t{0}, 0.5));
    EXPECT_FALSE(range_for_2universal(std::uint64_t{1} << 63, 0.999));
    EXPECT_FALSE(range_for_universal(1, 0x1p-64));
    EXPECT_TRUE(range_for_universal(1, 0x1p-63));
    EXPECT_FALSE(range_for_universal(1, std::numeric_limits<double>::denorm_min()));
    EXPECT_FALSE(range_for_4wise<mersenne_field<89>>(1'000, 1e-18));
    const auto refused = range_for_universal(10, 1.5);
    EXPECT_EQ(refused.error().message(), "false-positive rate 1.5: allowed is more than 0, less than 1");
}

// ---- permutations -------------------------------------------------------------------------------

// permutation: a bijection of every universe that spreads neighbours.

TEST(permutation, is_a_bijection_of_every_small_universe) {
    const hasher hash{hash_key::from_seed(1)};
    for (std::uint64_t universe = 1; universe < 300; ++universe) {
        const permutation spread{universe, hash};
        std::vector<bool> met(universe);
        for (std::uint64_t x = 0; x < universe; ++x) {
            const std::uint64_t to = spread.forth(x);
            ASSERT_LT(to, universe);
            ASSERT_FALSE(met[to]);
            met[to] = true;
            ASSERT_EQ(spread.back(to), x);
        }
    }
}

TEST(permutation, goes_forth_and_back_in_large_universes) {
    const hasher hash{hash_key::from_seed(2)};
    for (const std::uint64_t universe :
         {std::uint64_t{1} << 20, (std::uint64_t{1} << 32) + 15, std::uint64_t{1} << 61}) {
        const permutation spread{universe, hash};
        for (std::uint64_t i = 0; i < 200; ++i) {
            const std::uint64_t x = universe - 1 - i * (universe / 200);
            ASSERT_LT(spread.forth(x), universe);
            ASSERT_EQ(spread.back(spread.forth(x)), x);
        }
    }
}

// Neighbours are separated: of 4096 neighbours each of 16 bins by the low bits gets about its
// share.
TEST(permutation, spreads_neighbours) {
    const permutation spread{1'000'003, hasher{hash_key::from_seed(3)}};
    std::vector<int> bins(16);
    for (std::uint64_t x = 0; x < 4096; ++x) ++bins[spread.forth(x) % bins.size()];
    for (const int size : bins) {
        EXPECT_GT(size, 160);
        EXPECT_LT(size, 360);
    }
}

}  // namespace
}  // namespace genista::reduction_test
