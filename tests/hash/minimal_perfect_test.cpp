// The minimal perfect hash function: a bijection for every number of keys, the same bytes from any
// number of threads, less than three bits a key, and an error for digests that crowd or bytes that
// are inconsistent.
#include "genista/detail/hash/minimal_perfect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "genista/hash/hasher.hpp"
#include "hash/digests_in_order.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::minimal_perfect_test {
namespace {

std::vector<digest> digests_of(std::uint64_t keys, std::uint64_t seed) {
    const hasher hash{hash_key::from_seed(seed)};
    std::vector<std::uint64_t> numbers(keys);
    for (std::uint64_t i = 0; i < keys; ++i) numbers[i] = i;
    return digests_in_order(hash, std::span<const std::uint64_t>{numbers}, 1);
}

void expect_bijection(const minimal_perfect& perfect, const std::vector<digest>& keys) {
    ASSERT_EQ(perfect.size(), keys.size());
    std::vector<bool> seen(keys.size());
    for (const digest& d : keys) {
        const std::uint64_t number = perfect(d);
        ASSERT_LT(number, keys.size());
        ASSERT_FALSE(seen[number]) << number << " of " << keys.size() << " twice";
        seen[number] = true;
    }
}

std::vector<std::byte> widths_of(const minimal_perfect& perfect) {
    std::vector<std::byte> widths(minimal_perfect::widths_bytes(perfect.form()));
    perfect.widths(widths);
    return widths;
}

TEST(minimal_perfect, numbers_every_key_once_for_every_small_number_of_keys) {
    for (std::uint64_t keys = 1; keys <= 300; ++keys) {
        for (std::uint64_t seed = 0; seed < test::scaled(20u, 2'000u); ++seed) {
            const auto sorted = digests_of(keys, 1'000 * keys + seed);
            const auto made = minimal_perfect::build(sorted);
            ASSERT_TRUE(made) << keys << " keys, seed " << seed << ": " << made.error().message();
            expect_bijection(*made, sorted);
            if (HasFatalFailure()) return;
        }
    }
}

TEST(minimal_perfect, numbers_every_key_once_around_the_limits_of_a_partition) {
    for (const std::uint64_t keys :
         {1'000u, 2'047u, 2'048u, 3'071u, 3'072u, 3'073u, 5'119u, 5'120u, 10'000u, 100'000u}) {
        const auto sorted = digests_of(keys, keys);
        const auto made = minimal_perfect::build(sorted);
        ASSERT_TRUE(made) << made.error().message();
        expect_bijection(*made, sorted);
    }
}

TEST(minimal_perfect, of_no_keys_has_no_bytes) {
    const auto made = minimal_perfect::build({});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->size(), 0u);
    EXPECT_EQ(made->allocated_bytes(), 0u);
    EXPECT_TRUE(minimal_perfect::from_bytes({}, {}, {}));
}

TEST(minimal_perfect, gives_absent_keys_some_number_below_n) {
    const auto made = minimal_perfect::build(digests_of(5'000, 1));
    ASSERT_TRUE(made);
    test::splitmix chance{2};
    for (int i = 0; i < 100'000; ++i) ASSERT_LT((*made)(digest{chance(), chance()}), 5'000u);
    for (const digest& d : {digest{0, 0}, digest{~0ull, ~0ull}, digest{0, ~0ull}, digest{~0ull, 0}})
        EXPECT_LT((*made)(d), 5'000u);
}

TEST(minimal_perfect, has_the_same_bytes_from_any_number_of_threads) {
    const auto sorted = digests_of(50'000, 3);
    const auto alone = minimal_perfect::build(sorted, 1);
    ASSERT_TRUE(alone);
    for (const unsigned threads : {0u, 2u, 3u, 7u, 100u}) {
        const auto made = minimal_perfect::build(sorted, threads);
        ASSERT_TRUE(made);
        EXPECT_EQ(widths_of(*made), widths_of(*alone)) << threads;
        EXPECT_TRUE(std::ranges::equal(made->records(), alone->records())) << threads;
    }
}

TEST(minimal_perfect, takes_less_than_three_bits_a_key) {
    for (const std::uint64_t keys : {10'000u, 100'000u, 300'000u}) {
        const auto made = minimal_perfect::build(digests_of(keys, 4), 2);
        ASSERT_TRUE(made);
        const double bits = 8.0 * static_cast<double>(made->allocated_bytes()) / static_cast<double>(keys);
        EXPECT_LT(bits, minimal_perfect::most_bits_per_key) << keys;
        EXPECT_GT(bits, 1.44) << keys << ": below the least that any such function needs";
    }
}

// Digests that crowd: all in one partition, or all in one bucket.
TEST(minimal_perfect, refuses_digests_that_do_not_look_random) {
    std::vector<digest> near(100'000), same(3'000);
    for (std::uint64_t i = 0; i < near.size(); ++i) near[i] = digest{i, 0};
    for (std::uint64_t i = 0; i < same.size(); ++i) same[i] = digest{7, i};
    for (const auto& keys : {near, same}) {
        const auto made = minimal_perfect::build(keys);
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code(), error_code::invalid_argument);
        EXPECT_NE(made.error().message().find("random"), std::string_view::npos) << made.error().message();
    }
}

// Two keys with the same word: no seed separates them, another salt does.
TEST(minimal_perfect, separates_keys_whose_words_agree_under_the_first_salt) {
    auto keys = digests_of(100, 5);
    const std::uint64_t factor = minimal_perfect::build(keys)->view().factor;
    const digest old = keys[50];
    digest other{old.position + 1, 0};
    other.seed = minimal_perfect_view::word_of(old, factor) ^ other.position * factor;
    keys.insert(keys.begin() + 51, other);
    ASSERT_TRUE(std::ranges::is_sorted(keys));
    ASSERT_EQ(minimal_perfect_view::word_of(old, factor), minimal_perfect_view::word_of(other, factor));
    const auto made = minimal_perfect::build(keys);
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->form().salt, 1u);
    expect_bijection(*made, keys);
}

// Seeds of no bits behind the last record: a look-up reads within the function's own memory. With
// seven records of one word, a word behind them would end a cache line and the allocation.
TEST(minimal_perfect, a_seed_of_no_bits_is_read_within_its_memory) {
    const auto form = minimal_perfect::shape_for(7 * 2'048);
    ASSERT_EQ(form.partitions, 7u);
    const std::vector<std::byte> widths(minimal_perfect::widths_bytes(form));
    std::vector<std::uint64_t> records;
    for (std::uint64_t p = 0; p < 7; ++p) records.push_back(p * 2'048 | std::uint64_t{2'048} << 48);
    const auto made = minimal_perfect::from_bytes(form, widths, std::as_bytes(std::span{records}));
    ASSERT_TRUE(made) << made.error().message();
    const auto at = made->view().aim(digest{~0ull, 0});
    EXPECT_EQ(at.width, 0u);
    const auto* const first = reinterpret_cast<const std::byte*>(made->view().columns);
    const auto* const behind = reinterpret_cast<const std::byte*>(at.seed_at + 2);
    EXPECT_LE(static_cast<std::size_t>(behind - first), made->allocated_bytes());
    EXPECT_LT((*made)(digest{~0ull, 0}), form.keys);
}

TEST(minimal_perfect, comes_back_from_its_bytes) {
    for (const std::uint64_t keys : {1u, 2u, 100u, 10'000u}) {
        const auto sorted = digests_of(keys, keys);
        const auto made = minimal_perfect::build(sorted);
        ASSERT_TRUE(made);
        const auto again = minimal_perfect::from_bytes(made->form(), widths_of(*made), made->records());
        ASSERT_TRUE(again) << again.error().message();
        for (const digest& d : sorted) ASSERT_EQ((*again)(d), (*made)(d));
        EXPECT_EQ(again->allocated_bytes(), made->allocated_bytes());
    }
}

TEST(minimal_perfect, refuses_bytes_that_a_look_up_could_not_rely_on) {
    const auto made = minimal_perfect::build(digests_of(10'000, 6));
    ASSERT_TRUE(made);
    const auto widths = widths_of(*made);
    const std::vector<std::byte> records(made->records().begin(), made->records().end());
    const auto says = [](const auto& form, const auto& w, const auto& r) {
        const auto loaded = minimal_perfect::from_bytes(form, w, r);
        return loaded ? std::string{"loaded"} : std::string{to_string(loaded.error().code())};
    };
    EXPECT_EQ(says(made->form(), widths, records), "loaded");
    for (auto change :
         {+[](minimal_perfect::shape& form) { form.keys = 0; }, +[](minimal_perfect::shape& form) { ++form.keys; },
          +[](minimal_perfect::shape& form) { form.keys = ~std::uint64_t{0}; },
          +[](minimal_perfect::shape& form) { form.keys = minimal_perfect::max_keys; },
          +[](minimal_perfect::shape& form) { ++form.partitions; },
          +[](minimal_perfect::shape& form) { form.partitions = 0; },
          +[](minimal_perfect::shape& form) { --form.buckets; },
          +[](minimal_perfect::shape& form) { form.salt = 4; }}) {
        auto form = made->form();
        change(form);
        EXPECT_EQ(says(form, widths, records), "corrupt");
    }
    for (const int width : {0, std::to_integer<int>(widths[3]) + 8, 21, 255}) {
        auto other = widths;
        other[3] = static_cast<std::byte>(width);
        EXPECT_EQ(says(made->form(), other, records), "corrupt") << "a width of " << width;
    }
    EXPECT_EQ(says(made->form(), std::span{widths}.first(widths.size() - 1), records), "corrupt");
    EXPECT_EQ(says(made->form(), widths, std::span{records}.first(records.size() - 8)), "corrupt");
    EXPECT_EQ(says(made->form(), widths, std::span<const std::byte>{}), "corrupt");
    const std::size_t record_bytes = records.size() / made->form().partitions;
    for (const std::size_t at : {std::size_t{0}, std::size_t{6}, std::size_t{7}, record_bytes, records.size() - 1}) {
        auto other = records;
        other[at] ^= std::byte{0x80};
        EXPECT_EQ(says(made->form(), widths, other), "corrupt") << at;
    }
}

}  // namespace
}  // namespace genista::minimal_perfect_test
