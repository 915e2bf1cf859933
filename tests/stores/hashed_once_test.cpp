// Each call of a guarded database hashes its key once, and a batch each of its entries.
#include <gtest/gtest.h>
#include <rocksdb/write_batch.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "genista/detail/base/random_source.hpp"
#include "genista/stores/rocksdb/clustered_db.hpp"
#include "tests/stores/guarded_db_world.hpp"
#include "tests/support/counting_hash.hpp"

namespace genista::test::hashed_once_test {
namespace {

constexpr std::uint64_t keys = 1'000;

// The hash of a database is on disk, so that it cannot be opened with one that counts. The object
// that all calls use belongs to the filter and is not const: here it is exchanged for one that
// counts and gives the same digests. Nothing can be saved from then on.
template <class Db>
void count_hashes_of(Db& db, const counting_hash& counting) {
    const_cast<hasher&>(db.core().hash()) = counting.hash();  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

guarded_db_options without_snapshots() {
    guarded_db_options options = test_options();
    options.snapshotter.on_close = false;
    options.filter.capacity = 300;
    return options;
}

TEST(hashed_once, by_the_calls_of_a_clustered_database) {
    const scratch here;
    rocks::clustered_db_options options;
    options.store.rocksdb.env = unsynced_env();
    options.store.key = hash_key::from_seed(5);
    options.filter.capacity = 300;
    options.filter.random = repeatable(9);
    options.snapshotter = {.every = std::chrono::milliseconds{0}, .on_close = false};
    auto opened = rocks::clustered_db::open(here.path(), options);
    ASSERT_TRUE(opened) << opened.error().message();
    rocks::clustered_db& db = **opened;
    counting_hash counting{hasher{db.core().hash()}};
    count_hashes_of(db, counting);
    std::uint64_t others = 0;
    for (std::uint64_t i = 0; i < keys; ++i) {
        const std::string key = key_number(i);
        others += counting.during(key, [&] { ASSERT_TRUE(db.put(key, "value")); }) != 1;
        others += counting.during(key, [&] { ASSERT_TRUE(db.get(key)->has_value()); }) != 1;
    }
    EXPECT_EQ(std::exchange(others, 0), 0u) << "a put, or a get of a stored key";
    for (std::uint64_t i = keys; i < 10 * keys; ++i) {
        const std::string key = key_number(i);
        others += counting.during(key, [&] { ASSERT_FALSE(db.get(key)->has_value()); }) != 1;
        others += counting.during(key, [&] { (void)db.may_contain(key); }) != 1;
    }
    EXPECT_EQ(std::exchange(others, 0), 0u) << "a query of an absent key";
    for (std::uint64_t i = 0; i < 2 * keys; i += 2) {
        const std::string key = key_number(i);
        others += counting.during(key, [&] { ASSERT_TRUE(db.erase(key)); }) != 1;
    }
    EXPECT_EQ(others, 0u) << "an erase";
    EXPECT_GT(db.counters().adapts, 10u);
    EXPECT_TRUE(db.audit());
}

TEST(hashed_once, by_the_calls_of_an_indexed_database) {
    const scratch here;
    const auto db = open_guarded(here.path(), without_snapshots());
    counting_hash counting{hasher{db->core().hash()}};
    count_hashes_of(*db, counting);
    std::string value;
    std::uint64_t others = 0;
    for (std::uint64_t i = 0; i < keys; ++i) {
        const std::string key = key_number(i);
        others += counting.during(key, [&] { EXPECT_OK(db->Put({}, key, "value")); }) != 1;
        others += counting.during(key, [&] { EXPECT_OK(db->Merge({}, key, "more")); }) != 1;
        others += counting.during(key, [&] { EXPECT_OK(db->Get({}, key, &value)); }) != 1;
    }
    EXPECT_EQ(std::exchange(others, 0), 0u) << "a put, or a get of a stored key";
    for (std::uint64_t i = keys; i < 10 * keys; ++i) {
        const std::string key = key_number(i);
        others += counting.during(key, [&] { ASSERT_TRUE(db->Get({}, key, &value).IsNotFound()); }) != 1;
    }
    EXPECT_EQ(std::exchange(others, 0), 0u) << "a get of an absent key";
    EXPECT_GT(db->counters().adapts, 10u);
    for (std::uint64_t i = 0; i < 4 * keys; i += 100) {
        std::vector<std::string> names, values;
        for (std::uint64_t j = i; j < i + 100; ++j) names.push_back(key_number(j + 9 * keys * (j % 2)));
        const std::vector<rocksdb::Slice> slices{names.begin(), names.end()};
        const std::vector<rocksdb::ColumnFamilyHandle*> families(names.size(), db->DefaultColumnFamily());
        const std::string& key = names[(i / 100) % 100];
        others += counting.during(key, [&] { (void)db->MultiGet({}, families, slices, &values); }) != 1;
    }
    EXPECT_EQ(std::exchange(others, 0), 0u) << "a MultiGet";
    for (std::uint64_t i = 0; i < keys; i += 10) {
        const std::string key = key_number(i);
        others += counting.during(key, [&] { EXPECT_OK(db->Delete({}, key)); }) != 1;
    }
    EXPECT_EQ(others, 0u) << "a delete";
    expect_sound(*db);
}

// The filter is so large and so precise that no insert collides: an insert that reads R checks the
// records of its bin, and they may be those of other keys of the batch.
TEST(hashed_once, by_batches_ranges_and_ingests) {
    const scratch here;
    guarded_db_options options = without_snapshots();
    options.filter.capacity = 20'000;
    options.filter.false_positive_rate = 0x1p-22;
    const auto db = open_guarded(here.path(), options);
    counting_hash counting{hasher{db->core().hash()}};
    count_hashes_of(*db, counting);
    std::uint64_t others = 0;
    for (std::uint64_t i = 0; i < keys; i += 50) {
        rocksdb::WriteBatch puts, both;
        for (std::uint64_t j = i; j < i + 50; ++j) EXPECT_OK(puts.Put(key_number(j), "value"));
        others += counting.during(key_number(i + i / 50), [&] { EXPECT_OK(db->Write({}, &puts)); }) != 1;
        EXPECT_OK(both.Put(key_number(i), "again"));
        EXPECT_OK(both.Delete(key_number(i + 1)));
        others += counting.during(key_number(i + 1), [&] { EXPECT_OK(db->Write({}, &both)); }) != 1;
    }
    EXPECT_EQ(std::exchange(others, 0), 0u) << "a batch";
    for (std::uint64_t i = 5; i < keys; i += 50) {
        const auto erase_ten = [&] {
            EXPECT_OK(db->DeleteRange({}, db->DefaultColumnFamily(), key_number(i), key_number(i + 10)));
        };
        others += counting.during(key_number(i), erase_ten) != 1;
    }
    EXPECT_EQ(std::exchange(others, 0), 0u) << "a range delete";
    std::map<std::string, std::string> entries;
    for (std::uint64_t i = 5 * keys; i < 8 * keys; ++i) entries[key_number(i)] = "value";
    write_table(here.path("table"), entries);
    const auto ingest = [&] { EXPECT_OK(db->IngestExternalFile({here.path("table")}, {})); };
    EXPECT_EQ(counting.during(key_number(6 * keys), ingest), 1u);
    EXPECT_EQ(db->counters().filter.keys, keys - keys / 50 - keys / 5 + 3 * keys);
    expect_sound(*db);
}

}  // namespace
}  // namespace genista::test::hashed_once_test
