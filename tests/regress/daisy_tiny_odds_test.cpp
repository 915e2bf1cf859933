// Odds of 10^-170 and less, as a softmax gives them: their square was 0 and a quotient infinite, so
// that a Bloom table had no bits and the first insert wrote past its end. And odds below the
// smallest normal number got class 0 where eight bits were needed.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "genista/filters/daisy_bloom.hpp"
#include "genista/oracles/daisy_plan.hpp"

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
