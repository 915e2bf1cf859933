// How training chooses settings and sizes: logs for which a wrong choice is clearly worse, and the
// same model to the last byte with every compiler and instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "genista/oracles/oracle_model.hpp"
#include "oracles/score_math.hpp"
#include "oracles/score_steps.hpp"
#include "tests/support/score_models.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::score_choice_test {
namespace {

using test::host_logs, test::trained_on, test::two_logs;

std::string letters(test::splitmix& chance, std::size_t count, std::string_view of) {
    std::string made;
    for (std::size_t i = 0; i < count; ++i) made += of[chance.below(of.size())];
    return made;
}

// Blocks of four letters a or b. In each block the number of a's is even if the key is stored and
// odd if it is queried. Any three letters of a block are equally likely in both.
two_logs parity_logs(std::size_t count, std::uint64_t seed) {
    test::splitmix chance{seed};
    two_logs logs;
    for (const bool is_stored : {true, false}) {
        for (std::size_t i = 0; i < count; ++i) {
            std::string key;
            for (int block = 0; block < 4; ++block) {
                std::string next = letters(chance, 3, "ab");
                const bool is_even = std::ranges::count(next, 'a') % 2 == 0;
                next += is_even == is_stored ? 'b' : 'a';
                key += next + "-";
            }
            (is_stored ? logs.stored : logs.asked).keys.push_back(key + letters(chance, 4, "0123456789"));
        }
    }
    return logs;
}

// One letter of the key is right three times out of four; the other forty are noise, which a large
// model can memorize.
two_logs noisy_logs(std::size_t count, std::uint64_t seed) {
    test::splitmix chance{seed};
    two_logs logs;
    for (const bool is_stored : {true, false}) {
        for (std::size_t i = 0; i < count; ++i) {
            const bool looks_stored = chance.below(4) == 0 ? !is_stored : is_stored;
            (is_stored ? logs.stored : logs.asked)
                .keys.push_back((looks_stored ? "+" : "-") + letters(chance, 40, "abcdefghijklmnopqrstuvwxyz"));
        }
    }
    return logs;
}

// Two languages of so many words each: to separate them a model needs a weight for most of the
// words.
two_logs worded_logs(std::size_t count, std::size_t words, std::uint64_t seed) {
    test::splitmix spelling{99}, chance{seed};
    std::array<std::vector<std::string>, 2> languages;
    for (auto& each : languages) {
        for (std::size_t i = 0; i < words; ++i) each.push_back(letters(spelling, 6, "abcdefghijklmnopqrstuvwxyz"));
    }
    two_logs logs;
    for (std::size_t i = 0; i < count; ++i) {
        for (const std::size_t side : {0U, 1U}) {
            const auto& from = languages[side];
            (side == 0 ? logs.stored : logs.asked)
                .keys.push_back(from[chance.below(words)] + letters(chance, 6, "0123456789"));
        }
    }
    return logs;
}

// Bits per key for keys that were not used in training.
double bits_on(const score_oracle& oracle, const two_logs& fresh) {
    const auto odds = [&](const test::key_log& log) {
        std::vector<key_odds> made;
        for (const std::string& key : log.keys) made.push_back(oracle.odds(key));
        return made;
    };
    const auto stored = odds(fresh.stored), asked = odds(fresh.asked);
    const auto plan = plan_tuned({static_cast<double>(stored.size()), 1.0 / 256},
                                 [&](const daisy_terms& terms) { return plan_from_samples(terms, stored, asked); });
    EXPECT_TRUE(plan) << plan.error().message();
    return plan ? plan->mean_bits : 0;
}

TEST(score_choice, finds_the_ngrams_that_matter) {
    const two_logs logs = parity_logs(4'000, 1), fresh = parity_logs(4'000, 2);
    const trained_score made = trained_on(logs, {.weights = 8192});
    EXPECT_TRUE(made.choice.is_judged);
    EXPECT_GE(made.choice.settings.longest_ngram, 4u);
    EXPECT_EQ(made.oracle.longest_ngram(), made.choice.settings.longest_ngram);
    const score_oracle blind =
        trained_on(logs, {.weights = 8192, .settings = score_settings{.longest_ngram = 3}}).oracle;
    EXPECT_GT(bits_on(blind, fresh), 6) << "three letters carry no information";
    EXPECT_LT(bits_on(made.oracle, fresh), 1);
}

TEST(score_choice, does_not_memorize_noise) {
    const two_logs logs = noisy_logs(3'000, 1), fresh = noisy_logs(20'000, 2);
    const trained_score made = trained_on(logs, {.weights = 1 << 16});
    const double chosen = bits_on(made.oracle, fresh);
    const score_settings eager{.longest_ngram = 6, .step = 0.5, .shrinkage = 0, .epochs = 16};
    EXPECT_GT(bits_on(trained_on(logs, {.weights = 1 << 16, .settings = eager}).oracle, fresh), chosen + 0.3);
    EXPECT_LE(made.choice.settings.longest_ngram, 3u);
}

// Settings are judged on keys that were held out: the judged cost must equal the cost on fresh
// keys. Judged on the keys it was fitted to, a model of this size would seem to need hardly a bit.
TEST(score_choice, settings_are_judged_on_held_out_keys) {
    const two_logs logs = noisy_logs(5'000, 1), others = noisy_logs(20'000, 2);
    const trained_score made = trained_on(logs, {.weights = 1 << 15});
    std::vector<score_draw> fresh;
    for (const std::string& key : others.stored.keys) fresh.push_back({key, true});
    for (const std::string& key : others.asked.keys) fresh.push_back({key, false});
    std::vector<score_pool> pools(made.oracle.bins(), {.stored = 0.5, .asked = 0.5});
    for (const score_draw& each : fresh) {
        score_pool& its = pools[made.oracle.bin_of(made.oracle.score(each.key))];
        (each.is_stored ? its.stored : its.asked) += 1;
    }
    double mean = 0;
    for (const double rate : {0x1p-6, 0x1p-8, 0x1p-10}) mean += bits_a_key(pools, rate) / 3;
    EXPECT_NEAR(mean, made.choice.bits_a_key, 0.15);
}

TEST(score_choice, short_logs_get_the_default_settings_and_report_it) {
    for (const std::uint64_t count : {1u, 100u, 1'000u}) {
        const trained_score made = trained_on(host_logs(count));
        EXPECT_FALSE(made.choice.is_judged) << count;
        EXPECT_EQ(made.choice.settings, score_settings{}) << count;
    }
    EXPECT_EQ(trained_on(host_logs(100), {.weights = score_options::chosen_weights}).oracle.weights(), 1024u);
    EXPECT_TRUE(trained_on(host_logs(2'500)).choice.is_judged);
}

TEST(score_choice, given_settings_are_kept) {
    const score_settings told{.longest_ngram = 2, .step = 0.3, .shrinkage = 0.01, .epochs = 3, .clipped = 9};
    const trained_score made = trained_on(host_logs(2'500), {.weights = 512, .settings = told});
    EXPECT_EQ(made.choice.settings, told);
    EXPECT_FALSE(made.choice.is_judged);
    EXPECT_EQ(made.oracle.longest_ngram(), 2u);
}

TEST(score_choice, the_size_follows_the_number_of_keys) {
    const two_logs logs = worded_logs(3'000, 400, 1);
    const auto size_for = [&](std::uint64_t keys) {
        return trained_on(logs, {.weights = score_options::chosen_weights, .keys = keys}).oracle.weights();
    };
    const std::uint64_t few = size_for(1'000), many = size_for(1'000'000);
    EXPECT_EQ(few, 1024u) << "for a thousand keys a larger model never saves what it costs";
    EXPECT_GE(many, 16'384u);
    // The choice is right: for fresh keys a model four times smaller costs a large filter more than
    // it saves.
    const two_logs fresh = worded_logs(20'000, 400, 2);
    EXPECT_GT(bits_on(trained_on(logs, {.weights = 1024}).oracle, fresh),
              bits_on(trained_on(logs, {.weights = many}).oracle, fresh) + 0.5);
}

TEST(score_choice, a_sketch_has_no_size_to_choose) {
    const two_logs logs = host_logs(200);
    training_options options;
    options.kind = oracle_kind::count_min;
    options.bytes = training_options::chosen_bytes;
    const auto made = train_model(options, logs.stored.views(), logs.asked.views());
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message().find("0 bytes are not in 64.."), std::string_view::npos);
}

TEST(score_choice, train_model_reports_the_choice) {
    const two_logs logs = host_logs(3'000);
    training_options options;
    options.bytes = 512;
    score_choice told;
    double before = 0;
    options.chose = [&](const score_choice& chosen) { told = chosen; };
    options.progress = [&](double share) {
        EXPECT_GE(share, before);
        EXPECT_LE(share, 1);
        before = share;
    };
    ASSERT_TRUE(train_model(options, logs.stored.views(), logs.asked.views()));
    EXPECT_TRUE(told.is_judged);
    EXPECT_EQ(told.weights, 512u);
    EXPECT_GT(told.bits_a_key, 0);
    EXPECT_LT(told.bits_a_key, 8);
    EXPECT_EQ(before, 1);
}

// Golden: pinned, not derived. Compilers, optimisation and instruction sets must not change it;
// only a change of training may.
TEST(score_choice, golden_model_is_the_same_everywhere) {
    const auto sum = [](const std::vector<std::byte>& bytes) {
        std::uint64_t x = 0xcbf29ce484222325;
        for (const std::byte b : bytes) x = (x ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3;
        return x;
    };
    EXPECT_EQ(sum(test::saved_bytes(trained_on(parity_logs(3'000, 1), {.weights = 1000}).oracle)),
              1197658519222703340u);
    EXPECT_EQ(sum(test::saved_bytes(trained_on(noisy_logs(3'000, 1), {.weights = 0, .keys = 20'000}).oracle)),
              5006341159867650292u);
}

TEST(score_math, agrees_with_the_standard_library) {
    test::splitmix chance{3};
    for (int i = 0; i < 100'000; ++i) {
        const double x = (static_cast<double>(chance() >> 11) * 0x1p-53 - 0.5) * 1400;
        ASSERT_NEAR(portable_exp(x) / std::exp(x), 1, 1e-14) << x;
        const double y = std::ldexp(static_cast<double>(chance() | 1), static_cast<int>(chance.below(1'000)) - 500);
        ASSERT_NEAR(portable_log2(y), std::log2(y), 1e-14 * std::max(1.0, std::abs(std::log2(y)))) << y;
    }
    EXPECT_EQ(portable_exp(0), 1);
    EXPECT_EQ(portable_log2(1), 0);
    EXPECT_EQ(portable_log2(0x1p-8), -8);
    EXPECT_TRUE(std::isfinite(portable_exp(1e300)));
    EXPECT_GT(portable_exp(-1e300), 0);
}

// Two pools. With k bits for the keys of the second, Q₂ 2^-k of the queries are false positives of
// the second pool and Q₁ of the first.
TEST(score_bins, bits_are_as_many_as_the_rate_needs) {
    const std::vector<score_pool> pools = {{.stored = 100, .asked = 900}, {.stored = 900, .asked = 1e-6}};
    // The first pool needs the whole rate's bits for a tenth of the keys; the second is never
    // queried.
    EXPECT_NEAR(bits_a_key(pools, 1.0 / 256), 0.1 * 8, 1e-3);
    const std::vector<score_pool> alike = {{.stored = 10, .asked = 10}};
    for (const double rate : {0.5, 1.0 / 256, 1e-6}) EXPECT_NEAR(bits_a_key(alike, rate), -std::log2(rate), 1e-9);
}

}  // namespace
}  // namespace genista::score_choice_test
