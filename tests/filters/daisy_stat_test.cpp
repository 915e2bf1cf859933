// Rates of the daisy filters that take a class by the rule of docs/papers.md. Seeds are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "lab/statistics/binomial.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/scale.hpp"

namespace genista::daisy_stat_test {
namespace {

// ---- daisy_bloom_filter -------------------------------------------------------------------------

// Rates of daisy_bloom_filter by the rule of docs/papers.md: over queries in the plan's shares the
// rate is at most the plan's expected one, in all layouts, for small and large tables. 10^4/rate
// trials; seeds are fixed.
//
// How full a table becomes varies: small tables are judged over many filters, and all get a margin
// of three deviations of that, 10 to 13 %. So a rate that is a quarter too high is caught 999 times
// in 1000; a rate a tenth too low is reported as a waste of bits.

using test::class_of_key;
using test::class_share;

struct counted {
    std::uint64_t trials = 0, hits = 0;
};

// Fills a filter to n draws of different keys and queries absent keys, both in their shares.
counted ask(const daisy_bloom_options& options, const std::vector<class_share>& shares, std::uint64_t seed,
            std::uint64_t trials) {
    test::splitmix chance{seed};
    auto filter = *daisy_bloom_filter::make(options);
    const auto draws = static_cast<std::uint64_t>(options.plan.terms.draws);
    for (std::uint64_t i = 0; i < draws; ++i) {
        const std::uint64_t key = test::draw_key(shares, &class_share::stored, chance, i);
        (void)filter.insert(key, class_of_key(key));
    }
    std::vector<std::uint64_t> keys(4096), answers(words_for(keys.size()));
    std::vector<std::uint8_t> classes(keys.size());
    counted seen;
    for (; seen.trials < trials; seen.trials += keys.size()) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            keys[i] = test::draw_key(shares, &class_share::asked, chance, (std::uint64_t{1} << 40) + seen.trials + i);
            classes[i] = static_cast<std::uint8_t>(class_of_key(keys[i]));
        }
        filter.may_contain(keys, classes, answers);
        for (const std::uint64_t word : answers) seen.hits += static_cast<unsigned>(std::popcount(word));
    }
    return seen;
}

TEST(daisy_bloom_rates, are_as_expected_in_every_layout) {
    struct world {
        double rate;
        std::vector<class_share> shares;
    };
    const std::vector<world> worlds = {
        {0x1p-4, {{1, 0.5, 0.05}, {4, 0.5, 0.95}}},
        {0x1p-8, {{0, 0.1, 0.0005}, {3, 0.5, 0.0195}, {6, 0.3, 0.08}, {8, 0.1, 0.9}}},
        {0x1p-10, {{2, 0.3, 0.0005}, {9, 0.4, 0.1}, {10, 0.3, 0.8995}}},
    };
    for (const world& in : worlds) {
        for (const bool blocked : {false, true}) {
            for (const double draws : {2000.0, 100'000.0}) {
                const daisy_plan plan = test::plan_of_shares({draws, in.rate}, in.shares);
                const std::uint64_t filters = draws < 10'000 ? 40 : 1;
                const std::uint64_t trials = test::scaled<std::uint64_t>(1, 4) * lab::trials_for(plan.expected_rate());
                counted all;
                for (std::uint64_t seed = 0; seed < filters; ++seed) {
                    const counted one = ask({plan, hasher{hash_key::from_seed(seed)}, blocked}, in.shares, seed + 1,
                                            trials / filters + 1);
                    all.trials += one.trials;
                    all.hits += one.hits;
                }
                // The number of probes varies by √(n E[j²]) around n E[j], and the rate of class j
                // j times as much, relatively, as the share of ones.
                const double margin = 1 + 30 / std::sqrt(draws * static_cast<double>(filters)) + 40 / draws;
                EXPECT_LE(all.hits, lab::most_plausible_hits(all.trials, margin * plan.expected_rate()))
                    << in.rate << (blocked ? ", blocked, " : ", ") << draws << " draws: "
                    << static_cast<double>(all.hits) / static_cast<double>(all.trials) / plan.expected_rate();
                EXPECT_GE(static_cast<double>(all.hits) / static_cast<double>(all.trials),
                          plan.expected_rate() * (0.9 - 10 / std::sqrt(draws)))
                    << "the table is larger than necessary";
            }
        }
    }
}

// Control: the measurement can fail. A tenth more draws than planned must break the rate.
TEST(daisy_bloom_rates, a_tenth_too_many_draws_is_caught) {
    const std::vector<class_share> shares = {{3, 0.5, 0.02}, {8, 0.5, 0.98}};
    const daisy_plan plan = test::plan_of_shares({100'000, 0x1p-8}, shares);
    daisy_plan lying = plan;
    lying.terms.draws = 110'000;
    for (const bool blocked : {false, true}) {
        auto filter =
            *daisy_bloom_filter::make({.plan = plan, .hash = hasher{hash_key::from_seed(2)}, .blocked = blocked});
        EXPECT_LT(filter.bits(), *daisy_bloom_filter::bits_for(lying, blocked));
        test::splitmix chance{4};
        for (std::uint64_t i = 0; i < 110'000; ++i) {
            const std::uint64_t key = test::draw_key(shares, &class_share::stored, chance, i);
            (void)filter.insert(key, class_of_key(key));
        }
        const std::uint64_t trials = lab::trials_for(plan.expected_rate());
        std::uint64_t hits = 0;
        for (std::uint64_t i = 0; i < trials; ++i) {
            const std::uint64_t key = test::draw_key(shares, &class_share::asked, chance, (std::uint64_t{1} << 40) + i);
            hits += filter.may_contain(key, class_of_key(key)) ? 1u : 0u;
        }
        EXPECT_GT(hits, lab::most_plausible_hits(trials, plan.expected_rate()));
        EXPECT_EQ(filter.drift().verdict, drift_verdict::fuller_than_planned);
    }
}

// ---- daisy_fingerprint_filter -------------------------------------------------------------------

// Rates of daisy_fingerprint_filter by the rule of docs/papers.md, class by class: at most the 1 -
// 1e-9 quantile of Binomial(trials, 2^-j) false positives among 10^4 2^j absent keys of class j. A
// rate 10 % too high is caught 999 times in 1000. Seeds are fixed.

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
}  // namespace genista::daisy_stat_test
