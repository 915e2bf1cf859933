// closed_db: replaces the rocksdb::DB after close(). Every call returns an error that says that the
// database is closed. No call looks at its handles, slices or pointers: column family handles were
// destroyed with the database.
#pragma once

#include <rocksdb/db.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace genista::rocks {

class closed_db final : public rocksdb::DB {
  public:
    using Slice = rocksdb::Slice;
    using Status = rocksdb::Status;
    using Family = rocksdb::ColumnFamilyHandle;
    using rocksdb::DB::CompactFiles;
    using rocksdb::DB::CompactRange;
    using rocksdb::DB::CreateColumnFamilies;
    using rocksdb::DB::Delete;
    using rocksdb::DB::DeleteRange;
    using rocksdb::DB::Flush;
    using rocksdb::DB::Get;
    using rocksdb::DB::GetApproximateMemTableStats;
    using rocksdb::DB::GetApproximateSizes;
    using rocksdb::DB::GetIntProperty;
    using rocksdb::DB::GetMapProperty;
    using rocksdb::DB::GetOptions;
    using rocksdb::DB::GetPropertiesOfAllTables;
    using rocksdb::DB::GetProperty;
    using rocksdb::DB::IngestExternalFile;
    using rocksdb::DB::Level0StopWriteTrigger;
    using rocksdb::DB::MaxMemCompactionLevel;
    using rocksdb::DB::Merge;
    using rocksdb::DB::MultiGet;
    using rocksdb::DB::NewIterator;
    using rocksdb::DB::NumberLevels;
    using rocksdb::DB::Put;
    using rocksdb::DB::PutEntity;
    using rocksdb::DB::SingleDelete;
    using rocksdb::DB::VerifyChecksum;

    closed_db(std::string name, rocksdb::Env* env) : name_{std::move(name)}, env_{env} {}

    [[nodiscard]] static Status closed() { return Status::ShutdownInProgress("the database is closed"); }

