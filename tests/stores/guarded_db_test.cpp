// A guarded database behind a rocksdb::DB*: which reads it saves, which calls it passes on, which
// it refuses.
#include "genista/stores/rocksdb/guarded_db.hpp"

#include <gtest/gtest.h>
#include <rocksdb/trace_reader_writer.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/replayer.h>
#include <rocksdb/wide_columns.h>
#include <rocksdb/write_batch.h>

#include "tests/stores/guarded_db_world.hpp"

namespace genista::test::guarded_db_test {
namespace {

using rocksdb::Status;

TEST(guarded_db, existing_code_keeps_its_db_pointer) {
    const scratch here;
    const auto guarded = open_guarded(here.path());
    rocksdb::DB* const db = guarded.get();
    EXPECT_OK(db->Put({}, "ada", "1815"));
    std::string value;
    EXPECT_OK(db->Get({}, "ada", &value));
    EXPECT_EQ(value, "1815");
    value = "untouched";
    EXPECT_TRUE(db->Get({}, "nobody", &value).IsNotFound());
    EXPECT_OK(db->Delete({}, "ada"));
    EXPECT_TRUE(db->Get({}, "ada", &value).IsNotFound());
    EXPECT_EQ(guarded->counters().filter.keys, 0u);
    expect_sound(*guarded);
}

TEST(guarded_db, absent_keys_cost_few_reads_and_each_mistake_only_one) {
    const scratch here;
    const auto db = open_guarded(here.path());
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(db->Put({}, key_number(i), "v").ok());
    std::string value;
    for (int round = 0; round < 4; ++round) {
        for (std::uint64_t i = 2000; i < 22000; ++i) ASSERT_TRUE(db->Get({}, key_number(i), &value).IsNotFound());
    }
    const guard_counters seen = db->counters();
    EXPECT_EQ(seen.queries, 80000u);
    EXPECT_EQ(seen.queries, seen.local_negatives + seen.reads);
    EXPECT_EQ(seen.reads, seen.wasted_reads);
    EXPECT_EQ(seen.repeated_wasted_reads, 0u);
    EXPECT_GT(seen.wasted_reads, 10u);
    EXPECT_LT(seen.wasted_reads, 200u);
    EXPECT_NE(db->metrics_text({{"store", "users"}})->find("genista_guard_queries_total{store=\"users\"} 80000\n"),
              std::string::npos);
}

TEST(guarded_db, many_keys_at_once_are_filtered) {
    const scratch here;
    const auto db = open_guarded(here.path());
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(db->Put({}, key_number(i), std::to_string(i)).ok());
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < 1000; ++i) names.push_back(key_number(i));
    const std::vector<rocksdb::Slice> keys(names.begin(), names.end());
    std::vector<std::string> values;
    const auto statuses = db->MultiGet({}, keys, &values);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(statuses[i].ok(), i < 100) << i;
        EXPECT_EQ(values[i], i < 100 ? std::to_string(i) : "");
    }
    const guard_counters seen = db->counters();
    EXPECT_EQ(seen.queries, 1000u);
    EXPECT_GT(seen.local_negatives, 850u);
    EXPECT_EQ(seen.queries, seen.local_negatives + seen.reads);
}

// The caller may give a PinnableSlice a string to fill, as DB::Get does.
TEST(guarded_db, many_values_go_into_the_callers_strings) {
    const scratch here;
    const auto db = open_guarded(here.path());
    EXPECT_OK(db->Put({}, "ada", "1815"));
    EXPECT_OK(db->Put({}, "grace", "1906"));
    std::string strings[3];
    rocksdb::PinnableSlice values[] = {rocksdb::PinnableSlice{&strings[0]}, rocksdb::PinnableSlice{&strings[1]},
                                       rocksdb::PinnableSlice{&strings[2]}};
    const rocksdb::Slice keys[] = {"ada", "nobody", "grace"};
    rocksdb::Status statuses[3];
    ASSERT_FALSE(db->may_contain("nobody"));
    db->MultiGet({}, db->DefaultColumnFamily(), 3, keys, values, statuses);
    EXPECT_OK(statuses[0]);
    EXPECT_TRUE(statuses[1].IsNotFound());
    EXPECT_OK(statuses[2]);
    EXPECT_EQ(values[0].ToString(), "1815");
    EXPECT_EQ(values[2].ToString(), "1906");
    EXPECT_EQ(strings[0], "1815");
    EXPECT_EQ(strings[2], "1906");
}

