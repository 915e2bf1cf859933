// The two halves of the experiment adaptive-cascade, on small cascades: the counts are right.
#include <gtest/gtest.h>

#include "lab/experiment.hpp"
#include "lab/experiments/adaptive_cascade.hpp"
#include "lab/games/contenders.hpp"

namespace genista::lab::adaptive_cascade_test {
namespace {

TEST(adaptive_cascade, a_life_counts_levels_and_reads_of_R) {
    const cascade_life life = live_cascade(3'000, 0.25, cascade_rates::tower, 3);
    EXPECT_EQ(life.queries, 2'999u + 9'000u);
    EXPECT_GT(life.false_positives, 500u);
    EXPECT_EQ(life.false_negatives, 0u);
    EXPECT_GE(life.rebuilds, 3u) << "after every 3,000 queries";
    EXPECT_EQ(life.inserts.range_reads + life.inserts.point_reads, 0u);
    EXPECT_EQ(life.negatives.range_reads + life.negatives.point_reads, 0u);
    EXPECT_EQ(life.erases.most_reads, 1u);
    EXPECT_GE(life.fixes.each(), 2.0) << "is it stored, and which key has its value";
    EXPECT_LT(life.fixes.each(), 2.5);
    ASSERT_EQ(life.reached.size(), life.after.levels.size());
    EXPECT_NEAR(life.reached[0], 1, 1e-9);
    EXPECT_GT(life.reached[1], 0.01);
    EXPECT_LT(life.reached[1], 0.1);
    EXPECT_NEAR(life.expected(1), static_cast<double>(life.after.levels[1].come), 150);
}

TEST(adaptive_cascade, rates_that_do_not_fall_need_more_levels) {
    const cascade_life tower = live_cascade(3'000, 0.25, cascade_rates::tower, 3);
    const cascade_life flat = live_cascade(3'000, 0.25, cascade_rates::equal, 3);
    EXPECT_GT(flat.levels_used(), tower.levels_used());
    EXPECT_GT(flat.after.levels.size(), tower.after.levels.size());
    EXPECT_EQ(flat.false_negatives, 0u);
}

TEST(adaptive_cascade, the_game_is_played_and_a_filter_that_does_not_learn_loses_it) {
    nlohmann::json series = nlohmann::json::array();
    const cascade_game game = play_cascade_game(0.25, 8'000, 5, series);
    EXPECT_TRUE(game.kept) << "won by " << game.won_by;
    EXPECT_TRUE(game.control_lost) << game.control;
    EXPECT_EQ(game.all.false_negatives, 0u);
    EXPECT_GE(series.size(), 20u);
}

TEST(adaptive_cascade, is_found_by_its_id_and_the_cascade_by_its_name) {
    const experiment* const found = find_experiment("adaptive-cascade");
    ASSERT_NE(found, nullptr);
    run_options options;
    options.filter = "bloom";
    EXPECT_FALSE(found->run(options));
    const auto contender = make_contender(cascade_filter::name, {.keys = 100, .rate = 0.25});
    ASSERT_NE(contender, nullptr);
    EXPECT_EQ(contender->size(), 100u);
}

}  // namespace
}  // namespace genista::lab::adaptive_cascade_test
