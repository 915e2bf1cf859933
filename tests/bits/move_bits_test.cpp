// Functions that move bits in an array of words, each compared with a vector of single bits.
#include "bits/move_bits.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/splitmix.hpp"

namespace genista::test::move_bits_test {
namespace {

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
}  // namespace genista::test::move_bits_test
