// Plans: shares, bound and condition, computed by hand for small universes, and samples compared
// with the whole universe.
#include "genista/oracles/daisy_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/splitmix.hpp"

namespace genista::daisy_plan_test {
namespace {

constexpr daisy_terms terms{.draws = 100, .rate = 1.0 / 16};

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
    const auto plan = plan_for_universe(terms, two_kinds());
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
    const auto whole = plan_for_universe(terms, two_kinds());
    const auto grouped = plan_for_groups(terms, groups);
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
    const auto whole = plan_for_universe(terms, universe);
    const auto sampled = plan_from_samples(terms, stored, asked);
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
    const auto plain = plan_for_universe(terms, universe);
    const auto tuned = plan_tuned(terms, [&](const daisy_terms& at) { return plan_for_universe(at, universe); });
    ASSERT_TRUE(plain && tuned);
    EXPECT_GT(plain->expected_rate(), terms.rate);
    EXPECT_LE(tuned->expected_rate(), terms.rate);
    EXPECT_GT(tuned->terms.rate, terms.rate / 8);
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
        const auto plan = plan_for_universe(terms, universe);
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
    EXPECT_FALSE(plan_from_samples(terms, none, one));
    EXPECT_FALSE(plan_from_samples(terms, one, none));
    EXPECT_FALSE(plan_from_samples(terms, one, wrong));
    EXPECT_TRUE(plan_from_samples(terms, one, one));
    for (const double draws : {0.0, 0.5, -1.0, 0x1p41, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_FALSE(plan_from_samples({draws, 0.01}, one, one)) << draws;
    for (const double rate : {0.0, 0.51, 1.0, -0.1, 0x1p-65, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_FALSE(plan_from_samples({100, rate}, one, one)) << rate;
}

}  // namespace
}  // namespace genista::daisy_plan_test
