// No memory: every allocation of make, save and load fails once; the answer is an error, and nothing is half made.
#include <gtest/gtest.h>

#include <array>

#include "filters/filter_snapshots.hpp"
#include "support/fail_each_allocation.hpp"

namespace genista {
namespace {

template <class F>
class filter_allocations : public testing::Test {};
TYPED_TEST_SUITE(filter_allocations, test::all_local_filters, test::filter_names);

TYPED_TEST(filter_allocations, make_save_and_load_report_the_lack_of_memory) {
    const auto filter = test::filled<TypeParam>(1000, 1.0 / 256);
    const test::file_bytes file = test::saved(filter);
    EXPECT_GE(test::fail_each_allocation([&] { return TypeParam::make({.capacity = 1000}); }), 1u);
    EXPECT_GE(test::fail_each_allocation([&] {
                  vector_sink out;
                  return filter.save(out);
              }),
              1u);
    EXPECT_GE(test::fail_each_allocation([&] { return TypeParam::load(file); }), 1u);
}

TYPED_TEST(filter_allocations, queries_and_inserts_allocate_nothing) {
    auto filter = test::filled<TypeParam>(1000, 1.0 / 256);
    std::array<std::uint64_t, 100> keys{};
    std::array<std::uint64_t, 2> answers{};
    const std::uint64_t before = test::this_thread_allocations.allocations;
    for (std::uint64_t key = 0; key < keys.size(); ++key) {
        keys[key] = key;
        (void)filter.may_contain(key);
        (void)filter.insert(5000 + key);
    }
    filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
    EXPECT_EQ(test::this_thread_allocations.allocations, before);
}

}  // namespace
}  // namespace genista
