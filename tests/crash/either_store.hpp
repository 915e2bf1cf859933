// either_store: both layouts behind one interface, with small memtables and tables, so that a short
// script has flushes, archived logs and compactions. For tests that run on both layouts.
#pragma once

#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"
#include "genista/stores/rocksdb/clustered_db.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"
#include "tests/stores/scratch.hpp"

namespace genista::test {

struct store_settings {
    rocks::layout arrangement = rocks::layout::clustered;
    unsigned snapshotter_ms = 0;  // between snapshots; 0: only by save() and on close
    bool snapshot_on_close = true;
    bool sync = false;  // every write
    std::uint64_t wal_kept_mb = 16;
    std::uint64_t capacity = 500;  // small: the filter grows
    bool rebuild_index = false;
    bool build_behind = false;
    adapting adapt = adapting::on_read;
    rocksdb::Env* env = nullptr;
    bool cold = false;  // no block is cached: every look at a table is a read
    std::size_t memtable_kb = 64;
};

// A key and its value, or nothing if the key is erased.
using change = std::pair<std::string, std::optional<std::string>>;

inline rocksdb::Options small_rocksdb_options(rocksdb::Env* env, bool cold = false, std::size_t memtable_kb = 64) {
    rocksdb::Options options = rocks::default_rocksdb_options();
    if (cold) {
        rocksdb::BlockBasedTableOptions table;
        table.no_block_cache = true;
        options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    }
    options.write_buffer_size = memtable_kb << 10;
    options.max_write_buffer_number = 3;
    options.target_file_size_base = std::uint64_t{64} << 10;
    options.max_bytes_for_level_base = std::uint64_t{256} << 10;
    options.level0_file_num_compaction_trigger = 2;
    options.info_log_level = rocksdb::FATAL_LEVEL;
    options.keep_log_file_num = 2;
    options.max_bgerror_resume_count = 0;  // no thread that resumes on its own
    options.stats_dump_period_sec = 0;
    options.stats_persist_period_sec = 0;
    options.env =
        env != nullptr ? env : unsynced_env();  // without waits for the disk: a kill loses nothing that was written
    return options;
}

// Thrown out of a put, in its thread, after the commit and before the filter is updated.
struct thrown_after_commit {};
inline thread_local bool throws_after_commit = false;
// The hook of the fail points that put_without_filter() needs.
inline void throw_after_commit(const char* point) {
    if (!throws_after_commit || std::string_view{point} != "store.committed") return;
    throws_after_commit = false;
    throw thrown_after_commit{};
}

class either_store {
  public:
    [[nodiscard]] static result<std::unique_ptr<either_store>> open(const std::string& path,
                                                                    const store_settings& settings) {
        std::unique_ptr<either_store> made{new either_store};
        made->writes_.sync = settings.sync;
        const rocks::snapshotter_options snapshotter{.every = std::chrono::milliseconds{settings.snapshotter_ms},
                                                     .on_close = settings.snapshot_on_close};
        if (settings.arrangement == rocks::layout::clustered) {
            rocks::clustered_db_options options;
            options.store.rocksdb = small_rocksdb_options(settings.env, settings.cold, settings.memtable_kb);
            options.store.writes = made->writes_;
            options.store.wal_kept_mb = settings.wal_kept_mb;
            options.filter.capacity = settings.capacity;
            options.guard.adapt = settings.adapt;
            options.snapshotter = snapshotter;
            options.build_behind = settings.build_behind;
            auto opened = rocks::clustered_db::open(path, options);
            if (!opened) return opened.error();
            made->clustered_ = *std::move(opened);
        } else {
            rocks::guarded_db_options options;
            options.rocksdb = small_rocksdb_options(settings.env, settings.cold, settings.memtable_kb);
            options.wal_kept_mb = settings.wal_kept_mb;
            options.filter.capacity = settings.capacity;
            options.guard.adapt = settings.adapt;
            options.snapshotter = snapshotter;
            options.build_behind = settings.build_behind;
            options.rebuild_index = settings.rebuild_index;
            if (settings.cold) options.index = options.rocksdb;
            auto opened = rocks::guarded_db::open(path, options);
            if (!opened) return opened.error();
            made->indexed_ = *std::move(opened);
        }
        return made;
    }

