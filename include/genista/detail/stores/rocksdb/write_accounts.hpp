// write_accounts: how many sequence numbers the writes through a guard took. If the database's own
// number moved by another amount, some write did not come through the guard (a transaction over the
// guarded database, a program's own handle of the base). Files taken into the guarded family are
// counted apart, because RocksDB gives them no number where they overlap nothing.
//
// RocksDB 7.8 takes one number for each entry of a batch (WriteBatch::Count: puts, merges,
// deletions and ranges, repeated keys each for itself; log data none), whether or not there is a
// log, with one write queue or two, pipelined or not. A write that failed in the memtable took them
// all the same, one that failed before took none: it is counted as none, so that the first kind is
// taken for a foreign write. That costs a re-index and no key. Decision 0022 has the table.
//
// Threads: begin and failed by any; the others by one thread that excludes writers.
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

// Hears of the files that any caller of this process has RocksDB take in. Goes into
// DBOptions::listeners.
class ingest_listener final : public rocksdb::EventListener {
  public:
    void OnExternalFileIngested(rocksdb::DB*, const rocksdb::ExternalFileIngestionInfo& info) override;

    // So many files for `default` come through the guard; 0: no more.
    void expect(std::uint64_t files);
    // Called by the thread that put a file into `default` past the guard.
    void on_foreign_file(std::function<void()> call);

    // Files put into the family `default` so far.
    [[nodiscard]] std::uint64_t files() const;
    // How many sequence numbers files were given since the last call. Families that are served
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
    // From now on. `notes` is genista.meta, where marks are kept, or null if they are not.
    write_accounts(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* notes, std::optional<write_mark> mark,
                   std::shared_ptr<ingest_listener> ingests);

    // A write of so many entries begins, or did not happen.
    void begin(std::uint64_t entries) noexcept { through_.fetch_add(entries, std::memory_order_relaxed); }
    void failed(std::uint64_t entries) noexcept { through_.fetch_sub(entries, std::memory_order_relaxed); }
    template <class Write>
    rocksdb::Status counted(std::uint64_t entries, Write&& write) {
        begin(entries);
        rocksdb::Status done = std::forward<Write>(write)();
        if (!done.ok()) failed(entries);
        return done;
    }
    // An import, while nobody else writes: RocksDB moves on to the highest number of its files, if
    // it is not there yet.
    template <class Import>
    rocksdb::Status counted_import(std::uint64_t highest, Import&& import) {
        const std::uint64_t before = db_->GetLatestSequenceNumber();
        rocksdb::Status done = std::forward<Import>(import)();
        if (db_->GetLatestSequenceNumber() == highest && !has_writes_after(before)) begin(highest - before);
        return done;
    }
    // So many files were put into the family `default`. Their numbers need not be counted.
    void ingested(std::uint64_t files) noexcept { own_files_ += files; }

    // True: every write since the last call came through the guard. Begins to count anew in either
    // case, so that the caller must act on false: it is said once.
    [[nodiscard]] bool reconcile();
    // Keeps a mark of this moment; REQUIRES reconcile() just now, and an index that is whole.
    // Nothing if nothing was written. A mark that is lost costs a longer look at the log, unless
    // files were taken in: they are not in the log.
    [[nodiscard]] result<void> note(bool durably = false);
    // After files were taken in: they are accounted for. The next note() keeps it.
    [[nodiscard]] result<void> note_tables();
    // None while a foreign file is in the tables: RocksDB may compact it into a table of its own,
    // which shows nothing.
    [[nodiscard]] std::optional<write_mark> mark() const;
    // A file went past the guard: the mark on disk does not vouch for the tables any more. By any
    // thread.
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
