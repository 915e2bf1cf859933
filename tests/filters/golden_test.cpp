// Golden snapshots: files written once, under tests/golden, which every later version must load,
// answer from as when they were written, and save again bit for bit. The numbers below are golden:
// pinned, not derived.
//
// GENISTA_WRITE_GOLDEN=1 filters_tests --gtest_filter='golden*' writes the files that do not exist;
// the failure then names their numbers. An existing file is never overwritten: a new format gets a
// new file beside the old one.
#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <string>

#include "genista/filters/adaptive_bloom.hpp"
#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/filters/lossy.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "genista/filters/succinct_set.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::golden_test {
namespace {

constexpr std::uint64_t members = 300;  // integers 0..299, and as many texts of 1 to 40 bytes
constexpr std::uint64_t absent_keys = 20'000;

// Lengths below and above 15 bytes, where the keyed hash changes.
std::string text_key(std::uint64_t i) {
    return std::string(1 + i % 36, static_cast<char>('a' + i % 26)) + std::to_string(i);
}

// How many absent keys are answered maybe, and which: the sum of their numbers.
struct mistakes {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    friend bool operator==(const mistakes&, const mistakes&) = default;
};

template <class Filter>
mistakes mistakes_of(const Filter& filter) {
    mistakes found;
    for (std::uint64_t i = members; i < members + absent_keys; ++i) {
        for (const bool positive : {filter.may_contain(i), filter.may_contain(text_key(i))}) {
            found.count += positive;
            found.sum += positive ? i : 0;
        }
    }
    return found;
}

template <local_filter Filter>
void fill_golden(Filter& filter) {
    for (std::uint64_t i = 0; i < members; ++i) {
        ASSERT_NE(filter.insert(i), insert_outcome::full);
        ASSERT_NE(filter.insert(text_key(i)), insert_outcome::full);
    }
}

// Filters with a remote have also adapted some false positives. Fewer queries are made where the
// paper drops adaptations after n queries.
template <class Filter>
constexpr std::uint64_t asked = 30'000;
template <>
constexpr std::uint64_t asked<adaptive_bloom_filter> = 500;
template <>
constexpr std::uint64_t asked<cascade_filter> = 500;

template <class Filter>
void fill_golden(Filter& filter) {
    memory_map map, index;
    with_index remote{map, index};
    for (std::uint64_t i = 0; i < members; ++i) {
        for (const std::string& key : {std::string{integer_key{i}.view().text()}, text_key(i)}) {
            ASSERT_TRUE(map.put(filter.hash()(key), key));
            const auto outcome = filter.insert(key, remote);
            ASSERT_TRUE(outcome && *outcome != insert_outcome::full);
        }
    }
    for (std::uint64_t absent_key = 1'000'000; absent_key < 1'000'000 + asked<Filter>; ++absent_key) {
        if (!filter.may_contain(absent_key)) continue;
        ASSERT_TRUE(filter.adapt(absent_key, remote));
    }
}

template <class Filter>
Filter make_golden(hash_kind kind, double rate) {
    auto filter = Filter::make(
        {.capacity = 2 * members, .false_positive_rate = rate, .hash = hasher{hash_key::from_seed(20'240), kind}});
    EXPECT_TRUE(filter) << filter.error().message();
    fill_golden(*filter);
    return *std::move(filter);
}

template <class Filter>
void check_golden(const std::string& name, hash_kind kind, double rate, mistakes golden) {
    const auto file = test::golden_bytes(name, 4096, [&] { return make_golden<Filter>(kind, rate); });
    const result<Filter> filter = Filter::load(file);
    ASSERT_TRUE(filter) << filter.error().message();
    // A loaded broom filter draws its own salts; its answers are the same.
    if constexpr (!std::same_as<Filter, broom_filter>) {
        EXPECT_EQ(test::saved(*filter), file) << "compared before any query, because some filters count queries";
    }

    EXPECT_EQ(filter->hash().kind(), kind);
    EXPECT_EQ(filter->hash().key(), hash_key::from_seed(20'240));
    EXPECT_GE(filter->stats().capacity, 2 * members);  // whole bins
    if constexpr (local_filter<Filter>) {
        EXPECT_EQ(filter->stats().false_positive_rate, rate);
    } else {
        EXPECT_LE(filter->stats().false_positive_rate, rate);  // whole bits
    }
    for (std::uint64_t i = 0; i < members; ++i) {
        ASSERT_TRUE(filter->may_contain(i)) << i;
        ASSERT_TRUE(filter->may_contain(text_key(i))) << text_key(i);
    }
    const mistakes found = mistakes_of(*filter);
    EXPECT_EQ(found, golden) << found.count << ", " << found.sum;
}

TEST(golden, bloom_keyed) {
    check_golden<bloom_filter>("bloom-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {149, 1'575'078});
}
TEST(golden, bloom_trusted) {
    check_golden<bloom_filter>("bloom-v1-trusted.snapshot", hash_kind::trusted, 1.0 / 64, {516, 5'195'441});
}
TEST(golden, blocked_bloom_keyed) {
    check_golden<blocked_bloom_filter>("blocked_bloom-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256,
                                       {124, 1'278'546});
}
TEST(golden, blocked_bloom_trusted) {
    check_golden<blocked_bloom_filter>("blocked_bloom-v1-trusted.snapshot", hash_kind::trusted, 1.0 / 64,
                                       {493, 5'248'624});
}
TEST(golden, cuckoo_partial_keyed_with_12_bit_tags) {
    check_golden<cuckoo_partial_filter>("cuckoo_partial-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {66, 701'072});
}
TEST(golden, cuckoo_partial_trusted_with_16_bit_tags) {
    check_golden<cuckoo_partial_filter>("cuckoo_partial-v1-trusted.snapshot", hash_kind::trusted, 1.0 / 4096,
                                        {3, 26'937});
}
TEST(golden, cleary_keyed) {
    check_golden<cleary_filter>("cleary-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {152, 1'621'732});
}
TEST(golden, cleary_trusted_with_6_bit_remainders) {
    check_golden<cleary_filter>("cleary-v1-trusted.snapshot", hash_kind::trusted, 1.0 / 64, {561, 5'683'770});
}
TEST(golden, cuckooing_keyed) {
    check_golden<cuckooing_filter>("cuckooing-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {150, 1'603'415});
}
TEST(golden, optimal_filter_keyed) {
    check_golden<optimal_filter>("optimal_filter-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {163, 1'672'552});
}
TEST(golden, spectral_trusted) {
    check_golden<spectral_filter>("spectral-v1-trusted.snapshot", hash_kind::trusted, 1.0 / 64, {642, 6'834'912});
}
TEST(golden, broom_keyed) {
    check_golden<broom_filter>("broom-v4-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {87, 899'075});
}
TEST(golden, broom_with_tails) {
    check_golden<broom_filter>("broom-v4-tails.snapshot", hash_kind::keyed, 1.0 / 4096, {4, 43'940});
}
TEST(golden, a_broom_of_an_older_version_is_refused_by_name) {
    const result<buffer> file = read_file(test::golden_path("broom-v3-keyed.snapshot"), 1 << 20);
    ASSERT_TRUE(file) << file.error().message();
    const auto loaded = broom_filter::load(file->bytes());
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code(), error_code::unsupported);
    EXPECT_NE(loaded.error().message().find("version 3; this library reads version 4"), std::string_view::npos)
        << loaded.error().message();
}
TEST(golden, adaptive_bloom_keyed) {
    check_golden<adaptive_bloom_filter>("adaptive_bloom-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 16,
                                        {2'147, 22'331'428});
}
TEST(golden, cascade_keyed) {
    check_golden<cascade_filter>("cascade-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 16, {2'030, 20'964'116});
}

// ---- a filter that leaves keys out, and the exact dictionaries of numbers -----------------------

lossy_filter make_golden_lossy(hash_kind kind) {
    auto filter = lossy_filter::make({.capacity = 2 * members,
                                      .false_positive_rate = 1.0 / 64,
                                      .false_negative_share = 0.25,
                                      .hash = hasher{hash_key::from_seed(20'240), kind}});
    EXPECT_TRUE(filter) << filter.error().message();
    for (std::uint64_t i = 0; i < members; ++i) {
        EXPECT_NE(filter->insert(i), lossy_insert::full);
        EXPECT_NE(filter->insert(text_key(i)), lossy_insert::full);
    }
    return *std::move(filter);
}

// `left_out`: which stored keys are left out, counted and summed like mistakes.
void check_golden_lossy(const std::string& name, hash_kind kind, mistakes left_out, mistakes golden) {
    const auto file = test::golden_bytes(name, 4096, [&] { return make_golden_lossy(kind); });
    const result<lossy_filter> filter = lossy_filter::load(file);
    ASSERT_TRUE(filter) << filter.error().message();
    EXPECT_EQ(test::saved(*filter), file);
    EXPECT_EQ(filter->hash().kind(), kind);
    EXPECT_EQ(filter->hash().key(), hash_key::from_seed(20'240));
    EXPECT_EQ(filter->stats().capacity, 2 * members);
    EXPECT_EQ(filter->stats().false_positive_rate, 1.0 / 64);
    EXPECT_EQ(filter->false_negative_share(), 0.25);
    mistakes omitted;
    const auto ask = [&](const auto& key, std::uint64_t i) {
        if (filter->omits(key)) {
            ++omitted.count;
            omitted.sum += i;
        } else {
            ASSERT_TRUE(filter->may_contain(key)) << i;
        }
    };
    for (std::uint64_t i = 0; i < members; ++i) {
        ask(i, i);
        ask(text_key(i), i);
    }
    EXPECT_EQ(omitted, left_out) << omitted.count << ", " << omitted.sum;
    EXPECT_EQ(filter->stats().keys, 2 * members - omitted.count);
    const mistakes found = mistakes_of(*filter);
    EXPECT_EQ(found, golden) << found.count << ", " << found.sum;
}

// The numbers i * i for i below 300, i % 9 + 1 times each where counts are kept. The universe is
// not a power of two.
constexpr std::uint64_t universe = 3'000'000'019;

template <class Dictionary>
void check_golden_numbers(const std::string& name, hash_kind kind, std::uint64_t size) {
    constexpr bool counts = requires(const Dictionary& all) {
        all.count(0);
    };
    const auto times = [](std::uint64_t i) { return counts ? i % 9 + 1 : 1; };
    const auto file = test::golden_bytes(name, 4096, [&] {
        auto all = Dictionary::make({.universe = universe, .hash = hasher{hash_key::from_seed(20'240), kind}});
        EXPECT_TRUE(all) << all.error().message();
        for (std::uint64_t i = 0; i < members; ++i)
            for (std::uint64_t j = 0; j < times(i); ++j) EXPECT_TRUE(all->insert(i * i));
        return *std::move(all);
    });
    const result<Dictionary> all = Dictionary::load(file);
    ASSERT_TRUE(all) << all.error().message();
    EXPECT_EQ(test::saved(*all), file);
    EXPECT_EQ(all->universe(), universe);
    EXPECT_EQ(all->size(), size);
    // Exactly these: each is held, and no other number is visited.
    for (std::uint64_t i = 0; i < members; ++i) {
        ASSERT_TRUE(all->contains(i * i)) << i;
        if constexpr (counts) {
            ASSERT_EQ(all->count(i * i), times(i)) << i;
        }
    }
    std::uint64_t visited = 0, sum = 0;
    all->each([&](std::uint64_t, std::uint64_t count) {
        ++visited;
        sum += count;
    });
    EXPECT_EQ(visited, members);
    EXPECT_EQ(sum, size);
}

TEST(golden, lossy_keyed) {
    check_golden_lossy("lossy-v2-keyed.snapshot", hash_kind::keyed, {153, 23'024}, {525, 5'317'920});
}
TEST(golden, lossy_trusted) {
    check_golden_lossy("lossy-v2-trusted.snapshot", hash_kind::trusted, {147, 20'936}, {564, 5'902'429});
}
TEST(golden, succinct_set_keyed) {
    check_golden_numbers<succinct_set>("succinct_set-v1-keyed.snapshot", hash_kind::keyed, members);
}
TEST(golden, succinct_set_trusted) {
    check_golden_numbers<succinct_set>("succinct_set-v1-trusted.snapshot", hash_kind::trusted, members);
}
TEST(golden, multiset_keyed) {
    check_golden_numbers<succinct_multiset>("multiset-v1-keyed.snapshot", hash_kind::keyed, 1'491);
}
TEST(golden, multiset_trusted) {
    check_golden_numbers<succinct_multiset>("multiset-v1-trusted.snapshot", hash_kind::trusted, 1'491);
}

}  // namespace
}  // namespace genista::golden_test
