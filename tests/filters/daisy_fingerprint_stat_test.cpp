// Rates of daisy_fingerprint_filter by the rule of docs/papers.md, class by class: at most the 1 -
// 1e-9 quantile of Binomial(trials, 2^-j) false positives among 10^4 2^j absent keys of class j. A
// rate 10 % too high is caught 999 times in 1000. Seeds are fixed.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "genista/filters/daisy_fingerprint.hpp"
#include "lab/statistics/binomial.hpp"
#include "tests/support/daisy_classes.hpp"

namespace genista::daisy_fingerprint_stat_test {
namespace {

std::uint64_t let_through(const daisy_fingerprint_filter& filter, unsigned its_class, std::uint64_t trials) {
    std::vector<std::uint64_t> asked(4096), answers(words_for(asked.size()));
    const std::vector<std::uint8_t> classes(asked.size(), static_cast<std::uint8_t>(its_class));
    std::uint64_t hits = 0;
    for (std::uint64_t done = 0; done < trials; done += asked.size()) {
        const std::size_t count = std::min<std::uint64_t>(asked.size(), trials - done);
        for (std::size_t i = 0; i < count; ++i) asked[i] = (std::uint64_t{1} << 50) + done + i;
        filter.may_contain(std::span<const std::uint64_t>{asked}.first(count), std::span{classes}.first(count),
                           answers);
        for (std::size_t word = 0; word < words_for(count); ++word)
            hits += static_cast<unsigned>(std::popcount(answers[word]));
    }
    return hits;
}

// With so many times as many keys as planned.
daisy_fingerprint_filter filled(double times, bool unknown) {
    const daisy_plan plan = test::plan_of(100'000, 0x1p-8, {0.1, 0.1, 0.1, 0.1, 0.2, 0.0002, 0.1, 0.1, 0.1998});
    auto filter = *daisy_fingerprint_filter::make({plan, hasher{hash_key::from_seed(7)}, unknown});
    for (std::uint64_t key = 0; key < static_cast<std::uint64_t>(100'000 * times); ++key)
        EXPECT_NE(filter.insert(key, test::class_by(plan, key)), insert_outcome::full);
    return filter;
}

bool is_kept(const daisy_fingerprint_filter& filter, unsigned its_class, double rate) {
    const std::uint64_t trials = lab::trials_for(rate);
    return let_through(filter, its_class, trials) <= lab::most_plausible_hits(trials, rate);
}

TEST(daisy_fingerprint_rates, are_those_of_the_classes) {
    const auto filter = filled(1, false);
    for (unsigned j = 1; j <= 8; ++j)
        EXPECT_TRUE(is_kept(filter, j, std::ldexp(1, -static_cast<int>(filter.kept_as(j))))) << j;
}

TEST(daisy_fingerprint_rates, are_at_most_a_quarter_higher_for_any_number_of_keys) {
    const auto filter = filled(6, false);
    for (unsigned j = 2; j <= 8; ++j) EXPECT_TRUE(is_kept(filter, j, 1.25 * std::ldexp(1, -static_cast<int>(j)))) << j;
    // Control: the measurement can fail. So full a filter does not keep the rate itself.
    EXPECT_FALSE(is_kept(filter, 8, 0x1p-8));
}

TEST(daisy_fingerprint_rates, of_unknown_size_are_those_of_the_classes_too) {
    const auto filter = filled(6, true);
    for (unsigned j = 1; j <= 8; ++j) EXPECT_TRUE(is_kept(filter, j, std::ldexp(1, -static_cast<int>(j)))) << j;
}

// let_through() is the true rate and not an estimate.
TEST(daisy_fingerprint_rates, are_as_the_filter_computes_them) {
    const auto filter = filled(3, false);
    for (unsigned j = 1; j <= 8; ++j) {
        const std::uint64_t trials = 2'000'000;
        const auto seen = lab::exact_interval(let_through(filter, j, trials), trials, 0.999999);
        EXPECT_LE(seen.low, filter.let_through(j)) << j;
        // let_through() is a union bound: a false positive in several tables of a chain occurs
        // once.
        EXPECT_GE(seen.high, -std::expm1(-filter.let_through(j))) << j;
    }
}

}  // namespace
}  // namespace genista::daisy_fingerprint_stat_test
