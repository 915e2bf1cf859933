// permutation: a bijection of every universe that spreads neighbours.
#include "hash/key_stream.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace genista::permutation_test {
namespace {

TEST(permutation, is_a_bijection_of_every_small_universe) {
    const hasher hash{hash_key::from_seed(1)};
    for (std::uint64_t universe = 1; universe < 300; ++universe) {
        const permutation spread{universe, hash};
        std::vector<bool> met(universe);
        for (std::uint64_t x = 0; x < universe; ++x) {
            const std::uint64_t to = spread.forth(x);
            ASSERT_LT(to, universe);
            ASSERT_FALSE(met[to]);
            met[to] = true;
            ASSERT_EQ(spread.back(to), x);
        }
    }
}

TEST(permutation, goes_forth_and_back_in_large_universes) {
    const hasher hash{hash_key::from_seed(2)};
    for (const std::uint64_t universe :
         {std::uint64_t{1} << 20, (std::uint64_t{1} << 32) + 15, std::uint64_t{1} << 61}) {
        const permutation spread{universe, hash};
        for (std::uint64_t i = 0; i < 200; ++i) {
            const std::uint64_t x = universe - 1 - i * (universe / 200);
            ASSERT_LT(spread.forth(x), universe);
            ASSERT_EQ(spread.back(spread.forth(x)), x);
        }
    }
}

// Neighbours are separated: of 4096 neighbours each of 16 bins by the low bits gets about its
// share.
TEST(permutation, spreads_neighbours) {
    const permutation spread{1'000'003, hasher{hash_key::from_seed(3)}};
    std::vector<int> bins(16);
    for (std::uint64_t x = 0; x < 4096; ++x) ++bins[spread.forth(x) % bins.size()];
    for (const int size : bins) {
        EXPECT_GT(size, 160);
        EXPECT_LT(size, 360);
    }
}

}  // namespace
}  // namespace genista::permutation_test
