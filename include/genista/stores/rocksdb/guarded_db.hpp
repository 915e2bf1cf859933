// guarded_db: a rocksdb::DB that answers for most absent keys without a read. The indexed layout:
// the user's data stay in the column family `default` under their own keys, and a record of R for
// each key is written to genista.index in the same atomic batch.
//
//     auto users = genista::rocks::guarded_db::open("/data/users");  // may have to index first
//     rocksdb::DB* db = users->get();                                // for existing code
//
//   I1  A key that is in `default` is never answered NotFound: from the moment its commit is
//       visible until its removal is.
//   I2  genista.index holds a record for exactly the keys of `default`, after every crash too.
//
// The family `default` is guarded; other families pass through unchanged. The calls of RocksDB 7.8:
//
//   guarded        Get, GetEntity, GetMergeOperands, MultiGet (all), KeyMayExist: the filter is
//                  asked first, and learns from reads that found nothing. Reads of another moment
//                  or of a part bypass it: a snapshot, a timestamp, the tiers kPersistedTier and
//                  kMemtableTier, ignore_range_deletions. A MultiGet still shows one moment of the
//                  database. Put, PutEntity, Merge, Delete, SingleDelete: data and record in one
//                  batch. Write: a copy of the batch, followed by the records; log data and save
//                  points are kept. DeleteRange, also in a batch: atomic as in RocksDB; it excludes
//                  other writers for one commit. The records of its keys are removed afterwards,
//                  some hundred at a time while other calls continue, and the call returns when all
//                  are removed; until then queries of these keys read the store and find nothing.
//                  After a crash in between, opening reads the index once and finishes.
//                  IngestExternalFile(s): excludes other writers; a table with the records is made
//                  and ingested with the user's. Close: also saves the filter.
//                  DestroyColumnFamilyHandle: also for the handles of family().
//   refused        writes to `default` with disableWAL (a snapshot cannot catch up from a log with
//                  gaps), with timestamps, with a WAL termination point; batches with marks of
//                  transactions or blob references; ingest_behind, and files with deletions, merges
//                  or no keys; DeleteFile and NewDefaultReplayer: they change data without the
//                  guard; families whose names begin with "genista.": to create, import, drop,
//                  write, ingest into, SetOptions; a Merge, also in a batch, without a merge
//                  operator. At opening: what check_guardable (database.hpp) names, and a database
//                  whose OPTIONS file names a merge operator if none is given: RocksDB would lose
//                  everything in its log.
//   passed on      everything else: iterators and snapshots, properties and statistics, flushes and
//                  compactions, log and live files, checksums, traces, options, other families,
//                  GetUpdatesSince (it also shows the index's records).
//
// RocksDB has ways around a guard: GetRootDB and GetBaseDB return the database without it
// (transactions over it and DeleteFilesInRange use them), and other programs open the database
// without it. Reads that way are safe. Writes that way are found: at the next opening
// (foreign_writes), and while the database is open within a second (snapshotter_options::watch), at
// save() and at Close(). From then on every key is "maybe" and the index is completed;
// counters().foreign_writes counts them. Until they are found, such keys may be answered NotFound.
// Keys that were deleted that way cost one wasted read each, which removes their records. Not
// found: a table that DeleteFilesInRange or RepairDB removes and that hid an older value of its
// key. After these calls call reindex(), or open with rebuild_index. Decision 0022 and
// docs/operations.md have the details.
//
// SingleDelete has RocksDB's requirement: the key was put once since its last deletion, and never
// merged. For other keys RocksDB may show an older value again, which the guard then denies;
// reindex() finds it.
//
// Errors of the filter never reach a caller: they cost reads and show in counters(). Threads: any
// number. ReadOptions::deadline and io_timeout also hold for the reads by which the filter learns:
// if the time is up, the filter learns at the next false positive on the key (adapts_dropped).
//
// REQUIRES of Close() and of the destructor: no other call is under way; iterators have been
// deleted, and handles from CreateColumnFamily have been destroyed (otherwise RocksDB may end the
// process, as it does without a guard). With an unreleased snapshot Close() returns Aborted, and
// the database stays open as before. Calls after Close() are errors (ShutdownInProgress, or the
// negative answer of calls that return no Status), except that may_contain() and counters() still
// answer from memory.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/utilities/stackable_db.h>
#include <rocksdb/wide_columns.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/detail/stores/rocksdb/filter_snapshotter.hpp"
#include "genista/detail/stores/rocksdb/ordered_records.hpp"
#include "genista/detail/stores/rocksdb/write_accounts.hpp"
#include "genista/detail/stores/rocksdb/writers.hpp"

