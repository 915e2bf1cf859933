// Rates of bloomier_filter by the rule of docs/papers.md: at most the 1 - 1e-9 quantile of
// Binomial(trials, rate) false positives among 10^4/rate absent keys. A rate 10 % too high is
// caught 999 times in 1000. Seeds are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "genista/filters/bloomier.hpp"
#include "lab/statistics/binomial.hpp"

namespace genista::bloomier_stat_test {
namespace {

// Several filters, so that no single hash key decides. Absent keys are far larger than stored ones.
std::uint64_t false_positives(double made_for, std::uint64_t keys, std::uint64_t filters, std::uint64_t trials) {
    std::vector<std::uint64_t> members(keys), asked(4096), answers(words_for(asked.size()));
    for (std::uint64_t key = 0; key < keys; ++key) members[key] = key;
    std::uint64_t hits = 0;
    for (std::uint64_t seed = 0; seed < filters; ++seed) {
        const auto filter =
            bloomier_filter::build({.false_positive_rate = made_for, .hash = hasher{hash_key::from_seed(seed)}},
                                   std::span<const std::uint64_t>{members}, {});
        EXPECT_TRUE(filter) << filter.error().message();
        const std::uint64_t share = trials * (seed + 1) / filters - trials * seed / filters;
        for (std::uint64_t done = 0; done < share; done += asked.size()) {
            const std::size_t count = std::min<std::uint64_t>(asked.size(), share - done);
            for (std::size_t i = 0; i < count; ++i) asked[i] = (std::uint64_t{1} << 50) + done + i;
            filter->may_contain(std::span<const std::uint64_t>{asked}.first(count), answers);
            for (std::size_t word = 0; word < words_for(count); ++word)
                hits += static_cast<unsigned>(std::popcount(answers[word]));
        }
    }
    return hits;
}

TEST(bloomier_rates, hold_for_few_keys_and_many) {
    for (const double rate : {0.5, 0.3, 0.02, 0x1p-8, 0x1.fp-9, 0x1p-12}) {
        for (const std::uint64_t keys : {1u, 200u, 5'000u, 200'000u}) {
            const std::uint64_t filters = keys <= 200 ? 200 : keys == 5'000 ? 20 : 1;
            const std::uint64_t trials = lab::trials_for(rate);
            EXPECT_LE(false_positives(rate, keys, filters, trials), lab::most_plausible_hits(trials, rate))
                << rate << " promised, " << keys << " keys";
        }
    }
}

// Control: the measurement can fail. An average pair of keys collides half as often as the worst
// one, so the check must lack two bits.
TEST(bloomier_rates, a_check_two_bits_too_short_is_caught) {
    const double rate = 0x1p-8;
    const std::uint64_t trials = lab::trials_for(rate);
    EXPECT_GT(false_positives(4 * rate, 5'000, 20, trials), lab::most_plausible_hits(trials, rate));
}

}  // namespace
}  // namespace genista::bloomier_stat_test
