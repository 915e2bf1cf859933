// The rule for rates and the exact intervals, against plain sums of binomial terms.
#include "lab/statistics/binomial.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace genista::lab::binomial_test {
namespace {

double log_term(std::uint64_t n, std::uint64_t k, double p) {
    const auto trials = static_cast<double>(n);
    const auto hits = static_cast<double>(k);
    return std::lgamma(trials + 1) - std::lgamma(hits + 1) - std::lgamma(trials - hits + 1) + hits * std::log(p) +
           (trials - hits) * std::log1p(-p);
}

double probability_of_more(std::uint64_t n, std::uint64_t k, double p) {
    double sum = 0;
    for (std::uint64_t j = n; j > k; --j) sum += std::exp(log_term(n, j, p));
    return sum;
}

TEST(binomial, the_limit_is_the_least_count_with_a_tail_of_at_most_1e_9) {
    for (const std::uint64_t trials : {1u, 10u, 137u, 2000u, 30000u}) {
        for (const double rate : {0.5, 0.25, 1.0 / 256, 1e-4}) {
            const std::uint64_t limit = most_plausible_hits(trials, rate);
            EXPECT_LE(probability_of_more(trials, limit, rate), 1e-9 * 1.0001) << trials << " trials at " << rate;
            if (limit > 0) {
                EXPECT_GT(probability_of_more(trials, limit - 1, rate), 1e-9 * 0.9999)
                    << trials << " trials at " << rate;
            }
        }
    }
}

TEST(binomial, the_limit_at_claim_sizes_lies_six_standard_deviations_up) {
    for (const double rate : {0x1p-8, 0x1p-12, 0x1p-16}) {
        const std::uint64_t trials = trials_for(rate);
        const double mean = static_cast<double>(trials) * rate;
        const double deviations = (static_cast<double>(most_plausible_hits(trials, rate)) - mean) / std::sqrt(mean);
        EXPECT_GT(deviations, 5.9) << rate;
        EXPECT_LT(deviations, 6.2) << rate;
    }
}

TEST(binomial, a_ten_percent_lie_is_caught_999_times_in_1000) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        const std::uint64_t trials = trials_for(rate);
        const double mean = 1.1 * static_cast<double>(trials) * rate;
        // Normal approximation; 3.09 standard deviations leave one in a thousand.
        EXPECT_LT(static_cast<double>(most_plausible_hits(trials, rate)), mean - 3.09 * std::sqrt(mean)) << rate;
    }
}

TEST(binomial, degenerate_inputs_have_their_obvious_answers) {
    EXPECT_EQ(most_plausible_hits(0, 0.5), 0u);
    EXPECT_EQ(most_plausible_hits(100, 0), 0u);
    EXPECT_EQ(most_plausible_hits(100, 1), 100u);
    const interval nothing = exact_interval(0, 0);
    EXPECT_EQ(nothing.low, 0);
    EXPECT_EQ(nothing.high, 1);
}

TEST(binomial, interval_ends_have_the_stated_tails) {
    const interval seen = exact_interval(37, 3000);
    EXPECT_NEAR(probability_of_more(3000, 36, seen.low), 0.0005, 1e-8);
    EXPECT_NEAR(1 - probability_of_more(3000, 37, seen.high), 0.0005, 1e-8);
}

}  // namespace
}  // namespace genista::lab::binomial_test
