// words.hpp: both kernels compared with loops over single bits, on every 16-bit pattern at word
// edges and on random words.
#include "bits/words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "tests/support/plain_words.hpp"

namespace genista::bits::words_test {
namespace {

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

}  // namespace
}  // namespace genista::bits::words_test
