// The class of a key: the regimes of [daisy §1.1], at and around every boundary, and between them.
#include "genista/oracles/daisy_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/splitmix.hpp"

namespace genista::daisy_class_test {
namespace {

constexpr daisy_terms terms{.draws = 1000, .rate = 1.0 / 256};
constexpr double full = 8;                                  // log2(1/ε)
constexpr double per_draw = 1 / terms.draws;                // 1/n
constexpr double rate_per_draw = terms.rate / terms.draws;  // ε/n

double above(double value) {
    return std::nextafter(value, 1.0);
}
double below(double value) {
    return std::nextafter(value, 0.0);
}

TEST(daisy_class, a_key_that_is_hardly_queried_gets_no_bits) {
    const double p = 1e-7;
    EXPECT_EQ(regime_of({p, 0}, terms), daisy_regime::hardly_asked);
    EXPECT_EQ(regime_of({p, terms.rate * p}, terms), daisy_regime::hardly_asked);
    EXPECT_EQ(regime_of({p, above(terms.rate * p)}, terms), daisy_regime::by_ratio);
    EXPECT_EQ(regime_of({0, 0}, terms), daisy_regime::hardly_asked);
    EXPECT_EQ(daisy_bits({p, terms.rate * p}, terms), 0);
    EXPECT_EQ(daisy_class({p, terms.rate * p}, terms), 0u);
}

TEST(daisy_class, a_key_that_is_nearly_certain_gets_no_bits) {
    EXPECT_EQ(regime_of({per_draw, 0.5}, terms), daisy_regime::by_likelihood);
    EXPECT_EQ(regime_of({above(per_draw), 0.5}, terms), daisy_regime::nearly_certain);
    EXPECT_EQ(regime_of({1, 1}, terms), daisy_regime::nearly_certain);
    EXPECT_EQ(daisy_bits({above(per_draw), 0.5}, terms), 0);
}

TEST(daisy_class, a_key_that_is_rarely_queried_gets_bits_by_the_ratio) {
    const double p = 1e-4;  // above ε/n: the smaller of p and ε/n is ε/n
    EXPECT_EQ(regime_of({p, rate_per_draw}, terms), daisy_regime::by_ratio);
    EXPECT_EQ(regime_of({p, above(rate_per_draw)}, terms), daisy_regime::by_likelihood);
    const double rare = 1e-7;  // below ε/n: it is p
    EXPECT_EQ(regime_of({rare, rare}, terms), daisy_regime::by_ratio);
    EXPECT_EQ(regime_of({rare, above(rare)}, terms), daisy_regime::in_full);
    EXPECT_DOUBLE_EQ(daisy_bits({rare, rare / 4}, terms), full - 2);
    EXPECT_EQ(daisy_class({rare, rare / 4}, terms), 6u);
    EXPECT_EQ(daisy_class({rare, above(rare / 4) * 1.001}, terms), 7u);
}

TEST(daisy_class, a_key_that_is_queried_more_than_stored_gets_all_bits) {
    EXPECT_EQ(regime_of({0, 1e-12}, terms), daisy_regime::in_full);
    EXPECT_EQ(regime_of({rate_per_draw, 1}, terms), daisy_regime::in_full);
    EXPECT_EQ(regime_of({above(rate_per_draw), 1}, terms), daisy_regime::by_likelihood);
    EXPECT_EQ(daisy_bits({rate_per_draw, 1}, terms), full);
    EXPECT_EQ(daisy_class({rate_per_draw, 1}, terms), 8u);
}

TEST(daisy_class, a_key_that_is_likely_to_be_stored_gets_bits_by_that) {
    EXPECT_DOUBLE_EQ(daisy_bits({per_draw / 8, 0.25}, terms), 3);
    EXPECT_EQ(daisy_class({per_draw / 8, 0.25}, terms), 3u);
    EXPECT_EQ(daisy_class({per_draw, 0.25}, terms), 0u);
    EXPECT_EQ(daisy_class({below(per_draw) * 0.99, 0.25}, terms), 1u);
}

TEST(daisy_class, bits_are_continuous_where_two_regimes_meet) {
    // Across each boundary k_x changes by less than a millionth, except where a key becomes nearly
    // certain or hardly queried: there k_x drops to 0.
    const double p = 1e-4;
    EXPECT_NEAR(daisy_bits({p, rate_per_draw}, terms), daisy_bits({p, above(rate_per_draw)}, terms), 1e-6);
    EXPECT_NEAR(daisy_bits({1e-7, 1e-7}, terms), full, 1e-6);
    EXPECT_NEAR(daisy_bits({above(rate_per_draw), 1}, terms), full, 1e-6);
    EXPECT_NEAR(daisy_bits({per_draw, 1}, terms), 0, 1e-6);
    EXPECT_NEAR(daisy_bits({p, above(terms.rate * p)}, terms), 0, 1e-6);
}

TEST(daisy_class, bits_never_exceed_an_ordinary_filters_and_grow_with_the_queries) {
    test::splitmix chance{7};
    const auto unit = [&chance] { return static_cast<double>(chance() >> 11) * 0x1p-53; };
    for (int i = 0; i < 100'000; ++i) {
        const key_odds odds{std::exp2(-40 * unit()), std::exp2(-40 * unit())};
        const daisy_terms any{std::exp2(30 * unit()), std::exp2(-1 - 23 * unit())};
        const double bits = daisy_bits(odds, any);
        ASSERT_GE(bits, 0);
        ASSERT_LE(bits, -std::log2(any.rate)) << "Observation 13";
        ASSERT_LE(bits, daisy_class(odds, any) + 1e-6);
        ASSERT_GE(bits + 1, daisy_class(odds, any));
        // More queries never give fewer bits, and a higher probability of being stored never more.
        ASSERT_LE(bits, daisy_bits({odds.stored, odds.asked * 2}, any) + 1e-9);
        ASSERT_GE(bits + 1e-9, daisy_bits({odds.stored * 2, odds.asked}, any));
    }
}

TEST(daisy_class, odds_that_are_not_numbers_get_all_bits) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(daisy_class({nan, 0.1}, terms), 8u);
    EXPECT_EQ(daisy_class({0.1, nan}, terms), 8u);
    EXPECT_EQ(daisy_class({std::numeric_limits<double>::infinity(), 0.1}, terms), 8u);
}

TEST(daisy_class, powers_of_two_get_no_extra_probe) {
    for (unsigned bits = 1; bits <= max_daisy_class; ++bits) {
        const daisy_terms exact{.draws = 1e6, .rate = std::ldexp(1.0, -static_cast<int>(bits))};
        EXPECT_EQ(daisy_class({0, 1}, exact), bits);
    }
}

}  // namespace
}  // namespace genista::daisy_class_test
