// size() and empty() (filters/filter.hpp): what inserts and erases have counted.
#include <gtest/gtest.h>

#include <cstdint>

#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/lossy.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "genista/remote/memory_map.hpp"

namespace genista::test::size_test {
namespace {

template <class F>
class sized : public testing::Test {};
using local_filters = testing::Types<bloom_filter, blocked_bloom_filter, cleary_filter, cuckoo_partial_filter,
                                     optimal_filter, spectral_filter>;
TYPED_TEST_SUITE(sized, local_filters);

TYPED_TEST(sized, counts_inserts_and_erases) {
    auto made = TypeParam::make({.capacity = 1'000, .hash = hasher{hash_key::from_seed(3)}});
    ASSERT_TRUE(made);
    TypeParam& f = *made;
    EXPECT_TRUE(f.empty());
    EXPECT_EQ(f.size(), 0u);
    std::uint64_t inserted = 0;
    for (std::uint64_t key = 0; key < 500; ++key) {
        inserted += f.insert(key) == insert_outcome::inserted ? 1u : 0u;
        ASSERT_EQ(f.size(), inserted);
        ASSERT_FALSE(f.empty());
    }
    EXPECT_EQ(f.size(), f.stats().keys);
    EXPECT_GT(f.size(), 480u);
    if constexpr (locally_erasable_filter<TypeParam>) {
        std::uint64_t erased = 0;
        for (std::uint64_t key = 0; key < 500; ++key) erased += f.erase(key) == erase_outcome::erased ? 1u : 0u;
        EXPECT_EQ(f.size(), inserted - erased);
        EXPECT_TRUE(f.empty());
    }
}

TEST(size_of, a_lossy_filter_counts_what_it_stores) {
    auto f = lossy_filter::make({.capacity = 1'000, .hash = hasher{hash_key::from_seed(3)}});
    ASSERT_TRUE(f);
    EXPECT_TRUE(f->empty());
    std::uint64_t stored = 0;
    for (std::uint64_t key = 0; key < 500; ++key) stored += f->insert(key) == lossy_insert::stored ? 1u : 0u;
    EXPECT_EQ(f->size(), stored);
    EXPECT_GT(stored, 0u);
}

TEST(size_of, a_broom_filter_counts_keys_and_not_slots) {
    auto made = broom_filter::make({.capacity = 1'000, .hash = hasher{hash_key::from_seed(3)}});
    ASSERT_TRUE(made);
    broom_filter& f = *made;
    memory_map remote;
    EXPECT_TRUE(f.empty());
    for (std::uint64_t key = 0; key < 500; ++key) {
        ASSERT_TRUE(remote.put(f.hash()(key), integer_key{key}.view()));
        ASSERT_TRUE(f.insert(key, remote));
    }
    EXPECT_EQ(f.size(), 500u);
    for (std::uint64_t key = 0; key < 500; ++key) {
        ASSERT_TRUE(f.erase(key, remote));
        ASSERT_EQ(f.size(), 499 - key) << "the slot of an erased key is no key";
    }
    EXPECT_TRUE(f.empty());
}

}  // namespace
}  // namespace genista::test::size_test
