// Snapshots of score models and of whole oracle models: saving and loading, golden bytes, damage,
// and forgeries whose checksums were repaired.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "genista/oracles/oracle_model.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/score_models.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::score_snapshot_test {
namespace {

using bytes = test::file_bytes;
using test::host_logs, test::load_with, test::parameters_at, test::saved_bytes, test::trained_on, test::two_logs;

oracle_model model_of(oracle_kind kind, const two_logs& logs, std::uint64_t size = 1024) {
    training_options options;
    options.kind = kind;
    options.bytes = size;
    auto made = train_model(options, logs.stored.views(), logs.asked.views());
    EXPECT_TRUE(made) << made.error().message();
    return *std::move(made);
}

// Names like the made-up hosts', generated in this file: golden sums must not change with the lab's
// generators.
std::string pinned_name(std::uint64_t number) {
    test::splitmix chance{number};
    std::string name;
    for (std::uint64_t i = 4 + chance.below(10); i > 0; --i) name += "abehiklmnoprstwxz01789-."[chance.below(24)];
    return name + std::array{".com", ".org", ".xyz", ".top", ".info"}[chance.below(5)];
}

// The sum of the classes of many keys: the same before and after a save, and on every machine.
std::uint64_t classes_sum(const auto& oracle, std::uint64_t count) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 2 * count; ++i)
        sum += i * daisy_class(oracle.odds(pinned_name(i)), {.draws = 1e5, .rate = 1.0 / 1024});
    return sum;
}

