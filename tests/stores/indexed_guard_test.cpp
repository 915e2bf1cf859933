// The cuckoo family in front of RocksDB: values and records in one database, the index in another.
// Killed processes, disks that fail reads and full disks cost reads and repairs, and no key.
#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <filesystem>
#include <map>
#include <string>

#include "genista/detail/base/random_source.hpp"
#include "genista/detail/stores/rocksdb/clustered_store.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/guard/guarded.hpp"
#include "papers/cuckoo_family.hpp"
#include "stores/rocksdb/index_records.hpp"
#include "support/guard/indexed_store.hpp"
#include "tests/stores/scratch.hpp"
#include "tests/support/failing_files.hpp"
#include "tests/support/guard_exercise.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::indexed_guard_test {
namespace {

using rocks::clustered_store;
using rocks::index_records;
using both_databases = indexed_store<clustered_store, index_records>;
static_assert(guarded_store<both_databases>);

constexpr auto key_number = key_text;

rocks::index_records_options index_in(rocksdb::Env* env, bool cold = false) {
    rocks::index_records_options options;
    options.rocksdb.env = env;
    if (!cold) return options;
    rocksdb::BlockBasedTableOptions table;
    table.no_block_cache = true;
    options.rocksdb.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options.rocksdb.write_buffer_size = 64 << 10;
    return options;
}

std::unique_ptr<both_databases> open_both(const scratch& here, rocks::index_records_options index_options) {
    rocks::clustered_options options;
    options.key = hash_key::from_seed(11);
    options.rocksdb.env = unsynced_env();
    auto store = clustered_store::open(here.path("store"), options);
    auto index = index_records::open(here.path("index"), std::move(index_options));
    EXPECT_TRUE(store) << store.error().message();
    EXPECT_TRUE(index) << index.error().message();
    return std::make_unique<both_databases>(*std::move(store), *std::move(index));
}

template <class Filter>
class indexed_guard : public ::testing::Test {
  protected:
    using guard_type = guarded<Filter, both_databases>;
    static_assert(guard_type::core_type::learns);

    static guard_type guard_of(both_databases& both, std::uint64_t capacity) {
        auto filter =
            Filter::build({.capacity = capacity, .fingerprint_bits = 8u, .hash = both.hash(), .random = repeatable(7)},
                          both.remote());
        EXPECT_TRUE(filter) << filter.error().message();
        return guard_type{*std::move(filter), both};
    }
    static void expect_sound(guard_type& guard, both_databases& both) {
        const auto audited = guard.filter().audit(both.remote());
        EXPECT_TRUE(audited) << audited.error().message();
    }

