// The errors of the sketches are within the proved bounds.
//
// count_min, claim: an estimate is too large by more than e N / width with probability at most
// e^-depth, for every key. Sample: 400 keys under 400 hash functions of their own each; the rule
// for rates (docs/papers.md) judges the count. False alarm 10^-9; smallest defect: a rate 1.1 times
// too high at depth 1 and 2. count_sketch, claim: one row is unbiased with variance at most F
// / width. Sample: one key under 20,000 hash functions: the mean within 6 standard errors of the
// truth (false alarm 2·10^-9), the mean square below 1.1 F / width.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "genista/detail/oracles/sketches.hpp"
#include "lab/statistics/binomial.hpp"
#include "tests/support/scale.hpp"

namespace genista::sketches_stat_test {
namespace {

// Key i occurs about 2000 / (i + 1) times: a log with a long tail.
constexpr std::uint64_t keys = 400;
constexpr std::uint64_t count_of(std::uint64_t key) {
    return 1 + 2'000 / (key + 1);
}

TEST(count_min_stat, errs_beyond_its_bound_no_more_often_than_its_depth_allows) {
    const auto functions = test::scaled<std::uint64_t>(400, 4'000);
    for (const bool conservative : {false, true}) {
        for (const std::uint32_t depth : {1u, 2u, 4u}) {
            std::uint64_t beyond = 0;
            for (std::uint64_t seed = 0; seed < functions; ++seed) {
                auto sketch = *count_min::make({{50, depth}, conservative, hasher{hash_key::from_seed(seed)}});
                for (std::uint64_t key = 0; key < keys; ++key) sketch.add(key, count_of(key));
                for (std::uint64_t key = 0; key < keys; ++key) {
                    const double error = static_cast<double>(sketch.estimate(key) - count_of(key));
                    beyond += error > sketch.noise() ? 1u : 0u;
                }
            }
            EXPECT_LE(beyond, lab::most_plausible_hits(functions * keys, std::exp(-static_cast<double>(depth))))
                << "depth " << depth << (conservative ? ", conservative" : "");
        }
    }
}

TEST(count_sketch_stat, one_row_is_right_on_average_and_its_variance_is_within_its_bound) {
    const auto functions = test::scaled<std::uint64_t>(20'000, 200'000);
    constexpr std::uint64_t width = 50, asked = 3;
    double squares = 0;
    for (std::uint64_t key = 0; key < keys; ++key) squares += std::pow(static_cast<double>(count_of(key)), 2);
    double sum = 0, sum_of_squares = 0;
    for (std::uint64_t seed = 0; seed < functions; ++seed) {
        auto sketch = *count_sketch::make({{width, 1}, hasher{hash_key::from_seed(seed)}});
        for (std::uint64_t key = 0; key < keys; ++key) sketch.add(key, count_of(key));
        const double error = static_cast<double>(sketch.estimate(asked)) - static_cast<double>(count_of(asked));
        sum += error;
        sum_of_squares += error * error;
    }
    const auto trials = static_cast<double>(functions);
    const double bound = squares / double{width};
    EXPECT_LE(std::abs(sum / trials), 6 * std::sqrt(bound / trials));
    EXPECT_LE(sum_of_squares / trials, 1.1 * bound);
    EXPECT_GE(sum_of_squares / trials, 0.5 * bound) << "the sample must contain collisions";
}

TEST(count_sketch_stat, the_median_of_five_rows_rarely_leaves_the_noise) {
    // Each row errs by more than 3 √(F / width) with probability at most 1/9 (Chebyshev); three of
    // five do with at most 10 / 9^3.
    const auto functions = test::scaled<std::uint64_t>(300, 3'000);
    std::uint64_t beyond = 0;
    for (std::uint64_t seed = 0; seed < functions; ++seed) {
        auto sketch = *count_sketch::make({{50, 5}, hasher{hash_key::from_seed(seed)}});
        for (std::uint64_t key = 0; key < keys; ++key) sketch.add(key, count_of(key));
        const double noise = sketch.noise();
        for (std::uint64_t key = 0; key < keys; ++key) {
            const double error = static_cast<double>(sketch.estimate(key)) - static_cast<double>(count_of(key));
            beyond += std::abs(error) > noise ? 1u : 0u;
        }
    }
    EXPECT_LE(beyond, lab::most_plausible_hits(functions * keys, 10.0 / 729));
}

}  // namespace
}  // namespace genista::sketches_stat_test