    [[nodiscard]] bool is_indexed() const noexcept { return indexed_ != nullptr; }

    result<void> put(const std::string& key, const std::string& value) {
        return clustered_ ? clustered_->put(key, value) : to_result(indexed_->Put(writes_, key, value), "put");
    }
    result<void> erase(const std::string& key) {
        return clustered_ ? clustered_->erase(key) : to_result(indexed_->Delete(writes_, key), "delete");
    }
    result<std::optional<std::string>> get(const std::string& key) {
        if (clustered_) return clustered_->get(key);
        std::string value;
        const rocksdb::Status got = indexed_->Get({}, key, &value);
        if (got.IsNotFound()) return std::optional<std::string>{};
        if (!got.ok()) return rocks::to_error(got, "get");
        return std::optional{std::move(value)};
    }
    // The indexed layout only.
    result<void> write(const std::vector<change>& changes, bool sync = false) {
        rocksdb::WriteBatch batch;
        for (const auto& [key, value] : changes) {
            const rocksdb::Status added = value ? batch.Put(key, *value) : batch.Delete(key);
            if (!added.ok()) return rocks::to_error(added, "add to a batch");
        }
        rocksdb::WriteOptions how = writes_;
        how.sync = how.sync || sync;
        return to_result(indexed_->Write(how, &batch), "write a batch");
    }
    // The indexed layout only.
    result<void> erase_range(const std::string& begin, const std::string& end) {
        return to_result(indexed_->DeleteRange(writes_, indexed_->DefaultColumnFamily(), begin, end), "delete a range");
    }
    // The indexed layout only. `file` is a path for the table, outside the database. The file is
    // not removed.
    result<void> ingest(const std::string& file, const std::map<std::string, std::string>& entries) {
        rocksdb::SstFileWriter writer{rocksdb::EnvOptions{}, rocksdb::Options{}};
        rocksdb::Status done = writer.Open(file);
        for (const auto& [key, value] : entries) {
            if (done.ok()) done = writer.Put(key, value);
        }
        if (done.ok()) done = writer.Finish();
        rocksdb::IngestExternalFileOptions how;
        // RocksDB would write the number into the finished file, which a file system that tracks
        // appends does not see.
        how.write_global_seqno = false;
        if (done.ok()) done = indexed_->IngestExternalFile({file}, how);
        return to_result(done, "ingest a table");
    }

    // A put that throws after the commit: the filter lacks the key, and its range needs repair.
    // REQUIRES: at_fail_point calls throw_after_commit. An error means that the store does not have
    // the value.
    result<void> put_without_filter(const std::string& key, const std::string& value) {
        throws_after_commit = true;
        try {
            const auto done = put(key, value);
            throws_after_commit = false;
            return done;
        } catch (const thrown_after_commit&) {
            const auto there = get_behind(key);
            if (!there) return there.error();
            if (*there == value) return {};
            return error::make(error_code::io, "a put that threw was not committed");
        }
    }
    // The indexed layout only: a put by a program without a guard, or through the base's handle.
    // The key may be denied until look(), save() or the snapshotter's thread has found the write
    // (docs/operations.md).
    result<void> put_past_the_guard(const std::string& key, const std::string& value) {
        return to_result(base().Put(writes_, key, value), "put past the guard");
    }
    result<void> erase_past_the_guard(const std::string& key) {
        return to_result(base().Delete(writes_, key), "delete past the guard");
    }

