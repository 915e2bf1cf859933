// Oracles without memory: every allocation of making, training, saving and loading fails once and
// must give an out-of-memory error; computing odds allocates nothing.
#include <gtest/gtest.h>

#include <vector>

#include "genista/oracles/exact_oracle.hpp"
#include "genista/oracles/sketch_oracle.hpp"
#include "tests/support/failing_allocator.hpp"

namespace genista::allocation_test {
namespace {

const hasher fixed{hash_key::from_seed(3)};
const std::vector<counted_key> inserts{{"ada", 5}, {"bob", 1}, {"ada", 2}}, queries{{"eve", 4}, {"bob", 2}};
const std::vector<weighted_key> stored{{"ada", 0.5}, {"bob", 0.5}}, asked{{"bob", 0.9}, {"ada", 0.1}};

template <class Oracle>
void expect_errors_without_memory(const Oracle& oracle) {
    vector_sink file;
    ASSERT_TRUE(oracle.save(file));
    EXPECT_GE(test::fail_each_allocation([&] { return Oracle::load(file.bytes()); }), 1u);
    EXPECT_GE(test::fail_each_allocation([&] {
                  vector_sink out;
                  return oracle.save(out);
              }),
              1u);
    const std::uint64_t before = test::this_thread_allocations.allocations;
    for (std::uint64_t key = 0; key < 100; ++key) (void)oracle.odds(key);
    EXPECT_EQ(test::this_thread_allocations.allocations, before);
}

TEST(oracle_allocations, failed_ones_of_the_exact_table_are_errors) {
    EXPECT_GE(test::fail_each_allocation([] { return exact_oracle::from_counts(inserts, queries, {.hash = fixed}); }),
              4u);
    EXPECT_GE(test::fail_each_allocation([] { return exact_oracle::from_columns(stored, asked, {.hash = fixed}); }),
              5u);
    expect_errors_without_memory(*exact_oracle::from_counts(inserts, queries, {.hash = fixed}));
}

TEST(oracle_allocations, failed_ones_of_the_sketches_are_errors) {
    const sketch_oracle_options options{.stored = {64, 3}, .asked = {64, 3}, .hash = fixed};
    EXPECT_GE(test::fail_each_allocation([&] { return count_min_oracle::train(options, inserts, queries); }), 2u);
    EXPECT_GE(test::fail_each_allocation([&] { return count_sketch_oracle::train(options, inserts, queries); }), 2u);
    expect_errors_without_memory(*count_min_oracle::train(options, inserts, queries));
    expect_errors_without_memory(*count_sketch_oracle::train(options, inserts, queries));
}

}  // namespace
}  // namespace genista::allocation_test
