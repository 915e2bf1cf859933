// Score models: training, scores, and the choice of a model by its size.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "genista/oracles/daisy_plan.hpp"
#include "genista/oracles/oracle_model.hpp"
#include "genista/oracles/score_oracle.hpp"
#include "oracles/score_math.hpp"
#include "oracles/score_steps.hpp"
#include "tests/support/score_models.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::score_oracle_test {
namespace {

// ---- the oracle ---------------------------------------------------------------------------------

// score_oracle: what a model learns, its odds for keys not in the logs, its limits and bad input.
// Snapshots are in oracle_snapshot_test.cpp.

using test::host_logs, test::trained_on, test::two_logs;

constexpr score_settings quickly{.longest_ngram = 3, .epochs = 1};

std::string refusal(const result<score_oracle>& of) {
    return of ? "made" : std::string{of.error().message()};
}

score_oracle::parts sound_parts() {
    score_oracle::parts made;
    made.weights.assign(64, 1);
    made.universe = 0x1p20;
    made.cuts = {0, 10};
    const double each = 3 / 0x1p20;
    made.odds = {{0.2 * each, 0.6 * each}, {0.3 * each, 0.3 * each}, {0.5 * each, 0.1 * each}};
    return made;
}

// A second implementation of the score, from docs/format.md and not from the library's sources.
std::int32_t plain_score(std::string_view key, unsigned longest, const std::vector<std::int8_t>& weights) {
    std::vector<std::uint64_t> symbols{256};
    for (const char c : key.substr(0, 256)) symbols.push_back(static_cast<unsigned char>(c));
    symbols.push_back(257);
    std::int32_t sum = 0;
    for (std::size_t length = 1; length <= longest; ++length) {
        for (std::size_t from = 0; from + length <= symbols.size(); ++from) {
            std::uint64_t x = 0x2545f4914f6cdd1d;
            for (std::size_t i = from; i < from + length; ++i) {
                x = (x ^ symbols[i]) * 0x9e3779b97f4a7c15;
                x ^= x >> 31;
            }
            __extension__ using wide = unsigned __int128;
            sum += weights[static_cast<std::size_t>(wide{x * 0xd6e8feb86659fd93} * weights.size() >> 64)];
        }
    }
    return sum;
}

TEST(score_oracle, scores_as_the_format_says) {
    test::splitmix chance{5};
    for (const unsigned longest : {1u, 3u, 8u}) {
        for (const std::size_t weights : {64u, 1000u, 4096u}) {
            score_oracle::parts made = sound_parts();
            made.longest_ngram = longest;
            made.weights.clear();
            for (std::size_t i = 0; i < weights; ++i)
                made.weights.push_back(static_cast<std::int8_t>(static_cast<int>(chance.below(256)) - 128));
            const auto oracle = score_oracle::make(made);
            ASSERT_TRUE(oracle) << oracle.error().message();
            for (const std::size_t length : {0u, 1u, 2u, 7u, 8u, 20u, 255u, 256u, 257u, 1000u}) {
                std::string key;
                for (std::size_t i = 0; i < length; ++i) key += static_cast<char>(chance.below(256));
                ASSERT_EQ(oracle->score(key), plain_score(key, longest, made.weights)) << longest << " " << length;
            }
        }
    }
}

TEST(score_oracle, bins_begin_at_their_cuts) {
    const auto oracle = score_oracle::make(sound_parts());
    ASSERT_TRUE(oracle) << oracle.error().message();
    EXPECT_EQ(oracle->bin_of(std::numeric_limits<std::int32_t>::min()), 0u);
    EXPECT_EQ(oracle->bin_of(-1), 0u);
    EXPECT_EQ(oracle->bin_of(0), 1u);
    EXPECT_EQ(oracle->bin_of(9), 1u);
    EXPECT_EQ(oracle->bin_of(10), 2u);
    EXPECT_EQ(oracle->bin_of(std::numeric_limits<std::int32_t>::max()), 2u);
    EXPECT_DOUBLE_EQ(oracle->shares(2).stored, 0.5);
    EXPECT_NEAR(oracle->divergence_bits(), 0.2 * std::log2(0.2 / 0.6) + 0.5 * std::log2(5), 1e-12);
}

TEST(score_oracle, refuses_invalid_models_and_names_the_reason) {
    const auto with = [](auto change) {
        score_oracle::parts parts = sound_parts();
        change(parts);
        return refusal(score_oracle::make(std::move(parts)));
    };
    using parts = score_oracle::parts;
    EXPECT_EQ(with([](parts&) {}), "made");
    EXPECT_NE(with([](parts& p) { p.weights.resize(63); }).find("63 weights"), std::string::npos);
    EXPECT_NE(with([](parts& p) { p.longest_ngram = 0; }).find("0 bytes are not in 1..8"), std::string::npos);
    EXPECT_NE(with([](parts& p) { p.longest_ngram = 9; }).find("9 bytes"), std::string::npos);
    EXPECT_NE(with([](parts& p) { p.universe = 1; }).find("universe of 1"), std::string::npos);
    EXPECT_NE(with([](parts& p) { p.universe = std::nan(""); }).find("nan"), std::string::npos);
    EXPECT_NE(with([](parts& p) { p.cuts = {10, 10}; }).find("cut 1"), std::string::npos);
    EXPECT_NE(with([](parts& p) { p.cuts = {10}; }).find("3 bins with 1 cuts"), std::string::npos);
    EXPECT_NE(with([](parts& p) { p.odds.clear(), p.cuts.clear(); }).find("0 bins"), std::string::npos);
    EXPECT_NE(with([](parts& p) { p.odds[1].asked = 0; }).find("bin 1"), std::string::npos);
    EXPECT_NE(with([](parts& p) { p.odds[1].stored = -1e-9; }).find("-1e-09"), std::string::npos);
    EXPECT_NE(with([](parts& p) { p.odds[1].stored = std::nan(""); }).find("nan"), std::string::npos);
    EXPECT_NE(with([](parts& p) { std::swap(p.odds[0], p.odds[2]); }).find("bin 1 is asked for more"),
              std::string::npos);
    EXPECT_NE(with([](parts& p) { p.odds[2].stored *= 1.1; }).find("sum to 1.05"), std::string::npos);
}

TEST(score_training, classifies_unseen_keys_by_their_ngrams) {
    const trained_score made = trained_on(host_logs(6'000));
    EXPECT_TRUE(made.is_held_out);
    EXPECT_GT(made.oracle.divergence_bits(), 1.5);
    // Names not in the logs; a tenth of each kind look like the other kind.
    const two_logs others = host_logs(4'000, 1'000'000);
    std::uint64_t fewer = 0, full = 0;
    const daisy_terms terms{4'000, 1.0 / 256};
    for (const std::string& key : others.stored.keys) fewer += daisy_class(made.oracle.odds(key), terms) < 8 ? 1u : 0u;
    for (const std::string& key : others.asked.keys) full += daisy_class(made.oracle.odds(key), terms) == 8 ? 1u : 0u;
    EXPECT_GT(fewer, 4'000u * 80 / 100);
    EXPECT_GT(full, 4'000u * 80 / 100);
}

// The shares of the bins equal those of a fresh sample within five standard deviations, because the
// model's own draws are a sample too.
TEST(score_training, bins_have_the_shares_that_they_promise) {
    const trained_score made = trained_on(host_logs(20'000));
    const two_logs others = host_logs(20'000, 1'000'000);
    std::vector<double> stored(made.oracle.bins()), asked(made.oracle.bins());
    for (const std::string& key : others.stored.keys)
        stored[made.oracle.bin_of(made.oracle.score(key))] += 1 / 20'000.0;
    for (const std::string& key : others.asked.keys) asked[made.oracle.bin_of(made.oracle.score(key))] += 1 / 20'000.0;
    const auto deviation = [](double share, std::uint64_t draws) {
        return std::sqrt(share * (1 / static_cast<double>(draws) + 1 / 20'000.0)) + 1 / static_cast<double>(draws);
    };
    for (std::size_t b = 0; b < made.oracle.bins(); ++b) {
        const key_odds promised = made.oracle.shares(b);
        EXPECT_NEAR(stored[b], promised.stored, 5 * deviation(promised.stored, made.calibrated_stored)) << b;
        EXPECT_NEAR(asked[b], promised.asked, 5 * deviation(promised.asked, made.calibrated_asked)) << b;
    }
}

TEST(score_training, the_same_logs_and_seed_give_the_same_model) {
    const two_logs logs = host_logs(2'000);
    const auto once = test::saved_bytes(trained_on(logs).oracle);
    EXPECT_EQ(once, test::saved_bytes(trained_on(logs).oracle));
    EXPECT_NE(once, test::saved_bytes(trained_on(logs, {.weights = 2048, .seed = 2}).oracle));
}

TEST(score_training, holds_out_about_one_key_in_five_and_always_the_same_keys) {
    const two_logs logs = host_logs(10'000);
    const trained_score made = trained_on(logs, {.weights = 64, .settings = quickly, .seed = 9});
    std::uint64_t aside = 0;
    for (const std::string& key : logs.stored.keys) aside += held_out(key, 9) ? 1u : 0u;
    EXPECT_EQ(made.calibrated_stored, aside);
    EXPECT_EQ(made.fitted_stored, 10'000 - aside);
    EXPECT_NEAR(static_cast<double>(aside), 2'000, 200);  // five standard deviations
}

TEST(score_training, logs_of_the_same_keys_teach_nothing) {
    two_logs logs = host_logs(5'000);
    logs.asked = logs.stored;
    const trained_score made = trained_on(logs);
    EXPECT_LT(made.oracle.divergence_bits(), 0.05);
}

TEST(score_training, short_logs_are_used_whole_and_reported_as_such) {
    for (const std::uint64_t count : {1u, 2u, 40u}) {
        const trained_score made = trained_on(host_logs(count));
        EXPECT_FALSE(made.is_held_out) << count;
        EXPECT_EQ(made.fitted_stored, count);
        EXPECT_EQ(made.calibrated_asked, count);
    }
}

TEST(score_training, keys_of_any_bytes_and_lengths_are_accepted) {
    two_logs logs = host_logs(300);
    logs.stored.keys.emplace_back();
    logs.stored.keys.emplace_back(100'000, '\0');
    logs.asked.keys.emplace_back("\xff\x00\xfe", 3);
    const trained_score made = trained_on(logs);
    for (const auto& log : {logs.stored, logs.asked}) {
        for (const std::string& key : log.keys) {
            const key_odds odds = made.oracle.odds(key);
            ASSERT_TRUE(odds.stored > 0 && odds.asked > 0 && odds.stored < 1 && odds.asked < 1);
        }
    }
}

TEST(score_training, a_log_of_one_repeated_key_and_logs_of_unequal_length_are_accepted) {
    two_logs logs = host_logs(2'000);
    logs.asked.keys.resize(40);
    EXPECT_GT(trained_on(logs).oracle.divergence_bits(), 0);
    logs.asked.keys.assign(5'000, "www.example.org");
    const trained_score made = trained_on(logs);
    EXPECT_LT(made.oracle.odds("www.example.org").stored, made.oracle.odds("www.example.org").asked);
}

TEST(score_training, longer_logs_are_sampled_evenly) {
    const two_logs logs = host_logs(3'000);
    const trained_score made = trained_on(logs, {.weights = 512, .settings = quickly, .most_draws = 1'000});
    EXPECT_EQ(made.fitted_stored + made.calibrated_stored, 1'000u);
    EXPECT_EQ(made.fitted_asked + made.calibrated_asked, 1'000u);
}

TEST(score_training, no_bin_falls_into_a_regime_that_depends_on_n) {
    const trained_score made = trained_on(host_logs(3'000));
    for (std::size_t b = 0; b < made.oracle.bins(); ++b) {
        const key_odds odds = {
            made.oracle.shares(b).stored / made.oracle.universe() * static_cast<double>(made.oracle.bins()),
            made.oracle.shares(b).asked / made.oracle.universe() * static_cast<double>(made.oracle.bins())};
        for (const double draws : {1.0, 1e3, 1e6, 0x1p30}) {
            for (const double rate : {0.5, 0x1p-8, 0x1p-24}) {
                const daisy_regime regime = regime_of(odds, {draws, rate});
                EXPECT_NE(regime, daisy_regime::nearly_certain);
                EXPECT_NE(regime, daisy_regime::by_likelihood) << b << " " << draws << " " << rate;
            }
        }
    }
}

TEST(score_training, bad_options_and_empty_logs_are_refused_by_name) {
    const two_logs logs = host_logs(10);
    const auto with = [&](const score_options& options) {
        const auto made = train_score(options, logs.stored.views(), logs.asked.views());
        return made ? std::string{"made"} : std::string{made.error().message()};
    };
    EXPECT_EQ(with({.weights = 64}), "made");
    EXPECT_NE(with({.weights = 63}).find("63 weights are not in 64.."), std::string::npos);
    EXPECT_NE(with({.weights = score_oracle::max_weights + 1}).find("16777217 weights"), std::string::npos);
    EXPECT_NE(with({.bins = 65}).find("65 bins"), std::string::npos);
    EXPECT_NE(with({.bins = 0}).find("0 bins"), std::string::npos);
    EXPECT_NE(with({.universe = 12}).find("universe of 12"), std::string::npos);
    using settings = score_settings;
    EXPECT_NE(with({.settings = settings{.longest_ngram = 9}}).find("9 bytes are not in 1..8"), std::string::npos);
    EXPECT_NE(with({.settings = settings{.longest_ngram = 0}}).find("0 bytes"), std::string::npos);
    EXPECT_NE(with({.settings = settings{.step = 0}}).find("a step of 0"), std::string::npos);
    EXPECT_NE(with({.settings = settings{.step = std::nan("")}}).find("a step of nan"), std::string::npos);
    EXPECT_NE(with({.settings = settings{.shrinkage = -1}}).find("shrinkage of -1"), std::string::npos);
    EXPECT_NE(with({.settings = settings{.epochs = 0}}).find("0 epochs"), std::string::npos);
    EXPECT_NE(with({.settings = settings{.clipped = 513}}).find("513 clipped"), std::string::npos);
    EXPECT_NE(with({.weights = 0, .settings = settings{}}).find("chosen with its settings"), std::string::npos);
    EXPECT_NE(with({.most_draws = 0}).find("0 draws"), std::string::npos);
    const auto none = train_score({}, {}, logs.asked.views());
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message().find("log of inserts is empty"), std::string_view::npos);
    EXPECT_FALSE(train_score({}, logs.stored.views(), {}));
}

TEST(score_training, memory_is_little_more_than_the_weights) {
    for (const std::uint64_t weights : {64u, 4096u, 20'000u}) {
        const trained_score made = trained_on(host_logs(200), {.weights = weights, .settings = quickly});
        EXPECT_EQ(made.oracle.weights(), weights);
        EXPECT_GE(made.oracle.memory_bytes(), weights);
        EXPECT_LE(made.oracle.memory_bytes(), weights + 1'500);
    }
}

// ---- the choice ---------------------------------------------------------------------------------

// How training chooses settings and sizes: logs for which a wrong choice is clearly worse, and the
// same model to the last byte with every compiler and instruction set.

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
}  // namespace genista::score_oracle_test
