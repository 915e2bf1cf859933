// The attack matrix in small: it shows the known results of these filters, and a cell depends on
// nothing but itself.
#include "lab/games/attack_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "lab/adversaries/adversary.hpp"
#include "lab/games/contenders.hpp"

namespace genista::lab::attack_matrix_test {
namespace {

[[nodiscard]] std::vector<matrix_cell> play(std::vector<std::string> adversaries, std::vector<std::string> filters,
                                            std::uint64_t seed = 1) {
    auto cells = play_matrix(
        {.quick = true, .seed = seed, .adversaries = std::move(adversaries), .filters = std::move(filters)});
    EXPECT_TRUE(cells);
    return cells ? *std::move(cells) : std::vector<matrix_cell>{};
}

TEST(attack_matrix, a_bloom_filter_loses_to_repetition_and_a_broom_filter_holds) {
    const auto cells = play({"repeat-one"}, {"bloom", "broom", "cuckoo"});
    ASSERT_EQ(cells.size(), 3u);
    EXPECT_EQ(cells[0].filter, "bloom");
    EXPECT_EQ(cells[0].said, verdict::loses);
    EXPECT_EQ(cells[0].rate(), 1.0);
    EXPECT_TRUE(cells[0].is_about_guesses());
    EXPECT_EQ(cells[1].said, verdict::holds);
    EXPECT_LE(cells[1].within().low, cells[1].promised);
    EXPECT_EQ(cells[2].said, verdict::loses);
    for (const matrix_cell& each : cells) {
        EXPECT_EQ(each.adversary, "repeat-one");
        EXPECT_EQ(each.games, 2u);
        EXPECT_GT(each.seen.guesses, 100u);
        EXPECT_EQ(each.seen.false_negatives, 0u);
        EXPECT_LE(each.promised, matrix_rate);
        EXPECT_GT(each.promised, matrix_rate / 4) << each.filter << " is as small as the others";
    }
}

TEST(attack_matrix, cleary_loses_as_all_that_do_not_learn_and_daisy_broom_holds_as_broom_does) {
    const auto cells = play({"repeat-one"}, {"cleary", "daisy_broom"});
    ASSERT_EQ(cells.size(), 2u);
    EXPECT_EQ(cells[0].said, verdict::loses);
    EXPECT_EQ(cells[1].said, verdict::holds);
    EXPECT_EQ(cells[1].promised, matrix_rate) << "the larger of its two bands' rates";
    for (const matrix_cell& each : cells) EXPECT_EQ(each.seen.false_negatives, 0u) << each.filter;
}

TEST(attack_matrix, daisy_broom_plays_on_crowded_and_on_growing_stages) {
    for (const matrix_cell& each : play({"fresh-crowded", "growth-replay", "backyard-probing"}, {"daisy_broom"})) {
        EXPECT_EQ(each.said, verdict::holds) << each.adversary << " " << each.why;
    }
}

TEST(attack_matrix, a_filter_without_growth_cannot_be_attacked_across_growth) {
    const auto cells = play({"growth-replay"}, {"bloom", "broom"});
    ASSERT_EQ(cells.size(), 2u);
    EXPECT_EQ(cells[0].said, verdict::cannot_play);
    EXPECT_NE(cells[0].why.find("grow"), std::string::npos) << cells[0].why;
    EXPECT_EQ(cells[1].said, verdict::holds);
}

TEST(attack_matrix, a_structure_of_papers_has_no_snapshot_to_be_restarted_from) {
    const auto cells = play({"restart-replay"}, {"broom_paper", "whitelist", "cyclic1", "cuckooing"});
    ASSERT_EQ(cells.size(), 4u);
    for (const matrix_cell& each : cells) {
        EXPECT_EQ(each.said == verdict::cannot_play, each.filter != "cuckooing") << each.filter << " " << each.why;
        EXPECT_EQ(each.why, each.filter != "cuckooing" ? each.filter + " cannot be saved" : "");
    }
}

TEST(attack_matrix, a_stage_with_more_keys_than_capacity_is_played_by_all) {
    const auto cells = play({"fresh-crowded"}, {"broom", "cuckoo_partial", "bloom", "cyclic2"});
    ASSERT_EQ(cells.size(), 4u);
    for (const matrix_cell& each : cells) {
        EXPECT_EQ(each.said, verdict::holds) << each.filter << " " << each.why;
        EXPECT_EQ(each.keys, crowded_bin.keys);
    }
}

// The broom filter of the paper is full at its capacity, and this attack inserts more keys.
TEST(attack_matrix, a_filter_that_is_full_before_the_end_gets_more_room) {
    const auto cells = play({"backyard-probing"}, {"broom_paper", "broom"});
    ASSERT_EQ(cells.size(), 2u);
    EXPECT_GT(cells[0].capacity, crowded_bin.keys);
    EXPECT_NE(cells[0].said, verdict::cannot_play) << cells[0].why;
    EXPECT_EQ(cells[1].capacity, crowded_bin.capacity);
    for (const matrix_cell& each : cells) EXPECT_EQ(each.keys, crowded_bin.keys);
}

TEST(attack_matrix, a_cell_depends_on_nothing_beside_it) {
    const auto together = play({"repeat-one", "swap"}, {"bloom", "cuckooing"});
    const auto alone = play({"swap"}, {"cuckooing"});
    ASSERT_EQ(together.size(), 4u);
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_EQ(to_json({together[3]}), to_json(alone));
    auto in_one_thread =
        play_matrix({.quick = true, .adversaries = {"swap"}, .filters = {"cuckooing"}, .on_all_processors = false});
    ASSERT_TRUE(in_one_thread);
    EXPECT_EQ(to_json(*in_one_thread), to_json(alone));
    EXPECT_NE(to_json(play({"swap"}, {"cuckooing"}, 2)), to_json(alone)) << "another seed is another game";
}

TEST(attack_matrix, unknown_names_are_refused) {
    const auto unknown = play_matrix({.quick = true, .adversaries = {"unknown"}});
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().message().find("'unknown'"), std::string_view::npos);
    const auto sieve = play_matrix({.quick = true, .filters = {"sieve"}});
    ASSERT_FALSE(sieve);
    EXPECT_NE(sieve.error().message().find("'sieve'"), std::string_view::npos);
}

TEST(attack_matrix, is_read_back_from_json_with_the_same_verdicts) {
    const auto cells = play({"repeat-one", "growth-replay"}, {"bloom", "broom"});
    const auto back = matrix_from_json(nlohmann::ordered_json::parse(to_json(cells).dump()));
    EXPECT_EQ(to_json(back), to_json(cells));
    EXPECT_THROW((void)matrix_from_json(nlohmann::ordered_json::parse(R"([{"adversary":"swap"}])")),
                 nlohmann::json::exception);
}

TEST(attack_matrix, a_denied_key_is_worse_than_any_loss) {
    auto rows = to_json(play({"repeat-one"}, {"bloom"}));
    rows[0]["false_negatives"] = 1;
    EXPECT_EQ(matrix_from_json(rows)[0].said, verdict::denies);
    EXPECT_EQ(to_string(verdict::denies), "denies a stored key");
}

// Lost by all its queries though no claim was made: the cell shows the queries.
TEST(attack_matrix, shows_all_queries_where_the_claims_alone_would_hide_a_loss) {
    auto rows = to_json(play({"repeat-one"}, {"broom"}));
    rows[0]["guesses"] = 10;
    rows[0]["right"] = 0;
    rows[0]["negatives"] = 1'000;
    rows[0]["false_positives"] = 500;
    const matrix_cell cell = matrix_from_json(rows)[0];
    EXPECT_EQ(cell.said, verdict::loses);
    EXPECT_FALSE(cell.is_about_guesses());
    EXPECT_EQ(cell.rate(), 0.5);
}

TEST(attack_matrix, every_filter_that_can_be_attacked_has_its_column) {
    const std::vector<std::string> names = all_contenders();
    EXPECT_GE(names.size(), 17u);
    for (const std::string& each : names) EXPECT_NE(make_empty_contender(each, {.keys = 45}), nullptr) << each;
    EXPECT_EQ(make_empty_contender("sieve", {}), nullptr);
    EXPECT_TRUE(takes_more_than_capacity("broom"));
    EXPECT_TRUE(takes_more_than_capacity("daisy_broom"));
    EXPECT_FALSE(takes_more_than_capacity("bloom"));
}

}  // namespace
}  // namespace genista::lab::attack_matrix_test
