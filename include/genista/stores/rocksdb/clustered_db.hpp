// clustered_db: the clustered layout ready to use: a store, a broom filter before it, and the
// filter's snapshots beside it.
//
//     auto users = genista::rocks::clustered_db::open("/data/users");
//     (*users)->put("ada", "1815");
//     (*users)->get("charles");  // answered from RAM; if not, the filter learns from the read
//
// Each write holds the writers' lock from before the store commits it until the filter has it, so
// that a snapshot of the filter can name a moment of the store (filter_snapshotter.hpp). Threads:
// any number. For another filter, or none: guarded<Filter, clustered_store>.
//
// Writes that bypass it: records that another clustered_store has written are found in the log at
// the next opening; writes of this process (store().db()) are found within a second, and then every
// key is "maybe" until the filter is repaired. Files that others ingest into the database are not
// found. Plain keys that another program puts there are no keys of this store: get() does not find
// them, and reads of a range that contains a key of fewer than 16 bytes fail.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "genista/detail/stores/rocksdb/clustered_store.hpp"
#include "genista/detail/stores/rocksdb/filter_snapshotter.hpp"
#include "genista/guard/guarded.hpp"

namespace genista::rocks {

struct clustered_db_options {
    clustered_options store{};
    broom_options filter{};  // its hash is the store's
    guard_options guard{};
    snapshotter_options snapshotter{};
    progress_report progress{};  // called while the filter is built, if no snapshot can be used
    event_hook log{};            // hears of events of the store: guard/event_log.hpp says what the function may do
    // If no snapshot can be used, open at once with every key "maybe" and build the filter in the
    // background. `progress` is then called by a thread of the snapshotter, in ranges of 4096.
    bool build_behind = false;
};

class clustered_db {
  public:
    [[nodiscard]] static result<std::unique_ptr<clustered_db>> open(const std::string& path,
                                                                    clustered_db_options options = {});
    clustered_db(const clustered_db&) = delete;
    clustered_db& operator=(const clustered_db&) = delete;
    ~clustered_db();

    // Keys are text, bytes and unsigned integers (hash/key.hpp). The value, or nothing if there is
    // no such key.
    [[nodiscard]] result<std::optional<std::string>> get(key_view key) {
        if (is_closed()) return closed();
        return guarded_.get(key);
    }
    [[nodiscard]] result<std::optional<std::string>> get(integer_key key) { return get(key.view()); }
    result<void> put(key_view key, std::string_view value);
    result<void> put(integer_key key, std::string_view value) { return put(key.view(), value); }
    result<void> erase(key_view key);
    result<void> erase(integer_key key) { return erase(key.view()); }
    [[nodiscard]] bool may_contain(key_view key) const noexcept { return guarded_.may_contain(key); }
    [[nodiscard]] bool may_contain(integer_key key) const noexcept { return may_contain(key.view()); }

    // Retries inserts that failed: inserts the keys of ranges that need repair.
    result<void> repair() noexcept {
        if (is_closed()) return closed();
        return guarded_.repair();
    }
    // Compares the filter with the store. Writers wait meanwhile.
    [[nodiscard]] result<void> audit();
    [[nodiscard]] guard_counters counters() const noexcept { return guarded_.counters(); }
    // Of this opening: snapshots, their age, and how the filter was found.
    [[nodiscard]] store_counters store_figures() const noexcept { return watch_->counters(); }
    // In the text format that Prometheus scrapes (guard/metrics.hpp); several stores share a
    // page.
    [[nodiscard]] result<std::string> metrics_text(const metric_labels& labels = {}) const;
    [[nodiscard]] result<void> add_metrics(metrics_page& page, const metric_labels& labels) const;

    // Takes a last snapshot, if the options say so. An error of the snapshot is reported after
    // everything has been closed: it costs time at the next opening, but no keys. REQUIRES: no
    // other call is under way. Later calls are errors, except that may_contain() and counters()
    // still answer from memory.
    [[nodiscard]] result<void> close();

    [[nodiscard]] clustered_store& store() noexcept { return *store_; }
    [[nodiscard]] filter_origin origin() const noexcept { return origin_; }
    // The interface that filter_snapshotter uses; guarded_db has the same.
    [[nodiscard]] rocks_guard_core& core() noexcept { return guarded_.core(); }
    [[nodiscard]] ordered_records& records() noexcept { return store_->remote(); }
    [[nodiscard]] writers_lock& writers() noexcept { return writers_; }
    [[nodiscard]] filter_snapshotter& snapshotter() noexcept { return *snapshotter_; }
    [[nodiscard]] rocksdb::DB& base() noexcept { return store_->db(); }
    [[nodiscard]] const store_id& identity() const noexcept { return store_->identity(); }
    [[nodiscard]] std::uint64_t generation() const noexcept { return store_->generation(); }
    [[nodiscard]] const std::vector<store_life>& lives() const noexcept { return store_->lives(); }

  private:
    [[nodiscard]] bool is_closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
    [[nodiscard]] static error closed() noexcept { return error::make(error_code::io, "the database is closed"); }
    clustered_db(std::unique_ptr<clustered_store> store, found_filter found, const clustered_db_options& options,
                 std::shared_ptr<store_watch> watch);

    std::unique_ptr<clustered_store> store_;
    std::shared_ptr<store_watch> watch_;
    filter_origin origin_;
    bool snapshot_on_close_;
    write_accounts accounts_;
    guarded<broom_filter, clustered_store> guarded_;
    writers_lock writers_;
    std::unique_ptr<filter_snapshotter> snapshotter_;
    std::atomic<bool> closed_{false};
};

}  // namespace genista::rocks
