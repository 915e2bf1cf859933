// Words and spans of words: single operations, rank and select, and moves of bits, each against a
// version that goes bit by bit.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "bits/move_bits.hpp"
#include "bits/rank_select.hpp"
#include "bits/words.hpp"
#include "tests/support/plain_words.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::bits::words_test {
namespace {

// ---- words --------------------------------------------------------------------------------------

// words.hpp: both kernels compared with loops over single bits, on every 16-bit pattern at word
// edges and on random words.

using namespace genista::test;

// Patterns for every edge: all 16-bit values, at the low end, the high end and across the middle,
// and words of many densities.
const std::vector<std::uint64_t>& interesting_words() {
    static const std::vector<std::uint64_t> words = [] {
        std::vector<std::uint64_t> out{0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63, 0x5555555555555555u};
        for (std::uint64_t value = 0; value < 65536; value += 37) {
            out.push_back(value);
            out.push_back(value << 48);
            out.push_back(value << 24);
        }
        std::mt19937_64 random{11};
        for (int i = 0; i < 2000; ++i) {
            out.push_back(random());
            out.push_back(random() & random() & random());
            out.push_back(random() | random() | random());
        }
        return out;
    }();
    return words;
}

template <class Kernel>
void expect_kernel_agrees_with_loops() {
    std::mt19937_64 random{12};
    for (const std::uint64_t word : interesting_words()) {
        const std::size_t ones = Kernel::popcount(word);
        ASSERT_EQ(ones, plain_rank(word, 64)) << word;
        for (std::size_t k = 0; k < ones; ++k) ASSERT_EQ(Kernel::select(word, k), plain_select(word, k)) << word;
        const std::uint64_t other = random();
        ASSERT_EQ(Kernel::extract(other, word), plain_extract(other, word)) << word;
        ASSERT_EQ(Kernel::deposit(other, word), plain_deposit(other, word)) << word;
        ASSERT_EQ(Kernel::extract(word, other), plain_extract(word, other)) << word;
        ASSERT_EQ(Kernel::deposit(word, other), plain_deposit(word, other)) << word;
    }
}

TEST(words, the_portable_kernel_agrees_with_loops) {
    expect_kernel_agrees_with_loops<portable_words>();
}

TEST(words, the_bmi2_kernel_agrees_with_loops) {
    if (best_isa() < isa::avx2) GTEST_SKIP() << "this processor has no BMI2";
    expect_kernel_agrees_with_loops<bmi2_words>();
}

TEST(words, the_dispatch_takes_the_kernel_of_the_level) {
    const auto extract = [](auto kernel) { return kernel.extract(0xabcd, 0xf0f0); };
    EXPECT_EQ(with_word_kernel(isa::portable, extract), 0xacu);
    EXPECT_EQ(with_word_kernel(active_isa(), extract), 0xacu);
}

TEST(words, portable_kernels_work_at_compile_time) {
    static_assert(select_portable(0b101000, 1) == 5);
    static_assert(extract_portable(0b110101, 0b101100) == 0b101);
    static_assert(deposit_portable(0b101, 0b101100) == 0b100100);
    static_assert(reverse(1) == std::uint64_t{1} << 63);
    static_assert(low_mask(0) == 0 && low_mask(64) == ~std::uint64_t{0});
    static_assert(words_for(0) == 0 && words_for(64) == 1 && words_for(65) == 2);
    static_assert(words_for(~std::uint64_t{0}) == std::uint64_t{1} << 58);
}

TEST(words, masks_ranks_and_reversal_agree_with_loops) {
    for (std::size_t count = 0; count <= 64; ++count) {
        EXPECT_EQ(low_mask(count), plain_low_mask(count));
        for (const std::uint64_t word : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x8421f00d12345679}})
            EXPECT_EQ(rank(word, count), plain_rank(word, count));
    }
    for (const std::uint64_t word : interesting_words()) {
        ASSERT_EQ(reverse(word), plain_reverse(word));
        ASSERT_EQ(reverse(reverse(word)), word);
    }
}

TEST(words, bit_ranges_are_read_and_written_across_words_and_nothing_else_changes) {
    std::mt19937_64 random{13};
    std::array<std::uint64_t, 3> words{random(), random(), random()};
    for (std::size_t position = 0; position <= 192; ++position)
        for (std::size_t width = 0; width <= 64 && position + width <= 192; ++width) {
            ASSERT_EQ(read_bits(words, position, width), plain_read_bits(words, position, width));
            auto expected = words;
            const std::uint64_t value = random();  // bits above the width must not be written
            write_bits(words, position, width, value);
            plain_write_bits(expected, position, width, value);
            ASSERT_EQ(words, expected) << position << " " << width;
        }
}

