// Snapshots of daisy_fingerprint_filter: saving and loading, golden bytes, damage, and forgeries
// whose checksums were repaired.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "bits/words.hpp"
#include "filters/filter_snapshots.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/daisy_snapshot_exercise.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::daisy_fingerprint_snapshot_test {
namespace {

using bytes = test::file_bytes;
using test::parameters_at;

daisy_plan usual(double draws, double rate = 0x1p-8) {
    return test::plan_of(draws, rate, {0.3, 0.2, 0, 0.25, 0, 0.001, 0.249});
}

daisy_fingerprint_filter sample(const daisy_plan& plan, std::uint64_t keys, std::uint64_t seed, bool unknown = false,
                                hash_kind kind = hash_kind::keyed) {
    auto made = daisy_fingerprint_filter::make({plan, hasher{hash_key::from_seed(seed), kind}, unknown});
    EXPECT_TRUE(made) << made.error().message();
    for (std::uint64_t key = 0; key < keys; ++key) {
        const unsigned its_class = unknown ? static_cast<unsigned>(key % 5) : test::class_by(plan, key);
        EXPECT_NE(made->insert(key, its_class), insert_outcome::full);
    }
    return *std::move(made);
}

std::string load_with(const bytes& file, std::size_t at, std::size_t width, std::uint64_t value) {
    return test::load_with<daisy_fingerprint_filter>(file, at, width, value);
}

TEST(daisy_fingerprint_snapshot, a_loaded_filter_answers_as_before_and_saves_the_same_bytes) {
    for (const hash_kind kind : {hash_kind::keyed, hash_kind::trusted}) {
        for (const bool unknown : {false, true}) {
            for (const std::uint64_t keys : {0u, 1u, 900u, 9'000u}) {  // the last: far beyond the plan
                const auto filter = sample(usual(1'000), keys, keys + 1, unknown, kind);
                const bytes file = test::saved(filter);
                auto loaded = daisy_fingerprint_filter::load(file);
                ASSERT_TRUE(loaded) << loaded.error().message();
                EXPECT_EQ(test::saved(*loaded), file);
                EXPECT_EQ(loaded->stats().keys, filter.stats().keys);
                EXPECT_EQ(loaded->drift().inserts, filter.drift().inserts);
                EXPECT_EQ(loaded->drift().extra_tables, filter.drift().extra_tables);
                EXPECT_EQ(loaded->unknown_size(), unknown);
                EXPECT_EQ(loaded->plan().stored_share, filter.plan().stored_share);
                for (std::uint64_t key = 0; key < 20'000; ++key) {
                    const auto its_class = static_cast<unsigned>(key % 9);
                    ASSERT_EQ(loaded->may_contain(key, its_class), filter.may_contain(key, its_class));
                }
                // The loaded filter continues as the saved one does.
                for (std::uint64_t key = 100'000; key < 103'000; ++key)
                    ASSERT_NE(loaded->insert(key, static_cast<unsigned>(key % 9)), insert_outcome::full);
                for (std::uint64_t key = 100'000; key < 103'000; ++key)
                    ASSERT_TRUE(loaded->may_contain(key, static_cast<unsigned>(key % 9)));
            }
        }
    }
}

TEST(daisy_fingerprint_snapshot, a_custom_hash_cannot_be_saved) {
    const auto hash = hasher::custom([](const void*, key_view key) noexcept { return digest{key.size, 0}; }, nullptr);
    const auto filter = *daisy_fingerprint_filter::make({usual(100), hash});
    vector_sink out;
    const auto saved = filter.save(out);
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code(), error_code::unsupported);
}

// tests/golden: GENISTA_WRITE_GOLDEN=1 writes the file if it does not exist. The sums are golden:
// pinned, not derived.
TEST(daisy_fingerprint_snapshot, golden_file_loads_and_is_made_again) {
    const daisy_plan plan = usual(600, 0x1p-6);
    const bytes file =
        test::golden_bytes("daisy_fingerprint-v3-keyed.snapshot", 16'384, [&] { return sample(plan, 1'500, 20'240); });
    const auto filter = daisy_fingerprint_filter::load(file);
    ASSERT_TRUE(filter) << filter.error().message();
    EXPECT_EQ(test::saved(*filter), file);
    EXPECT_EQ(test::saved(sample(plan, 1'500, 20'240)), file) << "made again";
    EXPECT_GT(filter->drift().extra_tables, 0u);
    std::uint64_t sum = 0, absent_keys = 0;
    for (std::uint64_t key = 0; key < 20'900; ++key) {
        const bool found = filter->may_contain(key, test::class_by(plan, key));
        ASSERT_TRUE(found || key >= 1'500) << key;
        sum += found ? key : 0;
        absent_keys += key >= 1'500 && found ? 1u : 0u;
    }
    EXPECT_EQ(absent_keys, 7'992u);
    EXPECT_EQ(sum, 91'086'730u);
}

// Of unknown size: only growing tables, with pages in all states of a split.
TEST(daisy_fingerprint_snapshot, golden_file_of_unknown_size_loads_and_is_made_again) {
    const auto make = [] {
        auto filter =
            *daisy_fingerprint_filter::make({{.terms = {600, 0x1p-6}}, hasher{hash_key::from_seed(20'241)}, true});
        for (std::uint64_t key = 0; key < 3'000; ++key)
            static_cast<void>(filter.insert(key, static_cast<unsigned>(key % 7)));
        return filter;
    };
    const bytes file = test::golden_bytes("daisy_fingerprint-v3-growing.snapshot", 16'384, make);
    const auto filter = daisy_fingerprint_filter::load(file);
    ASSERT_TRUE(filter) << filter.error().message();
    EXPECT_EQ(test::saved(*filter), file);
    EXPECT_EQ(test::saved(make()), file) << "made again";
    std::uint64_t sum = 0, absent_keys = 0;
    for (std::uint64_t key = 0; key < 20'900; ++key) {
        const bool found = filter->may_contain(key, static_cast<unsigned>(key % 7));
        ASSERT_TRUE(found || key >= 3'000) << key;
        sum += found ? key : 0;
        absent_keys += key >= 3'000 && found ? 1u : 0u;
    }
    EXPECT_EQ(absent_keys, 3'928u);
    EXPECT_EQ(sum, 51'190'386u);
}

// The error for a golden file of the former version names that version.
TEST(daisy_fingerprint_snapshot, version_2_is_refused_by_name) {
    const bytes file =
        test::golden_bytes("daisy_fingerprint-v2-keyed.snapshot", 16'384, [&] { return sample(usual(600), 1, 1); });
    const auto filter = daisy_fingerprint_filter::load(file);
    ASSERT_FALSE(filter);
    EXPECT_EQ(filter.error().code(), error_code::unsupported);
    EXPECT_NE(filter.error().message().find("version 2"), std::string_view::npos) << filter.error().message();
}

// Version 1, which no release wrote, had other tables for the same plan; version 2 had chains of
// tables of doubling size.
TEST(daisy_fingerprint_snapshot, another_version_is_refused) {
    for (const std::uint64_t version : {0u, 1u, 2u, 4u})
        EXPECT_EQ(load_with(test::saved(sample(usual(100), 50, 1)), 12, 2, version), "unsupported") << version;
}

TEST(daisy_fingerprint_snapshot, every_truncation_and_bit_flip_is_refused) {
    test::expect_damage_refused<daisy_fingerprint_filter>(test::saved(sample(usual(100), 150, 1)));
}

TEST(daisy_fingerprint_snapshot, parameters_that_contradict_the_sections_are_refused) {
    const bytes file = test::saved(sample(usual(1'000), 900, 2));
    const auto number = [&](std::size_t at, std::size_t width, std::uint64_t value) {
        return load_with(file, parameters_at + at, width, value);
    };
    const auto real = [&](std::size_t at, double value) { return number(at, 8, std::bit_cast<std::uint64_t>(value)); };
    // The byte map of docs/format.md.
    constexpr std::size_t keys_at = 16, plan_at = 56, stored_at = plan_at + 24, asked_at = stored_at + 520,
                          unknown_at = asked_at + 520, inserts_at = unknown_at + 4, tables_at = inserts_at + 520;
    EXPECT_EQ(number(0, 8, 1'000), "loaded");
    EXPECT_EQ(number(0, 8, 1'001), "corrupt");
    EXPECT_EQ(number(0, 8, 0), "corrupt");
    EXPECT_EQ(real(8, 0x1p-7), "corrupt");
    EXPECT_EQ(number(keys_at, 8, 1), "corrupt");
    for (const double draws : {0.0, -1.0, 2'000.0, 0x1p40, 0x1p60, std::nan("")})
        EXPECT_EQ(real(plan_at, draws), "corrupt") << draws;
    EXPECT_EQ(real(plan_at + 8, 1.5), "loaded") << "the mean of k_x is reported, not used";
    EXPECT_EQ(real(plan_at + 8, -1), "corrupt");
    EXPECT_EQ(real(plan_at + 16, std::nan("")), "corrupt");
    EXPECT_EQ(real(stored_at + 8, 0.9), "corrupt");
    EXPECT_EQ(real(stored_at + 8 * 20, 0.001), "corrupt") << "the class does not exist";
    EXPECT_EQ(real(asked_at, 0.1), "corrupt") << "more than all";
    EXPECT_EQ(number(unknown_at, 4, 1), "corrupt");
    EXPECT_EQ(number(unknown_at, 4, 2), "corrupt");
    EXPECT_EQ(number(inserts_at + 8, 8, 1), "corrupt") << "fewer inserts than values";
    EXPECT_EQ(number(inserts_at + 8, 8, ~std::uint64_t{0}), "corrupt") << "no room to count further";
    EXPECT_EQ(number(inserts_at + 8, 8, std::uint64_t{1} << 56), "loaded");
    const unsigned chain = sample(usual(1'000), 0, 2).kept_as(3);
    for (const std::uint64_t count : {1u, 2u, 64u, 65u, 255u})
        EXPECT_EQ(number(tables_at + chain, 1, count), "corrupt") << count;
    EXPECT_EQ(number(tables_at + 2, 1, 1), "corrupt") << "a class that shares has no chain of its own";
    EXPECT_EQ(number(tables_at, 1, 1), "corrupt") << "class 0 stores nothing";
    EXPECT_EQ(number(inserts_at + 8 * 9, 8, 1), "corrupt") << "the class does not exist";
    EXPECT_EQ(real(asked_at + 8 * 9, -0.0), "corrupt") << "and not even a negative zero";
    EXPECT_EQ(number(tables_at + 64, 1, 1), "corrupt");
    const auto view = open_snapshot(file);
    ASSERT_TRUE(view);
    const auto used = static_cast<std::size_t>(&view->sections[0].front() - file.data());
    EXPECT_EQ(load_with(file, used, 8, 3), "corrupt");
    const auto last = static_cast<std::size_t>(&view->sections[1].back() - file.data());
    EXPECT_EQ(load_with(file, last, 1, 1), "corrupt") << "the bits after the last table are zero";
}

// The section of growing tables: contradictory counts, pages and remainders, with their checksums
// repaired.
TEST(daisy_fingerprint_snapshot, contradictory_growing_tables_are_refused) {
    const auto filter = sample(usual(1'000), 3'000, 2, true);
    const bytes file = test::saved(filter);
    const auto view = open_snapshot(file);
    ASSERT_TRUE(view);
    const auto used = static_cast<std::size_t>(&view->sections[0].front() - file.data());
    const auto pages = static_cast<std::size_t>(&view->sections[2].front() - file.data());
    ASSERT_EQ(load_with(file, used + 8, 8, filter.tables()[0].cells / 256), "loaded");
    for (const std::uint64_t count : {0u, 1u, 4u, 100'000u}) EXPECT_EQ(load_with(file, used + 8, 8, count), "corrupt");
    for (const std::uint64_t values : {std::uint64_t{0}, std::uint64_t{1} << 49, ~std::uint64_t{0}})
        EXPECT_EQ(load_with(file, used, 8, values), "corrupt") << values;
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, bits::low_mask(32)})
        EXPECT_EQ(load_with(file, pages, 4, count), "corrupt") << count << " values in a page";
    for (const std::uint64_t width : {0u, 1u, 2u, 40u, 63u, 64u, 255u})
        EXPECT_EQ(load_with(file, pages + 4, 1, width), "corrupt") << "slots of " << width;
    EXPECT_EQ(load_with(file, pages + 5, 1, 1), "corrupt");
    EXPECT_EQ(load_with(file, pages + 8, 8, 0), "corrupt") << "a slot without a remainder";
    EXPECT_EQ(load_with(file, file.size() - 1, 1, 255), "corrupt") << "after the last home";
}

// Shorter remainders give a higher rate: a forgery above the rate of its class is refused.
TEST(daisy_fingerprint_snapshot, growing_tables_above_their_rate_are_refused) {
    const daisy_plan plan{.terms = {1'000, 0x1p-8}};
    auto filter = *daisy_fingerprint_filter::make({plan, hasher{hash_key::from_seed(1)}, true});
    for (std::uint64_t key = 0; key < 200; ++key) EXPECT_EQ(filter.insert(key, 8), insert_outcome::inserted);
    bytes file = test::saved(filter);
    ASSERT_EQ(load_with(file, 0, 0, 0), "loaded");
    const auto view = open_snapshot(file);
    const auto pages = static_cast<std::size_t>(&view->sections[2].front() - file.data());
    // One page of 200 slots of 10 bits: the mark and nine bits. The first slot becomes a mark
    // alone, which stands for a whole home.
    ASSERT_EQ(static_cast<unsigned>(file[pages + 4]), 10u);
    const std::uint64_t first = load_little_endian<std::uint64_t>(&file[pages + 8]);
    EXPECT_EQ(load_with(file, pages + 8, 8, (first & ~bits::low_mask(10)) | 1), "corrupt");
}

TEST(daisy_fingerprint_snapshot, forgeries_are_refused_or_give_a_sound_filter) {
    std::vector<bytes> files;
    for (const std::uint64_t keys : {0u, 1u, 70u, 600u}) {
        for (const bool unknown : {false, true}) files.push_back(test::saved(sample(usual(300), keys, 4, unknown)));
    }
    const auto forge = [](bytes& file, test::splitmix& chance) {
        test::edit_with(file, chance, 1'800, {0, 1, 2, 58, 255, 65'535, std::uint64_t{1} << 40, ~std::uint64_t{0}});
        test::repair(file);
    };
    const auto rounds = test::scaled<std::uint64_t>(10'000, 1'000'000);
    test::expect_forgeries_refused_or_sound({files, 3, rounds, 100, rounds}, forge,
                                            test::exercise_fingerprint_snapshot);
}

}  // namespace
}  // namespace genista::daisy_fingerprint_snapshot_test