namespace genista::rocks {

class batch_plan;

enum class opening_stage : unsigned char {
    indexing,   // an existing database: its keys are read and their records written
    filtering,  // the filter is built from the records
};
// `done` of `all`, in keys; `all` is an estimate.
using opening_progress = std::function<void(opening_stage stage, std::uint64_t done, std::uint64_t all)>;

struct guarded_db_options {
    rocksdb::Options rocksdb = default_rocksdb_options();  // the database and the family `default`
    // Other families. Those not named here are opened like `default`, its merge operator included:
    // name those that have one of their own.
    std::vector<rocksdb::ColumnFamilyDescriptor> families{};
    std::optional<rocksdb::ColumnFamilyOptions> index = std::nullopt;  // of genista.index; none: made from `rocksdb`
    bool create_if_missing = true;
    bool index_existing = true;  // false: a database without an index is refused
    bool rebuild_index = false;  // drop the index and build it again
    broom_options filter{};      // its hash is the database's
    guard_options guard{};
    snapshotter_options snapshotter{};
    opening_progress progress{};
    event_hook log{};  // hears of events of the store: guard/event_log.hpp says what the function may do
    // If no snapshot can be used, open at once with every key "maybe" and build index and filter in
    // the background. `progress` is then called by a thread of the snapshotter, in ranges of 4096
    // in the stage `filtering`; it must not close the database. Another thread may call Close() at
    // any time; what was not built then is built at the next opening.
    bool build_behind = false;
    std::uint64_t wal_kept_mb = default_wal_kept_mb;  // used if rocksdb.WAL_size_limit_MB is 0
    std::optional<hash_key> key = std::nullopt;       // of a new index; none: a random one
};

class guarded_db final : public rocksdb::StackableDB {
  public:
    [[nodiscard]] static result<std::unique_ptr<guarded_db>> open(const std::string& path,
                                                                  guarded_db_options options = {});
    ~guarded_db() override;

    // A family that existed when the database was opened, `default` included. Null if there is none
    // of that name, or it is genista's.
    [[nodiscard]] rocksdb::ColumnFamilyHandle* family(std::string_view name) const;

    [[nodiscard]] bool may_contain(const rocksdb::Slice& key) const noexcept;
    // Completes the index, if writes that bypassed the guard were found, and inserts the keys of
    // ranges that need repair.
    result<void> repair() noexcept;
    // Reads all keys and writes the records that the index lacks, while other calls continue: for
    // use after changes that the guard cannot see. Every key is "maybe" until it is done. Records
    // without keys stay until a query finds them (rebuild_index drops them all). The error is
    // `mismatch` if a write bypasses the guard meanwhile, or another thread calls the same: then
    // every key stays "maybe".
    result<void> reindex();
    // Whether all writes so far came through the guard. If not, every key is "maybe" until a
    // repair.
    [[nodiscard]] result<void> look_for_foreign_writes();
    // Why the index was completed or built again when the database was opened; empty: it was whole.
    [[nodiscard]] const std::string& reindexed_because() const noexcept { return reindexed_because_; }
    // Checks I2, and the filter against the index. Writers wait; two scans of everything.
    [[nodiscard]] result<void> audit();
    [[nodiscard]] guard_counters counters() const noexcept { return core_->counters(); }
    // Of this opening: snapshots, their age, and how the filter was found.
    [[nodiscard]] store_counters store_figures() const noexcept { return watch_->counters(); }
    // In the text format that Prometheus scrapes (guard/metrics.hpp); several stores share a
    // page.
    [[nodiscard]] result<std::string> metrics_text(const metric_labels& labels = {}) const;
    [[nodiscard]] result<void> add_metrics(metrics_page& page, const metric_labels& labels) const;