TEST(guarded_db, reads_of_snapshots_and_tiers_bypass_the_filter) {
    const scratch here;
    const auto db = open_guarded(here.path());
    EXPECT_OK(db->Put({}, "ada", "1815"));
    const rocksdb::Snapshot* const then = db->GetSnapshot();
    EXPECT_OK(db->Delete({}, "ada"));
    EXPECT_FALSE(db->may_contain("ada"));
    rocksdb::ReadOptions past;
    past.snapshot = then;
    std::string value;
    EXPECT_OK(db->Get(past, "ada", &value));
    EXPECT_EQ(value, "1815");
    EXPECT_TRUE(db->KeyMayExist(past, "ada", &value));
    std::vector<std::string> values;
    EXPECT_OK(db->MultiGet(past, {rocksdb::Slice{"ada"}}, &values)[0]);
    rocksdb::PinnableWideColumns columns;
    EXPECT_OK(db->GetEntity(past, db->DefaultColumnFamily(), "ada", &columns));
    EXPECT_EQ(db->counters().queries, 0u);  // none of them was answered by the filter
    db->ReleaseSnapshot(then);
    EXPECT_TRUE(db->Get({}, "ada", &value).IsNotFound());
    EXPECT_FALSE(db->KeyMayExist({}, "ada", &value));

    rocksdb::ReadOptions no_disk;
    no_disk.read_tier = rocksdb::kBlockCacheTier;
    EXPECT_TRUE(db->Get(no_disk, "ada", &value).IsNotFound());
    EXPECT_OK(db->Put({}, "bob", "v"));
    EXPECT_OK(db->Flush({}));
    EXPECT_FALSE(db->Get(no_disk, "bob", &value).IsNotFound());
}

TEST(guarded_db, merge_operands_of_absent_keys_are_not_looked_for) {
    const scratch here;
    const auto db = open_guarded(here.path());
    EXPECT_OK(db->Merge({}, "ada", "x"));
    EXPECT_OK(db->Merge({}, "ada", "y"));
    rocksdb::PinnableSlice operands[4];
    rocksdb::GetMergeOperandsOptions how;
    how.expected_max_number_of_operands = 4;
    int count = -1;
    EXPECT_OK(db->GetMergeOperands({}, db->DefaultColumnFamily(), "ada", operands, &how, &count));
    EXPECT_EQ(count, 2);
    EXPECT_TRUE(db->GetMergeOperands({}, db->DefaultColumnFamily(), "nobody", operands, &how, &count).IsNotFound());
    EXPECT_EQ(count, 0);
    expect_sound(*db);
}

TEST(guarded_db, other_column_families_work_as_before) {
    const scratch here;
    const auto db = open_guarded(here.path());
    rocksdb::ColumnFamilyHandle* cities = nullptr;
    EXPECT_OK(db->CreateColumnFamily({}, "cities", &cities));
    rocksdb::WriteOptions unlogged;
    unlogged.disableWAL = true;
    EXPECT_OK(db->Put(unlogged, cities, "london", "v"));  // without the log: the guard does not restrict other families
    rocksdb::WriteBatch batch;
    EXPECT_OK(batch.Put(cities, "paris", "v"));
    EXPECT_OK(batch.DeleteRange(cities, "l", "m"));
    EXPECT_OK(db->Write(unlogged, &batch));
    std::string value;
    EXPECT_OK(db->Get({}, cities, "paris", &value));
    EXPECT_TRUE(db->Get({}, cities, "london", &value).IsNotFound());
    EXPECT_EQ(db->counters().queries, 0u);
    EXPECT_EQ(db->counters().filter.keys, 0u);
    EXPECT_OK(db->DropColumnFamily(cities));
    EXPECT_OK(db->DestroyColumnFamilyHandle(cities));
    EXPECT_EQ(db->family("cities"), nullptr);
    EXPECT_EQ(db->family("genista.index"), nullptr);
    EXPECT_NE(db->family("default"), nullptr);
    expect_sound(*db);
}

