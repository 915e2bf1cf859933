// oracle_model, odds_profile and train_model: every kind of oracle trained from logs, plans from
// profiles, and bad input, which is refused by name.
#include "genista/oracles/oracle_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/score_models.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::oracle_model_test {
namespace {

using test::host_logs, test::saved_bytes, test::two_logs;

// Inserts and queries of a small skewed universe: key i of 1,000 is stored in proportion to
// 1/(i + 1), and queried in the reverse order.
two_logs counted_logs(std::uint64_t draws, std::uint64_t seed) {
    test::splitmix chance{seed};
    two_logs made;
    const auto favourite = [&] {
        // About Zipf with exponent 1: uniform on a logarithmic scale.
        return static_cast<std::uint64_t>(std::pow(1000.0, static_cast<double>(chance.below(1 << 20)) / (1 << 20))) - 1;
    };
    for (std::uint64_t i = 0; i < draws; ++i) {
        made.stored.keys.push_back("key" + std::to_string(favourite()));
        made.asked.keys.push_back("key" + std::to_string(999 - favourite()));
    }
    return made;
}

result<oracle_model> trained(oracle_kind kind, const two_logs& logs, std::uint64_t bytes = 16'384) {
    training_options options;
    options.kind = kind;
    options.bytes = bytes;
    return train_model(options, logs.stored.views(), logs.asked.views());
}

TEST(odds_profile, gives_the_plan_of_the_draws_themselves) {
    std::vector<key_odds> stored, asked;
    test::splitmix chance{1};
    for (int i = 0; i < 1'000; ++i) {
        stored.push_back(
            {1e-6 * static_cast<double>(1 + chance.below(7)), 1e-6 / static_cast<double>(1 + chance.below(300))});
        asked.push_back(
            {1e-6 / static_cast<double>(1 + chance.below(300)), 1e-6 * static_cast<double>(1 + chance.below(7))});
    }
    const auto profile = odds_profile::make(stored, asked);
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(profile->stored_draws(), 1'000u);
    for (const double rate : {0.5, 1.0 / 64, 1.0 / 1024}) {
        const daisy_terms terms{100, rate};
        const auto direct = plan_from_samples(terms, stored, asked), through = profile->plan(terms);
        ASSERT_TRUE(direct && through);
        EXPECT_NEAR(direct->mean_bits, through->mean_bits, 1e-9);
        EXPECT_NEAR(direct->overlap, through->overlap, 1e-9);
        for (std::size_t j = 0; j < direct->stored_share.size(); ++j) {
            EXPECT_NEAR(direct->stored_share[j], through->stored_share[j], 1e-9) << j;
            EXPECT_NEAR(direct->asked_share[j], through->asked_share[j], 1e-9) << j;
        }
        const auto tuned = profile->plan_tuned(terms);
        ASSERT_TRUE(tuned) << tuned.error().message();
        EXPECT_LE(tuned->expected_rate(), rate);
    }
}

TEST(odds_profile, keeps_at_most_its_number_of_draws_and_counts_equal_ones) {
    const std::vector<key_odds> many(100'000, {1e-9, 1e-8}), one = {{1e-8, 1e-9}};
    const auto profile = odds_profile::make(many, one);
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(profile->stored_draws(), odds_profile::most_draws);
    EXPECT_EQ(profile->asked_draws(), 1u);
    ASSERT_EQ(profile->entries().size(), 2u);
    EXPECT_EQ(profile->entries()[0], (odds_profile::entry{{1e-9, 1e-8}, 32'768, 0}));
    const auto bytes = profile->bytes();
    ASSERT_TRUE(bytes);
    const auto again = odds_profile::from_bytes(*bytes);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(again->entries()[1], profile->entries()[1]);
}

TEST(odds_profile, refuses_draws_that_are_not_odds) {
    const std::vector<key_odds> fine = {{0.5, 0.5}};
    EXPECT_FALSE(odds_profile::make({}, fine));
    EXPECT_FALSE(odds_profile::make(fine, {}));
    for (const double bad : {-0.1, 1.1, std::nan(""), HUGE_VAL, -0.0}) {
        EXPECT_FALSE(odds_profile::make(fine, std::vector<key_odds>{{bad, 0.5}})) << bad;
        EXPECT_FALSE(odds_profile::make(std::vector<key_odds>{{0.5, bad}}, fine)) << bad;
    }
    const auto profile = odds_profile::make(fine, fine);
    ASSERT_TRUE(profile);
    EXPECT_FALSE(profile->plan({.draws = 0}));
    EXPECT_FALSE(profile->plan({.rate = 0.7}));
    EXPECT_FALSE(odds_profile::from_bytes(std::vector<std::byte>(23)));
    EXPECT_FALSE(odds_profile::from_bytes({})) << "no draws";
}

TEST(oracle_model, every_kind_trains_saves_and_answers_the_same_when_loaded) {
    const two_logs logs = counted_logs(5'000, 2);
    for (const oracle_kind kind : all_oracle_kinds) {
        const auto model = trained(kind, logs);
        ASSERT_TRUE(model) << model.error().message();
        EXPECT_EQ(model->origin(), (model_origin{5'000, 5'000, true}));
        EXPECT_EQ(std::string{model->oracle()->name()}, std::string{to_string(kind)} + "_oracle");
        const auto file = saved_bytes(*model);
        const auto loaded = oracle_model::load(file);
        ASSERT_TRUE(loaded) << loaded.error().message();
        EXPECT_EQ(saved_bytes(*loaded), file);
        EXPECT_EQ(loaded->origin(), model->origin());
        EXPECT_EQ(loaded->oracle()->memory_bytes(), model->oracle()->memory_bytes());
        for (std::uint64_t i = 0; i < 2'000; ++i) {
            const std::string key = "key" + std::to_string(i);
            ASSERT_EQ(loaded->oracle()->odds(key), model->oracle()->odds(key)) << key;
        }
        EXPECT_EQ(saved_bytes(*trained(kind, logs)), file) << "the same logs and seed, the same model";
    }
}

// The exact table, and sketches that are large enough, find the most frequent keys of both logs, so
// that a filter needs fewer bits.
TEST(oracle_model, counting_oracles_find_the_frequent_keys) {
    const two_logs logs = counted_logs(20'000, 3);
    for (const oracle_kind kind : {oracle_kind::exact, oracle_kind::count_min, oracle_kind::count_sketch}) {
        const auto model = trained(kind, logs, 1 << 18);
        ASSERT_TRUE(model) << model.error().message();
        const key_odds first = model->oracle()->odds("key0"), last = model->oracle()->odds("key999");
        EXPECT_GT(first.stored, 0.05);
        EXPECT_GT(first.stored, 10 * first.asked);
        EXPECT_GT(last.asked, 10 * last.stored);
        const auto plan = model->profile().plan({.draws = 100, .rate = 1.0 / 256});
        ASSERT_TRUE(plan);
        EXPECT_LT(plan->mean_bits, 7);
        EXPECT_FALSE(plan->keeps_condition()) << "a hundred draws of a thousand keys, many of them queried";
    }
}

TEST(oracle_model, a_profile_is_drawn_from_unseen_keys) {
    // Every key occurs once: an exact table cannot have seen the next one.
    const auto exact = trained(oracle_kind::exact, host_logs(1'000));
    ASSERT_TRUE(exact) << exact.error().message();
    EXPECT_EQ(exact->profile().entries().size(), 1u) << "all unseen";
    EXPECT_NEAR(static_cast<double>(exact->profile().stored_draws()), 200, 65) << "five standard deviations";
    const auto score = trained(oracle_kind::score, host_logs(1'000));
    ASSERT_TRUE(score) << score.error().message();
    EXPECT_GT(score->profile().entries().size(), 2u);
    const auto few = trained(oracle_kind::count_min, host_logs(50));
    ASSERT_TRUE(few) << few.error().message();
    EXPECT_FALSE(few->origin().is_held_out);
    EXPECT_EQ(few->profile().stored_draws(), 50u);
}

TEST(oracle_model, bad_input_is_refused_by_name) {
    const two_logs logs = host_logs(10);
    EXPECT_FALSE(train_model({}, {}, logs.asked.views()));
    EXPECT_FALSE(train_model({}, logs.stored.views(), {}));
    const auto small = trained(oracle_kind::count_min, logs, 63);
    ASSERT_FALSE(small);
    EXPECT_NE(small.error().message().find("63 bytes are not in 64.."), std::string_view::npos);
}

TEST(oracle_model, known_odds_become_an_exact_table_and_their_own_profile) {
    const std::vector<weighted_key> stored = {{"a", 0.5}, {"b", 0.25}, {"c", 0.25}},
                                    asked = {{"b", 0.5}, {"c", 0.5}, {"a", 0}};
    const auto model = model_of_odds(stored, asked, 1);
    ASSERT_TRUE(model) << model.error().message();
    EXPECT_EQ(model->oracle()->odds("a"), (key_odds{0.5, 0}));
    EXPECT_EQ(model->oracle()->odds("b"), (key_odds{0.25, 0.5}));
    const auto plan = model->profile().plan({.draws = 1, .rate = 0.25});
    ASSERT_TRUE(plan);
    EXPECT_NEAR(plan->stored_share[0], 0.5, 1e-4);
    EXPECT_NEAR(plan->overlap, 0.25, 1e-4);
    const std::vector<weighted_key> others = {{"b", 0.5}, {"x", 0.5}, {"a", 0}};
    const auto differing = model_of_odds(stored, others, 1);
    ASSERT_FALSE(differing);
    EXPECT_NE(std::string{differing.error().message()}.find("'"), std::string::npos) << differing.error().message();
    const std::vector<weighted_key> half = {{"a", 0.25}, {"b", 0.25}, {"c", 0}};
    EXPECT_FALSE(model_of_odds(stored, half, 1)) << "the odds sum to one half";
}

}  // namespace
}  // namespace genista::oracle_model_test
