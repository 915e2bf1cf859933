// filter_snapshotter: keeps a guard's filter across restarts, in files beside the database:
// <database>/genista/filter-<sequence>.
//
// The truth is the store: a filter can always be built again from it in one scan. A snapshot makes
// reopening fast, and keeps what the filter has learnt. It is taken while others write:
//
//     mark     with no write half done: S, the store's sequence number. Every write up to S is in
//              the filter
//     save     the filter's bytes, which may show writes after S already
//     sync     the store's log. Else power loss could undo a delete that the saved filter shows,
//              and a key would be denied
//     publish  temporary file, sync, rename, sync of the folder; the last two snapshots stay, older
//              ones go
//
// Reopening takes the newest snapshot that is whole, of this database and not newer than it, and
// repeats the log from S on (the database keeps its log for that: WAL_size_limit_MB); inserting and
// forgetting twice does no harm. Where that is not possible it tries the one before, and else
// builds the filter anew. A snapshot that was refused is removed: the store may grow past its
// sequence number later, with another history.
//
// A copy of the files has the identity of the original and uses its sequence numbers for other
// writes. So a snapshot carries the id of the life that wrote it (store_life in meta.hpp), and one
// of a life that the store does not know is refused. In the clustered layout, where nothing tells
// foreign records from others, it also carries an id of its own, which the store writes down in
// place of the sync (snapshot_record). A process that is itself copied while it runs (a clone of a
// virtual machine with its memory) has one life twice: do not put the snapshots of one clone beside
// the data of the other.
//
// The snapshotter's thread also looks, every second, whether all writes came through the guard
// (write_accounts.hpp), and repairs ranges that need it. A repair that fails is tried again after
// one second, two, four, up to an hour; a range that comes to need repair meanwhile is tried within
// a second.
//
// All files go through the database's own FileSystem, so that whoever makes that fail makes this
// fail too.
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
#include "genista/detail/stores/rocksdb/writers_lock.hpp"
#include "genista/filters/broom.hpp"

namespace genista::rocks {

// done of all, in keys; all is an estimate. Called now and then, from the thread that opens.
using progress_report = std::function<void(std::uint64_t done, std::uint64_t all)>;

using rocks_guard_core = guard_core<broom_filter, ordered_records>;

struct snapshotter_options {
    // Between snapshots in the background; 0: none, and no thread, unless the opening left ranges
    // to repair.
    std::chrono::milliseconds every{std::chrono::minutes{5}};
    bool on_close = true;  // one more when the store is closed
    // Between looks for writes past the guard and for ranges to repair; at most `every`.
    std::chrono::milliseconds watch{std::chrono::seconds{1}};
};

// What a layout adds to the snapshotter's work.
struct snapshotter_work {
    // Makes R whole after writes past the guard were found, before ranges are repaired from it.
    // None: R is the data.
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
    bool read_only = false;              // snapshots are another process's: none is written, and none removed
    std::vector<store_life> lives{};     // meta.hpp; the last one is the present one, unless the store is only read
    write_accounts* accounts = nullptr;  // none: foreign writes are not looked for
    rocksdb::ColumnFamilyHandle* notes = nullptr;             // genista.meta, if snapshots are written down there
    std::optional<snapshot_records> recorded = std::nullopt;  // none: no snapshot of this store has an id
    std::shared_ptr<store_watch> watch = std::make_shared<store_watch>();  // never null

    // What a snapshot carries: one of an older generation, of an unknown life or with an unknown id
    // is another store's. An id of 0 is none.
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
    // The last write that R can have seen: not the note of the newest life, if nothing came after
    // it, and not the record of the last snapshot before that. So a snapshot of that moment needs
    // no log.
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
    std::uint64_t replayed = 0;  // records of R put or deleted in the log since the snapshot
};

// An opening tries no more ranges that do not fit than these; the thread tries the others.
inline constexpr unsigned most_failures_at_opening = 512;

enum class building : unsigned char {
    now,     // if no snapshot serves
    behind,  // the filter comes back empty and `partial`
};

// While nobody writes. `options.hash` is the store's, `key_is_new` says that the store was made
// just now; the capacity is raised to the number of keys there are, or to what `memory_limit`
// allows. A filter that cannot hold all keys comes back `partial`: then no range can be answered
// from it before it was repaired.
[[nodiscard]] result<found_filter> find_filter(const snapshotter_place& place, const broom_options& options,
                                               const progress_report& progress = {}, building when = building::now);
// `options` with the guard's own memory taken off the limit. An error if nothing is left.
[[nodiscard]] result<broom_options> beside_the_guard(broom_options options) noexcept;

class filter_snapshotter {
  public:
    filter_snapshotter(const snapshotter_place& place, rocks_guard_core& core, writers_lock& writers,
                       const snapshotter_options& options, snapshotter_work work = {});
    filter_snapshotter(const filter_snapshotter&) = delete;
    filter_snapshotter& operator=(const filter_snapshotter&) = delete;
    // Stops the thread. Takes no snapshot: close() of the store does, while it still can say that
    // it failed.
    ~filter_snapshotter();

    // The thread, if the options ask for one or ranges need repair now.
    void start();
    // One snapshot now. An error leaves the snapshots before it.
    result<void> save();
    // Whether all writes came through the guard. If not, every range is "maybe" from now on.
    [[nodiscard]] result<void> look();
    // R is made whole and ranges are repaired, as far as they fit.
    [[nodiscard]] result<void> repair(const repair_pass& how = {});
    void stop() noexcept;
    // stop(), and the database goes: save() is an error from now on.
    void close() noexcept {
        stop();
        closed_.store(true, std::memory_order_relaxed);
    }

    // R changes past the log (files are taken in): snapshots of older generations are void. By
    // whoever excludes writers.
    void set_generation(std::uint64_t generation) noexcept { generation_.store(generation, std::memory_order_relaxed); }
    // It is unknown what became of such a change: what is saved from now on would not be taken, so
    // that save() is an error.
    void give_up() noexcept { given_up_.store(true, std::memory_order_relaxed); }

    [[nodiscard]] std::uint64_t snapshots() const noexcept { return place_.watch->snapshots(); }
    [[nodiscard]] std::uint64_t failures() const noexcept { return place_.watch->failures(); }

  private:
    void run();
    void repair_in_turn();
    [[nodiscard]] result<void> reconcile_accounts();  // while nobody writes
    // Whether a snapshot was taken: none is needed if the last one holds all there is.
    result<bool> save_if_needed();
    result<void> write(store_mark mark);
    // All writes so far become durable, and the snapshot with this id is known to the store.
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
    // Of the thread: when pending ranges are tried next, and how many there were after the last
    // try.
    std::chrono::steady_clock::time_point next_repair_{};
    std::chrono::milliseconds backoff_{0};
    unsigned left_pending_ = 0;
    std::thread worker_;
};

}  // namespace genista::rocks