TEST(guarded_db, existing_families_are_opened_and_may_be_released_by_either_side) {
    const scratch here;
    {
        const auto db = open_guarded(here.path());
        for (const char* name : {"a", "b"}) {
            rocksdb::ColumnFamilyHandle* made = nullptr;
            EXPECT_OK(db->CreateColumnFamily({}, name, &made));
            EXPECT_OK(db->Put({}, made, "key", name));
            EXPECT_OK(db->DestroyColumnFamilyHandle(made));
        }
    }
    const auto db = open_guarded(here.path());
    std::string value;
    EXPECT_OK(db->Get({}, db->family("a"), "key", &value));
    EXPECT_EQ(value, "a");
    EXPECT_OK(db->DestroyColumnFamilyHandle(db->family("a")));
    EXPECT_EQ(db->family("a"), nullptr);
    EXPECT_OK(db->Get({}, db->family("b"), "key", &value));
}

TEST(guarded_db, what_cannot_be_guarded_is_refused_and_changes_nothing) {
    const scratch here;
    const auto db = open_guarded(here.path());
    EXPECT_OK(db->Put({}, "ada", "v"));
    rocksdb::ColumnFamilyHandle* const standard = db->DefaultColumnFamily();
    rocksdb::ColumnFamilyHandle* const index = &db->records().family();
    rocksdb::WriteOptions unlogged;
    unlogged.disableWAL = true;
    const auto refused = [](const Status& status) { return status.IsNotSupported(); };

    EXPECT_TRUE(refused(db->Put(unlogged, "bob", "v")));
    EXPECT_TRUE(refused(db->Merge(unlogged, "bob", "v")));
    EXPECT_TRUE(refused(db->Delete(unlogged, "ada")));
    EXPECT_TRUE(refused(db->SingleDelete(unlogged, "ada")));
    EXPECT_TRUE(refused(db->PutEntity(unlogged, standard, "bob", {{"x", "y"}})));
    EXPECT_TRUE(refused(db->DeleteRange(unlogged, standard, "a", "b")));
    EXPECT_TRUE(refused(db->Put({}, standard, "bob", "time", "v")));
    EXPECT_TRUE(refused(db->Merge({}, standard, "bob", "time", "v")));
    EXPECT_TRUE(refused(db->Delete({}, standard, "ada", "time")));
    EXPECT_TRUE(refused(db->SingleDelete({}, standard, "ada", "time")));
    EXPECT_TRUE(refused(db->DeleteRange({}, standard, "a", "b", "time")));
    {
        rocksdb::WriteBatch batch;
        EXPECT_OK(batch.Put("bob", "v"));
        EXPECT_TRUE(refused(db->Write(unlogged, &batch)));
        batch.MarkWalTerminationPoint();
        EXPECT_TRUE(refused(db->Write({}, &batch)));
    }
    for (const bool put : {true, false}) {
        rocksdb::WriteBatch batch;
        EXPECT_OK(batch.Put("bob", "v"));
        EXPECT_OK(put ? batch.Put(index, "x", "y") : batch.DeleteRange(index, "a", "z"));
        EXPECT_TRUE(refused(db->Write({}, &batch)));
    }
    EXPECT_TRUE(refused(db->Put({}, index, "x", "y")));
    EXPECT_TRUE(refused(db->Merge({}, index, "x", "y")));
    EXPECT_TRUE(refused(db->Delete({}, index, "x")));
    EXPECT_TRUE(refused(db->SingleDelete({}, index, "x")));
    EXPECT_TRUE(refused(db->PutEntity({}, index, "x", {{"x", "y"}})));
    EXPECT_TRUE(refused(db->DeleteRange({}, index, "x", "y")));
    EXPECT_TRUE(refused(db->DropColumnFamily(index)));
    EXPECT_TRUE(refused(db->DropColumnFamilies({index})));
    EXPECT_TRUE(refused(db->DestroyColumnFamilyHandle(index)));
    EXPECT_TRUE(refused(db->SetOptions(index, {{"disable_auto_compactions", "true"}})));
    EXPECT_TRUE(refused(db->IngestExternalFile(index, {"nothing"}, {})));

    rocksdb::ColumnFamilyHandle* made = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> several;
    EXPECT_TRUE(refused(db->CreateColumnFamily({}, "genista.mine", &made)));
    EXPECT_TRUE(refused(db->CreateColumnFamilies(rocksdb::ColumnFamilyOptions{}, {"genista.mine"}, &several)));
    EXPECT_TRUE(refused(db->CreateColumnFamilies({rocksdb::ColumnFamilyDescriptor{"genista.mine", {}}}, &several)));
    EXPECT_TRUE(refused(db->CreateColumnFamilyWithImport({}, "genista.mine", {}, {}, &made)));
    EXPECT_TRUE(refused(db->DeleteFile("000001.sst")));
    std::unique_ptr<rocksdb::Replayer> replayer;
    EXPECT_TRUE(refused(db->NewDefaultReplayer({}, nullptr, &replayer)));
    EXPECT_TRUE(db->Write({}, nullptr).IsInvalidArgument() || db->Write({}, nullptr).IsCorruption());

    EXPECT_OK(db->SetOptions(standard, {{"disable_auto_compactions", "true"}}));
    std::string value;
    EXPECT_OK(db->Get({}, "ada", &value));
    EXPECT_TRUE(db->Get({}, "bob", &value).IsNotFound());
    EXPECT_EQ(db->counters().filter.keys, 1u);
    expect_sound(*db);
}

