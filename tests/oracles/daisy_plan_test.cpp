// The classes of the daisy filters, and the plans made from them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "genista/oracles/daisy_plan.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::daisy_plan_test {
namespace {

// ---- classes ------------------------------------------------------------------------------------

// The class of a key: the regimes of [daisy §1.1], at and around every boundary, and between them.

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

// ---- plans --------------------------------------------------------------------------------------

// Plans: shares, bound and condition, computed by hand for small universes, and samples compared
// with the whole universe.

constexpr daisy_terms plan_terms{.draws = 100, .rate = 1.0 / 16};

// A thousand keys with 9/10 of the inserts and 1/10 of the queries, and a thousand with the
// reverse.
std::vector<key_odds> two_kinds() {
    std::vector<key_odds> universe;
    for (int i = 0; i < 1000; ++i) {
        universe.push_back({0.9 / 1000, 0.1 / 1000});
        universe.push_back({0.1 / 1000, 0.9 / 1000});
    }
    return universe;
}

TEST(daisy_plan, adds_up_a_universe) {
    const auto plan = plan_for_universe(plan_terms, two_kinds());
    ASSERT_TRUE(plan.has_value()) << plan.error().message();
    // ε/n = 1/1600. The first kind: p = 0.0009 > ε/n, q = 0.0001 ≤ ε/n, so log(q / (ε p)) =
    // log(16/9). The second: q > p, p ≤ ε/n: 4 bits.
    EXPECT_NEAR(plan->stored_share[1], 0.9, 1e-12);
    EXPECT_NEAR(plan->stored_share[4], 0.1, 1e-12);
    EXPECT_NEAR(plan->mean_bits, 0.9 * std::log2(16.0 / 9) + 0.1 * 4, 1e-12);
    EXPECT_NEAR(plan->lower_bound_bits(), 100 * plan->mean_bits, 1e-9);
    EXPECT_NEAR(plan->proved_bound_bits(), plan->lower_bound_bits() - 601, 1e-9);
    EXPECT_NEAR(plan->whole_bits(), 100 * (0.9 + 0.4), 1e-9);
    EXPECT_NEAR(plan->kept_draws(), 100, 1e-9);
    EXPECT_NEAR(plan->overlap, 100 * 2000 * 0.0009 * 0.0001, 1e-12);
    EXPECT_TRUE(plan->keeps_condition());
    EXPECT_EQ(plan->largest_class(), 4u);
    // Of the queries those for absent keys count: (1 - p)^n of them.
    EXPECT_NEAR(plan->asked_share[1], 0.1 * std::pow(1 - 0.0009, 100), 1e-9);
    EXPECT_NEAR(plan->asked_share[4], 0.9 * std::pow(1 - 0.0001, 100), 1e-9);
    EXPECT_NEAR(plan->expected_rate(), plan->asked_share[1] / 2 + plan->asked_share[4] / 16, 1e-12);
}

TEST(daisy_plan, groups_are_keys_of_equal_odds) {
    const std::vector<odds_group> groups{{{0.9 / 1000, 0.1 / 1000}, 1000}, {{0.1 / 1000, 0.9 / 1000}, 1000}};
    const auto whole = plan_for_universe(plan_terms, two_kinds());
    const auto grouped = plan_for_groups(plan_terms, groups);
    ASSERT_TRUE(whole && grouped);
    EXPECT_NEAR(grouped->mean_bits, whole->mean_bits, 1e-9);
    EXPECT_NEAR(grouped->overlap, whole->overlap, 1e-9);
    for (std::size_t j = 0; j < grouped->stored_share.size(); ++j) {
        EXPECT_NEAR(grouped->stored_share[j], whole->stored_share[j], 1e-9);
        EXPECT_NEAR(grouped->asked_share[j], whole->asked_share[j], 1e-9);
    }
}

TEST(daisy_plan, samples_come_close_to_the_universe) {
    const std::vector<key_odds> universe = two_kinds();
    test::splitmix chance{3};
    std::vector<key_odds> stored, asked;
    for (int i = 0; i < 20'000; ++i) {
        stored.push_back(universe[chance() % 10 == 0 ? 1 : 0]);
        asked.push_back(universe[chance() % 10 == 0 ? 0 : 1]);
    }
    const auto whole = plan_for_universe(plan_terms, universe);
    const auto sampled = plan_from_samples(plan_terms, stored, asked);
    ASSERT_TRUE(whole && sampled);
    EXPECT_NEAR(sampled->mean_bits, whole->mean_bits, 0.05);
    EXPECT_NEAR(sampled->overlap, whole->overlap, 0.1 * whole->overlap);
    EXPECT_NEAR(sampled->expected_rate(), whole->expected_rate(), 0.1 * whole->expected_rate());
}

TEST(daisy_plan, a_universe_of_equal_odds_costs_an_ordinary_filter) {
    const std::vector<odds_group> alike{{{1e-9, 1e-9}, 1e9}};
    const auto plan = plan_for_groups({.draws = 1e6, .rate = 0x1p-8}, alike);
    ASSERT_TRUE(plan.has_value());
    EXPECT_NEAR(plan->lower_bound_bits(), 8e6, 1);
    EXPECT_NEAR(plan->expected_rate(), 0x1p-8, 1e-5);
}

TEST(daisy_plan, tunes_the_parameter_until_the_rate_holds) {
    const std::vector<key_odds> universe = two_kinds();
    const auto plain = plan_for_universe(plan_terms, universe);
    const auto tuned = plan_tuned(plan_terms, [&](const daisy_terms& at) { return plan_for_universe(at, universe); });
    ASSERT_TRUE(plain && tuned);
    EXPECT_GT(plain->expected_rate(), plan_terms.rate);
    EXPECT_LE(tuned->expected_rate(), plan_terms.rate);
    EXPECT_GT(tuned->terms.rate, plan_terms.rate / 8);
    EXPECT_GT(tuned->lower_bound_bits(), plain->lower_bound_bits());
}

TEST(daisy_plan, reports_when_no_parameter_gives_the_rate) {
    // One key that is nearly always stored and has half of the queries: with n = 3 it is absent one
    // time in eight.
    const std::vector<key_odds> universe{{0.5, 0.5}, {0.5, 0.5}};
    const auto tuned =
        plan_tuned({.draws = 3, .rate = 0.01}, [&](const daisy_terms& at) { return plan_for_universe(at, universe); });
    ASSERT_FALSE(tuned.has_value());
    EXPECT_NE(std::string{tuned.error().message()}.find("0.01"), std::string::npos) << tuned.error().message();
}

TEST(daisy_plan, refuses_odds_that_are_not_a_distribution_and_names_them) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto message_of = [](std::vector<key_odds> universe) {
        const auto plan = plan_for_universe(plan_terms, universe);
        return plan ? std::string{} : std::string{plan.error().message()};
    };
    EXPECT_NE(message_of({}).find("no keys"), std::string::npos);
    EXPECT_NE(message_of({{1, 1}, {-0.25, 0}}).find("-0.25"), std::string::npos);
    EXPECT_NE(message_of({{nan, 1}}).find("nan"), std::string::npos);
    EXPECT_NE(message_of({{1, 1.5}}).find("1.5"), std::string::npos);
    EXPECT_NE(message_of({{0.5, 1}, {0.3, 0}}).find("0.8"), std::string::npos);
    EXPECT_NE(message_of({{1, 0.5}, {0, 0.4}}).find("0.9"), std::string::npos);
    EXPECT_EQ(message_of({{0.995, 1}}), "");
}

TEST(daisy_plan, refuses_invalid_terms_and_samples) {
    const std::vector<key_odds> one{{1e-3, 1e-3}}, none, wrong{{1e-3, -1}};
    EXPECT_FALSE(plan_from_samples(plan_terms, none, one));
    EXPECT_FALSE(plan_from_samples(plan_terms, one, none));
    EXPECT_FALSE(plan_from_samples(plan_terms, one, wrong));
    EXPECT_TRUE(plan_from_samples(plan_terms, one, one));
    for (const double draws : {0.0, 0.5, -1.0, 0x1p41, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_FALSE(plan_from_samples({draws, 0.01}, one, one)) << draws;
    for (const double rate : {0.0, 0.51, 1.0, -0.1, 0x1p-65, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_FALSE(plan_from_samples({100, rate}, one, one)) << rate;
}

}  // namespace
}  // namespace genista::daisy_plan_test
