// rank_select.hpp: every position and every one, in arrays of many sizes and densities, compared
// with a running count.
#include "bits/rank_select.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace genista::bits::rank_select_test {
namespace {

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
}  // namespace genista::bits::rank_select_test