TEST(guarded_db, a_merge_without_an_operator_is_refused_as_rocksdb_does) {
    const scratch here;
    guarded_db_options options = test_options();
    options.rocksdb.merge_operator = nullptr;
    const auto db = open_guarded(here.path(), options);
    EXPECT_TRUE(db->Merge({}, "ada", "v").IsNotSupported());
    expect_sound(*db);
}

// RocksDB detects it with half of the batch done, takes no more writes then, and finds half a batch
// in its log afterwards.
TEST(guarded_db, a_merge_without_an_operator_in_a_batch_is_refused_before_it_does_harm) {
    const scratch here;
    guarded_db_options options = test_options();
    options.rocksdb.merge_operator = nullptr;
    const auto db = open_guarded(here.path(), options);
    rocksdb::WriteBatch batch;
    ASSERT_TRUE(batch.Put("ada", "1815").ok());
    ASSERT_TRUE(batch.Merge("ada", "!").ok());
    EXPECT_TRUE(db->Write({}, &batch).IsNotSupported());
    std::string value;
    EXPECT_TRUE(db->Get({}, "ada", &value).IsNotFound());
    EXPECT_OK(db->Put({}, "grace", "1906"));
    EXPECT_OK(db->Get({}, "grace", &value));
    EXPECT_TRUE(db->look_for_foreign_writes());
    expect_sound(*db);
}

