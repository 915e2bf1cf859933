// Taking snapshots. See filter_snapshotter.hpp. find_filter.cpp loads them.
#include "genista/detail/stores/rocksdb/filter_snapshotter.hpp"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <new>

#include "genista/detail/base/fail_point.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"
#include "stores/rocksdb/snapshot_files.hpp"

namespace genista::rocks {
namespace {

constexpr std::size_t snapshots_kept = 2;

}  // namespace

filter_snapshotter::filter_snapshotter(const snapshotter_place& place, rocks_guard_core& core, writers_lock& writers,
                                       const snapshotter_options& options, snapshotter_work work)
    : place_{place},
      core_{core},
      writers_{writers},
      options_{options},
      work_{std::move(work)},
      generation_{place.generation} {}

void filter_snapshotter::start() {
    if (options_.every.count() > 0 || core_.any_range_needs_repair()) worker_ = std::thread{[this] { run(); }};
}

filter_snapshotter::~filter_snapshotter() {
    stop();
}

void filter_snapshotter::stop() noexcept {
    {
        const std::lock_guard held{mutex_};
        stopping_.store(true, std::memory_order_relaxed);
    }
    wake_.notify_all();
    if (worker_.joinable()) worker_.join();
}

result<void> filter_snapshotter::save() {
    const auto begin = std::chrono::steady_clock::now();
    const auto done = save_if_needed();
    if (!done) {
        // Keys that wait for the filter have been reported. The next repair inserts them, and a
        // snapshot follows.
        const bool waits = core_.any_range_needs_repair();
        if (!place_.read_only)
            place_.watch->snapshot_failed(done.error(), waits ? event_level::warning : event_level::error);
        return done.error();
    }
    if (*done) {
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        place_.watch->snapshot_taken(core_.filter().stats().keys, taken.count());
    } else {
        place_.watch->snapshot_is_current();
    }
    return {};
}

result<bool> filter_snapshotter::save_if_needed() try {
    const std::lock_guard held{saving_};
    if (closed_.load(std::memory_order_relaxed)) return error::make(error_code::io, "no snapshot: the store is closed");
    if (place_.read_only)
        return error::make(error_code::unsupported, "no snapshot: the store is open for reading only");
    if (given_up_.load(std::memory_order_relaxed))
        return error::make(error_code::io, "no snapshot: the outcome of an ingest is unknown; open the store again");
    store_mark mark;
    {
        // No write is in flight here: the filter has every write that the store has committed, or
        // the write's range is marked as in need of repair.
        const writers_lock::exclusive alone{writers_};
        if (const auto ours = reconcile_accounts(); !ours) return ours.error();
        place_.generation = generation_.load(std::memory_order_relaxed);
        mark = {.identity = place_.identity_now(), .sequence = place_.db->GetLatestSequenceNumber()};
        // A snapshot does not record which ranges need repair. A filter loaded from it would deny
        // the keys that such a range lacks.
        if (core_.lacks_keys()) return error::make(error_code::io, "no snapshot while keys wait for the filter");
    }
    fail_point("snapshotter.marked");
    const filter_stats now = core_.filter().stats();
    const std::uint64_t learnt = now.adapts + now.renewals;
    if (mark == last_ && learnt == last_learnt_) return false;
    if (const auto done = write(mark); !done) return done.error();
    last_ = mark;
    // The store's record of this snapshot is a write too, but no reason for another snapshot.
    if (place_.notes != nullptr && place_.last_write() == mark.sequence)
        last_->sequence = place_.db->GetLatestSequenceNumber();
    last_learnt_ = learnt;
    return true;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory for a snapshot of the filter");
}

// Syncs by a write. If the store keeps no records of snapshots, the write is empty and takes no
// sequence number. RocksDB refuses a write while its log is broken. FlushWAL(true) is not safe
// then: RocksDB 7.8 asserts that the log is intact.
rocksdb::Status filter_snapshotter::sync_log(const snapshot_record& taken) {
    if (place_.notes == nullptr) {
        rocksdb::WriteBatch nothing;
        rocksdb::WriteOptions durably;
        durably.sync = true;
        rocksdb::Status noted = nothing.PutLogData("genista: a snapshot of the filter");
        return noted.ok() ? place_.db->Write(durably, &nothing) : noted;
    }
    snapshot_records records = place_.recorded.value_or(snapshot_records{});
    if (records.size() == snapshot_records_kept) records.erase(records.begin());
    records.push_back(taken);
    // Takes the lock as a writer, so that no look sees a write that is only partly counted.
    const writers_lock::shared inside{writers_};
    const auto write = [&] { return write_snapshot_records(*place_.db, *place_.notes, records); };
    rocksdb::Status written = place_.accounts != nullptr ? place_.accounts->counted(1, write) : write();
    if (written.ok()) place_.recorded = std::move(records);
    return written;
}

result<void> filter_snapshotter::write(store_mark mark) {
    std::uint64_t id = 0;
    if (place_.notes != nullptr) {
        const auto drawn = random_id();
        if (!drawn) return drawn.error();
        id = *drawn;
        mark.identity = place_.identity_now(id);
    }
    rocksdb::FileSystem& files = *place_.db->GetFileSystem();
    auto file = published_file::create(files, place_.folder());
    if (!file) return file.error();
    if (const auto saved = core_.filter().save(**file, mark); !saved) return saved;
    fail_point("snapshotter.saved");
    // The saved filter has writes up to this number at most. It is useless to a store that has
    // fewer writes (an older copy, or a damaged log).
    const std::uint64_t shown = place_.db->GetLatestSequenceNumber();
    // Synced after the save, because the saved filter may have deletes that the log still holds in
    // memory only.
    if (const auto synced = sync_log({id, shown}); !synced.ok()) return to_error(synced, "sync the store's log");
    fail_point("snapshotter.log_synced");
    if (const auto done = (*file)->publish(snapshot_path(place_.folder(), shown)); !done) {
        // Otherwise failed attempts would push the records of good snapshots out.
        if (place_.notes != nullptr) place_.recorded->pop_back();
        return done;
    }
    prune_snapshots(files, place_.folder(), snapshots_kept);
    fail_point("snapshotter.pruned");
    return {};
}

result<void> filter_snapshotter::reconcile_accounts() {
    if (place_.accounts == nullptr) return {};
    if (!place_.accounts->reconcile()) {
        core_.on_foreign_writes("every key is answered \"maybe\" until the index is completed");
        core_.need_repair_everywhere(work_.make_whole == nullptr);
        return error::make(error_code::mismatch, "%s has writes that did not go through the guard",
                           place_.db->GetName().c_str());
    }
    // Written only if R lacks no keys, because a mark would hide that they are missing. Until then
    // the former mark stays valid.
    if (!core_.remote_lacks_keys()) (void)place_.accounts->note();
    return {};
}

result<void> filter_snapshotter::look() try {
    if (place_.accounts == nullptr || place_.read_only || closed_.load(std::memory_order_relaxed)) return {};
    const writers_lock::exclusive alone{writers_};
    return reconcile_accounts();
} catch (const std::exception&) {
    return error::make(error_code::out_of_memory, "no memory to look for foreign writes");
}

result<void> filter_snapshotter::repair(const repair_pass& how) {
    if (closed_.load(std::memory_order_relaxed)) return error::make(error_code::io, "no repair: the store is closed");
    if (core_.remote_lacks_keys() && work_.make_whole) {
        static const std::atomic<bool> never{false};
        if (const auto whole = work_.make_whole(how.stop != nullptr ? *how.stop : never); !whole) return whole;
    }
    return core_.repair(how);
}

void filter_snapshotter::repair_in_turn() {
    constexpr std::chrono::milliseconds longest = std::chrono::hours{1};
    constexpr unsigned few = 8;  // of the ranges that did not fit the last time
    using clock = std::chrono::steady_clock;
    const unsigned pending = core_.pending_ranges();
    const bool is_new = pending > left_pending_;
    if (pending == 0 || (!is_new && clock::now() < next_repair_)) {
        left_pending_ = std::min(left_pending_, pending);
        return;
    }
    if (is_new) backoff_ = std::chrono::milliseconds{0};
    repair_pass how{.stop = &stopping_, .progress = work_.progress};
    if (!is_new) how.most_failures = few;
    const auto repaired = repair(how);
    left_pending_ = core_.pending_ranges();
    backoff_ = repaired ? std::chrono::milliseconds{0} : std::min(std::max(backoff_ * 2, options_.watch), longest);
    next_repair_ = clock::now() + backoff_;
}

void filter_snapshotter::run() {
    using clock = std::chrono::steady_clock;
    const bool saves = options_.every.count() > 0;
    const auto tick = saves ? std::min(options_.watch, options_.every) : options_.watch;
    auto next_save = clock::now() + options_.every;
    repair_in_turn();  // ranges that the opening left
    std::unique_lock held{mutex_};
    const auto stops = [this] { return stopping_.load(std::memory_order_relaxed); };
    while (!wake_.wait_for(held, std::max(tick, std::chrono::milliseconds{1}), stops)) {
        held.unlock();
        (void)look();
        repair_in_turn();
        if (saves && clock::now() >= next_save) {
            (void)save();  // a failure is counted, and the next turn tries again
            next_save = clock::now() + options_.every;
        }
        held.lock();
    }
}

}  // namespace genista::rocks
