// The query sequences: each follows its law, and is the same from the same seed.
//
// Laws are judged by chi-square over c cells: it stays below c + 2 sqrt(20.8 c) + 41.6 except once
// in 10^9 samples (Laurent and Massart 2000, Lemma 1, with x = 20.8). Seeds are fixed, so a result
// is permanent.
#include "lab/workloads/queries.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace genista::lab::workloads_test {
namespace {

constexpr std::uint64_t last_key = ~std::uint64_t{0};

template <class Queries>
std::vector<std::uint64_t> counts_of(Queries next, key_range over, std::uint64_t queries) {
    std::vector<std::uint64_t> counts(over.keys);
    for (std::uint64_t i = 0; i < queries; ++i) {
        const std::uint64_t key = next() - over.first;
        if (key < over.keys) ++counts[key];
    }
    return counts;
}

// Cells of fewer than 10 expected queries are joined with their neighbours.
struct verdict {
    double chi_square = 0;
    double bound = 0;
};

verdict judge(const std::vector<std::uint64_t>& counts, const std::vector<double>& weights, std::uint64_t queries) {
    double all = 0, chi_square = 0, expected = 0, seen = 0, cells = 0;
    for (const double each : weights) all += each;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        expected += weights[i] / all * static_cast<double>(queries);
        seen += static_cast<double>(counts[i]);
        if (expected < 10 && i + 1 < counts.size()) continue;
        chi_square += (seen - expected) * (seen - expected) / expected;
        ++cells;
        expected = seen = 0;
    }
    return {chi_square, cells + 2 * std::sqrt(cells * 20.8) + 41.6};
}

std::vector<double> zipf_weights(double exponent, std::uint64_t keys) {
    std::vector<double> weights;
    for (std::uint64_t k = 1; k <= keys; ++k) weights.push_back(std::pow(static_cast<double>(k), -exponent));
    return weights;
}

TEST(workloads, uniform_queries_hit_every_key_alike) {
    const key_range over{.first = 1000, .keys = 300};
    constexpr std::uint64_t queries = 300'000;
    const auto counts = counts_of(*uniform_queries::make(over, 7), over, queries);
    const verdict found = judge(counts, std::vector<double>(over.keys, 1), queries);
    EXPECT_LT(found.chi_square, found.bound);
}

TEST(workloads, zipf_queries_follow_the_law_for_every_exponent) {
    constexpr std::uint64_t queries = 400'000;
    for (const double exponent : {0.0, 0.5, 0.99, 1.0, 1.0 + 1e-10, 1.01, 1.5, 3.0, 12.0}) {
        for (const std::uint64_t keys : {1u, 2u, 3u, 1000u}) {
            const key_range over{.first = 5, .keys = keys};
            const auto made = zipf_queries::make({.exponent = exponent, .over = over, .seed = 11});
            ASSERT_TRUE(made);
            const verdict found = judge(counts_of(*made, over, queries), zipf_weights(exponent, keys), queries);
            EXPECT_LT(found.chi_square, found.bound) << exponent << " over " << keys;
        }
    }
}

TEST(workloads, a_law_of_a_slightly_other_exponent_is_detected) {
    constexpr std::uint64_t queries = 400'000;
    const key_range over{.first = 0, .keys = 1000};
    const auto counts = counts_of(*zipf_queries::make({.exponent = 1.0, .over = over, .seed = 11}), over, queries);
    const verdict found = judge(counts, zipf_weights(1.02, over.keys), queries);
    EXPECT_GT(found.chi_square, found.bound);
}

TEST(workloads, zipf_queries_stay_in_a_huge_support_and_reach_its_far_half) {
    const key_range over{.first = 1, .keys = std::uint64_t{1} << 48};
    auto next = *zipf_queries::make({.exponent = 0.2, .over = over, .seed = 3});
    int far = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t key = next();
        ASSERT_GE(key, over.first);
        ASSERT_LE(key, over.keys);
        far += key > over.keys / 2 ? 1 : 0;
    }
    // The far half has the share 1 - 2^-0.8 = 43 %; ± 100 are six standard deviations.
    EXPECT_NEAR(far, 426, 100);
}

