// Snapshots of oracles: saving and loading, golden bytes, damage and forgeries.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "genista/oracles/exact_oracle.hpp"
#include "genista/oracles/oracle_model.hpp"
#include "genista/oracles/sketch_oracle.hpp"
#include "tests/support/oracle_snapshot_exercise.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/score_models.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::oracle_snapshot_test {
namespace {

// ---- oracles ------------------------------------------------------------------------------------

// Snapshots of the exact table and of the oracles over sketches: saving and loading, golden bytes,
// damage, other versions and kinds, and forgeries whose checksums were repaired.

using bytes = test::file_bytes;
using test::saved;

// Two logs of so many keys: key i was stored 1 + 1000 / (i + 1) times, and queried as often as the
// key at the same distance from the other end was stored.
template <class Oracle>
Oracle sample(std::uint64_t size, std::uint64_t seed, hash_kind kind = hash_kind::keyed) {
    std::vector<integer_key> keys;
    for (std::uint64_t i = 0; i < size; ++i) keys.emplace_back(i);
    std::vector<counted_key> inserts, queries;
    for (std::uint64_t i = 0; i < size; ++i) {
        inserts.push_back({keys[i].view(), 1 + 1000 / (i + 1)});
        queries.push_back({keys[i].view(), 1 + 1000 / (size - i)});
    }
    const hasher hash{hash_key::from_seed(seed), kind};
    if constexpr (std::same_as<Oracle, exact_oracle>) {
        return *exact_oracle::from_counts(inserts, queries, {.hash = hash});
    } else {
        return *Oracle::train({.stored = {16 + size / 10, 3}, .asked = {20, 4}, .hash = hash}, inserts, queries);
    }
}

template <class Oracle>
struct about;
template <>
struct about<exact_oracle> {
    static constexpr const char* golden = "exact_oracle-v1-keyed.snapshot";
    static constexpr std::uint16_t kind = 20;
};
template <>
struct about<count_min_oracle> {
    static constexpr const char* golden = "count_min_oracle-v1-keyed.snapshot";
    static constexpr std::uint16_t kind = 21;
};
template <>
struct about<count_sketch_oracle> {
    static constexpr const char* golden = "count_sketch_oracle-v1-keyed.snapshot";
    static constexpr std::uint16_t kind = 22;
};

template <class Oracle>
class oracle_snapshots : public ::testing::Test {};
using all_oracles = ::testing::Types<exact_oracle, count_min_oracle, count_sketch_oracle>;
TYPED_TEST_SUITE(oracle_snapshots, all_oracles);

TYPED_TEST(oracle_snapshots, give_the_saved_odds_and_save_the_same_bytes) {
    for (const hash_kind kind : {hash_kind::keyed, hash_kind::trusted}) {
        for (const std::uint64_t size : {1u, 2u, 100u, 5'000u}) {
            const auto oracle = sample<TypeParam>(size, size, kind);
            const bytes file = saved(oracle);
            const auto loaded = TypeParam::load(file);
            ASSERT_TRUE(loaded) << loaded.error().message();
            EXPECT_EQ(saved(*loaded), file);
            EXPECT_EQ(loaded->memory_bytes(), oracle.memory_bytes());
            for (std::uint64_t key = 0; key < 2 * size + 100; ++key) ASSERT_EQ(loaded->odds(key), oracle.odds(key));
        }
    }
}

// tests/golden: GENISTA_WRITE_GOLDEN=1 writes the files that do not exist. An existing one is never
// overwritten.
TYPED_TEST(oracle_snapshots, golden_files_load_and_are_written_again) {
    const auto oracle = sample<TypeParam>(60, 20'240);
    const bytes file = test::golden_bytes(about<TypeParam>::golden, 8192, [&]() -> const TypeParam& { return oracle; });
    const auto loaded = TypeParam::load(file);
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_EQ(saved(*loaded), file);
    EXPECT_EQ(saved(oracle), file) << "trained again";
    for (std::uint64_t key = 0; key < 100; ++key) EXPECT_EQ(loaded->odds(key), oracle.odds(key));
}

TYPED_TEST(oracle_snapshots, every_truncation_and_bit_flip_is_refused) {
    test::expect_damage_refused<TypeParam>(saved(sample<TypeParam>(40, 1)));
}

TYPED_TEST(oracle_snapshots, other_versions_and_kinds_are_refused_by_name) {
    const bytes file = saved(sample<TypeParam>(40, 1));
    const auto error_with = [&](std::size_t at, std::uint64_t value) {
        bytes forged = file;
        test::put_little_endian(forged, at, 2, value);
        test::fix_checksums(forged);
        return TypeParam::load(forged).error();
    };
    EXPECT_EQ(load_little_endian<std::uint16_t>(&file[10]), about<TypeParam>::kind);
    EXPECT_EQ(error_with(12, 2).code(), error_code::unsupported) << "a later version";
    EXPECT_NE(error_with(12, 2).message().find('2'), std::string_view::npos);
    EXPECT_FALSE(error_with(12, 0).message().empty());
    EXPECT_FALSE(error_with(10, 1).message().empty()) << "a Bloom filter";
    EXPECT_EQ(error_with(14, 7).code(), error_code::unsupported) << "an unknown hash function";
}

TYPED_TEST(oracle_snapshots, a_custom_hash_function_cannot_be_saved) {
    const auto own = hasher::custom([](const void*, key_view key) noexcept { return digest{key.size, 1}; }, nullptr);
    const std::vector<counted_key> log{{"a", 1}};
    vector_sink out;
    if constexpr (std::same_as<TypeParam, exact_oracle>) {
        EXPECT_EQ(exact_oracle::from_counts(log, log, {.hash = own})->save(out).error().code(),
                  error_code::unsupported);
    } else {
        EXPECT_EQ(TypeParam::train({.hash = own}, log, log)->save(out).error().code(), error_code::unsupported);
    }
}

TYPED_TEST(oracle_snapshots, forgeries_are_refused_or_give_a_sound_oracle) {
    std::vector<bytes> files;
    for (const std::uint64_t size : {1u, 7u, 60u}) files.push_back(saved(sample<TypeParam>(size, 4)));
    const auto forge = [](bytes& file, test::splitmix& chance) {
        const auto real = [](double value) { return std::bit_cast<std::uint64_t>(value); };
        test::edit_with(file, chance, 96,
                        {0, 1, 3, 33, std::uint64_t{1} << 32, ~std::uint64_t{0}, real(1.5), real(-0.0), real(1e-300),
                         real(std::numeric_limits<double>::quiet_NaN())});
        test::repair(file);
    };
    const auto rounds = test::scaled<std::uint64_t>(20'000, 2'000'000);
    test::expect_forgeries_refused_or_sound({files, 3, rounds, rounds / 50, rounds * 9 / 10}, forge,
                                            test::exercise_oracle_snapshot<TypeParam>);
}

TEST(exact_oracle_snapshot, keys_out_of_order_or_repeated_are_refused) {
    const bytes file = saved(sample<exact_oracle>(40, 1));
    const auto view = open_snapshot(file);
    ASSERT_TRUE(view);
    const auto first = static_cast<std::size_t>(view->sections[0].data() - file.data());
    const auto with_second = [&](std::uint64_t position) {
        bytes forged = file;
        test::put_little_endian(forged, first + 24, 8, position);
        test::fix_checksums(forged);
        return exact_oracle::load(forged);
    };
    const std::uint64_t position = load_little_endian<std::uint64_t>(&file[first]);
    EXPECT_TRUE(with_second(position + 1));
    for (const std::uint64_t wrong : {position, position - 1, ~std::uint64_t{0}}) {
        const auto loaded = with_second(wrong);
        ASSERT_FALSE(loaded) << wrong;
        EXPECT_EQ(loaded.error().code(), error_code::corrupt);
    }
}

// ---- score models -------------------------------------------------------------------------------

// Snapshots of score models and of whole oracle models: saving and loading, golden bytes, damage,
// and forgeries whose checksums were repaired.

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
// pinned, not derived. Training is not repeated here: score_oracle_test.cpp pins its result, which
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
}  // namespace genista::oracle_snapshot_test
