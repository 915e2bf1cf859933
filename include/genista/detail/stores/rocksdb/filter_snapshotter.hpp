// filter_snapshotter: saves a guard's filter, so that it survives a restart, in files beside the
// database: <database>/genista/filter-<sequence>.
//
// The store is the truth: a filter can always be built again from it in one scan. A snapshot makes
// reopening fast and keeps what the filter has learnt. It is taken while other threads write:
//
//     mark     while no write is under way: S, the store's sequence number. Every write up to S is
//              in the filter
//     save     the filter's bytes, which may already show writes after S
//     sync     the store's log. Otherwise a loss of power could undo a delete that the saved filter
//              shows, and a key would be denied
//     publish  temporary file, sync, rename, sync of the folder; the last two snapshots are kept,
//              older ones are removed
//
// Opening takes the newest snapshot that is whole, of this database and not newer than it, and
// replays the log from S on (the database keeps its log for that: WAL_size_limit_MB); inserting and
// forgetting twice does no harm. If that is not possible, it tries the snapshot before, and if that
// fails too, it builds the filter again. A snapshot that was refused is removed: the store may grow
// past its sequence number later, with another history.
//
// A copy of the files has the identity of the original and uses its sequence numbers for other
// writes. So a snapshot carries the id of the life that wrote it (store_life in meta.hpp), and a
// snapshot of a life that the store does not list is refused. In the clustered layout, where
// foreign records look like any others, it also carries an id of its own, which the store writes
// down in place of the sync (snapshot_record). A process that is itself copied while it runs (a
// clone of a virtual machine with its memory) has the same life twice: do not put the snapshots of
// one clone beside the data of the other.
//
// The snapshotter's thread also checks, every second, whether all writes came through the guard
// (write_accounts.hpp), and repairs ranges that need it. A repair that fails is tried again after
// one second, two, four, up to an hour; a range that comes to need repair meanwhile is tried within
// a second.
//
// All files go through the database's own FileSystem, so that a test that makes it fail makes the
// snapshots fail too.
#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "genista/detail/guard/guard_core.hpp"
#include "genista/detail/stores/rocksdb/meta.hpp"
#include "genista/detail/stores/rocksdb/ordered_records.hpp"
#include "genista/detail/stores/rocksdb/store_watch.hpp"
#include "genista/detail/stores/rocksdb/write_accounts.hpp"
#include "genista/detail/stores/rocksdb/writers.hpp"
#include "genista/filters/broom.hpp"

namespace genista::rocks {

// `done` of `all`, in keys; `all` is an estimate. Called now and then by the thread that opens.
using progress_report = std::function<void(std::uint64_t done, std::uint64_t all)>;

using rocks_guard_core = guard_core<broom_filter, ordered_records>;

struct snapshotter_options {
    // Time between snapshots in the background. 0: no snapshots, and no thread unless the opening
    // left ranges to repair.
    std::chrono::milliseconds every{std::chrono::minutes{5}};
    bool on_close = true;  // take one more when the store is closed
    // Time between checks for writes that bypassed the guard and for ranges to repair; at most
    // `every`.
    std::chrono::milliseconds watch{std::chrono::seconds{1}};
};

// What a layout adds to the snapshotter's work.
struct snapshotter_work {
    // Makes R whole after writes that bypassed the guard were found, before ranges are repaired
    // from it. None: R is the data.
    std::function<result<void>(const std::atomic<bool>& stop)> make_whole{};
    std::function<void(unsigned done, unsigned all)>
        progress{};  // of repairs, in ranges, from the snapshotter's thread
};

// The database a filter belongs to.
struct snapshotter_place {
    rocksdb::DB* db = nullptr;
    rocksdb::ColumnFamilyHandle* records = nullptr;  // R
    store_id identity{};                             // meta.hpp
    std::uint64_t generation = 0;
    bool read_only = false;              // snapshots belong to another process: none is written, and none removed
    std::vector<store_life> lives{};     // meta.hpp; the last one is the current one, unless the store is read-only
    write_accounts* accounts = nullptr;  // none: foreign writes are not looked for
    rocksdb::ColumnFamilyHandle* notes = nullptr;                          // genista.meta, if it lists the snapshots
    std::optional<snapshot_records> recorded = std::nullopt;               // none: no snapshot of this store has an id
    std::shared_ptr<store_watch> watch = std::make_shared<store_watch>();  // never null

