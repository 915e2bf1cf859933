// score_oracle: what a model learns, its odds for keys not in the logs, its limits and bad input.
// How training chooses is in score_choice_test.cpp, snapshots are in score_snapshot_test.cpp.
#include "genista/oracles/score_oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "genista/oracles/daisy_plan.hpp"
#include "tests/support/score_models.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::score_oracle_test {
namespace {

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

}  // namespace
}  // namespace genista::score_oracle_test