    Status Resume() override { return closed(); }
    Status Close() override { return {}; }
    Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions&, const std::string&, Family**) override {
        return closed();
    }
    Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions&, const std::vector<std::string>&,
                                std::vector<Family*>*) override {
        return closed();
    }
    Status CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>&, std::vector<Family*>*) override {
        return closed();
    }
    Status DropColumnFamily(Family*) override { return closed(); }
    Status DropColumnFamilies(const std::vector<Family*>&) override { return closed(); }
    Status DestroyColumnFamilyHandle(Family*) override { return closed(); }
    Status Put(const rocksdb::WriteOptions&, Family*, const Slice&, const Slice&) override { return closed(); }
    Status Put(const rocksdb::WriteOptions&, Family*, const Slice&, const Slice&, const Slice&) override {
        return closed();
    }
    Status PutEntity(const rocksdb::WriteOptions&, Family*, const Slice&, const rocksdb::WideColumns&) override {
        return closed();
    }
    Status Delete(const rocksdb::WriteOptions&, Family*, const Slice&) override { return closed(); }
    Status Delete(const rocksdb::WriteOptions&, Family*, const Slice&, const Slice&) override { return closed(); }
    Status SingleDelete(const rocksdb::WriteOptions&, Family*, const Slice&) override { return closed(); }
    Status SingleDelete(const rocksdb::WriteOptions&, Family*, const Slice&, const Slice&) override { return closed(); }
    Status DeleteRange(const rocksdb::WriteOptions&, Family*, const Slice&, const Slice&) override { return closed(); }
    Status DeleteRange(const rocksdb::WriteOptions&, Family*, const Slice&, const Slice&, const Slice&) override {
        return closed();
    }
    Status Merge(const rocksdb::WriteOptions&, Family*, const Slice&, const Slice&) override { return closed(); }
    Status Merge(const rocksdb::WriteOptions&, Family*, const Slice&, const Slice&, const Slice&) override {
        return closed();
    }
    Status Write(const rocksdb::WriteOptions&, rocksdb::WriteBatch*) override { return closed(); }
    Status Get(const rocksdb::ReadOptions&, Family*, const Slice&, rocksdb::PinnableSlice*) override {
        return closed();
    }
    Status Get(const rocksdb::ReadOptions&, Family*, const Slice&, rocksdb::PinnableSlice*, std::string*) override {
        return closed();
    }
    Status GetEntity(const rocksdb::ReadOptions&, Family*, const Slice&, rocksdb::PinnableWideColumns*) override {
        return closed();
    }
    Status GetMergeOperands(const rocksdb::ReadOptions&, Family*, const Slice&, rocksdb::PinnableSlice*,
                            rocksdb::GetMergeOperandsOptions*, int*) override {
        return closed();
    }
    std::vector<Status> MultiGet(const rocksdb::ReadOptions&, const std::vector<Family*>&,
                                 const std::vector<Slice>& keys, std::vector<std::string>*) override {
        return std::vector<Status>(keys.size(), closed());
    }
    std::vector<Status> MultiGet(const rocksdb::ReadOptions&, const std::vector<Family*>&,
                                 const std::vector<Slice>& keys, std::vector<std::string>*,
                                 std::vector<std::string>*) override {
        return std::vector<Status>(keys.size(), closed());
    }
    void MultiGet(const rocksdb::ReadOptions&, Family*, std::size_t count, const Slice*, rocksdb::PinnableSlice*,
                  Status* statuses, bool = false) override {
        std::fill(statuses, statuses + count, closed());
    }
    void MultiGet(const rocksdb::ReadOptions&, Family*, std::size_t count, const Slice*, rocksdb::PinnableSlice*,
                  std::string*, Status* statuses, bool = false) override {
        std::fill(statuses, statuses + count, closed());
    }
    void MultiGet(const rocksdb::ReadOptions&, std::size_t count, Family**, const Slice*, rocksdb::PinnableSlice*,
                  Status* statuses, bool = false) override {
        std::fill(statuses, statuses + count, closed());
    }
    void MultiGet(const rocksdb::ReadOptions&, std::size_t count, Family**, const Slice*, rocksdb::PinnableSlice*,
                  std::string*, Status* statuses, bool = false) override {
        std::fill(statuses, statuses + count, closed());
    }
    rocksdb::Iterator* NewIterator(const rocksdb::ReadOptions&, Family*) override {
        return rocksdb::NewErrorIterator(closed());
    }
    Status NewIterators(const rocksdb::ReadOptions&, const std::vector<Family*>&,
                        std::vector<rocksdb::Iterator*>*) override {
        return closed();
    }
    const rocksdb::Snapshot* GetSnapshot() override { return nullptr; }
    void ReleaseSnapshot(const rocksdb::Snapshot*) override {}
    bool GetProperty(Family*, const Slice&, std::string*) override { return false; }
    bool GetMapProperty(Family*, const Slice&, std::map<std::string, std::string>*) override { return false; }
    bool GetIntProperty(Family*, const Slice&, std::uint64_t*) override { return false; }
    Status ResetStats() override { return closed(); }
    bool GetAggregatedIntProperty(const Slice&, std::uint64_t*) override { return false; }
    Status GetApproximateSizes(const rocksdb::SizeApproximationOptions&, Family*, const rocksdb::Range*, int,
                               std::uint64_t*) override {
        return closed();
    }
    void GetApproximateMemTableStats(Family*, const rocksdb::Range&, std::uint64_t* count,
                                     std::uint64_t* size) override {
        *count = 0;
        *size = 0;
    }
    Status CompactRange(const rocksdb::CompactRangeOptions&, Family*, const Slice*, const Slice*) override {
        return closed();
    }
    Status SetOptions(Family*, const std::unordered_map<std::string, std::string>&) override { return closed(); }
    Status SetOptions(const std::unordered_map<std::string, std::string>&) override { return closed(); }
    Status SetDBOptions(const std::unordered_map<std::string, std::string>&) override { return closed(); }
    Status CompactFiles(const rocksdb::CompactionOptions&, Family*, const std::vector<std::string>&, int, int,
                        std::vector<std::string>*, rocksdb::CompactionJobInfo*) override {
        return closed();
    }
    Status PauseBackgroundWork() override { return closed(); }
    Status ContinueBackgroundWork() override { return closed(); }
    Status EnableAutoCompaction(const std::vector<Family*>&) override { return closed(); }
    void DisableManualCompaction() override {}
    void EnableManualCompaction() override {}
    int NumberLevels(Family*) override { return 0; }
    int MaxMemCompactionLevel(Family*) override { return 0; }
    int Level0StopWriteTrigger(Family*) override { return 0; }
    const std::string& GetName() const override { return name_; }
    rocksdb::Env* GetEnv() const override { return env_; }
    rocksdb::Options GetOptions(Family*) const override { return {}; }
    rocksdb::DBOptions GetDBOptions() const override { return {}; }
    Status Flush(const rocksdb::FlushOptions&, Family*) override { return closed(); }
    Status Flush(const rocksdb::FlushOptions&, const std::vector<Family*>&) override { return closed(); }
    Status FlushWAL(bool) override { return closed(); }
    Status SyncWAL() override { return closed(); }
    Status LockWAL() override { return closed(); }
    Status UnlockWAL() override { return closed(); }
    rocksdb::SequenceNumber GetLatestSequenceNumber() const override { return 0; }
    Status DisableFileDeletions() override { return closed(); }
    Status IncreaseFullHistoryTsLow(Family*, std::string) override { return closed(); }
    Status GetFullHistoryTsLow(Family*, std::string*) override { return closed(); }
    Status EnableFileDeletions(bool) override { return closed(); }
    Status GetCreationTimeOfOldestFile(std::uint64_t*) override { return closed(); }
    Status GetUpdatesSince(rocksdb::SequenceNumber, std::unique_ptr<rocksdb::TransactionLogIterator>*,
                           const rocksdb::TransactionLogIterator::ReadOptions&) override {
        return closed();
    }
    Status DeleteFile(std::string) override { return closed(); }
    Status GetLiveFilesChecksumInfo(rocksdb::FileChecksumList*) override { return closed(); }
    Status GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions&,
                                   std::vector<rocksdb::LiveFileStorageInfo>*) override {
        return closed();
    }
    Status GetLiveFiles(std::vector<std::string>&, std::uint64_t*, bool) override { return closed(); }
    Status GetSortedWalFiles(rocksdb::VectorLogPtr&) override { return closed(); }
    Status GetCurrentWalFile(std::unique_ptr<rocksdb::LogFile>*) override { return closed(); }
    Status IngestExternalFile(Family*, const std::vector<std::string>&,
                              const rocksdb::IngestExternalFileOptions&) override {
        return closed();
    }
    Status IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>&) override { return closed(); }
    Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions&, const std::string&,
                                        const rocksdb::ImportColumnFamilyOptions&,
                                        const rocksdb::ExportImportFilesMetaData&, Family**) override {
        return closed();
    }
    Status VerifyFileChecksums(const rocksdb::ReadOptions&) override { return closed(); }
    Status VerifyChecksum(const rocksdb::ReadOptions&) override { return closed(); }
    Status GetDbIdentity(std::string&) const override { return closed(); }
    Status GetDbSessionId(std::string&) const override { return closed(); }
    Family* DefaultColumnFamily() const override { return nullptr; }
    Status GetPropertiesOfAllTables(Family*, rocksdb::TablePropertiesCollection*) override { return closed(); }
    Status GetPropertiesOfTablesInRange(Family*, const rocksdb::Range*, std::size_t,
                                        rocksdb::TablePropertiesCollection*) override {
        return closed();
    }

  private:
    std::string name_;
    rocksdb::Env* env_;
};

}  // namespace genista::rocks
