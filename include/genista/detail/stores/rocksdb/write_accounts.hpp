// write_accounts: how many sequence numbers the writes through a guard took. If the database's own
// number moved by another amount, some write bypassed the guard (a transaction over the guarded
// database, a program's own handle of the base). Files ingested into the guarded family are counted
// separately, because RocksDB gives them no number if they overlap nothing.
//
// RocksDB 7.8 takes one number for each entry of a batch (WriteBatch::Count: puts, merges,
// deletions and ranges, repeated keys each for itself; log data none), whether or not there is a
// log, with one write queue or two, pipelined or not. A write that failed in the memtable also took
// them; one that failed before took none. Failed writes are counted as none, so that the first kind
// is mistaken for a foreign write. That costs a re-index and no key. Decision 0022 has the table.
//
// Threads: any may call begin and failed; the other calls need one thread that excludes writers.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "genista/detail/stores/rocksdb/meta.hpp"

namespace genista::rocks {

// Is notified of all files that RocksDB ingests in this process. Goes into DBOptions::listeners.
class ingest_listener final : public rocksdb::EventListener {
  public:
    void OnExternalFileIngested(rocksdb::DB*, const rocksdb::ExternalFileIngestionInfo& info) override;

    // Announces so many files for `default` through the guard. 0: no more.
    void expect(std::uint64_t files);
    // Sets the function that a thread calls which ingests a file into `default` past the guard.
    void on_foreign_file(std::function<void()> call);

    // Files put into the family `default` so far.
    [[nodiscard]] std::uint64_t files() const;
    // How many sequence numbers were given to files since the last call. Families that ingest
    // together share them.
    [[nodiscard]] std::uint64_t take_numbers();

  private:
    mutable std::mutex mutex_;
    std::uint64_t files_ = 0;
    std::uint64_t expected_ = 0;
    std::function<void()> on_foreign_file_;
    std::set<rocksdb::SequenceNumber> numbers_;
};

class write_accounts {
  public:
    // Counts from now on. `notes` is genista.meta, where marks are kept, or null if they are not
    // kept.
    write_accounts(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* notes, std::optional<write_mark> mark,
                   std::shared_ptr<ingest_listener> ingests);

    // A write of so many entries begins; a write of so many entries failed.
    void begin(std::uint64_t entries) noexcept { through_.fetch_add(entries, std::memory_order_relaxed); }
    void failed(std::uint64_t entries) noexcept { through_.fetch_sub(entries, std::memory_order_relaxed); }
    template <class Write>
    rocksdb::Status counted(std::uint64_t entries, Write&& write) {
        begin(entries);
        rocksdb::Status done = std::forward<Write>(write)();
        if (!done.ok()) failed(entries);
        return done;
    }
    // An import. REQUIRES: no other thread writes. RocksDB advances to the highest number of the
    // files, if it has not reached it yet.
    template <class Import>
    rocksdb::Status counted_import(std::uint64_t highest, Import&& import) {
        const std::uint64_t before = db_->GetLatestSequenceNumber();
        rocksdb::Status done = std::forward<Import>(import)();
        if (db_->GetLatestSequenceNumber() == highest && !has_writes_after(before)) begin(highest - before);
        return done;
    }
    // So many files were ingested into the family `default`. Their numbers need not be counted.
    void ingested(std::uint64_t files) noexcept { own_files_ += files; }

    // True: every write since the last call came through the guard. The count restarts in either
    // case, so the caller must act on false: it is reported once.
    [[nodiscard]] bool reconcile();
    // Writes a mark of this moment, unless nothing was written since the last one. REQUIRES:
    // reconcile() was just called, and the index is whole. A lost mark costs a longer check of the
    // log, unless files were ingested: they are not in the log.
    [[nodiscard]] result<void> note(bool durably = false);
    // After files were ingested through the guard: the tables are accounted for. The next note()
    // writes this.
    [[nodiscard]] result<void> note_tables();
    // None while a foreign file is in the tables: RocksDB may compact it into a table that does not
    // show its origin.
    [[nodiscard]] std::optional<write_mark> mark() const;
    // A file bypassed the guard: the mark on disk no longer covers the tables. Any thread may call
    // it.
    void forget_mark();

  private:
    [[nodiscard]] bool has_writes_after(std::uint64_t sequence) const;  // in the log

    rocksdb::DB* db_;
    rocksdb::ColumnFamilyHandle* notes_;
    std::optional<write_mark> mark_;
    bool tables_moved_ = false;
    bool foreign_file_ = false;  // until note_tables()
    std::shared_ptr<ingest_listener> ingests_;
    std::uint64_t own_files_ = 0;
    std::uint64_t sequence_;  // of the last reconcile()
    std::atomic<std::uint64_t> through_{0};
};

}  // namespace genista::rocks