TEST(words, the_next_set_bit_is_found_from_every_position) {
    const std::array<std::array<std::uint64_t, 3>, 4> arrays{
        {{0, 0, 0}, {std::uint64_t{1} << 63, 1, 0}, {0, 0, std::uint64_t{1} << 63}, {5, std::uint64_t{1} << 32, 0}}};
    for (const auto& words : arrays) {
        EXPECT_EQ(find_first(words), plain_find_next(words, 0));
        for (std::uint64_t from = 0; from <= 200; ++from)
            ASSERT_EQ(find_next(words, from), plain_find_next(words, from)) << from;
    }
    EXPECT_EQ(find_first({}), 0u);
}

// ---- rank and select ----------------------------------------------------------------------------

// rank_select.hpp: every position and every one, in arrays of many sizes and densities, compared
// with a running count.

std::vector<std::uint64_t> random_words(std::uint64_t size_bits, double density, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::bernoulli_distribution one{density};
    std::vector<std::uint64_t> words(words_for(size_bits));
    for (std::uint64_t i = 0; i < words.size() * 64; ++i)  // also beyond the size: those bits must be ignored
        if (one(random)) words[i / 64] |= std::uint64_t{1} << (i % 64);
    return words;
}

void expect_all_ranks_and_selects(const std::vector<std::uint64_t>& words, std::uint64_t size_bits) {
    const auto made = rank_select::make(words, size_bits);
    ASSERT_TRUE(made);
    ASSERT_EQ(made->size(), size_bits);
    std::uint64_t seen = 0;
    for (std::uint64_t i = 0; i < size_bits; ++i) {
        ASSERT_EQ(made->rank(i), seen) << i;
        const bool one = (words[i / 64] >> (i % 64) & 1) != 0;
        ASSERT_EQ((*made)[i], one);
        if (one) {
            ASSERT_EQ(made->select(seen++), i);
        }
    }
    ASSERT_EQ(made->rank(size_bits), seen);
    ASSERT_EQ(made->ones(), seen);
}

TEST(rank_select, every_rank_and_select_is_right_at_every_edge) {
    for (const std::uint64_t size : {0u, 1u, 63u, 64u, 65u, 127u, 128u, 511u, 512u, 513u, 1023u, 1024u, 1025u})
        for (const double density : {0.0, 0.02, 0.5, 1.0})
            expect_all_ranks_and_selects(random_words(size, density, size + 1), size);
}

TEST(rank_select, every_rank_and_select_is_right_over_many_samples) {
    for (const double density : {0.0005, 0.03, 0.5, 0.97, 1.0})
        expect_all_ranks_and_selects(random_words(100'003, density, 31), 100'003);
}

TEST(rank_select, ones_far_apart_and_ones_in_clumps_are_found) {
    std::vector<std::uint64_t> words(20'000);
    for (std::size_t w = 0; w < 130; ++w) words[w] = ~std::uint64_t{0};  // two samples in the first clump
    words[9'000] = std::uint64_t{1} << 63;
    words[19'999] = 1;
    expect_all_ranks_and_selects(words, words.size() * 64);
}

TEST(rank_select, the_directory_is_as_small_as_the_header_says) {
    const auto made = rank_select::make(random_words(1 << 20, 0.5, 32), 1 << 20);
    ASSERT_TRUE(made);
    const std::uint64_t bits_bytes = (1 << 20) / 8, samples = (made->ones() + 4095) / 4096;
    EXPECT_EQ(made->size_bytes(), bits_bytes + bits_bytes / 8 + 8 + samples * 8);
}

TEST(rank_select, more_bits_than_the_words_hold_are_refused_by_name) {
    const std::vector<std::uint64_t> words(2);
    const auto made = rank_select::make(words, 129);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), error_code::invalid_argument);
    EXPECT_NE(made.error().message().find("129"), std::string_view::npos);
    EXPECT_NE(made.error().message().find("128"), std::string_view::npos);
    EXPECT_FALSE(rank_select::make({}, ~std::uint64_t{0}));
}

}  // namespace
}  // namespace genista::bits::words_test