    [[nodiscard]] bool may_contain(const std::string& key) const {
        return clustered_ ? clustered_->may_contain(key) : indexed_->may_contain(key);
    }
    // The value in the store itself, read without the filter.
    result<std::optional<std::string>> get_behind(const std::string& key) {
        std::string value;
        rocksdb::Status got;
        if (clustered_) {
            const rocks::record_key name{hash()(key), key};
            got = base().Get({}, name.slice(), &value);
        } else {
            got = base().Get({}, key, &value);
        }
        if (got.IsNotFound()) return std::optional<std::string>{};
        if (!got.ok()) return rocks::to_error(got, "get");
        return std::optional{std::move(value)};
    }
    // Calls visit(key) for every key of the store, without the filter.
    template <class Visit>
    result<void> for_each_key(Visit&& visit) {
        const std::unique_ptr<rocksdb::Iterator> at{base().NewIterator({})};
        for (at->SeekToFirst(); at->Valid(); at->Next()) {
            if (!clustered_) {
                visit(at->key().ToString());
                continue;
            }
            const auto decoded = rocks::decode_record(at->key());
            if (!decoded) return error::make(error_code::corrupt, "a key without a digest");
            visit(std::string{decoded->second.text()});
        }
        return to_result(at->status(), "read all keys");
    }

    result<void> audit() { return clustered_ ? clustered_->audit() : indexed_->audit(); }
    result<void> repair() { return clustered_ ? clustered_->repair() : indexed_->repair(); }
    // Completes R if it can lack keys, and repairs the filter. Until then every key is "maybe".
    result<void> reindex() {
        if (indexed_) return indexed_->reindex();
        core().need_repair_everywhere();
        return repair();
    }
    // Marks the key's range as in need of repair, although the filter lacks nothing.
    void need_repair(const std::string& key) {
        const rocks::rocks_guard_core::entering in_flight{core(), {hash(), key}};
    }
    // Looks for writes past the guard.
    result<void> look() { return snapshotter().look(); }
    result<void> save() { return snapshotter().save(); }
    // Syncs with an empty write: FlushWAL(true) of RocksDB 7.8 asserts that its log is intact.
    result<void> sync() {
        rocksdb::WriteBatch nothing;
        rocksdb::WriteOptions durably;
        durably.sync = true;
        return to_result(base().Write(durably, &nothing), "sync the log");
    }
    result<void> resume() { return to_result(base().Resume(), "resume"); }
    result<void> close() { return clustered_ ? clustered_->close() : to_result(indexed_->Close(), "close"); }

    [[nodiscard]] rocks::filter_origin origin() const { return clustered_ ? clustered_->origin() : indexed_->origin(); }
    [[nodiscard]] guard_counters counters() const { return clustered_ ? clustered_->counters() : indexed_->counters(); }
    [[nodiscard]] rocks::filter_snapshotter& snapshotter() {
        return clustered_ ? clustered_->snapshotter() : indexed_->snapshotter();
    }
    [[nodiscard]] rocks::rocks_guard_core& core() { return clustered_ ? clustered_->core() : indexed_->core(); }
    [[nodiscard]] rocks::ordered_records& records() { return clustered_ ? clustered_->records() : indexed_->records(); }
    [[nodiscard]] rocks::snapshotter_place place() {
        return {.db = &base(),
                .records = &records().family(),
                .identity = clustered_ ? clustered_->identity() : indexed_->identity(),
                .generation = clustered_ ? clustered_->generation() : indexed_->generation(),
                .lives = clustered_ ? clustered_->lives() : indexed_->lives(),
                .recorded = clustered_ ? clustered_->store().snapshots() : std::nullopt};
    }
    [[nodiscard]] const hasher& hash() { return core().hash(); }
    [[nodiscard]] rocksdb::DB& base() { return clustered_ ? clustered_->base() : indexed_->base(); }

  private:
    either_store() = default;
    static result<void> to_result(const rocksdb::Status& status, const char* doing) {
        if (status.ok()) return {};
        return rocks::to_error(status, doing);
    }

    std::unique_ptr<rocks::clustered_db> clustered_;
    std::unique_ptr<rocks::guarded_db> indexed_;
    rocksdb::WriteOptions writes_;
};

}  // namespace genista::test