    // The identity that a snapshot carries. A snapshot of an older generation, of an unknown life
    // or with an unknown id belongs to another store. An id of 0 means none.
    [[nodiscard]] store_id identity_in(std::uint64_t life, std::uint64_t snapshot = 0) const noexcept {
        store_id mixed = identity;
        for (std::size_t i = 0; i < 8; ++i) {
            mixed[i] ^= static_cast<std::byte>((life ^ snapshot) >> (8 * i) & 0xff);
            mixed[8 + i] ^= static_cast<std::byte>(generation >> (8 * i) & 0xff);
        }
        return mixed;
    }
    [[nodiscard]] store_id identity_now(std::uint64_t snapshot = 0) const noexcept {
        return identity_in(lives.empty() ? 0 : lives.back().id, snapshot);
    }
    // The last write that can concern R: without the entries of the newest life, if nothing came
    // after them, and without the record of the last snapshot before that. So a snapshot of that
    // moment needs no log.
    [[nodiscard]] std::uint64_t last_write() const {
        std::uint64_t newest = db->GetLatestSequenceNumber();
        if (!lives.empty() && newest == lives.back().first + meta_entries) newest = lives.back().first;
        const bool is_record = recorded && !recorded->empty() && newest == recorded->back().shown + 1;
        return is_record ? recorded->back().shown : newest;
    }
    [[nodiscard]] std::string folder() const { return db->GetName() + "/genista"; }
};

struct found_filter {
    broom_filter filter;
    filter_origin origin = filter_origin::rebuilt;
    std::uint64_t replayed = 0;  // records of R put or deleted by the log since the snapshot
};

// An opening stops after so many ranges that do not fit; the snapshotter's thread tries the others.
inline constexpr unsigned most_failures_at_opening = 512;

enum class building : unsigned char {
    now,     // if no snapshot can be used
    behind,  // the filter is returned empty and `partial`
};

// REQUIRES: no thread writes. `options.hash` is the store's; `key_is_new` means that the store was
// just made. The capacity is raised to the number of keys in the store, or to what `memory_limit`
// allows. A filter that cannot hold all keys is returned as `partial`: then every range must be
// repaired before the filter may answer for it.
[[nodiscard]] result<found_filter> find_filter(const snapshotter_place& place, const broom_options& options,
                                               const progress_report& progress = {}, building when = building::now);
// `options` with the guard's own memory subtracted from the limit. An error if nothing is left.
[[nodiscard]] result<broom_options> beside_the_guard(broom_options options) noexcept;

class filter_snapshotter {
  public:
    filter_snapshotter(const snapshotter_place& place, rocks_guard_core& core, writers_lock& writers,
                       const snapshotter_options& options, snapshotter_work work = {});
    filter_snapshotter(const filter_snapshotter&) = delete;
    filter_snapshotter& operator=(const filter_snapshotter&) = delete;
    // Stops the thread. Takes no snapshot: the store's close() does, because it can still report a
    // failure.
    ~filter_snapshotter();

    // Starts the thread, if the options ask for one or ranges need repair now.
    void start();
    // Takes a snapshot now. An error leaves the earlier snapshots in place.
    result<void> save();
    // Whether all writes came through the guard. If not, every range is "maybe" from now on.
    [[nodiscard]] result<void> look();
    // Makes R whole, then repairs the ranges that fit.
    [[nodiscard]] result<void> repair(const repair_pass& how = {});
    void stop() noexcept;
    // stop(), before the database is closed: save() is an error from now on.
    void close() noexcept {
        stop();
        closed_.store(true, std::memory_order_relaxed);
    }

    // R changes in a way the log does not show (files are ingested): snapshots of older generations
    // are void. REQUIRES: the caller excludes writers.
    void set_generation(std::uint64_t generation) noexcept { generation_.store(generation, std::memory_order_relaxed); }
    // It is unknown whether such a change took effect. A snapshot saved from now on would be
    // refused, so save() is an error.
    void give_up() noexcept { given_up_.store(true, std::memory_order_relaxed); }

    [[nodiscard]] std::uint64_t snapshots() const noexcept { return place_.watch->snapshots(); }
    [[nodiscard]] std::uint64_t failures() const noexcept { return place_.watch->failures(); }

  private:
    void run();
    void repair_in_turn();
    [[nodiscard]] result<void> reconcile_accounts();  // REQUIRES: no thread writes
    // Whether a snapshot was taken: none is needed if the last one is still current.
    result<bool> save_if_needed();
    result<void> write(store_mark mark);
    // Makes all writes so far durable and lists the snapshot with this id in the store.
    [[nodiscard]] rocksdb::Status sync_log(const snapshot_record& taken);

    snapshotter_place place_;
    rocks_guard_core& core_;
    writers_lock& writers_;
    snapshotter_options options_;
    snapshotter_work work_;
    std::atomic<std::uint64_t> generation_;
    std::mutex saving_;  // one snapshot at a time
    std::optional<store_mark> last_;
    std::uint64_t last_learnt_ = 0;  // how much the filter had learnt then
    std::atomic<bool> given_up_{false};
    std::atomic<bool> closed_{false};

    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<bool> stopping_{false};  // set under the mutex
    // Used by the thread only: when pending ranges are tried next, and how many there were after
    // the last try.
    std::chrono::steady_clock::time_point next_repair_{};
    std::chrono::milliseconds backoff_{0};
    unsigned left_pending_ = 0;
    std::thread worker_;
};

}  // namespace genista::rocks
