// The filters that the snapshot tests save, and the comparison of a saved and a loaded one.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::test {

// Holds the integers 0 .. keys - 1, at full capacity.
template <class Filter>
Filter filled(std::uint64_t keys, double rate, hash_kind kind = hash_kind::keyed) {
    auto made =
        Filter::make({.capacity = keys, .false_positive_rate = rate, .hash = hasher{hash_key::from_seed(keys), kind}});
    EXPECT_TRUE(made) << made.error().message();
    for (std::uint64_t key = 0; key < keys; ++key) EXPECT_NE(made->insert(key), insert_outcome::full);
    return *std::move(made);
}

// The largest filter whose snapshot has at most 64 KiB: its capacity is found by bisection.
template <class Filter>
Filter filled_to_64_kib() {
    std::uint64_t low = 1, high = 100'000;
    while (low < high) {
        const std::uint64_t middle = (low + high + 1) / 2;
        const auto made = Filter::make({.capacity = middle, .hash = hasher{hash_key::from_seed(1)}});
        if (saved(*made).size() <= 65'536) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return filled<Filter>(low, 1.0 / 256);
}

template <class Filter>
void expect_equal_answers(const Filter& a, const Filter& b, std::uint64_t queries) {
    ASSERT_EQ(a.stats().keys, b.stats().keys);
    ASSERT_EQ(a.stats().capacity, b.stats().capacity);
    ASSERT_EQ(a.stats().false_positive_rate, b.stats().false_positive_rate);
    ASSERT_TRUE(a.hash() == b.hash());
    for (std::uint64_t key = 0; key < queries; ++key) ASSERT_EQ(a.may_contain(key), b.may_contain(key)) << key;
}

using all_local_filters = ::testing::Types<bloom_filter, blocked_bloom_filter, cuckoo_partial_filter, cleary_filter>;

struct filter_names {
    template <class Filter>
    static std::string GetName(int) {
        return std::string{Filter::name};
    }
};

}  // namespace genista::test
