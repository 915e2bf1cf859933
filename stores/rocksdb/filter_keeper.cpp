// Taking snapshots. See filter_keeper.hpp; find_filter.cpp has the way back.
#include "genista/stores/rocksdb/filter_keeper.hpp"

#include <rocksdb/write_batch.h>

#include <new>

#include "genista/base/fail_point.hpp"
#include "genista/stores/rocksdb/status.hpp"
#include "stores/rocksdb/snapshot_files.hpp"

namespace genista::rocks {
namespace {

constexpr std::size_t snapshots_kept = 2;

// By a write that writes nothing, and has no sequence number. RocksDB refuses it while its log is broken; of FlushWAL(true) it
// thinks, in 7.8, that nobody would ask then, and asserts it.
rocksdb::Status sync_log(rocksdb::DB& db) {
    rocksdb::WriteBatch nothing;
    rocksdb::WriteOptions durably;
    durably.sync = true;
    rocksdb::Status noted = nothing.PutLogData("genista: a snapshot of the filter");
    return noted.ok() ? db.Write(durably, &nothing) : noted;
}

}  // namespace

filter_keeper::filter_keeper(const keeper_place& place, rocks_gate& gate, writers_lock& writers,
                             const keeper_options& options)
    : place_{place}, gate_{gate}, writers_{writers}, options_{options}, generation_{place.generation} {
    if (options_.every.count() > 0) worker_ = std::thread{[this] { work(); }};
}

filter_keeper::~filter_keeper() {
    stop();
}

void filter_keeper::stop() noexcept {
    {
        const std::lock_guard held{mutex_};
        stopping_ = true;
    }
    wake_.notify_all();
    if (worker_.joinable()) worker_.join();
}

result<void> filter_keeper::save() try {
    const std::lock_guard held{saving_};
    if (closed_.load(std::memory_order_relaxed)) return error::make(error_code::io, "no snapshot: the store is closed");
    if (place_.read_only)
        return error::make(error_code::unsupported, "no snapshot: the store is open for reading only");
    if (given_up_.load(std::memory_order_relaxed))
        return error::make(error_code::io, "no snapshot: it is unknown what became of an ingest; open the store again");
    store_mark mark;
    {
        // With no write half done: whatever the store has committed, the filter has too, or its door is jammed.
        const writers_lock::exclusive nobody_writes{writers_};
        place_.generation = generation_.load(std::memory_order_relaxed);
        mark = {.identity = place_.identity_now(), .sequence = place_.db->GetLatestSequenceNumber()};
        // An open door is not in a snapshot: a filter loaded from it would deny the keys behind it.
        if (gate_.lacks_keys()) return error::make(error_code::io, "no snapshot while keys wait for the filter");
    }
    fail_point("keeper.marked");
    const filter_stats now = gate_.filter().stats();
    const std::uint64_t learnt = now.adapts + now.renewals;
    if (mark == last_ && learnt == last_learnt_) return {};
    const auto done = write(mark);
    (done ? saved_ : failed_).fetch_add(1, std::memory_order_relaxed);
    if (!done) return done.error();
    last_ = mark;
    last_learnt_ = learnt;
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory for a snapshot of the filter");
}

result<void> filter_keeper::write(const store_mark& mark) {
    rocksdb::FileSystem& files = *place_.db->GetFileSystem();
    auto file = published_file::create(files, place_.folder());
    if (!file) return file.error();
    if (const auto saved = gate_.filter().save(**file, mark); !saved) return saved;
    fail_point("keeper.saved");
    // What was saved shows writes up to here, at most: it is of no use to a store that has not come so far (a copy of an
    // older day, a log that was damaged).
    const std::uint64_t shown = place_.db->GetLatestSequenceNumber();
    // After the save: it may show deletes that the log has only in memory.
    if (const auto synced = sync_log(*place_.db); !synced.ok()) return to_error(synced, "sync the store's log");
    fail_point("keeper.log_synced");
    if (const auto done = (*file)->publish(snapshot_path(place_.folder(), shown)); !done) return done;
    prune_snapshots(files, place_.folder(), snapshots_kept);
    fail_point("keeper.pruned");
    return {};
}

void filter_keeper::work() {
    std::unique_lock held{mutex_};
    while (!wake_.wait_for(held, options_.every, [this] { return stopping_; })) {
        held.unlock();
        if (gate_.any_jammed()) (void)gate_.repair();
        (void)save();  // counted; the next turn tries again
        held.lock();
    }
}

}  // namespace genista::rocks
