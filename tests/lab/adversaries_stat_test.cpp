// The one control that needs tens of millions of queries: a colliding insert that extends instead
// of renewing [law L3].
//
// Claim: an adversary that sees the reads of inserts is right in about 1 of 40 claims (more than
// five times ε = 2^-8). Sample: enough claims to show it, judged ten times, 1,400 at the most. By
// the rule for rates an honest filter would fail with probability 10^-8.
#include <gtest/gtest.h>

#include "lab/controls/controls.hpp"

namespace genista::lab::adversaries_stat_test {
namespace {

TEST(controls_stat, inserts_that_extend_lose_to_insert_probing) {
    const auto played = play_dropped_rules({.seed = 1, .only = "insert_extends"});
    ASSERT_EQ(played.size(), 1u);
    EXPECT_TRUE(played[0].won) << played[0].played.right_guesses << " of " << played[0].played.guesses;
    EXPECT_EQ(played[0].played.false_negatives, 0u);
}

}  // namespace
}  // namespace genista::lab::adversaries_stat_test