    [[nodiscard]] filter_origin origin() const noexcept { return origin_; }
    // The interface that filter_snapshotter uses; clustered_db has the same.
    [[nodiscard]] rocks_guard_core& core() noexcept { return *core_; }
    [[nodiscard]] ordered_records& records() noexcept { return records_; }
    [[nodiscard]] writers_lock& writers() noexcept { return writers_; }
    [[nodiscard]] filter_snapshotter& snapshotter() noexcept { return *snapshotter_; }
    [[nodiscard]] rocksdb::DB& base() noexcept { return *db_; }
    [[nodiscard]] const store_id& identity() const noexcept { return identity_; }
    [[nodiscard]] const std::vector<store_life>& lives() const noexcept { return meta_.lives; }
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_relaxed); }

    // The interface of rocksdb::DB, in the order of the table above. DB's short forms without a
    // family call these.
    using Slice = rocksdb::Slice;
    using Status = rocksdb::Status;
    using Family = rocksdb::ColumnFamilyHandle;
    using StackableDB::Get;
    using StackableDB::GetEntity;
    using StackableDB::GetMergeOperands;
    using StackableDB::KeyMayExist;
    using StackableDB::MultiGet;
    Status Get(const rocksdb::ReadOptions& options, Family* family, const Slice& key,
               rocksdb::PinnableSlice* value) override;
    Status Get(const rocksdb::ReadOptions& options, Family* family, const Slice& key, rocksdb::PinnableSlice* value,
               std::string* timestamp) override;
    Status GetEntity(const rocksdb::ReadOptions& options, Family* family, const Slice& key,
                     rocksdb::PinnableWideColumns* columns) override;
    Status GetMergeOperands(const rocksdb::ReadOptions& options, Family* family, const Slice& key,
                            rocksdb::PinnableSlice* operands, rocksdb::GetMergeOperandsOptions* how,
                            int* number_of_operands) override;
    std::vector<Status> MultiGet(const rocksdb::ReadOptions& options, const std::vector<Family*>& families,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values) override;
    std::vector<Status> MultiGet(const rocksdb::ReadOptions& options, const std::vector<Family*>& families,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values,
                                 std::vector<std::string>* timestamps) override;
    void MultiGet(const rocksdb::ReadOptions& options, Family* family, std::size_t count, const Slice* keys,
                  rocksdb::PinnableSlice* values, Status* statuses, bool sorted = false) override;
    void MultiGet(const rocksdb::ReadOptions& options, Family* family, std::size_t count, const Slice* keys,
                  rocksdb::PinnableSlice* values, std::string* timestamps, Status* statuses,
                  bool sorted = false) override;
    void MultiGet(const rocksdb::ReadOptions& options, std::size_t count, Family** families, const Slice* keys,
                  rocksdb::PinnableSlice* values, Status* statuses, bool sorted = false) override;
    void MultiGet(const rocksdb::ReadOptions& options, std::size_t count, Family** families, const Slice* keys,
                  rocksdb::PinnableSlice* values, std::string* timestamps, Status* statuses,
                  bool sorted = false) override;
    bool KeyMayExist(const rocksdb::ReadOptions& options, Family* family, const Slice& key, std::string* value,
                     bool* value_found = nullptr) override;
    bool KeyMayExist(const rocksdb::ReadOptions& options, Family* family, const Slice& key, std::string* value,
                     std::string* timestamp, bool* value_found = nullptr) override;

    using StackableDB::Delete;
    using StackableDB::DeleteRange;
    using StackableDB::Merge;
    using StackableDB::Put;
    using StackableDB::PutEntity;
    using StackableDB::SingleDelete;
    Status Put(const rocksdb::WriteOptions& options, Family* family, const Slice& key, const Slice& value) override;
    Status Put(const rocksdb::WriteOptions& options, Family* family, const Slice& key, const Slice& timestamp,
               const Slice& value) override;
    Status PutEntity(const rocksdb::WriteOptions& options, Family* family, const Slice& key,
                     const rocksdb::WideColumns& columns) override;
    Status Merge(const rocksdb::WriteOptions& options, Family* family, const Slice& key, const Slice& value) override;
    Status Merge(const rocksdb::WriteOptions& options, Family* family, const Slice& key, const Slice& timestamp,
                 const Slice& value) override;
    Status Delete(const rocksdb::WriteOptions& options, Family* family, const Slice& key) override;
    Status Delete(const rocksdb::WriteOptions& options, Family* family, const Slice& key,
                  const Slice& timestamp) override;
    Status SingleDelete(const rocksdb::WriteOptions& options, Family* family, const Slice& key) override;
    Status SingleDelete(const rocksdb::WriteOptions& options, Family* family, const Slice& key,
                        const Slice& timestamp) override;
    Status DeleteRange(const rocksdb::WriteOptions& options, Family* family, const Slice& begin,
                       const Slice& end) override;
    Status DeleteRange(const rocksdb::WriteOptions& options, Family* family, const Slice& begin, const Slice& end,
                       const Slice& timestamp) override;
    Status Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* updates) override;

    using StackableDB::IngestExternalFile;
    Status IngestExternalFile(Family* family, const std::vector<std::string>& files,
                              const rocksdb::IngestExternalFileOptions& options) override;
    Status IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>& arguments) override;

    using StackableDB::SetOptions;
    Status Close() override;
    Status Resume() override { return db_->Resume(); }
    Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                              Family** handle) override;
    Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options, const std::vector<std::string>& names,
                                std::vector<Family*>* handles) override;
    Status CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                                std::vector<Family*>* handles) override;
    Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                                        const rocksdb::ImportColumnFamilyOptions& how,
                                        const rocksdb::ExportImportFilesMetaData& metadata, Family** handle) override;
    Status DropColumnFamily(Family* family) override;
    Status DropColumnFamilies(const std::vector<Family*>& families) override;
    Status DestroyColumnFamilyHandle(Family* family) override;
    Status SetOptions(Family* family, const std::unordered_map<std::string, std::string>& options) override;
    Status DeleteFile(std::string name) override;
    Status NewDefaultReplayer(const std::vector<Family*>& handles, std::unique_ptr<rocksdb::TraceReader>&& reader,
                              std::unique_ptr<rocksdb::Replayer>* replayer) override;
    // StackableDB of 7.8 does not pass these on.
    void GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) override {
        db_->GetAllColumnFamilyMetaData(metadata);
    }
    Status GetStatsHistory(std::uint64_t start_time, std::uint64_t end_time,
                           std::unique_ptr<rocksdb::StatsHistoryIterator>* iterator) override {
        return db_->GetStatsHistory(start_time, end_time, iterator);
    }

  private:
    struct parts;  // what open() has made
    explicit guarded_db(parts made);

    // Both are false once the database is closed: then no handle may be read, and every call goes
    // to closed_db.
    [[nodiscard]] bool is_guarded(const Family* family) const noexcept;
    [[nodiscard]] bool is_own(const Family* family) const noexcept;
    [[nodiscard]] bool is_own(std::uint32_t id) const noexcept { return id == index_id_ || id == meta_id_; }
    [[nodiscard]] bool is_denied(const rocksdb::ReadOptions& options, const Family* family, const Slice& key);

    // Asks the filter, then calls `read`; if that finds nothing, the filter learns.
    template <class Read>
    Status ask(const rocksdb::ReadOptions& options, const Slice& key, Read&& read);
    // A read found nothing: the filter learns, within the caller's time limits.
    void learn(const rocksdb::ReadOptions& options, const hashed_key& key);
    struct sieve;
    template <class Value, class Read>
    void ask_many(const rocksdb::ReadOptions& options, std::size_t count, Family* const* families, Family* family,
                  const Slice* keys, Value* values, std::string* timestamps, Status* statuses, const Read& read);

    // Writes one key: `change` puts the user's part into the batch.
    template <class Change>
    Status write_one(const rocksdb::WriteOptions& options, const Slice& key, std::size_t size_bytes, bool is_put,
                     Change&& change);
    Status write_batch(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& updates, batch_plan& plan);
    Status commit(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& all, const batch_plan& plan);
    // Snapshots of earlier generations are void. REQUIRES: the writers' lock is held.
    [[nodiscard]] result<void> next_generation();
    // A write to families that are not guarded.
    template <class Change>
    Status pass_on(std::uint64_t entries, Change&& change) {
        const writers_lock::shared inside{writers_};
        return accounts_.counted(entries, std::forward<Change>(change));
    }
    // Writes the records that the index lacks, piece by piece. On an error repairs are still
    // refused.
    [[nodiscard]] result<void> make_whole(const std::atomic<bool>& stop);
    [[nodiscard]] result<bool> index_piece(std::string& from, std::uint64_t& done);
    // REQUIRES: no thread writes. False: there were foreign writes, and every key is "maybe" now.
    [[nodiscard]] bool reconcile_accounts();
    // The index has a record for a key that `default` has lost.
    void remove_orphan(const hashed_key& key);
    // Range deletes (range_deletes.cpp).
    Status write_ranges(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& updates, batch_plan& plan);
    template <class Ranges, class Visit>
    Status keys_of_ranges(const Ranges& ranges, const rocksdb::Snapshot* at_moment, const Visit& visit);
    // Deletes the records of those keys that `default` lacks, and empties the list.
    Status clear_records(std::vector<std::string>& keys);
    Status write_own(rocksdb::WriteBatch& batch);
    Status ingest_guarded(std::vector<rocksdb::IngestExternalFileArg> arguments, std::size_t guarded);
    Status close_now();  // whether a snapshot was saved or not

    database handles_;  // of the families only
    std::uint32_t index_id_, meta_id_;
    bool has_merge_operator_;
    bool has_row_cache_;
    bool snapshot_on_close_;
    filter_origin origin_;
    store_id identity_;
    std::string reindexed_because_;
    opening_progress progress_;
    store_meta meta_;                        // changed only by ingesting and re-indexing, under the writers' lock
    std::atomic<std::uint64_t> generation_;  // meta_.generation, readable without a lock
    std::mutex ingesting_;
    mutable std::mutex handles_mutex_;
    std::shared_mutex clearing_;  // held by range deletes whose records are being removed, or by an audit
    std::atomic<std::uint64_t> range_deletes_{0};
    put_clock clock_;
    writers_lock writers_;
    std::shared_ptr<ingest_listener> ingests_;
    write_accounts accounts_;
    std::mutex reindexing_;
    ordered_records records_;
    std::shared_ptr<store_watch> watch_;
    std::unique_ptr<rocks_guard_core> core_;
    std::unique_ptr<filter_snapshotter> snapshotter_;
    std::atomic<bool> closed_{false};
    std::unique_ptr<rocksdb::DB> closed_base_;  // db_ is a closed_db then
};

}  // namespace genista::rocks
