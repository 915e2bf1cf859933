// The sketches against an exact table, with random operations: count_min never estimates too
// little, however it is updated and merged; conservative counters are never above plain ones; the
// sum of two count_sketches is the count_sketch of both logs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "genista/detail/oracles/sketches.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::sketches_model_test {
namespace {

// A key of a skewed log: small numbers occur often.
std::uint64_t skewed(test::splitmix& chance, std::uint64_t bound) {
    const std::uint64_t top = 1 + chance.below(bound);
    return chance.below(1 + chance.below(top));
}

TEST(count_min_model, is_never_below_the_truth_and_conservative_never_above_plain) {
    test::splitmix chance{1};
    for (int round = 0; round < test::scaled(150, 15'000); ++round) {
        const sketch_shape shape{1 + chance.below(60), static_cast<std::uint32_t>(1 + chance.below(6))};
        const hasher hash{hash_key::from_seed(chance())};
        auto plain = *count_min::make({shape, false, hash});
        auto careful = *count_min::make({shape, true, hash});
        auto plain_part = *count_min::make({shape, false, hash});
        auto careful_part = *count_min::make({shape, true, hash});
        std::map<std::uint64_t, std::uint64_t> truth;
        const bool merges = chance.below(2) == 0;
        for (std::uint64_t i = chance.below(400); i > 0; --i) {
            const std::uint64_t key = skewed(chance, 200), count = chance.below(5);
            const bool in_part = merges && chance.below(2) == 0;
            (in_part ? plain_part : plain).add(key, count);
            (in_part ? careful_part : careful).add(key, count);
            truth[key] += count;
        }
        ASSERT_TRUE(plain.merge(plain_part));
        ASSERT_TRUE(careful.merge(careful_part));
        ASSERT_EQ(plain.total(), careful.total());
        for (std::uint64_t key = 0; key < 220; ++key) {
            const std::uint64_t count = truth.contains(key) ? truth[key] : 0;
            ASSERT_GE(careful.estimate(key), count) << key;
            ASSERT_LE(careful.estimate(key), plain.estimate(key)) << key;
            ASSERT_LE(plain.estimate(key), plain.total());
        }
    }
}

TEST(count_sketch_model, is_linear_and_exact_for_keys_without_collisions) {
    test::splitmix chance{2};
    for (int round = 0; round < test::scaled(100, 10'000); ++round) {
        const sketch_shape shape{1 + chance.below(60), static_cast<std::uint32_t>(1 + chance.below(8))};
        const hasher hash{hash_key::from_seed(chance())};
        auto whole = *count_sketch::make({shape, hash}), part = *count_sketch::make({shape, hash}),
             rest = *count_sketch::make({shape, hash});
        for (std::uint64_t i = chance.below(300); i > 0; --i) {
            const std::uint64_t key = skewed(chance, 200), count = chance.below(5);
            whole.add(key, count);
            (chance.below(2) == 0 ? part : rest).add(key, count);
        }
        ASSERT_TRUE(part.merge(rest));
        ASSERT_TRUE(std::ranges::equal(part.bytes(), whole.bytes()));
        auto lonely = *count_sketch::make({shape, hash});
        lonely.add(std::uint64_t{77}, 123);
        ASSERT_EQ(lonely.estimate(std::uint64_t{77}), 123);
    }
}

}  // namespace
}  // namespace genista::sketches_model_test
