// Snapshots of bloomier_filter: saving and loading, golden bytes, damage, and forgeries whose
// checksums were repaired.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "bits/words.hpp"
#include "filters/filter_snapshots.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"
#include "tests/support/succinct_snapshot_exercise.hpp"

namespace genista::bloomier_snapshot_test {
namespace {

using bytes = test::file_bytes;
using test::parameters_at;

bloomier_filter sample(std::uint64_t count, unsigned value_bits, std::uint64_t seed,
                       hash_kind kind = hash_kind::keyed) {
    std::vector<std::uint64_t> keys(count), values(count);
    test::splitmix chance{seed};
    for (std::uint64_t i = 0; i < count; ++i) keys[i] = i, values[i] = chance() & bits::low_mask(value_bits);
    auto made = bloomier_filter::build({.value_bits = value_bits, .hash = hasher{hash_key::from_seed(seed), kind}},
                                       std::span<const std::uint64_t>{keys}, values);
    EXPECT_TRUE(made) << made.error().message();
    return *std::move(made);
}

std::string load_with(const bytes& file, std::size_t at, std::size_t width, std::uint64_t value) {
    return test::load_with<bloomier_filter>(file, at, width, value);
}

TEST(bloomier_snapshot, a_loaded_filter_answers_as_before_and_saves_the_same_bytes) {
    for (const hash_kind kind : {hash_kind::keyed, hash_kind::trusted}) {
        for (const std::uint64_t count : {0u, 1u, 2u, 3u, 500u, 10'000u}) {
            for (const unsigned value_bits : {0u, 1u, 20u, 64u}) {
                const auto filter = sample(count, value_bits, count + 1, kind);
                const bytes file = test::saved(filter);
                const auto loaded = bloomier_filter::load(file);
                ASSERT_TRUE(loaded) << loaded.error().message();
                EXPECT_EQ(test::saved(*loaded), file);
                test::expect_equal_answers(filter, *loaded, count + 2'000);
                for (std::uint64_t key = 0; key < count; ++key) ASSERT_EQ(loaded->find(key), filter.find(key));
            }
        }
    }
}

// tests/golden: GENISTA_WRITE_GOLDEN=1 writes the file if it does not exist. The sum is golden:
// pinned, not derived.
TEST(bloomier_snapshot, the_golden_file_loads_and_is_built_again) {
    const bytes file = test::golden_bytes("bloomier-v1-keyed.snapshot", 8192, [&] { return sample(600, 13, 20'240); });
    const auto filter = bloomier_filter::load(file);
    ASSERT_TRUE(filter) << filter.error().message();
    EXPECT_EQ(test::saved(*filter), file);
    EXPECT_EQ(test::saved(sample(600, 13, 20'240)), file) << "built again";
    std::uint64_t sum = 0, absent_keys = 0;
    for (std::uint64_t key = 0; key < 20'600; ++key) {
        const auto found = filter->find(key);
        ASSERT_TRUE(found || key >= 600) << key;
        sum += key * found.value_or(0);
        absent_keys += key >= 600 && found ? 1u : 0u;
    }
    EXPECT_EQ(sum, 2'297'569'441u);
    EXPECT_EQ(absent_keys, 36u);
}

TEST(bloomier_snapshot, every_truncation_and_bit_flip_is_refused) {
    test::expect_damage_refused<bloomier_filter>(test::saved(sample(400, 5, 1)));
}

TEST(bloomier_snapshot, parameters_that_contradict_the_sections_are_refused) {
    const bytes file = test::saved(sample(500, 5, 2));
    const auto number = [&](std::size_t at, std::size_t width, std::uint64_t value) {
        return load_with(file, parameters_at + at, width, value);
    };
    EXPECT_EQ(number(0, 8, 500), "loaded");
    for (const std::uint64_t capacity : {std::uint64_t{0}, std::uint64_t{499}, std::uint64_t{501}, max_capacity + 1})
        EXPECT_EQ(number(0, 8, capacity), "corrupt") << capacity;
    EXPECT_EQ(number(8, 8, std::bit_cast<std::uint64_t>(0x1.1p-8)), "loaded") << "a check of as many bits";
    for (const double rate : {0.0, -1.0, 0.51, 0x1p-7, 0x1p-9, 0x1p-60, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_EQ(number(8, 8, std::bit_cast<std::uint64_t>(rate)), "corrupt") << rate;
    for (const std::uint64_t keys : {std::uint64_t{0}, std::uint64_t{499}, std::uint64_t{501}, ~std::uint64_t{0}})
        EXPECT_EQ(number(16, 8, keys), "corrupt") << keys;
    for (const std::uint64_t value_bits : {4u, 6u, 65u, ~0u})
        EXPECT_EQ(number(56, 4, value_bits), "corrupt") << value_bits;
    EXPECT_EQ(number(60, 4, 1), "loaded") << "another salt: useless, but sound";
    EXPECT_EQ(number(60, 4, 4), "corrupt");
    const auto view = open_snapshot(file);
    ASSERT_TRUE(view);
    const auto last = static_cast<std::size_t>(&view->sections[2].back() - file.data());
    EXPECT_EQ(load_with(file, last, 1, 0xff), "corrupt") << "the bits behind the last entry are zero";
    const auto width = static_cast<std::size_t>(&view->sections[0].front() - file.data());
    EXPECT_EQ(load_with(file, width, 1, 21), "corrupt") << "a seed of 21 bits";
}

TEST(bloomier_snapshot, forgeries_are_refused_or_give_a_sound_filter) {
    std::vector<bytes> files;
    for (const std::uint64_t count : {0u, 1u, 70u, 300u, 5'000u}) files.push_back(test::saved(sample(count, 7, 4)));
    const auto forge = [](bytes& file, test::splitmix& chance) {
        test::edit_with(file, chance, 512, {0, 1, 255, 256, 65'535, std::uint64_t{1} << 40, ~std::uint64_t{0}});
        test::repair(file);
    };
    const auto rounds = test::scaled<std::uint64_t>(20'000, 2'000'000);
    test::expect_forgeries_refused_or_sound({files, 3, rounds, 100, rounds}, forge,
                                            test::exercise_snapshot<bloomier_filter>);
}

}  // namespace
}  // namespace genista::bloomier_snapshot_test
