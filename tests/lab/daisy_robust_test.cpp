// The parts of daisy-robust: draws for one purpose are independent of draws for another, plans are
// brought to a rate or report that they cannot be, and no oracle makes a filter deny a stored key.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "lab/experiments/daisy_robust.hpp"
#include "papers/perturbed_oracle.hpp"

namespace genista::lab::daisy_robust_test {
namespace {

constexpr std::uint64_t universe = std::uint64_t{1} << 24;

odds_world two_classes() {
    return odds_world::two_classes(universe, universe / 2, 0.9, 0.1);
}

odds_source odds_by(const std::shared_ptr<const odds_world>& world, oracle_mistake mistake) {
    auto made = std::make_shared<const perturbed_oracle<odds_world>>(
        must(perturbed_oracle<odds_world>::make(world, {.mistake = mistake, .universe = universe})));
    return {"", [made](std::uint64_t key) { return made->odds(key); }, 0};
}

// Streams of neighbouring seeds were one stream, shifted: queries two seeds from the inserts met
// exactly their keys.
TEST(daisy_robust, draws_of_neighbouring_seeds_do_not_follow_each_other) {
    const auto world = two_classes();
    auto inserts = world.stored_draws(1);
    std::set<std::uint64_t> members;
    for (int i = 0; i < 20'000; ++i) members.insert(inserts());
    for (std::uint64_t seed = 1; seed < 12; ++seed) {
        auto queries = world.asked_draws(seed);
        std::uint64_t met = 0;
        for (int i = 0; i < 20'000; ++i) met += members.contains(queries()) ? 1u : 0u;
        EXPECT_LE(met, 40u) << seed;  // about 9 are expected
    }
}

TEST(daisy_robust, a_stage_asks_for_absent_keys_in_their_shares) {
    const auto stage = make_stage(two_classes(), 5'000, 0.1, 1);
    const std::set<std::uint64_t> members(stage.inserts.begin(), stage.inserts.end());
    EXPECT_EQ(stage.distinct, members.size());
    for (const auto* keys : {&stage.asked_sample, &stage.queries}) {
        std::uint64_t first = 0;
        for (const std::uint64_t key : *keys) {
            ASSERT_FALSE(members.contains(key));
            first += key < universe / 2 ? 1u : 0u;
        }
        EXPECT_NEAR(static_cast<double>(first) / static_cast<double>(keys->size()), 0.1, 0.01);
    }
}

TEST(daisy_robust, the_largest_parameter_that_keeps_the_rate_is_found) {
    const auto stage = make_stage(two_classes(), 5'000, 0.1, 1);
    const auto world = std::make_shared<const odds_world>(stage.world);
    const odds_table odds = ask_all(stage, odds_by(world, oracle_mistake::none));
    const auto rate_of = [&](double parameter) {
        double sum = 0;
        for (const key_odds& each : odds.asked_sample)
            sum += std::ldexp(1.0, -static_cast<int>(daisy_class(each, {5'000, parameter})));
        return sum / static_cast<double>(odds.asked_sample.size());
    };
    const tuned_plan tuned = tune(stage, odds, 0.1);
    ASSERT_TRUE(tuned.reaches);
    EXPECT_LE(rate_of(tuned.plan.terms.rate), 0.1);
    EXPECT_GT(rate_of(1.001 * tuned.plan.terms.rate), 0.1);
}

TEST(daisy_robust, an_oracle_that_takes_absent_keys_for_stored_keys_cannot_be_brought_to_a_rate) {
    const auto stage = make_stage(two_classes(), 5'000, 0.1, 1);
    const odds_source liar{"", [](std::uint64_t) { return key_odds{0.5, 0.5}; }, 0};
    EXPECT_FALSE(tune(stage, ask_all(stage, liar), 0.1).reaches);
}

// Random errors have a rate of 2.5 % just above ε′ = 2^-6 and 1.26 % just below: with a target of 2
// %, a Bloom filter does not pay for 1.26 %, which took 1.4985 bits for each draw that exact odds
// keep. The errors explain 1.26 bits.
TEST(daisy_robust, a_bloom_filter_does_not_pay_for_a_better_rate_than_the_target) {
    constexpr std::uint64_t large = std::uint64_t{1} << 28, seed = 1;
    const auto stage = make_stage(odds_world::zipf_stored(large, 1.0), 200'000, 0.02, seed);
    const auto world = std::make_shared<const odds_world>(stage.world);
    const auto seen_by = [&](oracle_mistake mistake) {
        auto made = std::make_shared<const perturbed_oracle<odds_world>>(
            must(perturbed_oracle<odds_world>::make(world, {.mistake = mistake, .seed = seed, .universe = large})));
        const odds_source source{"", [made](std::uint64_t key) { return made->odds(key); }, 0};
        return bring_to_rate<daisy_bloom_filter>(stage, source, ask_all(stage, source), seed);
    };
    const robust_seen exact = seen_by(oracle_mistake::none), wrong = seen_by(oracle_mistake::random);
    EXPECT_TRUE(exact.reached && wrong.reached);
    EXPECT_LT(wrong.parameter, 0x1p-6) << "not at the step";
    EXPECT_GT(wrong.measured_rate(), 0.018);
    EXPECT_LE((wrong.bits - exact.bits) / exact.kept_draws, 1.26);
    EXPECT_EQ(wrong.denied, 0u);
}

TEST(daisy_robust, no_mistake_makes_a_filter_deny_a_stored_key) {
    const auto stage = make_stage(two_classes(), 5'000, 0.1, 1);
    const auto world = std::make_shared<const odds_world>(stage.world);
    for (const auto mistake :
         {oracle_mistake::none, oracle_mistake::random, oracle_mistake::too_small, oracle_mistake::too_large,
          oracle_mistake::constant, oracle_mistake::shuffled, oracle_mistake::swapped}) {
        const odds_source source = odds_by(world, mistake);
        const odds_table odds = ask_all(stage, source);
        EXPECT_EQ(bring_to_rate<daisy_bloom_filter>(stage, source, odds, 1).denied, 0u);
        EXPECT_EQ(bring_to_rate<daisy_fingerprint_filter>(stage, source, odds, 1).denied, 0u);
    }
}

}  // namespace
}  // namespace genista::lab::daisy_robust_test
