// False-positive rates of filters without a class by the rule of docs/papers.md: the promised rate
// is broken iff the count exceeds the 1 - 1e-9 quantile of Binomial(trials, rate). With 10^4/rate
// trials a rate 10 % too high is caught 999 times in 1000. Seeds are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "filters/cuckoo/hashes.hpp"
#include "filters/cuckoo_family_filters.hpp"
#include "filters/filter_snapshots.hpp"
#include "genista/filters/bloomier.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "lab/statistics/binomial.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::rates_stat_test {
namespace {

// ---- filters without a remote map ---------------------------------------------------------------

template <class F>
class rates : public testing::Test {};
TYPED_TEST_SUITE(rates, test::all_local_filters, test::filter_names);

// Keys are consecutive numbers, which the keyed hash maps one to one: stored keys are 0..n-1,
// absent keys are far larger.
template <class F>
std::uint64_t false_positives(const F& filter, std::uint64_t trials) {
    std::vector<std::uint64_t> keys(4096);
    std::vector<std::uint64_t> answers(words_for(keys.size()));
    std::uint64_t hits = 0;
    for (std::uint64_t done = 0; done < trials; done += keys.size()) {
        const std::size_t count = std::min<std::uint64_t>(keys.size(), trials - done);
        for (std::size_t i = 0; i < count; ++i) keys[i] = (std::uint64_t{1} << 50) + done + i;
        filter.may_contain(std::span<const std::uint64_t>{keys}.first(count), answers);
        for (std::size_t word = 0; word < words_for(count); ++word)
            hits += static_cast<unsigned>(std::popcount(answers[word]));
    }
    return hits;
}

TYPED_TEST(rates, hold_at_fifty_ninety_and_hundred_percent_of_the_capacity) {
    for (const double rate : {0.25, 0.02, 0x1p-8, 0x1p-12, 1.3e-4}) {
        // Small tables, whose rates vary most, and larger ones; several small ones so that no
        // single hash key decides.
        for (const std::uint64_t capacity : {200u, 5000u, 200'000u}) {
            const std::uint64_t filters = capacity == 200 ? 200 : capacity == 5000 ? 20 : 1;
            const std::uint64_t all =
                std::min<std::uint64_t>(lab::trials_for(rate), test::scaled<std::uint64_t>(50'000'000, 1'000'000'000));
            for (const unsigned load_percent : {50u, 90u, 100u}) {
                // Rates only rise with the load. Where a sample takes a second, the lower loads are
                // sampled at one size.
                if (rate < 0x1p-8 && load_percent < 100 && (capacity != 5000 || rate != 0x1p-12) &&
                    test::long_run() == 0)
                    continue;
                std::uint64_t hits = 0;
                std::uint64_t trials = 0;
                for (std::uint64_t seed = 0; seed < filters; ++seed) {
                    auto filter = TypeParam::make({capacity, rate, hasher{hash_key::from_seed(seed)}});
                    ASSERT_TRUE(filter.has_value());
                    for (std::uint64_t key = 0; key < capacity * load_percent / 100; ++key) {
                        ASSERT_NE(filter->insert(key), insert_outcome::full);
                    }
                    hits += false_positives(*filter, all / filters);
                    trials += all / filters;
                }
                EXPECT_LE(hits, lab::most_plausible_hits(trials, rate))
                    << rate << " promised, " << static_cast<double>(hits) / static_cast<double>(trials)
                    << " measured, capacity " << capacity << " at " << load_percent << " %";
            }
        }
    }
}

// Control: the measurement can fail. A filter sized for a rate 10 % higher breaks the promise. Only
// for filters whose rate follows the size: the cuckoo filter's has two steps.
template <class F>
class lying_rates : public testing::Test {};
using smoothly_sized_filters = testing::Types<bloom_filter, blocked_bloom_filter>;
TYPED_TEST_SUITE(lying_rates, smoothly_sized_filters, test::filter_names);

TYPED_TEST(lying_rates, ten_percent_too_high_are_caught) {
    const double rate = 0x1p-8;
    auto filter = TypeParam::make({200'000, 1.1 * rate, hasher{hash_key::from_seed(1)}});
    ASSERT_TRUE(filter.has_value());
    for (std::uint64_t key = 0; key < 200'000; ++key) ASSERT_NE(filter->insert(key), insert_outcome::full);
    EXPECT_GT(false_positives(*filter, lab::trials_for(rate)), lab::most_plausible_hits(lab::trials_for(rate), rate));
}

// ---- bloomier_filter ----------------------------------------------------------------------------

// Several filters, so that no single hash key decides. Absent keys are far larger than stored ones.
std::uint64_t false_positives(double made_for, std::uint64_t keys, std::uint64_t filters, std::uint64_t trials) {
    std::vector<std::uint64_t> members(keys);
    for (std::uint64_t key = 0; key < keys; ++key) members[key] = key;
    std::uint64_t hits = 0;
    for (std::uint64_t seed = 0; seed < filters; ++seed) {
        const auto filter =
            bloomier_filter::build({.false_positive_rate = made_for, .hash = hasher{hash_key::from_seed(seed)}},
                                   std::span<const std::uint64_t>{members}, {});
        EXPECT_TRUE(filter) << filter.error().message();
        hits += false_positives(*filter, trials * (seed + 1) / filters - trials * seed / filters);
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

// ---- the cuckoo family --------------------------------------------------------------------------

// The rate for keys never queried before, and the reason for it: bins and fingerprints are uniform
// and independent.

template <class F>
class cuckoo_family_rates : public testing::Test {};
TYPED_TEST_SUITE(cuckoo_family_rates, test::cuckoo_family, test::cuckoo_names);

// Stores the keys 0 .. keys-1 and adapts `repairs` false positives, which must not raise the rate
// for other keys.
template <class Filter>
Filter filled(std::uint64_t capacity, unsigned bits, std::uint64_t keys, std::uint64_t repairs) {
    cuckoo_options options;
    options.capacity = capacity;
    options.fingerprint_bits = bits;
    options.hash = hasher{hash_key::from_seed(bits)};
    options.random = repeatable(bits);
    memory_map map, index;
    with_index remote{map, index};
    for (std::uint64_t key = 0; key < keys; ++key) {
        EXPECT_TRUE(map.put((*options.hash)(key), integer_key{key}.view()));
    }
    auto built = Filter::build(options, remote);
    EXPECT_TRUE(built) << built.error().message();
    std::uint64_t absent_key = std::uint64_t{1} << 60;
    for (std::uint64_t i = 0; i < repairs; ++i) {
        while (!built->may_contain(absent_key)) ++absent_key;
        EXPECT_TRUE(built->adapt(absent_key, remote));
        ++absent_key;
    }
    return *std::move(built);
}

// The rate at capacity is kept, and is no lower than it should be: a filter with too few false
// positives has lost keys or counts its bits wrongly. The promise is the sum over slots; the true
// rate, one minus the product, is lower by half its square.
TYPED_TEST(cuckoo_family_rates, are_those_of_bits_and_load_before_and_after_repairs) {
    for (const unsigned bits : {8u, 12u}) {
        for (const std::uint64_t repairs : {0u, 2'000u}) {
            if (bits != 8 && repairs != 0) continue;  // once is enough
            const auto filter = filled<TypeParam>(50'000, bits, 50'000, repairs);
            const double rate = filter.rate();
            const auto trials = std::min(lab::trials_for(rate), test::scaled<std::uint64_t>(20'000'000, 1'000'000'000));
            const std::uint64_t hits = false_positives(filter, trials);
            EXPECT_LE(hits, lab::most_plausible_hits(trials, rate)) << bits << " bits, " << repairs << " repairs";
            const auto measured = lab::exact_interval(hits, trials, 1 - 1e-9);
            EXPECT_GE(measured.high, rate * (1 - rate) * 0.99) << bits << " bits, " << repairs << " repairs";
        }
    }
}

TYPED_TEST(cuckoo_family_rates, a_half_empty_filter_has_half_the_rate) {
    const auto filter = filled<TypeParam>(50'000, 8, 25'000, 0);
    const double rate = filter.rate() / 2;
    const std::uint64_t trials = lab::trials_for(rate);
    EXPECT_LE(false_positives(filter, trials), lab::most_plausible_hits(trials, rate));
}

// The control: fingerprints one bit shorter than promised.
TYPED_TEST(cuckoo_family_rates, fingerprints_one_bit_too_short_are_caught) {
    const auto filter = filled<TypeParam>(50'000, 8, 50'000, 0);
    const double promised = filter.rate() / 2;
    const std::uint64_t trials = lab::trials_for(promised);
    EXPECT_GT(false_positives(filter, trials), lab::most_plausible_hits(trials, promised));
}

// Every cell of a table of counts must be plausible, neither too high nor too low. A false alarm:
// cells · 2 · 10^-9.
void expect_uniform(const std::vector<std::uint64_t>& counts, std::uint64_t trials, const char* what) {
    const double share = 1.0 / static_cast<double>(counts.size());
    const std::uint64_t most = lab::most_plausible_hits(trials, share);
    const std::uint64_t least = trials - lab::most_plausible_hits(trials, 1 - share);
    double chi = 0;
    for (const std::uint64_t count : counts) {
        EXPECT_LE(count, most) << what;
        EXPECT_GE(count, least) << what;
        const double mean = static_cast<double>(trials) * share;
        chi += (static_cast<double>(count) - mean) * (static_cast<double>(count) - mean) / mean;
    }
    // All cells together: chi-square, within six standard deviations of its mean (normal at these
    // sizes; 10^-9).
    const auto freedom = static_cast<double>(counts.size() - 1);
    EXPECT_NEAR(chi, freedom, 6 * std::sqrt(2 * freedom)) << what;
}

// Digests of a keyed hash, of keys that are consecutive numbers.
TEST(cuckoo_family_hashes, bins_and_fingerprints_are_uniform_and_independent_of_each_other_and_of_former_salts) {
    constexpr std::uint64_t trials = 1'000'000;
    const hasher hash{hash_key::from_seed(3)};
    test::splitmix chance{17};
    const cuckoo::salts before = {chance(), chance(), chance(), chance()};
    const cuckoo::salts after = {chance(), chance(), chance(), chance()};
    std::vector<std::uint64_t> bins(1'000), prints(255), two_tables(900), bin_and_print(930), two_prints(961),
        old_and_new(900), old_and_new_print(961);
    for (std::uint64_t key = 0; key < trials; ++key) {
        const digest d = hash(key);
        const cuckoo::essence old{d, before}, fresh{d, after};
        ++bins[old.bin(1, bins.size())];
        ++prints[old.fingerprint(0, 8) - 1];
        ++two_tables[30 * old.bin(0, 30) + old.bin(1, 30)];
        ++bin_and_print[31 * old.bin(0, 30) + old.fingerprint(0, 5) - 1];
        ++two_prints[31 * (old.fingerprint(0, 5) - 1) + old.fingerprint(1, 5) - 1];
        ++old_and_new[30 * old.bin(2, 30) + fresh.bin(2, 30)];
        ++old_and_new_print[31 * (old.fingerprint(3, 5) - 1) + fresh.fingerprint(3, 5) - 1];
    }
    expect_uniform(bins, trials, "bins");
    expect_uniform(prints, trials, "fingerprints");
    expect_uniform(two_tables, trials, "bins of two tables");
    expect_uniform(bin_and_print, trials, "bin and fingerprint");
    expect_uniform(two_prints, trials, "two fingerprints");
    expect_uniform(old_and_new, trials, "bins under old and new salts");
    expect_uniform(old_and_new_print, trials, "fingerprints under old and new salts");
}

}  // namespace
}  // namespace genista::rates_stat_test
