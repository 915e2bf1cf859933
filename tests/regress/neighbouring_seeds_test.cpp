// The streams of the seeds s and s + 1 were one stream, shifted by one number: a test that drew
// inserts from one and queries from the other queried keys that it had stored. Found because
// daisy-bloom's queries followed its inserts.
#include <gtest/gtest.h>

#include <cstdint>
#include <unordered_set>

#include "lab/workloads/random.hpp"

namespace genista::neighbouring_seeds_test {
namespace {

// 100 streams of 1,000 numbers of 64 bits share one by chance with probability 3e-10.
TEST(neighbouring_seeds, share_no_number) {
    std::unordered_set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        genista::lab::random_stream chance{seed};
        for (int i = 0; i < 1'000; ++i)
            EXPECT_TRUE(seen.insert(chance()).second) << "seed " << seed << ", number " << i;
    }
}

}  // namespace
}  // namespace genista::neighbouring_seeds_test
