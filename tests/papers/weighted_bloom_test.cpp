// weighted_bloom_filter by example: the probes of its formula, no false negatives, its weakness
// with rarely queried keys, and all options that it refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "papers/weighted_bloom.hpp"

namespace genista::weighted_bloom_test {
namespace {

weighted_bloom_filter filter_of(std::uint64_t bits, double draws, double mean_log_ratio) {
    return *weighted_bloom_filter::make(
        {.bits = bits, .draws = draws, .mean_log_ratio = mean_log_ratio, .hash = hasher{hash_key::from_seed(1)}});
}

TEST(weighted_bloom, gives_the_probes_of_its_formula) {
    // 11,264 bits for 1000 draws: (m/n) ln 2 = 7.8.
    const auto filter = filter_of(11'264, 1000, -0.5);
    EXPECT_EQ(filter.probes_of({1e-6, 1e-6}), 8u);   // 7.8 + 0 + 0.5 = 8.3
    EXPECT_EQ(filter.probes_of({1e-6, 4e-6}), 10u);  // two more
    EXPECT_EQ(filter.probes_of({8e-6, 1e-6}), 5u);   // three fewer
    EXPECT_EQ(filter.probes_of({1e-3, 1e-9}), 0u);   // negative
    EXPECT_EQ(filter.probes_of({1e-3, 0}), 0u);
    EXPECT_EQ(filter.probes_of({0, 0}), 0u);
}

TEST(weighted_bloom, gives_no_key_more_probes_than_the_cap) {
    auto filter = filter_of(11'264, 1000, -1e9);
    EXPECT_EQ(filter.probes_of({1e-6, 1e-6}), weighted_bloom_filter::max_probes);
    EXPECT_EQ(filter.probes_of({0, 1e-300}), weighted_bloom_filter::max_probes);
    EXPECT_EQ(filter.probes_of({std::nan(""), 1}), weighted_bloom_filter::max_probes);
    EXPECT_EQ(filter.insert(1u, {0, 1}), insert_outcome::inserted);
    EXPECT_TRUE(filter.may_contain(1u, {0, 1}));
    EXPECT_LE(filter.bits_set(), std::uint64_t{weighted_bloom_filter::max_probes});
}

TEST(weighted_bloom, finds_every_key_that_was_inserted) {
    auto filter = filter_of(5'000, 1000, -0.3);
    const auto odds = [](std::uint64_t key) {
        return key_odds{1e-6 * static_cast<double>(1 + key % 5), 1e-6 * static_cast<double>(key % 4)};
    };
    for (std::uint64_t key = 0; key < 3000; ++key) (void)filter.insert(key, odds(key));
    for (std::uint64_t key = 0; key < 3000; ++key) ASSERT_TRUE(filter.may_contain(key, odds(key)));
    EXPECT_LE(filter.stats().keys, 3000u);
    EXPECT_EQ(filter.stats().capacity, 1000u);
}

TEST(weighted_bloom, computes_the_mean_log_ratio) {
    EXPECT_NEAR(*mean_log_ratio_of(std::vector<odds_group>{{{0.5, 0.25}, 1}, {{0.25, 0.375}, 2}}),
                0.5 * -1 + 0.5 * std::log2(1.5), 1e-12);
    EXPECT_EQ(*mean_log_ratio_of(std::vector<odds_group>{{{0.001, 0.001}, 1000}}), 0);
    const auto never = mean_log_ratio_of(std::vector<odds_group>{{{0.5, 0}, 1}, {{0.5, 1}, 1}});
    ASSERT_FALSE(never);
    EXPECT_NE(std::string{never.error().message()}.find("never asked"), std::string::npos);
    EXPECT_FALSE(mean_log_ratio_of(std::vector<odds_group>{{{0.5, 0.5}, 1}})) << "the odds sum to one half";
    EXPECT_FALSE(mean_log_ratio_of(std::vector<odds_group>{{{-0.5, 0.5}, 2}}));
}

// [daisy §1.2]: half of the keys are hardly ever queried, and the table becomes full of ones.
TEST(weighted_bloom, fills_up_with_ones_if_keys_are_hardly_ever_queried) {
    const double each = 1e-6;  // a million keys in two halves
    for (const double rare : {0.5, 0x1p-600}) {
        const key_odds first{each, rare * 2e-6}, second{each, (1 - rare) * 2e-6};
        const std::vector<odds_group> groups = {{first, 5e5}, {second, 5e5}};
        auto filter = filter_of(12'000, 1000, *mean_log_ratio_of(groups));
        for (std::uint64_t key = 0; key < 1000; ++key) (void)filter.insert(key, key % 2 == 0 ? first : second);
        std::uint64_t passed = 0;
        for (std::uint64_t key = 1'000'000; key < 1'001'000; ++key) passed += filter.may_contain(key, second) ? 1u : 0u;
        if (rare == 0.5) {
            EXPECT_LT(passed, 20u);
        } else {
            EXPECT_GT(passed, 990u);
            EXPECT_LT(filter.stats().false_positive_rate, 1e-50) << "its own estimate is nearly 0";
        }
    }
}

TEST(weighted_bloom, refuses_bad_terms_and_names_them) {
    const auto message = [](const weighted_bloom_options& options) {
        const auto made = weighted_bloom_filter::make(options);
        return made ? std::string{} : std::string{made.error().message()};
    };
    EXPECT_NE(message({.bits = 0}).find("0 bits"), std::string::npos);
    EXPECT_NE(message({.bits = ~std::uint64_t{0}}).find("bits"), std::string::npos);
    EXPECT_NE(message({.bits = 100, .draws = 0.5}).find("0.5 draws"), std::string::npos);
    EXPECT_NE(message({.bits = 100, .draws = std::nan("")}).find("draws"), std::string::npos);
    EXPECT_NE(message({.bits = 100, .mean_log_ratio = 0.25}).find("0.25"), std::string::npos);
    EXPECT_NE(message({.bits = 100, .mean_log_ratio = -std::numeric_limits<double>::infinity()}).find("-inf"),
              std::string::npos);
}

}  // namespace
}  // namespace genista::weighted_bloom_test
