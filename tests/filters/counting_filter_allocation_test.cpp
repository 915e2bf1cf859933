// No memory: the counting filters with each of their allocations failing once. The result is
// `full`, and nothing changes. The operators new and delete are those of allocation_test.cpp.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "genista/filters/optimal_filter.hpp"
#include "tests/support/failing_allocations.hpp"

namespace genista::counting_filter_allocation_test {
namespace {

// Some inserts of the counting filters allocate: without memory they return `full`, and no key is
// lost.
TEST(counting_filter_allocations, an_insert_without_memory_changes_nothing) {
    constexpr std::uint64_t keys = 3000;
    for (std::uint64_t n = 0; n < 60; ++n) {
        auto filter = *optimal_filter::make({.capacity = keys, .hash = hasher{hash_key::from_seed(n)}});
        std::uint64_t inserted = 0;
        {
            const test::failing_allocations armed{n};
            while (inserted < keys && filter.insert(inserted) == insert_outcome::inserted) ++inserted;
            if (!armed.failed()) {
                EXPECT_EQ(inserted, keys);
                EXPECT_GE(n, 5u);
                return;
            }
        }
        EXPECT_EQ(filter.stats().keys, inserted);
        for (std::uint64_t key = 0; key < inserted; ++key) ASSERT_TRUE(filter.may_contain(key)) << n;
        for (std::uint64_t key = inserted; key < keys; ++key) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
        for (std::uint64_t key = 0; key < keys; ++key) ASSERT_EQ(filter.erase(key), erase_outcome::erased) << n;
        EXPECT_EQ(filter.stats().keys, 0u);
    }
}

// An insert of a large count sets several digits, each in a set of its own: all of them or none,
// whichever allocation fails.
TEST(counting_filter_allocations, an_insert_of_many_without_memory_changes_nothing) {
    for (std::uint64_t n = 0;; ++n) {
        auto filter = *spectral_filter::make({.capacity = 3000, .hash = hasher{hash_key::from_seed(7)}});
        for (std::uint64_t key = 0; key < 150; ++key) ASSERT_EQ(filter.insert(key, key % 4), insert_outcome::inserted);
        std::vector<std::uint64_t> before;
        for (std::uint64_t key = 0; key < 150; ++key) before.push_back(filter.count(key));
        const std::uint64_t keys = filter.stats().keys;
        insert_outcome outcome{};
        bool failed = false;
        {
            const test::failing_allocations armed{n};
            outcome = filter.insert(5u, std::uint64_t{1} << 50 | 12345);
            failed = armed.failed();
        }
        if (outcome == insert_outcome::full) {
            ASSERT_TRUE(failed) << n;
            ASSERT_EQ(filter.stats().keys, keys);
            for (std::uint64_t key = 0; key < 150; ++key) ASSERT_EQ(filter.count(key), before[key]) << n;
            for (unsigned digit = 2; digit < 62; ++digit) ASSERT_EQ(filter.digits_in_use(digit), 0u) << n;
            ASSERT_EQ(filter.insert(5u, std::uint64_t{1} << 50 | 12345), insert_outcome::inserted);
        }
        ASSERT_EQ(filter.count(5u), before[5] + (std::uint64_t{1} << 50 | 12345)) << n;
        if (!failed) {
            EXPECT_GE(n, 50u);
            return;
        }
    }
}

}  // namespace
}  // namespace genista::counting_filter_allocation_test
