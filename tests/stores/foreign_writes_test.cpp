// Writes that go past the guard: another program, a deploy that was rolled back, transactions over
// the guarded database, files ingested or deleted without the guard. No stored key may stay denied.
#include <gmock/gmock.h>
#include <rocksdb/convenience.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction_db.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/stores/guarded_db_world.hpp"
#include "tests/stores/plain_program.hpp"
#include "tests/support/scale.hpp"

namespace genista::test::foreign_writes_test {
namespace {

constexpr std::uint64_t some = 300;

// A program without a guard: RocksDB with all families of the database.
plain_program other_program(const std::string& path) {
    rocksdb::Options options;
    options.env = unsynced_env();
    options.merge_operator = std::make_shared<appending>();
    return {path, options};
}

std::string ours(std::uint64_t i) {
    return key_number(i);
}
std::string theirs(std::uint64_t i) {
    return key_number(100'000 + i);
}

using name_of = std::string (*)(std::uint64_t);

// `some` keys of these names, in the database or by going past its guard.
void put_all(rocksdb::DB& db, name_of name) {
    const std::string value = name == ours ? "ours" : "theirs";
    for (std::uint64_t i = 0; i < some; ++i) EXPECT_OK(db.Put({}, name(i), value));
}
// The same in a table to ingest.
std::string table_of_theirs(const scratch& folder) {
    std::map<std::string, std::string> table;
    for (std::uint64_t i = 0; i < some; ++i) table[theirs(i)] = "theirs";
    write_table(folder.path("table.sst"), table);
    return folder.path("table.sst");
}

void compact_all(rocksdb::DB& db) {
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    EXPECT_OK(db.CompactRange(all, nullptr, nullptr));
}

void make_store(const std::string& path) {
    const auto db = open_guarded(path);
    put_all(*db, ours);
    EXPECT_OK(db->Close());
}

std::uint64_t denied(guarded_db& db, name_of name) {
    std::uint64_t sum = 0;
    std::string value;
    for (std::uint64_t i = 0; i < some; ++i) sum += db.Get({}, name(i), &value).ok() ? 0u : 1u;
    return sum;
}

void expect_whole(const std::string& path, guarded_db_options options = test_options()) {
    const auto db = open_guarded(path, std::move(options));
    ASSERT_NE(db, nullptr);
    EXPECT_EQ(denied(*db, ours), 0u);
    EXPECT_EQ(denied(*db, theirs), 0u);
    expect_sound(*db);
}

TEST(foreign_writes, of_another_program_are_found_at_the_next_opening) {
    const scratch folder;
    make_store(folder.path());
    {
        plain_program other = other_program(folder.path());
        put_all(*other, theirs);
    }
    expect_whole(folder.path());
}

TEST(foreign_writes, past_the_log_and_flushed_are_found_too) {
    const scratch folder;
    make_store(folder.path());
    {
        plain_program other = other_program(folder.path());
        rocksdb::WriteOptions past_the_log;
        past_the_log.disableWAL = true;
        for (std::uint64_t i = 0; i < some; ++i) EXPECT_OK(other->Put(past_the_log, theirs(i), "theirs"));
    }
    expect_whole(folder.path());
}

// RocksDB gives no sequence number to a file that overlaps nothing.
TEST(foreign_writes, by_a_file_taken_in_without_a_sequence_number) {
    const scratch folder;
    make_store(folder.path());
    {
        const std::string table = table_of_theirs(folder);
        plain_program other = other_program(folder.path());
        const auto before = other->GetLatestSequenceNumber();
        EXPECT_OK(other->IngestExternalFile({table}, {}));
        EXPECT_EQ(other->GetLatestSequenceNumber(), before);
    }
    expect_whole(folder.path());
}

TEST(foreign_writes, in_a_file_that_was_compacted_afterwards) {
    const scratch folder;
    make_store(folder.path());
    {
        const std::string table = table_of_theirs(folder);
        plain_program other = other_program(folder.path());
        EXPECT_OK(other->IngestExternalFile({table}, {}));
        compact_all(*other);
    }
    expect_whole(folder.path());
}

TEST(foreign_writes, since_a_log_that_was_thrown_away) {
    const scratch folder;
    make_store(folder.path());
    {
        plain_program other = other_program(folder.path());
        put_all(*other, theirs);
        EXPECT_OK(other->Flush({}));
    }
    std::filesystem::remove_all(folder.path() + "/archive");
    expect_whole(folder.path());
}

TEST(foreign_writes, between_two_snapshots_of_a_process_that_was_killed) {
    const scratch folder;
    {
        // A copy of the files of a process that is still running, so the copy was never closed.
        const auto db = open_guarded(folder.path("live"));
        put_all(*db, ours);
        EXPECT_TRUE(db->snapshotter().save());
        put_all(db->base(), theirs);
        std::filesystem::copy(folder.path("live"), folder.path(), std::filesystem::copy_options::recursive);
    }
    const auto db = open_guarded(folder.path());
    EXPECT_EQ(db->counters().foreign_writes, 1u);
    EXPECT_THAT(db->reindexed_because(), testing::HasSubstr("the log has writes"));
    EXPECT_EQ(denied(*db, ours) + denied(*db, theirs), 0u);
    expect_sound(*db);
}

// Everything that a guarded process does between two marks is in the log, and none of it is
// foreign.
TEST(foreign_writes, are_not_what_a_killed_process_left_in_its_log) {
    const scratch folder;
    {
        auto options = test_options();
        options.families.emplace_back("other", rocksdb::ColumnFamilyOptions{});
        options.rocksdb.create_missing_column_families = true;
        const auto db = open_guarded(folder.path("live"), options);
        auto* const other = db->family("other");
        put_all(*db, ours);
        EXPECT_OK(db->Merge({}, ours(1), "more"));
        EXPECT_OK(db->Delete({}, ours(2)));
        EXPECT_OK(db->SingleDelete({}, ours(3)));
        EXPECT_OK(db->PutEntity({}, db->DefaultColumnFamily(), ours(4), {{"column", "value"}}));
        EXPECT_OK(db->DeleteRange({}, db->DefaultColumnFamily(), ours(10), ours(20)));
        EXPECT_OK(db->Put({}, other, "a", "b"));
        rocksdb::WriteBatch batch;
        EXPECT_OK(batch.Put(ours(12), "put"));
        EXPECT_OK(batch.Put(ours(13), "put, and deleted by the range"));
        EXPECT_OK(batch.Delete(ours(14)));
        EXPECT_OK(batch.Put(ours(14), "deleted and put"));
        EXPECT_OK(batch.DeleteRange(ours(13), ours(14)));
        EXPECT_OK(batch.Put(other, "c", "d"));
        EXPECT_OK(batch.PutLogData("a note"));
        EXPECT_OK(db->Write({}, &batch));
        std::filesystem::copy(folder.path("live"), folder.path(), std::filesystem::copy_options::recursive);
    }
    const auto db = open_guarded(folder.path());
    EXPECT_EQ(db->reindexed_because(), "");
    EXPECT_EQ(db->counters().foreign_writes, 0u);
    expect_sound(*db);
}

// Closes and opens the database after every kind of write, and checks the accounts after each.
class every_write : public testing::TestWithParam<const char*> {};
TEST_P(every_write, through_the_guard_is_no_foreign_one) {
    const scratch folder;
    auto options = test_options();
    options.families.emplace_back("other", rocksdb::ColumnFamilyOptions{});
    options.families.back().options.merge_operator = std::make_shared<appending>();
    options.rocksdb.create_missing_column_families = true;
    if (GetParam() == std::string{"two_write_queues"}) options.rocksdb.two_write_queues = true;
    if (GetParam() == std::string{"pipelined"}) options.rocksdb.enable_pipelined_write = true;
    if (GetParam() == std::string{"no_concurrent_memtable"}) options.rocksdb.allow_concurrent_memtable_write = false;
    std::map<std::string, std::string> table{{"t1", "1"}, {"t2", "2"}}, between{{"t1", "3"}, {"t4", "4"}};
    for (const char* each : {"1", "2", "5", "6"}) write_table(folder.path(std::string{"table"} + each), table);
    for (const char* each : {"3", "4"}) write_table(folder.path(std::string{"table"} + each), between);
    auto db = open_guarded(folder.path(), options);
    const auto path = [&](const char* number) { return folder.path(std::string{"table"} + number); };
    const auto expect_ours = [&](const char* what) {
        const auto looked = db->look_for_foreign_writes();
        EXPECT_TRUE(looked) << what << ": " << looked.error().message();
        EXPECT_EQ(db->counters().ranges_pending_repair, 0u) << what;
    };
#define EXPECT_OURS(expression)   \
    do {                          \
        EXPECT_OK(expression);    \
        expect_ours(#expression); \
    } while (false)
    rocksdb::ColumnFamilyHandle* const own = db->DefaultColumnFamily();
    for (rocksdb::ColumnFamilyHandle* family : {own, db->family("other")}) {
        EXPECT_OURS(db->Put({}, family, "a", "1"));
        EXPECT_OURS(db->Put({}, family, "a", "2"));
        EXPECT_OURS(db->Merge({}, family, "m", "1"));
        EXPECT_OURS(db->PutEntity({}, family, "e", {{"column", "value"}}));
        EXPECT_OURS(db->Delete({}, family, "a"));
        EXPECT_OURS(db->Delete({}, family, "never there"));
        EXPECT_OURS(db->SingleDelete({}, family, "e"));
        EXPECT_OURS(db->Put({}, family, "r1", "1"));
        EXPECT_OURS(db->DeleteRange({}, family, "r0", "r9"));
        EXPECT_OURS(db->DeleteRange({}, family, "r0", "r0"));
        rocksdb::WriteBatch batch;
        EXPECT_OURS(db->Write({}, &batch));
        EXPECT_OK(batch.PutLogData("a note"));
        EXPECT_OURS(db->Write({}, &batch));
        for (const char* value : {"1", "2", "3"}) EXPECT_OK(batch.Put(family, "again", value));
        EXPECT_OK(batch.Merge(family, "again", "4"));
        EXPECT_OK(batch.Delete(family, "again"));
        EXPECT_OK(batch.DeleteRange(family, "a", "b"));
        batch.SetSavePoint();
        EXPECT_OK(batch.Put(family, "taken back", "5"));
        EXPECT_OK(batch.RollbackToSavePoint());
        EXPECT_OURS(db->Write({}, &batch));
        rocksdb::WriteOptions durably;
        durably.sync = true;
        EXPECT_OURS(db->Put(durably, family, "synced", "1"));
        EXPECT_OURS(db->IngestExternalFile(family, {path(family == own ? "1" : "2")}, {}));
        EXPECT_OURS(db->IngestExternalFile(family, {path(family == own ? "3" : "4")}, {}));
        EXPECT_OURS(db->Flush({}, family));
        EXPECT_OURS(db->CompactRange({}, family, nullptr, nullptr));
    }
    {
        rocksdb::WriteBatch both;
        EXPECT_OK(both.Put("a", "1"));
        EXPECT_OK(both.Put(db->family("other"), "a", "1"));
        EXPECT_OURS(db->Write({}, &both));
        std::vector<rocksdb::IngestExternalFileArg> two(2);
        two[0].column_family = own, two[0].external_files = {path("5")};
        two[1].column_family = db->family("other"), two[1].external_files = {path("6")};
        EXPECT_OURS(db->IngestExternalFiles(two));
    }
    rocksdb::WriteOptions past_the_log;
    past_the_log.disableWAL = true;
    EXPECT_OURS(db->Put(past_the_log, db->family("other"), "n", "1"));
    // A refused write takes no sequence number.
    EXPECT_FALSE(db->Put(past_the_log, "n", "1").ok());
    EXPECT_FALSE(db->Merge({}, db->DefaultColumnFamily(), "n", "ts", "1").ok());
    EXPECT_FALSE(db->Write({}, nullptr).ok());
    EXPECT_FALSE(db->IngestExternalFile({folder.path("none")}, {}).ok());
    expect_ours("refused writes");
    rocksdb::ColumnFamilyHandle* made = nullptr;
    EXPECT_OURS(db->CreateColumnFamily({}, "made", &made));
    EXPECT_OURS(db->DropColumnFamily(made));
    EXPECT_OURS(db->DestroyColumnFamilyHandle(made));
    // An import moves the store's sequence number up to the highest one of its files.
    {
        const auto elsewhere = open_plain(folder.path("elsewhere"));
        ASSERT_NE(elsewhere, nullptr);
        for (int i = 0; i < 1000; ++i) EXPECT_OK(elsewhere->Put({}, key_number(static_cast<std::uint64_t>(i)), "v"));
        rocksdb::Checkpoint* exporting = nullptr;
        EXPECT_OK(rocksdb::Checkpoint::Create(elsewhere.get(), &exporting));
        const std::unique_ptr<rocksdb::Checkpoint> owned{exporting};
        rocksdb::ExportImportFilesMetaData* files = nullptr;
        EXPECT_OK(owned->ExportColumnFamily(elsewhere->DefaultColumnFamily(), folder.path("exported"), &files));
        const std::unique_ptr<rocksdb::ExportImportFilesMetaData> owned_files{files};
        const auto before = db->GetLatestSequenceNumber();
        rocksdb::ColumnFamilyHandle* imported = nullptr;
        EXPECT_OURS(db->CreateColumnFamilyWithImport({}, "imported", {}, *files, &imported));
        EXPECT_GT(db->GetLatestSequenceNumber(), before + 100);
        EXPECT_OURS(db->DestroyColumnFamilyHandle(imported));
    }
    EXPECT_TRUE(db->snapshotter().save());
    expect_ours("save");
    EXPECT_TRUE(db->reindex());
    expect_ours("reindex");
    expect_sound(*db);
    EXPECT_OK(db->Close());
    db.reset();
    for (int times = 0; times < 2; ++times) {
        db = open_guarded(folder.path(), options);
        EXPECT_EQ(db->reindexed_because(), "");
        EXPECT_EQ(db->counters().foreign_writes, 0u);
        expect_sound(*db);
        db.reset();
    }
}
INSTANTIATE_TEST_SUITE_P(foreign_writes, every_write,
                         testing::Values("default", "two_write_queues", "pipelined", "no_concurrent_memtable"),
                         [](const auto& about) { return std::string{about.param}; });

TEST(foreign_writes, by_the_base_are_found_while_the_database_is_open) {
    const scratch folder;
    const auto db = open_guarded(folder.path());
    put_all(*db, ours);
    EXPECT_TRUE(db->look_for_foreign_writes());
    put_all(db->base(), theirs);
    EXPECT_GT(denied(*db, theirs), some / 2) << "the control: there was no look yet";
    EXPECT_FALSE(db->look_for_foreign_writes());
    EXPECT_EQ(db->counters().foreign_writes, 1u);
    EXPECT_EQ(db->counters().ranges_pending_repair, range_states::number_of_ranges);
    EXPECT_EQ(denied(*db, theirs), 0u);
    EXPECT_FALSE(db->core().repair()) << "the index does not have their records";
    EXPECT_EQ(denied(*db, theirs), 0u);
    EXPECT_FALSE(db->snapshotter().save());
    EXPECT_TRUE(db->repair());
    EXPECT_EQ(db->counters().ranges_pending_repair, 0u);
    EXPECT_EQ(denied(*db, ours) + denied(*db, theirs), 0u);
    EXPECT_TRUE(db->look_for_foreign_writes());
    expect_sound(*db);
    EXPECT_TRUE(db->snapshotter().save());
}

TEST(foreign_writes, by_the_base_are_repaired_by_the_snapshotters_thread) {
    const scratch folder;
    const auto db = open_guarded(folder.path(), watched_options(std::chrono::milliseconds{2}));
    put_all(*db, ours);
    put_all(db->base(), theirs);
    // The thread may have looked in the middle of the foreign writes. Then its next look finds the
    // rest.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (!db->audit() || db->counters().ranges_pending_repair > 0) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << denied(*db, theirs) << " still denied";
        std::this_thread::yield();
    }
    EXPECT_GT(db->counters().foreign_writes, 0u);
    EXPECT_EQ(denied(*db, ours) + denied(*db, theirs), 0u);
}

TEST(foreign_writes, survive_a_close_before_they_were_repaired) {
    const scratch folder;
    {
        const auto db = open_guarded(folder.path());
        put_all(*db, ours);
        put_all(db->base(), theirs);
        EXPECT_OK(db->Close());
        EXPECT_EQ(db->counters().foreign_writes, 1u);
    }
    expect_whole(folder.path());
}

TEST(foreign_writes, by_files_through_the_base_without_a_sequence_number) {
    const scratch folder;
    const auto db = open_guarded(folder.path());
    const std::string table = table_of_theirs(folder);
    put_all(*db, ours);
    const auto before = db->GetLatestSequenceNumber();
    EXPECT_OK(db->base().IngestExternalFile({table}, {}));
    EXPECT_EQ(db->GetLatestSequenceNumber(), before + 1)
        << "the guard's note that its mark is void, and none for the file";
    EXPECT_FALSE(db->look_for_foreign_writes());
    EXPECT_TRUE(db->repair());
    EXPECT_EQ(denied(*db, ours) + denied(*db, theirs), 0u);
    expect_sound(*db);
}

// RocksDB compacts the file into a table of the guarded process, which shows no trace of it; then
// the process dies.
TEST(foreign_writes, by_files_through_the_base_that_were_compacted_before_a_kill) {
    const scratch folder;
    const std::string image = folder.path("image");
    {
        const auto db = open_guarded(folder.path());
        const std::string table = table_of_theirs(folder);
        put_all(*db, ours);
        EXPECT_OK(db->base().IngestExternalFile({table}, {}));
        EXPECT_OK(db->Put({}, ours(0), "again"));
        EXPECT_OK(db->Flush({}));
        compact_all(*db);
        EXPECT_OK(db->PauseBackgroundWork());
        std::filesystem::copy(folder.path(), image, std::filesystem::copy_options::recursive);
        EXPECT_OK(db->ContinueBackgroundWork());
    }
    expect_whole(image);
    expect_whole(folder.path());
}

TEST(foreign_writes, by_transactions_over_the_guarded_database) {
    const scratch folder;
    auto guard = open_guarded(folder.path());
    guarded_db* const db = guard.get();
    put_all(*db, ours);
    rocksdb::TransactionDB* raw = nullptr;
    EXPECT_OK(rocksdb::TransactionDB::WrapStackableDB(db, {}, {}, {db->DefaultColumnFamily()}, &raw));
    ASSERT_NE(raw, nullptr);
    (void)guard.release();  // the wrapper owns it now
    const std::unique_ptr<rocksdb::TransactionDB> transactions{raw};
    const std::unique_ptr<rocksdb::Transaction> one{transactions->BeginTransaction({})};
    for (std::uint64_t i = 0; i < some; ++i) EXPECT_OK(one->Put(theirs(i), "theirs"));
    EXPECT_OK(one->Commit());
    EXPECT_FALSE(db->look_for_foreign_writes());
    EXPECT_TRUE(db->repair());
    EXPECT_EQ(denied(*db, ours) + denied(*db, theirs), 0u);
    expect_sound(*db);
}

TEST(foreign_writes, of_an_optimistic_transaction_database) {
    if (thread_sanitized) GTEST_SKIP() << "RocksDB holds more locks at once than the thread sanitizer can follow";
    const scratch folder;
    make_store(folder.path());
    {
        rocksdb::Options options;
        options.env = unsynced_env();
        options.merge_operator = std::make_shared<appending>();
        std::vector<std::string> names;
        EXPECT_OK(rocksdb::DB::ListColumnFamilies(options, folder.path(), &names));
        std::vector<rocksdb::ColumnFamilyDescriptor> families;
        for (const std::string& each : names) families.emplace_back(each, options);
        std::vector<rocksdb::ColumnFamilyHandle*> handles;
        rocksdb::OptimisticTransactionDB* raw = nullptr;
        EXPECT_OK(rocksdb::OptimisticTransactionDB::Open(options, folder.path(), families, &handles, &raw));
        const std::unique_ptr<rocksdb::OptimisticTransactionDB> other{raw};
        const std::unique_ptr<rocksdb::Transaction> one{other->BeginTransaction({})};
        for (std::uint64_t i = 0; i < some; ++i) EXPECT_OK(one->Put(theirs(i), "theirs"));
        EXPECT_OK(one->Commit());
        for (auto* each : handles) EXPECT_OK(other->DestroyColumnFamilyHandle(each));
    }
    expect_whole(folder.path());
}

TEST(foreign_writes, that_delete_leave_records_which_the_first_query_removes) {
    for (const adapting how : {adapting::on_read, adapting::in_background}) {
        const scratch folder;
        auto options = test_options();
        options.guard.adapt = how;
        const auto db = open_guarded(folder.path(), options);
        put_all(*db, ours);
        for (std::uint64_t i = 0; i < some; i += 3) EXPECT_OK(db->base().Delete({}, ours(i)));
        EXPECT_FALSE(db->look_for_foreign_writes());
        EXPECT_TRUE(db->repair());
        EXPECT_FALSE(db->audit()) << "records of keys that are gone";
        EXPECT_EQ(denied(*db, ours), some / 3);
        db->core().drain();
        EXPECT_EQ(db->counters().orphan_records, some / 3);
        expect_sound(*db);
        const auto reads = db->counters().reads;
        EXPECT_EQ(denied(*db, ours), some / 3);
        EXPECT_LE(db->counters().reads - reads, some - some / 3 + 3) << "now the filter denies them";
        EXPECT_TRUE(db->look_for_foreign_writes());
    }
}

TEST(foreign_writes, by_deleted_files_are_repaired_by_the_queries_that_meet_them) {
    const scratch folder;
    {
        const auto db = open_guarded(folder.path());
        put_all(*db, ours);
        EXPECT_OK(db->Flush({}));
        EXPECT_OK(db->CompactRange({}, nullptr, nullptr));
        const std::string first = ours(0), last = ours(some);
        const rocksdb::Slice begin{first}, end{last};
        EXPECT_OK(rocksdb::DeleteFilesInRange(db.get(), db->DefaultColumnFamily(), &begin, &end));
        EXPECT_EQ(denied(*db, ours), some);
        expect_sound(*db);
        for (std::uint64_t i = 0; i < some; ++i) EXPECT_OK(db->Put({}, ours(i), "again"));
        EXPECT_EQ(denied(*db, ours), 0u);
        EXPECT_OK(db->Close());
    }
    const auto db = open_guarded(folder.path());
    EXPECT_EQ(db->reindexed_because(), "");
    EXPECT_EQ(denied(*db, ours), 0u);
}

// A record is removed beside puts of its key: the put wins in either order.
TEST(foreign_writes, orphans_are_removed_beside_puts_of_the_same_keys) {
    const scratch folder;
    const auto db = open_guarded(folder.path());
    constexpr std::uint64_t keys = 40;
    for (std::uint64_t round = 0; round < effort(20, 6, 200); ++round) {
        for (std::uint64_t i = 0; i < keys; ++i) EXPECT_OK(db->Put({}, ours(i), "ours"));
        for (std::uint64_t i = 0; i < keys; ++i) EXPECT_OK(db->base().Delete({}, ours(i)));
        (void)db->look_for_foreign_writes();
        EXPECT_TRUE(db->repair());
        std::thread asking{[&] {
            std::string value;
            for (int times = 0; times < 3; ++times) {
                for (std::uint64_t i = 0; i < keys; ++i) (void)db->Get({}, ours(i), &value);
            }
        }};
        for (std::uint64_t i = 0; i < keys; ++i) {
            EXPECT_OK(db->Put({}, ours(i), "back"));
            std::string value;
            EXPECT_OK(db->Get({}, ours(i), &value));
        }
        asking.join();
        std::string value;
        for (std::uint64_t i = 0; i < keys; ++i) EXPECT_OK(db->Get({}, ours(i), &value));
    }
    expect_sound(*db);
}

// Reindexing while other threads put, delete, and write past the guard.
TEST(foreign_writes, are_indexed_beside_writers_of_both_kinds) {
    const scratch folder;
    const auto db = open_guarded(folder.path(), watched_options(std::chrono::milliseconds{1}));
    std::thread writing{[&] {
        for (std::uint64_t i = 0; i < 4 * some; ++i) {
            EXPECT_OK(db->Put({}, ours(i % some), "ours"));
            if (i % 5 == 0) EXPECT_OK(db->Delete({}, ours((i + 7) % some)));
        }
        put_all(*db, ours);
    }};
    put_all(db->base(), theirs);
    writing.join();
    EXPECT_EQ(denied(*db, ours), 0u);
    while (true) {  // until the thread has looked at the last of them
        (void)db->look_for_foreign_writes();
        if (db->repair() && db->counters().ranges_pending_repair == 0) break;
    }
    EXPECT_EQ(denied(*db, ours) + denied(*db, theirs), 0u);
    EXPECT_GT(db->counters().foreign_writes, 0u);
    expect_sound(*db);
}

}  // namespace
}  // namespace genista::test::foreign_writes_test
