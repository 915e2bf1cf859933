// Snapshots of the daisy filters that take a class, and of with_oracle: answers survive saving and
// loading; damage, contradictions and forgeries are refused or give a sound filter; golden files.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bits/words.hpp"
#include "filters/filter_snapshots.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/with_oracle.hpp"
#include "genista/oracles/exact_oracle.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/daisy_snapshot_exercise.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/snapshot_damage.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::daisy_snapshot_test {
namespace {

// ---- daisy_bloom_filter -------------------------------------------------------------------------

// Snapshots of daisy_bloom_filter: answers, plan and counts survive saving and loading; every
// truncation and bit flip is refused, and so are contradictory fields; forgeries with valid
// checksums give an error or a sound filter; and golden files.
//
// The golden files were written by this test with GENISTA_WRITE_GOLDEN=1, which writes only files
// that do not exist.

using bytes = test::file_bytes;
using test::parameters_at, test::saved;

daisy_plan plan_at(double rate, double draws) {
    const auto largest = static_cast<unsigned>(-std::log2(rate));
    daisy_plan plan = test::plan_of_shares({draws, rate}, {{0, 0.2, 0.1}, {1, 0.4, 0.2}, {largest, 0.4, 0.7}});
    plan.overlap = rate / 3;
    return plan;
}

// Blocked: eight lanes at 2^-8, sixteen at 2^-12.
daisy_bloom_filter filled_daisy(double rate, double draws, bool blocked, hash_kind kind = hash_kind::keyed) {
    auto filter = *daisy_bloom_filter::make(
        {.plan = plan_at(rate, draws), .hash = hasher{hash_key::from_seed(5), kind}, .blocked = blocked});
    for (std::uint64_t key = 0; key < static_cast<std::uint64_t>(draws); ++key)
        (void)filter.insert(key, static_cast<unsigned>(key % 21));
    return filter;
}

TEST(daisy_bloom_snapshot, a_round_trip_keeps_answers_plan_and_counts) {
    for (const double rate : {0.5, 0x1p-8, 0x1p-12}) {
        for (const bool blocked : {false, true}) {
            for (const hash_kind kind : {hash_kind::keyed, hash_kind::trusted}) {
                const auto filter = filled_daisy(rate, 1234.5, blocked, kind);
                const bytes file = saved(filter);
                const auto loaded = daisy_bloom_filter::load(file);
                ASSERT_TRUE(loaded) << loaded.error().message();
                EXPECT_EQ(saved(*loaded), file);
                EXPECT_EQ(loaded->bits_set(), filter.bits_set());
                EXPECT_EQ(loaded->layout(), filter.layout());
                EXPECT_EQ(loaded->plan().stored_share, filter.plan().stored_share);
                EXPECT_EQ(loaded->plan().asked_share, filter.plan().asked_share);
                EXPECT_EQ(loaded->plan().terms.draws, 1234.5);
                EXPECT_EQ(loaded->plan().overlap, filter.plan().overlap);
                EXPECT_EQ(loaded->drift().verdict, filter.drift().verdict);
                for (unsigned j = 0; j <= max_daisy_class; ++j) EXPECT_EQ(loaded->draws(j), filter.draws(j));
                for (std::uint64_t key = 0; key < 5000; ++key) {
                    const auto its_class = static_cast<unsigned>(key % 21);
                    ASSERT_EQ(loaded->may_contain(key, its_class), filter.may_contain(key, its_class));
                }
            }
        }
    }
}

TEST(daisy_bloom_snapshot, every_truncation_and_bit_flip_is_refused) {
    for (const bool blocked : {false, true}) {
        test::expect_damage_refused<daisy_bloom_filter>(saved(filled_daisy(0x1p-8, 2000, blocked)),
                                                        test::scaled<std::size_t>(7, 1));
    }
}

// Offsets count from the begin of the parameters.
template <class Filter>
std::string load_with(const bytes& file, std::size_t at, std::size_t width, std::uint64_t value) {
    return test::load_with<Filter>(file, parameters_at + at, width, value);
}
template <class Filter>
std::string load_with(const bytes& file, std::size_t at, double value) {
    return load_with<Filter>(file, at, 8, std::bit_cast<std::uint64_t>(value));
}

TEST(daisy_bloom_snapshot, contradictory_fields_are_refused) {
    using filter = daisy_bloom_filter;
    using limits = std::numeric_limits<double>;
    const bytes file = saved(filled_daisy(0x1p-8, 2000, true));
    constexpr std::size_t capacity = 0, rate = 8, draws = 56, mean_bits = 64, overlap = 72, stored = 80, asked = 600,
                          layout = 1120, bits = 1121;
    EXPECT_EQ(load_with<filter>(file, capacity, 8, 2001), "corrupt") << "the draws are 2000";
    EXPECT_EQ(load_with<filter>(file, draws, 1999.5), "loaded") << "2000, rounded up";
    EXPECT_EQ(load_with<filter>(file, draws, 1999.0), "corrupt");
    for (const double odd : {-1.0, limits::infinity(), limits::quiet_NaN()}) {
        EXPECT_EQ(load_with<filter>(file, draws, odd), "corrupt");
        EXPECT_EQ(load_with<filter>(file, mean_bits, odd), "corrupt");
        EXPECT_EQ(load_with<filter>(file, overlap, odd), "corrupt");
        EXPECT_EQ(load_with<filter>(file, stored + 8, odd), "corrupt");
        EXPECT_EQ(load_with<filter>(file, asked + 8, odd), "corrupt");
        EXPECT_EQ(load_with<filter>(file, rate, odd), "corrupt");
    }
    EXPECT_EQ(load_with<filter>(file, stored + 8, 0.9), "corrupt") << "the shares sum to 1.5";
    EXPECT_EQ(load_with<filter>(file, stored + 8 * 9, 1e-3), "corrupt") << "class 9 at 2^-8";
    EXPECT_EQ(load_with<filter>(file, rate, 0x1p-9), "corrupt") << "classes up to 9 in eight lanes";
    EXPECT_EQ(load_with<filter>(file, layout, 1, 3), "corrupt");
    EXPECT_EQ(load_with<filter>(file, layout, 1, 0), "loaded") << "scattered: any whole lines";
    const auto now = load_little_endian<std::uint64_t>(&file[parameters_at + bits]);
    for (const std::uint64_t value : {std::uint64_t{0}, now - 512, now + 512, now + 1, ~now})
        EXPECT_EQ(load_with<filter>(file, bits, 8, value), "corrupt") << value;
}

TEST(daisy_bloom_snapshot, a_custom_hash_cannot_be_saved) {
    const auto function = [](const void*, key_view key) noexcept { return digest{key.size, key.size}; };
    const auto made =
        daisy_bloom_filter::make({.plan = plan_at(0x1p-8, 100), .hash = hasher::custom(function, nullptr)});
    vector_sink out;
    EXPECT_EQ(made->save(out).error().code(), error_code::unsupported);
}

// Changes a byte or a word somewhere, mostly among the parameters.
void mutate(bytes& file, test::splitmix& chance) {
    const std::size_t parameters = load_little_endian<std::uint32_t>(&file[56]);
    for (auto edits = 1 + chance.below(2); edits > 0; --edits) {
        const bool in_parameters = chance.below(2) == 0;
        const std::size_t at = in_parameters ? parameters_at + chance.below(parameters) : chance.below(file.size() - 8);
        if (at + 8 > file.size()) continue;
        if (chance.below(2) == 0)
            file[at] ^= static_cast<std::byte>(1u << chance.below(8));
        else
            test::put_little_endian(file, at, std::size_t{1} << chance.below(4), chance.below(3) == 0 ? chance() : 0);
    }
    if (chance.below(8) == 0) file.resize(192 + 64 * (1 + chance.below(2 * file.size() / 64)));
}

template <class Filter>
void expect_forgeries_are_sound(const std::vector<bytes>& originals) {
    const auto rounds = test::scaled<std::uint64_t>(6'000, 2'000'000);
    const auto forge = [](bytes& file, test::splitmix& chance) {
        mutate(file, chance);
        test::repair(file);
    };
    test::expect_forgeries_refused_or_sound({originals, 12, rounds, rounds / 20, rounds * 19 / 20}, forge,
                                            test::exercise_snapshot<test::keyed_shell<Filter>>);
}
TEST(daisy_bloom_snapshot, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    expect_forgeries_are_sound<daisy_bloom_filter>(
        {saved(filled_daisy(0x1p-8, 1, false)), saved(filled_daisy(0x1p-8, 300, false)),
         saved(filled_daisy(0x1p-8, 300, true)), saved(filled_daisy(0x1p-12, 300, true))});
}

// ---- golden: pinned, not derived ----------------------------------------------------------------

// How many of 20,000 absent keys are false positives, and the sum of their numbers; made_up() gives
// their classes or odds.
struct mistakes {
    std::uint64_t count = 0, sum = 0;
    friend bool operator==(const mistakes&, const mistakes&) = default;
};

template <class Filter>
void check_golden(const std::string& file_name, const Filter& as_made, std::uint64_t members, mistakes golden) {
    const bytes file = test::golden_bytes(file_name, 65'536, [&]() -> const Filter& { return as_made; });
    const auto filter = Filter::load(file);
    ASSERT_TRUE(filter) << filter.error().message();
    for (std::uint64_t key = 0; key < members; ++key)
        ASSERT_TRUE(filter->may_contain(key, test::made_up(*filter, key)));
    mistakes found;
    for (std::uint64_t key = members; key < members + 20'000; ++key) {
        const bool passes = filter->may_contain(key, test::made_up(*filter, key));
        found.count += passes ? 1u : 0u;
        found.sum += passes ? key : 0;
    }
    EXPECT_EQ(found, golden) << found.count << ", " << found.sum;
    EXPECT_EQ(saved(*filter), file);
    EXPECT_EQ(saved(as_made), file) << "a filter made today has the same bytes";
}

TEST(daisy_bloom_golden, scattered_answers_as_when_it_was_written) {
    check_golden("daisy_bloom-v1-scattered.snapshot", filled_daisy(0x1p-8, 300, false), 300, {2460, 25'318'784});
}
TEST(daisy_bloom_golden, octet_answers_as_when_it_was_written) {
    check_golden("daisy_bloom-v1-octet.snapshot", filled_daisy(0x1p-8, 300, true), 300, {2574, 26'395'474});
}
TEST(daisy_bloom_golden, sixteen_answers_as_when_it_was_written) {
    check_golden("daisy_bloom-v1-sixteen.snapshot", filled_daisy(0x1p-12, 300, true), 300, {2488, 25'588'607});
}

// ---- daisy_fingerprint_filter -------------------------------------------------------------------

// Snapshots of daisy_fingerprint_filter: saving and loading, golden bytes, damage, and forgeries
// whose checksums were repaired.

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
        EXPECT_EQ(test::load_with<daisy_fingerprint_filter>(test::saved(sample(usual(100), 50, 1)), 12, 2, version),
                  "unsupported")
            << version;
}

TEST(daisy_fingerprint_snapshot, every_truncation_and_bit_flip_is_refused) {
    test::expect_damage_refused<daisy_fingerprint_filter>(test::saved(sample(usual(100), 150, 1)));
}

TEST(daisy_fingerprint_snapshot, parameters_that_contradict_the_sections_are_refused) {
    const bytes file = test::saved(sample(usual(1'000), 900, 2));
    const auto number = [&](std::size_t at, std::size_t width, std::uint64_t value) {
        return test::load_with<daisy_fingerprint_filter>(file, parameters_at + at, width, value);
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
    EXPECT_EQ(test::load_with<daisy_fingerprint_filter>(file, used, 8, 3), "corrupt");
    const auto last = static_cast<std::size_t>(&view->sections[1].back() - file.data());
    EXPECT_EQ(test::load_with<daisy_fingerprint_filter>(file, last, 1, 1), "corrupt")
        << "the bits after the last table are zero";
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
    ASSERT_EQ(test::load_with<daisy_fingerprint_filter>(file, used + 8, 8, filter.tables()[0].cells / 256), "loaded");
    for (const std::uint64_t count : {0u, 1u, 4u, 100'000u})
        EXPECT_EQ(test::load_with<daisy_fingerprint_filter>(file, used + 8, 8, count), "corrupt");
    for (const std::uint64_t values : {std::uint64_t{0}, std::uint64_t{1} << 49, ~std::uint64_t{0}})
        EXPECT_EQ(test::load_with<daisy_fingerprint_filter>(file, used, 8, values), "corrupt") << values;
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, bits::low_mask(32)})
        EXPECT_EQ(test::load_with<daisy_fingerprint_filter>(file, pages, 4, count), "corrupt")
            << count << " values in a page";
    for (const std::uint64_t width : {0u, 1u, 2u, 40u, 63u, 64u, 255u})
        EXPECT_EQ(test::load_with<daisy_fingerprint_filter>(file, pages + 4, 1, width), "corrupt")
            << "slots of " << width;
    EXPECT_EQ(test::load_with<daisy_fingerprint_filter>(file, pages + 5, 1, 1), "corrupt");
    EXPECT_EQ(test::load_with<daisy_fingerprint_filter>(file, pages + 8, 8, 0), "corrupt")
        << "a slot without a remainder";
    EXPECT_EQ(test::load_with<daisy_fingerprint_filter>(file, file.size() - 1, 1, 255), "corrupt")
        << "after the last home";
}

// Shorter remainders give a higher rate: a forgery above the rate of its class is refused.
TEST(daisy_fingerprint_snapshot, growing_tables_above_their_rate_are_refused) {
    const daisy_plan plan{.terms = {1'000, 0x1p-8}};
    auto filter = *daisy_fingerprint_filter::make({plan, hasher{hash_key::from_seed(1)}, true});
    for (std::uint64_t key = 0; key < 200; ++key) EXPECT_EQ(filter.insert(key, 8), insert_outcome::inserted);
    bytes file = test::saved(filter);
    ASSERT_EQ(test::load_with<daisy_fingerprint_filter>(file, 0, 0, 0), "loaded");
    const auto view = open_snapshot(file);
    const auto pages = static_cast<std::size_t>(&view->sections[2].front() - file.data());
    // One page of 200 slots of 10 bits: the mark and nine bits. The first slot becomes a mark
    // alone, which stands for a whole home.
    ASSERT_EQ(static_cast<unsigned>(file[pages + 4]), 10u);
    const std::uint64_t first = load_little_endian<std::uint64_t>(&file[pages + 8]);
    EXPECT_EQ(test::load_with<daisy_fingerprint_filter>(file, pages + 8, 8, (first & ~bits::low_mask(10)) | 1),
              "corrupt");
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

// ---- with_oracle --------------------------------------------------------------------------------

// Snapshots of with_oracle: with the oracle that filled the filter every key is found; another
// oracle, another filter and damage are refused; a golden file.
//
// The golden file was written by this test with GENISTA_WRITE_GOLDEN=1, which writes only a file
// that does not exist.

using shared = std::shared_ptr<const exact_oracle>;

constexpr daisy_terms terms{1000, 0x1p-8};
constexpr std::uint64_t keys = 600, asked_for = 5'000;

daisy_plan plan() {
    return test::plan_of_shares(terms, {{0, 0.2, 0.1}, {1, 0.4, 0.2}, {8, 0.4, 0.7}});
}

// Odds from logs in which each key has a count that depends on the day, absent keys only as
// queries.
shared trained(std::uint64_t day) {
    std::vector<integer_key> numbers;
    for (std::uint64_t i = 0; i < asked_for; ++i) numbers.push_back(integer_key{i});
    std::vector<counted_key> inserts, queries;
    for (std::uint64_t i = 0; i < asked_for; ++i) {
        if (i < keys) inserts.push_back({numbers[i].view(), 1 + (i + day) % 3});
        queries.push_back({numbers[i].view(), 1 + i * (day + 7) % 5000});
    }
    exact_oracle_options with;
    with.hash = hasher{hash_key::from_seed(3)};
    return std::make_shared<const exact_oracle>(*exact_oracle::from_counts(inserts, queries, with));
}

template <class Filter>
with_oracle<Filter, exact_oracle> filled(shared oracle) {
    with_oracle filter{*Filter::make({.plan = plan(), .hash = hasher{hash_key::from_seed(5)}}), std::move(oracle)};
    for (std::uint64_t key = 0; key < keys; ++key) EXPECT_NE(filter.insert(key), insert_outcome::full);
    return filter;
}

template <class Filter>
class with_oracle_snapshot : public testing::Test {};
using both = testing::Types<daisy_bloom_filter, daisy_fingerprint_filter>;
TYPED_TEST_SUITE(with_oracle_snapshot, both);

TYPED_TEST(with_oracle_snapshot, the_oracle_that_filled_it_finds_every_key) {
    using filter = with_oracle<TypeParam, exact_oracle>;
    const auto made = filled<TypeParam>(trained(1));
    const bytes file = saved(made);
    const auto loaded = filter::load(file, trained(1));
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_EQ(saved(*loaded), file);
    for (std::uint64_t key = 0; key < 2 * asked_for; ++key) {
        ASSERT_EQ(loaded->may_contain(key), made.may_contain(key)) << key;
        ASSERT_TRUE(key >= keys || loaded->may_contain(key)) << key;
    }
}

// Used with that oracle all the same, the filter would have false negatives: the classes of many
// keys differ.
TYPED_TEST(with_oracle_snapshot, an_oracle_of_another_training_is_refused) {
    using filter = with_oracle<TypeParam, exact_oracle>;
    const auto made = filled<TypeParam>(trained(1));
    const auto refused = filter::load(saved(made), trained(2));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::mismatch);
    EXPECT_NE(refused.error().message().find("another oracle"), std::string_view::npos) << refused.error().message();

    const with_oracle unmarked{*TypeParam::load(saved(made.filter())), trained(2)};
    std::uint64_t denied = 0;
    for (std::uint64_t key = 0; key < keys; ++key) denied += unmarked.may_contain(key) ? 0u : 1u;
    EXPECT_GT(denied, 0u) << "otherwise there would be no reason to refuse";
}

TYPED_TEST(with_oracle_snapshot, a_filter_without_marks_and_another_kind_of_filter_are_refused) {
    using filter = with_oracle<TypeParam, exact_oracle>;
    using other =
        std::conditional_t<std::is_same_v<TypeParam, daisy_bloom_filter>, daisy_fingerprint_filter, daisy_bloom_filter>;
    const auto made = filled<TypeParam>(trained(1));
    EXPECT_FALSE(filter::load(saved(made.filter()), trained(1)));
    EXPECT_FALSE(filter::load(saved(filled<other>(trained(1))), trained(1)));
    EXPECT_FALSE(TypeParam::load(saved(made)));
}

TYPED_TEST(with_oracle_snapshot, every_truncation_and_bit_flip_is_refused) {
    using filter = with_oracle<TypeParam, exact_oracle>;
    const bytes file = saved(filled<TypeParam>(trained(1)));
    const auto load = [oracle = trained(1)](std::span<const std::byte> of) {
        return static_cast<bool>(filter::load(of, oracle));
    };
    test::expect_truncations_refused(file, load);
    test::expect_bit_flips_refused(file, load, test::scaled<std::size_t>(31, 1));
}

TYPED_TEST(with_oracle_snapshot, a_filter_of_another_hash_key_inside_is_refused) {
    const auto made = filled<TypeParam>(trained(1));
    vector_sink forged;
    ASSERT_TRUE(write_marked(forged, hasher{hash_key::from_seed(6)},
                             *marks_of("test", *trained(1), std::nullopt, terms), saved(made.filter())));
    const auto refused = read_marked(forged.bytes());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::corrupt);
}

struct nameless_oracle {
    [[nodiscard]] key_odds odds(key_view) const noexcept { return test::odds_of_class(8, terms); }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return sizeof *this; }
};

TYPED_TEST(with_oracle_snapshot, an_oracle_without_an_identity_needs_one_from_the_caller) {
    using filter = with_oracle<TypeParam, nameless_oracle>;
    const auto oracle = std::make_shared<const nameless_oracle>();
    const filter made{*TypeParam::make({.plan = plan()}), oracle};
    vector_sink out;
    const auto refused = made.save(out);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::unsupported);
    const oracle_identity five{{std::byte{5}}}, six{{std::byte{6}}};
    ASSERT_TRUE(made.save(out, five));
    EXPECT_TRUE(filter::load(out.bytes(), oracle, five));
    EXPECT_FALSE(filter::load(out.bytes(), oracle, six));
    EXPECT_FALSE(filter::load(out.bytes(), oracle));
}

TEST(with_oracle_golden, answers_as_when_it_was_written) {
    using filter = with_oracle<daisy_bloom_filter, exact_oracle>;
    const bytes file = test::golden_bytes("with_oracle-v1-daisy_bloom.snapshot", 1 << 16,
                                          [] { return filled<daisy_bloom_filter>(trained(1)); });
    const auto golden = filter::load(file, trained(1));
    ASSERT_TRUE(golden) << golden.error().message();
    EXPECT_EQ(saved(*golden), file);
    std::uint64_t count = 0, sum = 0;
    for (std::uint64_t key = 0; key < asked_for; ++key) {
        if (!golden->may_contain(key)) continue;
        ++count;
        sum += key;
    }
    EXPECT_EQ(count, 600u);
    EXPECT_EQ(sum, 179'700u);
}

}  // namespace
}  // namespace genista::daisy_snapshot_test