TEST(workloads, a_drifting_working_set_is_where_it_should_be_at_any_time) {
    const drift_options options{.first = 100, .window = 50, .changed_share = 0.05, .period = 40, .seed = 2};
    auto next = *drifting_queries::make(options);
    std::set<std::uint64_t> first_window, seen;
    for (std::uint64_t i = 0; i < 40'000; ++i) {
        const std::uint64_t key = next();
        const std::uint64_t moved = i / 40 * 5 / 2;  // 2.5 keys a period
        ASSERT_GE(key, 100 + moved) << i;
        ASSERT_LT(key, 150 + moved) << i;
        if (i < 40) first_window.insert(key);
        if (i >= 40 * 20) {
            ASSERT_FALSE(first_window.contains(key)) << "after 20 periods none of the first 50 is left";
        }
        seen.insert(key);
    }
    EXPECT_EQ(next.oldest(), 100u + 999 * 5 / 2);
    // About 2500 keys pass, each in the window for 800 queries of which it gets 16: hardly one is
    // never asked for.
    EXPECT_GT(seen.size(), 2500u);
}

TEST(workloads, a_working_set_is_asked_evenly_between_two_changes) {
    constexpr std::uint64_t queries = 100'000;
    const auto made =
        drifting_queries::make({.first = 0, .window = 64, .changed_share = 1, .period = queries, .seed = 4});
    const verdict found =
        judge(counts_of(*made, {.first = 0, .keys = 64}, queries), std::vector<double>(64, 1), queries);
    EXPECT_LT(found.chi_square, found.bound);
}

TEST(workloads, a_scan_meets_every_key_once_before_it_starts_again) {
    auto next = *scan_queries::make({.first = last_key - 99, .keys = 100});
    for (int round = 0; round < 3; ++round) {
        for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(next(), last_key - 99 + i);
    }
}

TEST(workloads, the_same_seed_gives_the_same_queries_and_another_seed_others) {
    const auto run = [](auto next) {
        std::vector<std::uint64_t> keys;
        for (int i = 0; i < 100; ++i) keys.push_back(next());
        return keys;
    };
    const auto uniform = [&](std::uint64_t seed) {
        return run(*uniform_queries::make({.first = 0, .keys = 1000}, seed));
    };
    const auto zipf = [&](std::uint64_t seed) {
        return run(*zipf_queries::make({.exponent = 0.8, .over = {.first = 0, .keys = 1000}, .seed = seed}));
    };
    const auto drift = [&](std::uint64_t seed) {
        return run(*drifting_queries::make({.window = 1000, .changed_share = 0.1, .period = 10, .seed = seed}));
    };
    EXPECT_EQ(uniform(1), uniform(1));
    EXPECT_NE(uniform(1), uniform(2));
    EXPECT_EQ(zipf(1), zipf(1));
    EXPECT_NE(zipf(1), zipf(2));
    EXPECT_EQ(drift(1), drift(1));
    EXPECT_NE(drift(1), drift(2));
}

TEST(workloads, a_copy_continues_at_the_state_of_the_original) {
    auto one = *zipf_queries::make({.over = {.first = 0, .keys = 1000}});
    one();
    auto two = one;
    for (int i = 0; i < 100; ++i) ASSERT_EQ(one(), two());
}

TEST(workloads, invalid_workloads_are_refused_with_their_value) {
    const auto expect_refused = [](const auto& made, std::string_view value) {
        ASSERT_FALSE(made);
        EXPECT_NE(made.error().message().find(value), std::string_view::npos) << made.error().message();
    };
    expect_refused(uniform_queries::make({.first = 0, .keys = 0}, 1), "0 keys");
    expect_refused(uniform_queries::make({.first = 2, .keys = last_key}, 1), "18446744073709551615 keys");
    expect_refused(scan_queries::make({.first = last_key, .keys = 2}), "2 keys");
    EXPECT_TRUE(scan_queries::make({.first = last_key, .keys = 1}));
    expect_refused(zipf_queries::make({.exponent = -0.5}), "-0.5");
    expect_refused(zipf_queries::make({.exponent = 21}), "21");
    expect_refused(zipf_queries::make({.exponent = std::nan("")}), "nan");
    expect_refused(zipf_queries::make({.over = {.first = 0, .keys = std::uint64_t{1} << 49}}), "562949953421312");
    expect_refused(drifting_queries::make({.window = 0}), "0 keys");
    expect_refused(drifting_queries::make({.changed_share = 0}), "share of 0");
    expect_refused(drifting_queries::make({.changed_share = 1.5}), "1.5");
    expect_refused(drifting_queries::make({.changed_share = std::nan("")}), "nan");
    expect_refused(drifting_queries::make({.period = 0}), "0 queries");
}

}  // namespace
}  // namespace genista::lab::workloads_test
