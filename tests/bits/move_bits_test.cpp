// move_bits: against a loop over single bits.
#include "bits/move_bits.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace genista::move_bits_test {
namespace {

using genista::bits::move_bits_down;
using genista::bits::move_bits_up;

std::vector<bool> bits_of(const std::vector<std::uint64_t>& words) {
    std::vector<bool> all;
    for (const std::uint64_t word : words)
        for (unsigned i = 0; i < 64; ++i) all.push_back((word >> i & 1) != 0);
    return all;
}

// Every range and distance that fits in four words would be millions: a hundred thousand of them, ends included.
TEST(move_bits, moves_what_a_loop_over_bits_moves) {
    std::mt19937_64 chance{3};
    for (int trial = 0; trial < 100'000; ++trial) {
        const std::uint64_t all = 64 * (1 + chance() % 5);
        std::vector<std::uint64_t> words(all / 64);
        for (std::uint64_t& word : words) word = chance();
        const std::uint64_t by = chance() % std::min<std::uint64_t>(all, 130);
        const std::uint64_t most = all - by;
        const std::uint64_t from = chance() % (most + 1), count = chance() % (most - from + 1);
        std::vector<bool> expected = bits_of(words);
        const std::vector<bool> before = expected;
        const bool up = (trial & 1) != 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            if (up) {
                expected[from + by + i] = before[from + i];
            } else {
                expected[from + i] = before[from + by + i];
            }
        }
        if (up) {
            move_bits_up(words, from, count, by);
        } else {
            move_bits_down(words, from + by, count, by);
        }
        ASSERT_EQ(bits_of(words), expected) << "from " << from << " count " << count << " by " << by << " up " << up;
    }
}

}  // namespace
}  // namespace genista::move_bits_test
