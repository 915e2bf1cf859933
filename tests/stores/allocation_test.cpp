// A denied key costs no allocation, so a flood of absent keys puts no load on the allocator.
#include <gtest/gtest.h>

#include "tests/stores/guarded_db_world.hpp"
#include "tests/support/failing_allocator.hpp"

namespace genista::test::allocation_test {
namespace {

TEST(guarded_db_allocation, a_denied_key_allocates_nothing) {
    const scratch here;
    const auto db = open_guarded(here.path());
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(db->Put({}, key_number(i), "v").ok());
    const rocksdb::ReadOptions options;
    rocksdb::ColumnFamilyHandle* const standard = db->DefaultColumnFamily();
    std::string value;
    rocksdb::PinnableSlice pinned;
    std::uint64_t denied = 0;
    for (std::uint64_t i = 1000; i < 3000; ++i) {
        const std::string key = key_number(i);
        if (db->may_contain(key)) continue;
        ++denied;
        const std::uint64_t before = this_thread_allocations.allocations;
        const bool absent = db->Get(options, key, &value).IsNotFound() &&
                            db->Get(options, standard, key, &pinned).IsNotFound() &&
                            !db->KeyMayExist(options, standard, key, &value);
        const std::uint64_t after = this_thread_allocations.allocations;
        ASSERT_TRUE(absent);
        ASSERT_EQ(after, before);
    }
    EXPECT_GT(denied, 1900u);
}

}  // namespace
}  // namespace genista::test::allocation_test
