// Odds as a softmax has them, 10^-170 and less: a square of them was 0, a quotient infinite, a
// Bloom table had no bits and the first insert wrote past it; and of odds below the smallest number
// there is a class 0 came out where eight bits were due.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "genista/detail/oracles/daisy_class.hpp"
#include "genista/filters/daisy_bloom.hpp"

namespace genista::daisy_tiny_odds_test {
namespace {

TEST(daisy_tiny_odds, make_a_table_that_can_be_used) {
    for (const double tiny : {1e-100, 1e-160, 1e-165, 1e-170, 1e-300, 5e-324}) {
        for (const bool blocked : {false, true}) {
            const std::array<odds_group, 2> groups = {{{{1, 0}, 1}, {{tiny, 1e-6}, 1e6}}};
            const auto plan = plan_for_groups({1e6, 1.0 / 256}, groups);
            ASSERT_TRUE(plan) << plan.error().message();
            auto filter = daisy_bloom_filter::make({.plan = *plan, .blocked = blocked});
            ASSERT_TRUE(filter) << filter.error().message();
            ASSERT_GT(filter->bits(), 0u) << tiny;
            EXPECT_LE(filter->bits(), 1u << 20) << tiny;
            for (std::uint64_t key = 0; key < 100; ++key) {
                EXPECT_NE(filter->insert(key, 8), insert_outcome::full);
                EXPECT_TRUE(filter->may_contain(key, 8));
            }
        }
    }
}

TEST(daisy_tiny_odds, have_the_class_of_their_bits) {
    for (const double tiny : {5e-324, 1e-322, 1e-310}) {
        const key_odds odds{tiny, tiny};
        const daisy_terms terms{1e6, 1.0 / 256};
        EXPECT_EQ(daisy_class(odds, terms), static_cast<unsigned>(std::ceil(daisy_bits(odds, terms)))) << tiny;
    }
}

}  // namespace
}  // namespace genista::daisy_tiny_odds_test