namespace genista::test::words_test {
namespace {

// ---- moves --------------------------------------------------------------------------------------

// Functions that move bits in an array of words, each compared with a vector of single bits.

constexpr std::size_t words = 5;
constexpr std::uint64_t all_bits = words * 64;

using array = std::array<std::uint64_t, words>;

array random_words(splitmix& random) {
    array made;
    for (std::uint64_t& each : made) each = random();
    return made;
}

bool bit(const array& of, std::uint64_t at) {
    return (of[at / 64] >> (at % 64) & 1) != 0;
}

// `wanted(i)` returns the expected value of bit i.
template <class Wanted>
void expect_bits(const array& after, const Wanted& wanted, const std::string& what) {
    for (std::uint64_t i = 0; i < all_bits; ++i) ASSERT_EQ(bit(after, i), wanted(i)) << what << ", bit " << i;
}

std::string range(std::uint64_t from, std::uint64_t to, unsigned width) {
    return "[" + std::to_string(from) + ", " + std::to_string(to) + ") by " + std::to_string(width);
}

TEST(move_bits, insert_moving_up_is_a_move_and_a_write) {
    splitmix random{1};
    for (int round = 0; round < 20'000; ++round) {
        const auto width = static_cast<unsigned>(1 + random() % 63);
        const std::uint64_t at = random() % (all_bits - width);
        const std::uint64_t end = at + random() % (all_bits - width - at + 1);
        const std::uint64_t value = random() >> (64 - width);
        const array before = random_words(random);
        array after = before;
        bits::insert_moving_up(after.data(), at, end, width, value);
        expect_bits(
            after,
            [&](std::uint64_t i) {
                if (i < at || i >= end + width) return bit(before, i);
                return i < at + width ? (value >> (i - at) & 1) != 0 : bit(before, i - width);
            },
            range(at, end, width));
        if (HasFatalFailure()) return;
    }
}

TEST(move_bits, insert_moving_down_is_a_move_and_a_write) {
    splitmix random{2};
    for (int round = 0; round < 20'000; ++round) {
        const auto width = static_cast<unsigned>(1 + random() % 63);
        const std::uint64_t begin = width + random() % (all_bits - width + 1);
        const std::uint64_t at = begin + random() % (all_bits - begin + 1);
        const std::uint64_t value = random() >> (64 - width);
        const array before = random_words(random);
        array after = before;
        bits::insert_moving_down(after.data(), begin, at, width, value);
        expect_bits(
            after,
            [&](std::uint64_t i) {
                if (i < begin - width || i >= at) return bit(before, i);
                return i >= at - width ? (value >> (i - (at - width)) & 1) != 0 : bit(before, i + width);
            },
            range(begin, at, width));
        if (HasFatalFailure()) return;
    }
}

// Words beside the range belong to other writers: they are not written, not even with the same
// value.
TEST(move_bits, insertions_that_end_with_a_word_do_not_write_the_next_one) {
    std::vector<std::uint64_t> exactly(2, 0x5555555555555555);  // the address sanitizer detects a third word
    bits::insert_moving_up(exactly.data(), 3, 128 - 16, 16, 0xabcd);
    EXPECT_EQ(exactly[0] >> 3 & 0xffff, 0xabcdu);
    std::vector<std::uint64_t> again(2, 0x5555555555555555);
    bits::insert_moving_down(again.data(), 16, 128, 16, 0xabcd);
    EXPECT_EQ(again[1] >> 48, 0xabcdu);
}

TEST(move_bits, moves_up_and_down_are_those_of_single_bits) {
    splitmix random{3};
    for (int round = 0; round < 20'000; ++round) {
        const std::uint64_t by = 1 + random() % 100;
        const std::uint64_t from = random() % (all_bits - by);
        const std::uint64_t count = random() % (all_bits - by - from + 1);
        const array before = random_words(random);
        array up = before;
        bits::move_bits_up(up, from, count, by);
        expect_bits(
            up,
            [&](std::uint64_t i) {
                return i < from + by || i >= from + by + count ? bit(before, i) : bit(before, i - by);
            },
            "up");
        array down = before;
        bits::move_bits_down(down, from + by, count, by);
        expect_bits(
            down, [&](std::uint64_t i) { return i < from || i >= from + count ? bit(before, i) : bit(before, i + by); },
            "down");
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace genista::test::words_test