    scratch here_;
};

using members = ::testing::Types<cuckoo_filter, cuckooing_filter, cyclic_filter<1>, cyclic_filter<2>, cyclic_filter<3>,
                                 swapping_filter>;
TYPED_TEST_SUITE(indexed_guard, members);

TYPED_TEST(indexed_guard, a_guard_agrees_with_a_map_under_random_operations_across_reopening) {
    std::map<std::string, std::string> model;
    splitmix chance{1};
    for (int life = 0; life < 3; ++life) {
        const auto both = open_both(this->here_, index_in(unsynced_env()));
        auto guard = this->guard_of(*both, 1500);
        EXPECT_EQ(guard.filter().stats().keys, model.size());
        expect_a_map(guard, model, chance, {.steps = 3000, .keys = 2000, .most_stored = 1500});
        if (this->HasFatalFailure()) return;
        for (std::uint64_t i = 2000; i < 6000; ++i) ASSERT_FALSE(guard.get(key_number(i))->has_value());
        EXPECT_GT(guard.counters().wasted_reads, 0u);
        EXPECT_EQ(guard.counters().adapts > 0, TypeParam::name != "cuckoo");
        EXPECT_EQ(guard.filter().stats().keys, model.size());
        this->expect_sound(guard, *both);
    }
}

// A process that dies leaves what is on disk. The index may lag behind, be incomplete or be
// missing: the next filter is built from the records.
TYPED_TEST(indexed_guard, a_process_that_dies_loses_no_key) {
    constexpr std::uint64_t keys = 1200;
    const std::string image = this->here_.path("image");
    std::filesystem::create_directory(image);
    {
        const auto both = open_both(this->here_, index_in(unsynced_env(), true));
        auto guard = this->guard_of(*both, keys);
        for (std::uint64_t i = 0; i < keys; ++i) {
            ASSERT_TRUE(guard.put(key_number(i), "v"));
            if (i == keys / 2) {
                ASSERT_TRUE(both->index().flush());
            }
        }
        for (const char* each : {"store", "index"}) {
            std::filesystem::copy(this->here_.path(each), image + "/" + each, std::filesystem::copy_options::recursive);
        }
    }
    for (const char* each : {"store", "index"}) {
        std::filesystem::remove_all(this->here_.path(each));
        std::filesystem::rename(image + "/" + each, this->here_.path(each));
    }
    const auto both = open_both(this->here_, index_in(unsynced_env()));
    auto guard = this->guard_of(*both, keys);
    for (std::uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(guard.get(key_number(i))->has_value()) << i;
    this->expect_sound(guard, *both);
}

TYPED_TEST(indexed_guard, a_disk_that_does_not_read_the_index_costs_reads_and_no_key) {
    constexpr std::uint64_t keys = 2000;
    io_fate fate;
    for (const char* each : {"Append", "Sync", "Fsync", "Close", "NewWritableFile", "NewDirectory", "RenameFile",
                             "DeleteFile", "FsyncWithDirOptions", "NewSequentialFile"})
        fate.spare(each, "");
    failing_env env{fate, std::make_shared<unsynced_files>()};
    const auto both = open_both(this->here_, index_in(&env, true));
    auto guard = this->guard_of(*both, keys);
    std::uint64_t next = 0;
    for (; next < keys - 100; ++next) ASSERT_TRUE(guard.put(key_number(next), "v"));
    ASSERT_TRUE(both->index().flush());
    // So that no compaction is under way, which would end in an error of the whole database.
    ASSERT_TRUE(both->index().db().CompactRange({}, nullptr, nullptr).ok());
    fate.fail_from(fate.calls());
    for (; next < keys; ++next) ASSERT_TRUE(guard.put(key_number(next), "v")) << "the store itself works";
    for (std::uint64_t i = 0; i < 3 * keys; ++i) ASSERT_EQ(guard.get(key_number(i))->has_value(), i < keys) << i;
    const guard_counters broken = guard.counters();
    EXPECT_GT(fate.failed(), 0u);
    EXPECT_GT(broken.failed_adapts, 0u);
    EXPECT_GT(broken.ranges_pending_repair, 0u);
    fate.heal();
    const auto repaired = guard.repair();
    ASSERT_TRUE(repaired) << repaired.error().message();
    EXPECT_EQ(guard.counters().ranges_pending_repair, 0u);
    for (std::uint64_t i = 0; i < 3 * keys; ++i) ASSERT_EQ(guard.get(key_number(i))->has_value(), i < keys) << i;
    EXPECT_EQ(guard.counters().failed_adapts, broken.failed_adapts);
    this->expect_sound(guard, *both);
}

// What does not fit on the disk stays in memory for a while, then writes fail. (RocksDB checks for
// room every five seconds. A caller that cannot wait opens the index again.)
TYPED_TEST(indexed_guard, a_full_disk_below_the_index_is_an_error_there_and_denies_nothing) {
    constexpr std::uint64_t keys = 6000;
    io_fate fate;
    failing_env env{fate, std::make_shared<unsynced_files>()};
    {
        const auto both = open_both(this->here_, index_in(&env, true));
        auto guard = this->guard_of(*both, keys);
        std::uint64_t next = 0;
        for (; next < 1000; ++next) ASSERT_TRUE(guard.put(key_number(next), "v"));
        fate.fill_disk();
        for (; next < keys; ++next) ASSERT_TRUE(guard.put(key_number(next), "v")) << "the store itself works";
        EXPECT_GT(guard.counters().late_inserts, 0u);
        for (std::uint64_t i = 0; i < 2 * keys; ++i) ASSERT_EQ(guard.get(key_number(i))->has_value(), i < keys) << i;
        EXPECT_FALSE(guard.repair());
    }
    fate.heal();
    const auto both = open_both(this->here_, index_in(&env, true));
    auto guard = this->guard_of(*both, keys);
    EXPECT_EQ(guard.counters().ranges_pending_repair, 0u);
    for (std::uint64_t i = 0; i < 2 * keys; ++i) ASSERT_EQ(guard.get(key_number(i))->has_value(), i < keys) << i;
    this->expect_sound(guard, *both);
}

}  // namespace
}  // namespace genista::test::indexed_guard_test
