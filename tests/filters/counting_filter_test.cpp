// optimal_filter and spectral_filter: counts are never too small, only keys that were inserted may
// be erased, bad options, batches, snapshots.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "filters/filter_snapshots.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/fix_checksums.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::counting_filter_test {
namespace {

static_assert(locally_erasable_filter<optimal_filter> && locally_erasable_filter<spectral_filter>);

template <class Filter>
class counting_filters : public testing::Test {};
using both = testing::Types<optimal_filter, spectral_filter>;
TYPED_TEST_SUITE(counting_filters, both);

template <class Filter>
Filter seeded(std::uint64_t capacity, double rate = 1.0 / 256) {
    return *Filter::make(
        {.capacity = capacity, .false_positive_rate = rate, .hash = hasher{hash_key::from_seed(capacity)}});
}

TYPED_TEST(counting_filters, a_count_is_never_too_small) {
    auto filter = seeded<TypeParam>(20'000);
    std::map<std::uint64_t, std::uint64_t> model;
    std::mt19937_64 chance{1};
    std::uint64_t size = 0;
    for (int i = 0; i < 60'000; ++i) {
        const std::uint64_t key = chance() % 3000 * (chance() % 3000) / 3000;  // small keys more often
        if (chance() % 5 < 3) {
            ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
            ++model[key], ++size;
        } else if (model[key] > 0) {
            ASSERT_EQ(filter.erase(key), erase_outcome::erased);
            --model[key], --size;
        }
        if (i == 10'000) {
            filter.clear();
            model.clear();
            size = 0;
        }
        ASSERT_GE(filter.count(key), model[key]);
        if (model[key] > 0) {
            ASSERT_TRUE(filter.may_contain(key));
        }
    }
    std::uint64_t too_many = 0;
    for (const auto& [key, count] : model) {
        ASSERT_GE(filter.count(key), count);
        too_many += filter.count(key) > count ? 1u : 0u;
    }
    EXPECT_LE(too_many, 40u);  // at most ε of 3,000 keys are expected: the filter is far from full
    EXPECT_EQ(filter.stats().keys, size);
    for (const auto& [key, count] : model)
        for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(filter.erase(key), erase_outcome::erased);
    EXPECT_EQ(filter.stats().keys, 0u);
    EXPECT_EQ(filter.distinct_values(), 0u);
}

// One insert of a count against as many single inserts: equal counts all the way, up and down
// again.
TYPED_TEST(counting_filters, an_insert_of_a_count_equals_as_many_inserts) {
    auto at_once = seeded<TypeParam>(2'000'000), one_by_one = seeded<TypeParam>(2'000'000);
    std::mt19937_64 chance{6};
    for (int i = 0; i < 4'000; ++i) {
        const std::uint64_t key = chance() % 300, times = chance() >> (64 - 1 - chance() % 8);
        if (chance() % 3 > 0) {
            ASSERT_EQ(at_once.insert(key, times), insert_outcome::inserted);
            for (std::uint64_t j = 0; j < times; ++j) ASSERT_EQ(one_by_one.insert(key), insert_outcome::inserted);
        } else {
            for (std::uint64_t j = 0; j < times; ++j) ASSERT_EQ(at_once.erase(key), one_by_one.erase(key));
        }
        ASSERT_EQ(at_once.count(key), one_by_one.count(key));
        ASSERT_EQ(at_once.may_contain(key), one_by_one.may_contain(key));
        ASSERT_EQ(at_once.stats().keys, one_by_one.stats().keys);
    }
    ASSERT_EQ(at_once.distinct_values(), one_by_one.distinct_values());
    const auto back = TypeParam::load(test::saved(at_once));
    ASSERT_TRUE(back.has_value()) << back.error().message();
    for (std::uint64_t key = 0; key < 300; ++key) {
        ASSERT_EQ(back->count(key), one_by_one.count(key));
        while (one_by_one.erase(key) == erase_outcome::erased) ASSERT_EQ(at_once.erase(key), erase_outcome::erased);
        ASSERT_EQ(at_once.erase(key), erase_outcome::absent);
    }
    EXPECT_EQ(at_once.stats().keys, 0u);
    EXPECT_EQ(at_once.distinct_values(), 0u);
    for (unsigned digit = 0; digit < 20; ++digit) EXPECT_EQ(at_once.digits_in_use(digit), 0u);
}

TYPED_TEST(counting_filters, a_key_with_a_count_of_zero_cannot_be_erased) {
    auto filter = seeded<TypeParam>(1000);
    for (std::uint64_t key = 0; key < 500; ++key) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
    for (std::uint64_t key = 1000; key < 3000; ++key) {
        if (filter.count(key) == 0) {
            ASSERT_EQ(filter.erase(key), erase_outcome::absent);
        }
    }
    for (std::uint64_t key = 0; key < 500; ++key) ASSERT_TRUE(filter.may_contain(key));
    EXPECT_EQ(filter.stats().keys, 500u);
}

TYPED_TEST(counting_filters, batches_answer_as_single_queries_do) {
    auto filter = seeded<TypeParam>(5000, 1.0 / 16);
    for (std::uint64_t key = 0; key < 5000; ++key) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
    for (const std::size_t count : {0u, 1u, 5u, 63u, 64u, 65u, 1000u}) {
        std::vector<std::uint64_t> keys(count);
        std::vector<digest> digests(count);
        std::vector<std::string> texts(count);
        std::vector<key_view> views;
        for (std::size_t i = 0; i < count; ++i) {
            keys[i] = 4500 + i;
            digests[i] = filter.hash()(keys[i]);
            texts[i] = "key " + std::to_string(i);
            views.emplace_back(texts[i]);
        }
        std::vector<std::uint64_t> a(words_for(count)), b(words_for(count)), c(words_for(count));
        filter.may_contain(std::span<const std::uint64_t>{keys}, a);
        filter.may_contain(std::span<const digest>{digests}, b);
        filter.may_contain(std::span<const key_view>{views}, c);
        ASSERT_EQ(a, b);
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ((a[i / 64] >> i % 64 & 1) != 0, filter.may_contain(keys[i]));
            ASSERT_EQ((c[i / 64] >> i % 64 & 1) != 0, filter.may_contain(views[i]));
        }
    }
}

// The same bytes and the same answers with and without the newer instructions; also while the
// filter is empty, and while bins are split.
TYPED_TEST(counting_filters, answer_alike_with_every_instruction_set) {
    constexpr std::uint64_t most = 8'000;
    std::vector<std::uint64_t> keys(2 * most + 13);
    for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = i;
    for (const double rate : {0.5, 1.0 / 256, 0x1p-30}) {
        std::vector<TypeParam> filters;
        for (const isa level : test::usable_isas()) {
            const test::scoped_isa scope{level};
            filters.push_back(seeded<TypeParam>(most, rate));
        }
        for (const std::uint64_t size : {0u, 1u, 161u, 3'000u, 7'999u}) {
            std::vector<std::uint64_t> expected(words_for(keys.size())), answers(words_for(keys.size()));
            for (std::size_t i = 0; i < filters.size(); ++i) {
                TypeParam& filter = filters[i];
                for (std::uint64_t key = filter.stats().keys; key < size; ++key)
                    ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
                filter.may_contain(std::span<const std::uint64_t>{keys}, i == 0 ? expected : answers);
                if (i == 0) {
                    answers = expected;
                }
                ASSERT_EQ(answers, expected);
                for (const std::uint64_t key : keys) {
                    const bool said = (expected[key / 64] >> key % 64 & 1) != 0;
                    ASSERT_EQ(filter.may_contain(key), said) << key;
                    ASSERT_EQ(filter.count(key) > 0, said) << key;
                    if (key < size) {
                        ASSERT_TRUE(said) << key;
                    }
                }
                ASSERT_EQ(test::saved(filter), test::saved(filters[0]));
            }
        }
    }
}

TYPED_TEST(counting_filters, snapshots_load_and_forged_ones_are_refused_or_sound) {
    auto filter = seeded<TypeParam>(3000);
    for (std::uint64_t key = 0; key < 1500; ++key)
        for (std::uint64_t i = 0; i <= key % 3; ++i) (void)filter.insert(key);
    const auto file = test::saved(filter);
    auto back = TypeParam::load(file);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    test::expect_equal_answers(filter, *back, 5000);
    for (std::uint64_t key = 0; key < 5000; ++key) ASSERT_EQ(filter.count(key), back->count(key));
    std::mt19937_64 chance{2};
    unsigned loaded = 0;
    for (int i = 0; i < 600; ++i) {
        std::vector<std::byte> bytes = file;
        bytes[192 + chance() % (bytes.size() - 192)] ^= static_cast<std::byte>(1u << chance() % 8);
        test::fix_key_id(bytes);
        test::fix_checksums(bytes);
        const auto outcome = test::exercise_snapshot<TypeParam>(bytes);
        ASSERT_EQ(outcome.broken, nullptr) << outcome.broken;
        loaded += outcome.loaded ? 1u : 0u;
    }
    EXPECT_LT(loaded, 600u);
}

TYPED_TEST(counting_filters, refuse_impossible_options) {
    EXPECT_FALSE(TypeParam::make({.capacity = 0}).has_value());
    EXPECT_FALSE(TypeParam::make({.false_positive_rate = 0.7}).has_value());
    const auto made = TypeParam::make({.capacity = max_capacity, .false_positive_rate = 0x1p-22});
    ASSERT_FALSE(made.has_value());
    EXPECT_NE(made.error().message().find("allowed is less than 2^61 - 1"), std::string_view::npos);
}

// The memory follows the number of keys, and the bits per key rise with the logarithm of capacity
// over keys, as the header says.
TYPED_TEST(counting_filters, take_memory_by_their_keys_and_the_logarithm_of_the_room_left) {
    for (const std::uint64_t keys : {1'000u, 10'000u, 40'000u}) {
        auto filter = seeded<TypeParam>(40'000);
        for (std::uint64_t key = 0; key < keys; ++key) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
        const double each = std::log2(256.0 * 40'000 / static_cast<double>(keys)) + 6, fixed = 2'500 + 4'096;
        EXPECT_LE(static_cast<double>(filter.stats().local_bytes), fixed + static_cast<double>(keys) * each / 8)
            << keys;
    }
}

// optimal_filter counts all inserts against its capacity, spectral_filter only different keys.
TEST(optimal_filter, is_full_with_as_many_keys_as_its_capacity) {
    auto filter = seeded<optimal_filter>(100);
    for (int i = 0; i < 100; ++i) ASSERT_EQ(filter.insert(7u), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(7u), insert_outcome::full);
    EXPECT_EQ(filter.erase(7u), erase_outcome::erased);
    EXPECT_EQ(filter.insert(8u), insert_outcome::inserted);
    EXPECT_EQ(filter.count(7u), 99u);
}

TEST(optimal_filter, an_insert_of_more_than_there_is_room_for_changes_nothing) {
    auto filter = seeded<optimal_filter>(100);
    EXPECT_EQ(filter.insert(7u, 60), insert_outcome::inserted);
    const auto before = test::saved(filter);
    for (const std::uint64_t times : {std::uint64_t{41}, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
        EXPECT_EQ(filter.insert(7u, times), insert_outcome::full);
        EXPECT_EQ(filter.insert(8u, times), insert_outcome::full);
    }
    EXPECT_EQ(test::saved(filter), before);
    EXPECT_EQ(filter.insert(8u, 40), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(8u, 0), insert_outcome::inserted) << "nothing to do";
    EXPECT_EQ(filter.count(7u), 60u);
}

// One count may reach 2^62 - 1, and the sum of all counts 2^63 - 1.
TEST(spectral, counts_end_where_the_header_says) {
    constexpr std::uint64_t most = (std::uint64_t{1} << 62) - 1;
    auto filter = seeded<spectral_filter>(100, 1.0 / 1024);
    EXPECT_EQ(filter.insert(1u, most + 1), insert_outcome::full);
    EXPECT_FALSE(filter.may_contain(std::uint64_t{1}));
    EXPECT_EQ(filter.insert(1u, most - 1), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(1u), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(1u), insert_outcome::full);
    EXPECT_EQ(filter.insert(1u, 1), insert_outcome::full);
    EXPECT_EQ(filter.count(1u), most);
    EXPECT_EQ(filter.insert(2u, most), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(3u, 1), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(4u, 1), insert_outcome::full) << "2^63 - 1 in all";
    EXPECT_EQ(filter.insert(4u), insert_outcome::full);
    EXPECT_EQ(filter.stats().keys, 2 * most + 1);
    const auto back = spectral_filter::load(test::saved(filter));
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(back->count(1u), most);
    EXPECT_EQ(filter.erase(1u), erase_outcome::erased);
    EXPECT_EQ(filter.count(1u), most - 1);
    EXPECT_EQ(filter.insert(4u), insert_outcome::inserted);
}

TEST(spectral, is_full_with_as_many_different_keys_as_its_capacity) {
    auto filter = seeded<spectral_filter>(100, 1.0 / 1024);
    for (int round = 0; round < 50; ++round)
        for (std::uint64_t key = 0; key < 100; ++key) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
    std::uint64_t refused = 0;
    for (std::uint64_t key = 1000; key < 1100; ++key) refused += filter.insert(key) == insert_outcome::full ? 1u : 0u;
    EXPECT_GE(refused, 98u);
    EXPECT_EQ(filter.insert(5u), insert_outcome::inserted);
    EXPECT_EQ(filter.count(5u), 51u);
}

}  // namespace
}  // namespace genista::counting_filter_test
