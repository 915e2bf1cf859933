// The attacks on the cuckoo family, in small: they win where the theorems say, and never against
// the broom filter. The counts over hundreds of games are the experiments' (genista lab run
// acf-attack-cyclic, -swapping, -birthday).
#include "lab/adversaries/acf_attacks.hpp"

#include <gtest/gtest.h>

#include <string>

#include "genista/filters/cuckooing.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/acf_attack.hpp"
#include "lab/games/cuckoo_arena.hpp"
#include "lab/statistics/binomial.hpp"
#include "papers/cuckoo_family.hpp"

namespace genista::lab::acf_attacks_test {
namespace {

contender_plan small(unsigned fingerprint_bits, std::uint64_t seed = 1) {
    contender_plan plan;
    plan.keys = 2'000;
    plan.fingerprint_bits = fingerprint_bits;
    plan.seed = seed;
    return plan;
}

unsigned wins_of_repeaters(const char* filter, unsigned bits, const repeater_plan& by, unsigned games) {
    return static_cast<unsigned>(
        play_games(
            filter, small(bits), games, [&](arena& at, std::uint64_t) { return find_repeater(at, by); }, [](double) {})
            .wins);
}

// 15^2 / 3.8 = 59 candidates find one in 63 % of the games; four times as many in 98 %.
TEST(repeaters, win_against_a_cyclic_filter_with_enough_candidates) {
    EXPECT_GE(wins_of_repeaters("cyclic1", 4, {.candidates = 240, .repeats = 2}, 20), 16u);
    EXPECT_LE(wins_of_repeaters("cyclic1", 8, {.candidates = 240, .repeats = 2}, 20), 4u);
}

TEST(repeaters, win_against_a_swapping_filter_with_enough_candidates) {
    EXPECT_GE(wins_of_repeaters("swapping", 3, {.candidates = 1'300, .repeats = 32}, 20), 16u);
}

TEST(repeaters, win_every_game_against_filters_that_never_learn) {
    for (const char* filter : {"cuckoo", "bloom", "blocked_bloom", "cuckoo_partial"}) {
        EXPECT_EQ(wins_of_repeaters(filter, 8, {.candidates = 10'000, .repeats = 8}, 5), 5u) << filter;
    }
}

TEST(repeaters, win_nothing_from_the_broom_filter) {
    const attack_games played = play_games(
        "broom", small(8), 10,
        [](arena& at, std::uint64_t) { return find_repeater(at, {.candidates = 20'000, .repeats = 2}); },
        [](double) {});
    EXPECT_TRUE(played.stays_at_rate());
    EXPECT_EQ(played.seen.false_negatives, 0u);
    EXPECT_LE(played.wins, most_plausible_hits(played.named, played.rate));
}

unfixable_plan birthday(const contender_plan& of, unsigned tables, std::uint64_t seed) {
    unfixable_plan plan;
    plan.tables = tables;
    plan.bins = static_cast<std::uint64_t>(static_cast<double>(of.keys) / of.load / tables);
    plan.rate = 1.0 / (1u << of.fingerprint_bits);
    plan.keys = of.keys;
    plan.seed = seed;
    return plan;
}

TEST(unfixable_sets, win_against_a_cuckooing_filter_at_low_load) {
    contender_plan of = small(4);
    of.tables = 3;
    of.bin_slots = 1;
    of.load = 0.5;
    const attack_games played = play_games(
        "cuckooing", of, 10,
        [&](arena& at, std::uint64_t seed) { return find_unfixable(at, birthday(of, 3, seed)).named; }, [](double) {});
    EXPECT_GE(played.wins, 5u);
    EXPECT_EQ(played.seen.false_negatives, 0u);
}

TEST(unfixable_sets, win_nothing_from_the_broom_filter_and_everything_from_a_plain_one) {
    const contender_plan of = small(8);
    const attack by = [&](arena& at, std::uint64_t seed) { return find_unfixable(at, birthday(of, 2, seed)).named; };
    EXPECT_TRUE(play_games("broom", of, 5, by, [](double) {}).stays_at_rate());
    EXPECT_EQ(play_games("cuckoo", of, 5, by, [](double) {}).wins, 5u);
}

TEST(unfixable_sets, keep_to_the_queries_they_may_make) {
    const contender_plan of = small(8);
    const auto at = make_contender("cuckooing", of);
    unfixable_plan plan = birthday(of, 2, 1);
    plan.most_queries = 1'000;
    (void)find_unfixable(*at, plan);
    EXPECT_LE(at->counted().negatives, 1'000u);
}

TEST(contenders, play_the_same_game_for_the_same_seed) {
    const auto once = make_contender("swapping", small(4)), again = make_contender("swapping", small(4));
    for (std::uint64_t key = 0; key < 5'000; ++key) {
        ASSERT_EQ(once->query((std::uint64_t{1} << 40) + key % 300).maybe,
                  again->query((std::uint64_t{1} << 40) + key % 300).maybe);
    }
    EXPECT_EQ(make_contender("no-such-filter", small(4)), nullptr);
}

// An arena of the family runs a whole life: keys are inserted and erased, and it restarts from a
// snapshot.
TEST(contenders, of_the_cuckoo_family_insert_erase_and_restart) {
    cuckoo_options options;
    options.capacity = 300;
    options.random = repeatable(1);
    options.hash = hasher{hash_key::from_seed(1)};
    cuckoo_arena<cuckooing_filter> at{options};
    at.fill(200);
    for (std::uint64_t key = 200; key < 300; ++key) at.insert(key);
    for (std::uint64_t key = 0; key < 100; ++key) at.erase(key);
    at.save();
    at.restart();
    for (std::uint64_t key = 100; key < 300; ++key) EXPECT_TRUE(at.query(key).maybe) << key;
    EXPECT_EQ(at.counted().false_negatives, 0u);
    EXPECT_EQ(at.size(), 200u);
    EXPECT_THROW(at.grow(), std::runtime_error);
    EXPECT_TRUE(at.filter().audit(at.remote()));
}

TEST(acf_experiments, refuse_unknown_filters) {
    for (const char* id : {"acf-attack-cyclic", "acf-attack-swapping", "acf-attack-birthday"}) {
        run_options options;
        options.filter = "no-such-filter";
        const auto refused = find_experiment(id)->run(options);
        ASSERT_FALSE(refused) << id;
        EXPECT_EQ(refused.error().code(), error_code::invalid_argument);
        EXPECT_NE(refused.error().message().find("no-such-filter"), std::string_view::npos)
            << refused.error().message();
        EXPECT_NE(refused.error().message().find("cuckooing"), std::string_view::npos) << refused.error().message();
    }
    for (const char* id : {"acf-support", "acf-not-support", "acf-figures"}) {
        run_options options;
        options.filter = "bloom";
        EXPECT_FALSE(find_experiment(id)->run(options)) << id;
    }
}

}  // namespace
}  // namespace genista::lab::acf_attacks_test
