// The adversaries of the ADAPTIVITY-GAME and the controls that must lose to them, in small. The
// judgement over millions of queries is the experiment's (genista lab run broom-game).
#include "lab/adversaries/adversary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "lab/controls/controls.hpp"
#include "lab/experiment.hpp"
#include "lab/games/learning_arena.hpp"
#include "lab/games/local_arena.hpp"
#include "lab/statistics/binomial.hpp"

namespace genista::lab::adversaries_test {
namespace {

broom_options small_filter(const stage& plays_on, double rate) {
    broom_options options;
    options.capacity = std::min(plays_on.capacity, few_bins.capacity);
    options.false_positive_rate = rate;
    options.hash = hasher{hash_key::from_seed(7)};
    options.grows = false;
    options.random = repeatable(7);
    return options;
}

TEST(adversaries, have_distinct_names_and_an_idea) {
    std::set<std::string_view> names;
    for (const adversary& each : all_adversaries()) {
        EXPECT_TRUE(names.insert(each.name).second) << each.name;
        EXPECT_FALSE(each.idea.empty()) << each.name;
        EXPECT_EQ(find_adversary(each.name), &each);
    }
    EXPECT_EQ(find_adversary("unknown"), nullptr);
}

// Claim: ε for each query given the past; at most 50 times 10^-9 of false alarm. A budget this
// small catches attacks that win outright, as they do against the controls below.
TEST(adversaries, win_nothing_from_the_broom_filter_and_lose_no_key) {
    for (const adversary& each : all_adversaries()) {
        broom_arena<broom_filter> at{small_filter(each.plays_on, 0x1p-8)};
        const std::uint64_t keys = std::min(each.plays_on.keys, few_bins.keys);
        fill(at, keys);
        ASSERT_EQ(at.size(), keys);
        each.play(at, {.queries = 60'000, .seed = 3, .progress = [](double) {}});
        const score& seen = at.counted();
        EXPECT_GT(seen.negatives, 0u) << each.name;
        EXPECT_LE(seen.false_positives, most_plausible_hits(seen.negatives, at.rate())) << each.name;
        EXPECT_LE(seen.right_guesses, most_plausible_hits(seen.guesses, at.rate())) << each.name;
        EXPECT_EQ(seen.false_negatives, 0u) << each.name;
        const auto audited = at.filter().audit(at.remote());
        EXPECT_TRUE(audited) << each.name << ": " << audited.error().message();
    }
}

// Within a round of the budget, so that the effort of an experiment is known.
TEST(adversaries, keep_to_their_budget) {
    for (const adversary& each : all_adversaries()) {
        broom_arena<broom_filter> at{small_filter(each.plays_on, 0x1p-12)};
        fill(at, std::min(each.plays_on.keys, few_bins.keys));
        const score before = at.counted();
        each.play(at, {.queries = 20'000, .seed = 3, .progress = [](double) {}});
        EXPECT_LE(at.counted().negatives - before.negatives, 60'000u) << each.name;
    }
}

TEST(arenas, count_the_false_positives_of_a_filter_that_never_learns) {
    local_arena<bloom_filter> at{
        {.capacity = 100, .false_positive_rate = 1.0 / 256, .hash = hasher{hash_key::from_seed(1)}}};
    fill(at, 100);
    EXPECT_TRUE(at.query(5).maybe);
    EXPECT_TRUE(at.query(5).member);
    EXPECT_EQ(at.counted().negatives, 0u);
    at.erase(5);  // a Bloom filter cannot erase
    EXPECT_TRUE(at.guess(5).false_positive());
    EXPECT_EQ(at.counted().guesses, 1u);
    EXPECT_EQ(at.counted().right_guesses, 1u);
    EXPECT_THROW(at.grow(), std::runtime_error);
    at.save();
    at.restart();
    EXPECT_TRUE(at.query(6).maybe);
    EXPECT_EQ(at.counted().false_negatives, 0u);
}

TEST(controls, that_never_learn_lose) {
    for (const control_outcome& each : play_local_filters({.seed = 1, .only = {}})) {
        EXPECT_TRUE(each.won) << each.name << " " << each.attack;
        EXPECT_EQ(each.win_rate(), 1) << each.name << " " << each.attack;
    }
}

TEST(controls, with_a_public_hash_lose) {
    const auto played = play_unkeyed_hash({.seed = 1, .only = {}});
    ASSERT_EQ(played.size(), 2u);
    for (const control_outcome& each : played) EXPECT_TRUE(each.won) << each.attack << ": " << each.note;
}

// Each rule of the law by itself: the attack that it prevents must win without it. insert_extends
// takes some seconds and is in adversaries_stat_test.cpp.
TEST(controls, that_lack_one_rule_lose) {
    for (const char* rule : {"salts_wrap", "salts_of_16_bits", "growth_keeps_salts", "load_keeps_salts",
                             "erase_forgets", "overflow_hides_collision", "adapt_does_nothing", "backyard_unsalted"}) {
        const auto played = play_dropped_rules({.seed = 1, .only = rule});
        EXPECT_FALSE(played.empty()) << rule;
        for (const control_outcome& each : played) {
            EXPECT_TRUE(each.won) << rule << " under " << each.attack << ": " << each.played.right_guesses << " of "
                                  << each.played.guesses << " " << each.note;
            EXPECT_EQ(each.played.false_negatives, 0u) << rule;
        }
    }
}

TEST(broom_game, refuses_an_unknown_filter) {
    run_options options;
    options.filter = "bloom";
    const auto refused = find_experiment("broom-game")->run(options);
    ASSERT_FALSE(refused);
    EXPECT_NE(std::string{refused.error().message()}.find("broom-game measures broom"), std::string::npos);
}

}  // namespace
}  // namespace genista::lab::adversaries_test