TEST(guarded_db, a_batch_may_put_and_delete_the_same_key) {
    const scratch here;
    const auto db = open_guarded(here.path());
    EXPECT_OK(db->Put({}, "old", "v"));
    rocksdb::WriteBatch batch;
    EXPECT_OK(batch.Put("stays", "1"));
    EXPECT_OK(batch.Put("stays", "2"));
    EXPECT_OK(batch.Put("goes", "1"));
    EXPECT_OK(batch.Delete("goes"));
    EXPECT_OK(batch.Delete("old"));
    EXPECT_OK(batch.Put("old", "again"));
    EXPECT_OK(batch.Put("in the range", "1"));
    EXPECT_OK(batch.DeleteRange("i", "j"));
    EXPECT_OK(batch.Put("i after it", "1"));
    EXPECT_OK(db->Write({}, &batch));
    std::string value;
    EXPECT_OK(db->Get({}, "stays", &value));
    EXPECT_EQ(value, "2");
    EXPECT_OK(db->Get({}, "old", &value));
    EXPECT_OK(db->Get({}, "i after it", &value));
    EXPECT_TRUE(db->Get({}, "goes", &value).IsNotFound());
    EXPECT_TRUE(db->Get({}, "in the range", &value).IsNotFound());
    EXPECT_EQ(db->counters().filter.keys, 3u);
    expect_sound(*db);
}

TEST(guarded_db, a_full_batch_of_the_callers_own_limit_is_taken) {
    const scratch here;
    const auto db = open_guarded(here.path());
    rocksdb::WriteBatch batch{0, 40};
    EXPECT_OK(batch.Put("ada", "1815"));
    EXPECT_TRUE(batch.Put("bob", std::string(100, 'v')).IsMemoryLimit());
    EXPECT_OK(db->Write({}, &batch));
    rocksdb::WriteBatch checked{0, 0, 8, 0};  // with a checksum for each entry
    EXPECT_OK(checked.Put("eve", "v"));
    EXPECT_OK(db->Write({}, &checked));
    EXPECT_EQ(db->counters().filter.keys, 2u);
    expect_sound(*db);
}

TEST(guarded_db, keys_in_another_order_are_guarded_too) {
    const scratch here;
    guarded_db_options options = test_options();
    options.rocksdb.comparator = rocksdb::ReverseBytewiseComparator();
    const auto db = open_guarded(here.path(), options);
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(db->Put({}, key_number(i), "v").ok());
    EXPECT_TRUE(db->DeleteRange({}, db->DefaultColumnFamily(), key_number(10), key_number(20)).IsInvalidArgument());
    EXPECT_OK(db->DeleteRange({}, db->DefaultColumnFamily(), key_number(20), key_number(10)));
    std::string value;
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(db->Get({}, key_number(i), &value).ok(), i <= 10 || i > 20) << i;
    expect_sound(*db);
}

TEST(guarded_db, a_checkpoint_of_it_opens_guarded) {
    const scratch here;
    const auto db = open_guarded(here.path());
    for (std::uint64_t i = 0; i < 500; ++i) ASSERT_TRUE(db->Put({}, key_number(i), "v").ok());
    rocksdb::Checkpoint* made = nullptr;
    ASSERT_TRUE(rocksdb::Checkpoint::Create(db.get(), &made).ok());
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint{made};
    EXPECT_OK(checkpoint->CreateCheckpoint(here.path("copy")));
    const auto copy = open_guarded(here.path("copy"));
    EXPECT_EQ(copy->counters().filter.keys, 500u);
    expect_sound(*copy);
}

TEST(guarded_db, closing_twice_is_harmless) {
    const scratch here;
    const auto db = open_guarded(here.path());
    EXPECT_OK(db->Put({}, "ada", "v"));
    EXPECT_OK(db->Close());
    EXPECT_OK(db->Close());
}

TEST(guarded_db, the_audit_finds_what_was_written_past_the_guard) {
    const scratch here;
    {
        const auto db = open_guarded(here.path());
        EXPECT_OK(db->Put({}, "ada", "v"));
        EXPECT_OK(db->GetRootDB()->Put({}, "eve", "v"));
        EXPECT_EQ(db->audit().error().code(), error_code::corrupt);
    }
    guarded_db_options options = test_options();
    options.rebuild_index = true;
    const auto db = open_guarded(here.path(), options);
    expect_sound(*db);
    std::string value;
    EXPECT_OK(db->Get({}, "eve", &value));
}

}  // namespace
}  // namespace genista::test::guarded_db_test
