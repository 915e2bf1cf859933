// No memory for the daisy Bloom filters: every allocation of make, save and load fails once; the
// result is an error, and no object is half made. Look-ups and inserts allocate nothing. Part of
// allocation_test.cpp: only one file of an executable may have the failing allocator.
#pragma once

#include <gtest/gtest.h>

#include <array>

#include "genista/filters/daisy_bloom.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/failing_allocator.hpp"

namespace genista {
namespace {

class daisy_bloom_allocations : public testing::TestWithParam<bool> {
  protected:
    daisy_bloom_options options{
        .plan = test::plan_of_shares({1000, 1.0 / 256}, {{2, 0.5, 0.1}, {8, 0.5, 0.9}}),
        .hash = hasher{hash_key::from_seed(1)},
        .blocked = GetParam(),
    };
};
INSTANTIATE_TEST_SUITE_P(layouts, daisy_bloom_allocations, testing::Bool(),
                         [](const auto& one) { return one.param ? "blocked" : "scattered"; });

TEST_P(daisy_bloom_allocations, make_save_and_load_report_the_lack_of_memory) {
    const auto filter = *daisy_bloom_filter::make(options);
    vector_sink file;
    ASSERT_TRUE(filter.save(file));
    EXPECT_GE(test::fail_each_allocation([&] { return daisy_bloom_filter::make(options); }), GetParam() ? 3u : 1u);
    EXPECT_GE(test::fail_each_allocation([&] {
                  vector_sink out;
                  return filter.save(out);
              }),
              1u);
    EXPECT_GE(test::fail_each_allocation([&] { return daisy_bloom_filter::load(file.bytes()); }), 1u);
    EXPECT_EQ(test::fail_each_allocation([&] { return filter.expected_rate(); }), GetParam() ? 1u : 0u);
}

TEST_P(daisy_bloom_allocations, lookups_inserts_and_drift_allocate_nothing) {
    auto filter = *daisy_bloom_filter::make(options);
    std::array<std::uint64_t, 100> keys{};
    std::array<std::uint8_t, 100> classes{};
    std::array<std::uint64_t, 2> answers{};
    const std::uint64_t before = test::this_thread_allocations.allocations;
    for (std::uint64_t key = 0; key < keys.size(); ++key) {
        keys[key] = key;
        classes[key] = static_cast<std::uint8_t>(key % 9);
        (void)filter.may_contain(key, 8);
        (void)filter.insert(key, classes[key]);
    }
    filter.may_contain(keys, classes, answers);
    (void)filter.drift();
    EXPECT_EQ(test::this_thread_allocations.allocations, before);
}

}  // namespace
}  // namespace genista
