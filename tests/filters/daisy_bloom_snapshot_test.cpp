// Snapshots of daisy_bloom_filter: answers, plan and counts survive saving and loading; every
// truncation and bit flip is refused, and so are contradictory fields; forgeries with valid
// checksums give an error or a sound filter; and golden files.
//
// The golden files were written by this test with GENISTA_WRITE_GOLDEN=1, which writes only files
// that do not exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "genista/filters/daisy_bloom.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/daisy_snapshot_exercise.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::daisy_bloom_snapshot_test {
namespace {

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

}  // namespace
}  // namespace genista::daisy_bloom_snapshot_test
