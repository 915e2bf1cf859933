// After close() every public call is an error, and none looks at a handle that was destroyed with
// the database.
#include <gtest/gtest.h>
#include <rocksdb/stats_history.h>
#include <rocksdb/utilities/replayer.h>
#include <rocksdb/write_batch.h>

#include <map>
#include <string>
#include <vector>

#include "genista/stores/rocksdb/clustered_db.hpp"
#include "tests/stores/guarded_db_world.hpp"

namespace genista::test::closed_test {
namespace {

using rocksdb::Status;

#define EXPECT_CLOSED(expression)                                                         \
    do {                                                                                  \
        const Status status_of_it = (expression);                                         \
        EXPECT_TRUE(status_of_it.IsShutdownInProgress() || status_of_it.IsNotSupported()) \
            << #expression << ": " << status_of_it.ToString();                            \
    } while (false)

TEST(closed, every_call_to_a_guarded_db_is_an_error) {
    const scratch here;
    const auto db = open_guarded(here.path());
    EXPECT_OK(db->Put({}, "there", "v"));
    rocksdb::ColumnFamilyHandle* const family = db->family("default");
    ASSERT_NE(family, nullptr);
    EXPECT_OK(db->Close());
    EXPECT_OK(db->Close());

    const rocksdb::ReadOptions read;
    const rocksdb::WriteOptions write;
    std::string text;
    rocksdb::PinnableSlice value;
    for (rocksdb::ColumnFamilyHandle* const each : {family, static_cast<rocksdb::ColumnFamilyHandle*>(nullptr)}) {
        EXPECT_CLOSED(db->Get(read, each, "there", &value));
        EXPECT_CLOSED(db->Get(read, each, "there", &value, &text));
        rocksdb::PinnableWideColumns columns;
        EXPECT_CLOSED(db->GetEntity(read, each, "there", &columns));
        int operands = 0;
        rocksdb::GetMergeOperandsOptions how;
        EXPECT_CLOSED(db->GetMergeOperands(read, each, "there", &value, &how, &operands));
        std::vector<std::string> texts, stamps;
        EXPECT_CLOSED(db->MultiGet(read, {each}, {"there"}, &texts)[0]);
        EXPECT_CLOSED(db->MultiGet(read, {each}, {"there"}, &texts, &stamps)[0]);
        const rocksdb::Slice key{"there"};
        Status status;
        db->MultiGet(read, each, 1, &key, &value, &status);
        EXPECT_CLOSED(status);
        db->MultiGet(read, each, 1, &key, &value, &text, &status);
        EXPECT_CLOSED(status);
        rocksdb::ColumnFamilyHandle* families[] = {each};
        db->MultiGet(read, 1, families, &key, &value, &status);
        EXPECT_CLOSED(status);
        db->MultiGet(read, 1, families, &key, &value, &text, &status);
        EXPECT_CLOSED(status);
        EXPECT_TRUE(db->KeyMayExist(read, each, "there", &text)) << "maybe, because the call cannot return an error";
        EXPECT_CLOSED(db->Put(write, each, "k", "v"));
        EXPECT_CLOSED(db->Put(write, each, "k", "t", "v"));
        EXPECT_CLOSED(db->PutEntity(write, each, "k", {}));
        EXPECT_CLOSED(db->Merge(write, each, "k", "v"));
        EXPECT_CLOSED(db->Merge(write, each, "k", "t", "v"));
        EXPECT_CLOSED(db->Delete(write, each, "k"));
        EXPECT_CLOSED(db->Delete(write, each, "k", "t"));
        EXPECT_CLOSED(db->SingleDelete(write, each, "k"));
        EXPECT_CLOSED(db->SingleDelete(write, each, "k", "t"));
        EXPECT_CLOSED(db->DeleteRange(write, each, "a", "b"));
        EXPECT_CLOSED(db->DeleteRange(write, each, "a", "b", "t"));
        EXPECT_CLOSED(db->IngestExternalFile(each, {"nothing"}, {}));
        EXPECT_CLOSED(db->DropColumnFamily(each));
        EXPECT_CLOSED(db->DropColumnFamilies({each}));
        EXPECT_CLOSED(db->DestroyColumnFamilyHandle(each));
        EXPECT_CLOSED(db->SetOptions(each, {}));
        EXPECT_CLOSED(db->Flush({}, each));
        EXPECT_CLOSED(db->Flush({}, std::vector<rocksdb::ColumnFamilyHandle*>{each}));
        EXPECT_CLOSED(db->CompactRange({}, each, nullptr, nullptr));
        EXPECT_CLOSED(db->CompactFiles({}, each, {}, 0));
        EXPECT_FALSE(db->GetProperty(each, "rocksdb.stats", &text));
        std::map<std::string, std::string> map;
        EXPECT_FALSE(db->GetMapProperty(each, "rocksdb.cfstats", &map));
        std::uint64_t number = 0, other = 0;
        EXPECT_FALSE(db->GetIntProperty(each, "rocksdb.estimate-num-keys", &number));
        const rocksdb::Range range{"a", "b"};
        EXPECT_CLOSED(db->GetApproximateSizes(rocksdb::SizeApproximationOptions{}, each, &range, 1, &number));
        db->GetApproximateMemTableStats(each, range, &number, &other);
        (void)db->NumberLevels(each);
        (void)db->MaxMemCompactionLevel(each);
        (void)db->Level0StopWriteTrigger(each);
        (void)db->GetOptions(each);
        const std::unique_ptr<rocksdb::Iterator> at{db->NewIterator(read, each)};
        EXPECT_CLOSED(at->status());
        std::vector<rocksdb::Iterator*> iterators;
        EXPECT_CLOSED(db->NewIterators(read, {each}, &iterators));
        EXPECT_CLOSED(db->EnableAutoCompaction({each}));
        EXPECT_CLOSED(db->IncreaseFullHistoryTsLow(each, "t"));
        EXPECT_CLOSED(db->GetFullHistoryTsLow(each, &text));
        rocksdb::TablePropertiesCollection properties;
        EXPECT_CLOSED(db->GetPropertiesOfAllTables(each, &properties));
        EXPECT_CLOSED(db->GetPropertiesOfTablesInRange(each, &range, 1, &properties));
        EXPECT_CLOSED(db->SuggestCompactRange(each, nullptr, nullptr));
        EXPECT_CLOSED(db->PromoteL0(each, 1));
        rocksdb::ColumnFamilyMetaData metadata;
        db->GetColumnFamilyMetaData(each, &metadata);
    }
    EXPECT_CLOSED(db->Get(read, "there", &text));
    EXPECT_CLOSED(db->Put(write, "k", "v"));
    rocksdb::WriteBatch batch;
    EXPECT_OK(batch.Put("k", "v"));
    EXPECT_CLOSED(db->Write(write, &batch));
    EXPECT_CLOSED(db->Write(write, nullptr));
    EXPECT_CLOSED(db->IngestExternalFiles({}));
    EXPECT_CLOSED(db->Resume());
    rocksdb::ColumnFamilyHandle* made = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> some;
    EXPECT_CLOSED(db->CreateColumnFamily({}, "other", &made));
    EXPECT_CLOSED(db->CreateColumnFamilies(rocksdb::ColumnFamilyOptions{}, {"other"}, &some));
    EXPECT_CLOSED(db->CreateColumnFamilies({{"other", {}}}, &some));
    EXPECT_CLOSED(db->CreateColumnFamilyWithImport({}, "other", {}, {}, &made));
    EXPECT_CLOSED(db->DeleteFile("000001.sst"));
    std::unique_ptr<rocksdb::Replayer> replayer;
    EXPECT_CLOSED(db->NewDefaultReplayer({}, nullptr, &replayer));
    EXPECT_CLOSED(db->SetDBOptions({}));
    EXPECT_CLOSED(db->ResetStats());
    EXPECT_CLOSED(db->PauseBackgroundWork());
    EXPECT_CLOSED(db->ContinueBackgroundWork());
    db->DisableManualCompaction();
    db->EnableManualCompaction();
    EXPECT_CLOSED(db->FlushWAL(true));
    EXPECT_CLOSED(db->SyncWAL());
    EXPECT_CLOSED(db->LockWAL());
    EXPECT_CLOSED(db->UnlockWAL());
    EXPECT_CLOSED(db->DisableFileDeletions());
    EXPECT_CLOSED(db->EnableFileDeletions(true));
    std::uint64_t number = 0;
    EXPECT_CLOSED(db->GetCreationTimeOfOldestFile(&number));
    EXPECT_FALSE(db->GetAggregatedIntProperty("rocksdb.estimate-num-keys", &number));
    std::unique_ptr<rocksdb::TransactionLogIterator> log;
    EXPECT_CLOSED(db->GetUpdatesSince(0, &log, {}));
    std::vector<rocksdb::LiveFileMetaData> live;
    db->GetLiveFilesMetaData(&live);
    EXPECT_TRUE(live.empty());
    std::vector<rocksdb::LiveFileStorageInfo> stored;
    EXPECT_CLOSED(db->GetLiveFilesStorageInfo({}, &stored));
    std::vector<std::string> names;
    EXPECT_CLOSED(db->GetLiveFiles(names, &number, true));
    rocksdb::VectorLogPtr logs;
    EXPECT_CLOSED(db->GetSortedWalFiles(logs));
    std::unique_ptr<rocksdb::LogFile> current;
    EXPECT_CLOSED(db->GetCurrentWalFile(&current));
    EXPECT_CLOSED(db->VerifyChecksum());
    EXPECT_CLOSED(db->VerifyFileChecksums(read));
    EXPECT_CLOSED(db->GetDbIdentity(text));
    EXPECT_CLOSED(db->GetDbSessionId(text));
    EXPECT_CLOSED(db->StartTrace({}, nullptr));
    EXPECT_CLOSED(db->EndTrace());
    EXPECT_CLOSED(db->StartIOTrace({}, nullptr));
    EXPECT_CLOSED(db->EndIOTrace());
    EXPECT_CLOSED(db->EndBlockCacheTrace());
    std::vector<rocksdb::ColumnFamilyMetaData> all;
    db->GetAllColumnFamilyMetaData(&all);
    std::unique_ptr<rocksdb::StatsHistoryIterator> history;
    EXPECT_CLOSED(db->GetStatsHistory(0, 1, &history));
    EXPECT_CLOSED(db->TryCatchUpWithPrimary());
    EXPECT_EQ(db->GetSnapshot(), nullptr);
    db->ReleaseSnapshot(nullptr);
    EXPECT_EQ(db->GetLatestSequenceNumber(), 0u);
    EXPECT_EQ(db->DefaultColumnFamily(), nullptr);
    EXPECT_EQ(db->GetName(), here.path());
    EXPECT_NE(db->GetEnv(), nullptr);
    EXPECT_NE(db->GetFileSystem(), nullptr);
    (void)db->GetDBOptions();
    EXPECT_CLOSED(db->GetBaseDB()->Put(write, "k", "v"));
    EXPECT_CLOSED(db->GetRootDB()->Put(write, "k", "v"));

    // Calls that RocksDB does not have.
    EXPECT_EQ(db->family("default"), nullptr);
    EXPECT_TRUE(db->may_contain("there"));
    EXPECT_FALSE(db->audit());
    (void)db->repair();
    EXPECT_FALSE(db->snapshotter().save());
    EXPECT_FALSE(db->records().contains({}, key_view{"there"}));
    EXPECT_FALSE(db->records().put({}, key_view{"there"}));
    EXPECT_FALSE(db->records().erase({}, key_view{"there"}));
    EXPECT_FALSE(db->records().for_each(0, 9, [](const digest&, key_view) { return true; }));
    EXPECT_CLOSED(db->base().Put(write, "k", "v"));
    (void)db->counters();
    EXPECT_TRUE(db->metrics_text());
    EXPECT_FALSE(db->repair());
    EXPECT_FALSE(db->reindex());
    EXPECT_FALSE(db->look_for_foreign_writes());
    (void)db->origin();
    (void)db->identity();
    (void)db->lives();
    (void)db->generation();
}

// RocksDB does not close a database with an unreleased snapshot. The database then stays open, and
// can be closed later.
TEST(closed, a_snapshot_that_was_not_released_keeps_it_open) {
    const scratch here;
    auto db = open_guarded(here.path());
    EXPECT_OK(db->Put({}, "there", "v"));
    const rocksdb::Snapshot* const then = db->GetSnapshot();
    EXPECT_TRUE(db->Close().IsAborted());
    EXPECT_TRUE(db->Close().IsAborted());
    std::string value;
    EXPECT_OK(db->Get({}, "there", &value));
    EXPECT_OK(db->Put({}, "more", "v"));
    EXPECT_TRUE(db->snapshotter().save());
    db->ReleaseSnapshot(then);
    EXPECT_OK(db->Close());
    EXPECT_CLOSED(db->Put({}, "more", "v"));
    auto again = open_guarded(here.path());  // its lock is free
    ASSERT_NE(again, nullptr);
    EXPECT_OK(again->Get({}, "more", &value));
    // A database that is destroyed with a snapshot is closed all the same. RocksDB does not free
    // the snapshot: the pointer stays here, so that the leak checker can reach it.
    static const rocksdb::Snapshot* never_released = nullptr;
    never_released = again->GetSnapshot();
    EXPECT_NE(never_released, nullptr);
    again.reset();
    again = open_guarded(here.path());
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->origin(), rocks::filter_origin::snapshot);
}

TEST(closed, every_call_to_a_clustered_db_is_an_error) {
    const scratch here;
    auto opened = rocks::clustered_db::open(here.path(), {.store = {.key = hash_key::from_seed(3)}});
    ASSERT_TRUE(opened) << opened.error().message();
    rocks::clustered_db& db = **opened;
    ASSERT_TRUE(db.put("there", std::string(5'000, 'v')));
    ASSERT_TRUE(db.close());
    ASSERT_TRUE(db.close());

    EXPECT_FALSE(db.get("there"));
    EXPECT_FALSE(db.get("absent"));
    EXPECT_FALSE(db.put("k", "v"));
    EXPECT_FALSE(db.put("k", ""));
    EXPECT_FALSE(db.put("k", std::string(5'000, 'v')));
    EXPECT_FALSE(db.erase("there"));
    EXPECT_FALSE(db.erase("absent"));
    EXPECT_FALSE(db.repair());
    EXPECT_FALSE(db.audit());
    EXPECT_TRUE(db.may_contain("there"));
    EXPECT_FALSE(db.snapshotter().save());
    EXPECT_CLOSED(db.base().Put({}, "k", "v"));
    EXPECT_FALSE(db.records().contains({}, key_view{"there"}));
    (void)db.counters();
    EXPECT_TRUE(db.metrics_text());
    (void)db.origin();
    (void)db.identity();
    (void)db.generation();
    (void)db.lives();
    rocks::clustered_store& store = db.store();
    std::string value;
    const digest d = store.hash()(key_view{"there"});
    EXPECT_FALSE(store.read(d, key_view{"there"}, value));
    EXPECT_FALSE(store.write(d, key_view{"there"}, "v"));
    EXPECT_FALSE(store.write(d, key_view{"there"}, std::string(5'000, 'v')));
    EXPECT_FALSE(store.remove(d, key_view{"there"}));
    EXPECT_FALSE(store.flush());
    EXPECT_FALSE(store.sync());
    EXPECT_TRUE(store.close());
    EXPECT_EQ(store.estimated_keys(), 0u);
    EXPECT_EQ(store.sequence(), 0u);
}

}  // namespace
}  // namespace genista::test::closed_test