TEST(score_snapshot, gives_the_saved_odds_and_saves_the_same_bytes) {
    for (const std::uint64_t weights : {64u, 1000u, 4096u}) {
        const score_oracle oracle = trained_on(host_logs(1'000), {.weights = weights}).oracle;
        const bytes file = saved_bytes(oracle);
        const auto loaded = score_oracle::load(file);
        ASSERT_TRUE(loaded) << loaded.error().message();
        EXPECT_EQ(saved_bytes(*loaded), file);
        EXPECT_EQ(loaded->weights(), weights);
        EXPECT_EQ(loaded->bins(), oracle.bins());
        for (const std::string& key : host_logs(2'000, 5'000).stored.keys)
            ASSERT_EQ(loaded->odds(key), oracle.odds(key));
        EXPECT_EQ(classes_sum(*loaded, 1'000), classes_sum(oracle, 1'000));
    }
}

// tests/golden: GENISTA_WRITE_GOLDEN=1 writes the files that do not exist. The sums are golden:
// pinned, not derived. Training is not repeated here: score_choice_test.cpp pins its result, which
// may improve from version to version.
TEST(score_snapshot, golden_oracle_has_its_pinned_classes) {
    const bytes file = test::golden_bytes("score_oracle-v1.snapshot", 8192,
                                          [] { return trained_on(host_logs(2'000), {.weights = 1000}).oracle; });
    const auto oracle = score_oracle::load(file);
    ASSERT_TRUE(oracle) << oracle.error().message();
    EXPECT_EQ(saved_bytes(*oracle), file);
    std::int64_t scores = 0;
    for (std::uint64_t i = 9'000; i < 10'000; ++i) scores += oracle->score(pinned_name(i));
    EXPECT_EQ(scores, 159617);
    EXPECT_EQ(classes_sum(*oracle, 1'000), 17'562'456u);
}

TEST(score_snapshot, golden_model_has_its_pinned_classes) {
    const bytes file = test::golden_bytes("oracle_model-v1-score.snapshot", 8192,
                                          [] { return model_of(oracle_kind::score, host_logs(2'000), 500); });
    const auto model = oracle_model::load(file);
    ASSERT_TRUE(model) << model.error().message();
    EXPECT_EQ(saved_bytes(*model), file);
    EXPECT_EQ(model->origin(), (model_origin{2'000, 2'000, true}));
    EXPECT_EQ(classes_sum(*model->oracle(), 1'000), 18'174'890u);
    const auto plan = model->profile().plan({.draws = 1e5, .rate = 1.0 / 256});
    ASSERT_TRUE(plan);
    EXPECT_NEAR(plan->mean_bits, 5.7240917761587866, 1e-9);
}

TEST(score_snapshot, every_truncation_and_bit_flip_is_refused) {
    const two_logs logs = host_logs(400);
    test::expect_damage_refused<score_oracle>(saved_bytes(trained_on(logs, {.weights = 64}).oracle));
    test::expect_damage_refused<oracle_model>(saved_bytes(model_of(oracle_kind::score, logs, 64)));
}

TEST(score_snapshot, parameters_that_contradict_the_sections_are_refused) {
    const score_oracle oracle = trained_on(host_logs(1'000), {.weights = 512}).oracle;
    const bytes file = saved_bytes(oracle);
    const auto number = [&](std::size_t at, std::size_t width, std::uint64_t value) {
        return load_with<score_oracle>(file, parameters_at + at, width, value);
    };
    EXPECT_EQ(number(0, 8, 512), "loaded");
    EXPECT_EQ(number(0, 8, 511), "corrupt");
    EXPECT_EQ(number(0, 8, ~std::uint64_t{0}), "corrupt");
    EXPECT_EQ(number(8, 4, oracle.longest_ngram()), "loaded");
    EXPECT_EQ(number(8, 4, 0), "corrupt");
    EXPECT_EQ(number(8, 4, 9), "corrupt");
    EXPECT_EQ(number(12, 4, oracle.bins()), "loaded");
    EXPECT_EQ(number(12, 4, oracle.bins() + 1), "corrupt");
    EXPECT_EQ(number(12, 4, 0), "corrupt");
    EXPECT_EQ(number(16, 8, std::bit_cast<std::uint64_t>(-1.0)), "corrupt");
    EXPECT_EQ(number(16, 8, std::bit_cast<std::uint64_t>(0x1p40)), "corrupt") << "the odds no longer sum to one";
    EXPECT_EQ(load_with<score_oracle>(file, 12, 2, 2), "unsupported") << "kind version 2";
    EXPECT_EQ(load_with<score_oracle>(file, 10, 2, 1), "mismatch") << "a Bloom filter";
    EXPECT_EQ(load_with<score_oracle>(file, 14, 2, 1), "corrupt") << "a hash function";
    EXPECT_EQ(load_with<score_oracle>(file, 40, 8, 1), "corrupt") << "a sequence number";
}

TEST(score_snapshot, models_of_other_versions_and_kinds_are_refused_by_name) {
    const two_logs logs = host_logs(400);
    const bytes model = saved_bytes(model_of(oracle_kind::score, logs));
    const auto why = [](bytes file, std::size_t at, std::uint64_t value) {
        test::put_little_endian(file, at, 2, value);
        test::fix_checksums(file);
        const auto loaded = oracle_model::load(file);
        return loaded ? std::string{"loaded"} : std::string{loaded.error().message()};
    };
    EXPECT_NE(why(model, 12, 2).find("oracle_model snapshot of kind version 2"), std::string::npos)
        << why(model, 12, 2);
    EXPECT_NE(why(model, 10, 23).find("kind 23 (score_oracle), not of kind 24 (oracle_model)"), std::string::npos);
    // The oracle inside begins at the first section: behind the header and one line of parameters.
    const std::size_t inside = 256;
    bytes newer = model;
    const std::size_t length = static_cast<std::size_t>(load_little_endian<std::uint64_t>(&newer[64]));
    const auto with_inside = [&](std::size_t at, std::uint64_t value) {
        bytes file = model;
        const std::span nested = std::span{file}.subspan(inside, length);
        test::put_little_endian(nested, at, 2, value);
        test::fix_checksums(nested);
        test::fix_checksums(file);
        const auto loaded = oracle_model::load(file);
        return loaded ? std::string{"loaded"} : std::string{loaded.error().message()};
    };
    EXPECT_EQ(with_inside(12, 1), "loaded");
    EXPECT_NE(with_inside(12, 7).find("oracle model: score_oracle snapshot of kind version 7"), std::string::npos)
        << with_inside(12, 7);
    EXPECT_NE(with_inside(10, 1).find("kind 1 (bloom), which is not an oracle"), std::string::npos)
        << with_inside(10, 1);
}

// Random bytes are changed and the checksums repaired: a file that loads must give a sound model,
// which answers queries and saves the bytes it was loaded from.
template <class Loaded>
void try_forgeries(const bytes& original, std::uint64_t seed, const char* what, auto odds_of) {
    test::splitmix chance{seed};
    const auto rounds = test::scaled<std::uint64_t>(20'000, 2'000'000);
    std::uint64_t accepted = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        bytes forged = original;
        for (auto edits = 1 + chance.below(3); edits > 0; --edits) {
            const std::size_t at = chance.below(2) == 0
                                       ? parameters_at + chance.below(64)
                                       : parameters_at + chance.below(forged.size() - parameters_at - 8);
            test::put_little_endian(forged, at, std::size_t{1} << chance.below(4),
                                    chance.below(2) == 0 ? chance() : chance.below(3));
        }
        if (chance.below(8) == 0) forged.resize(parameters_at + 64 * chance.below(forged.size() / 32));
        test::fit_lengths(forged);
        if constexpr (std::is_same_v<Loaded, oracle_model>) {
            if (const auto view = open_snapshot(original); view && forged.size() == original.size())
                test::fix_checksums(std::span{forged}.subspan(256, view->sections[0].size()));
        }
        test::fix_envelope(forged);
        const auto loaded = Loaded::load(forged);
        if (!loaded) {
            ASSERT_FALSE(loaded.error().message().empty()) << what;
            continue;
        }
        ++accepted;
        ASSERT_EQ(saved_bytes(*loaded), forged) << what << ", round " << round;
        for (const char* key : {"", "a", "www.example.org"}) {
            const key_odds odds = odds_of(*loaded, key);
            ASSERT_TRUE(odds.stored > 0 && odds.stored <= 1 && odds.asked > 0 && odds.asked <= 1) << what;
        }
    }
    EXPECT_GT(accepted, rounds / 50) << what;
    EXPECT_LT(accepted, rounds * 49 / 50) << what;
}

TEST(score_snapshot, forgeries_give_an_error_or_a_sound_model) {
    const two_logs logs = host_logs(400);
    try_forgeries<score_oracle>(saved_bytes(trained_on(logs, {.weights = 200}).oracle), 3, "score",
                                [](const score_oracle& oracle, key_view key) { return oracle.odds(key); });
    try_forgeries<oracle_model>(saved_bytes(model_of(oracle_kind::score, logs, 200)), 4, "model",
                                [](const oracle_model& model, key_view key) { return model.oracle()->odds(key); });
}

}  // namespace
}  // namespace genista::score_snapshot_test
