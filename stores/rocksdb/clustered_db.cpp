// Puts store, guard and snapshotter together. See clustered_db.hpp.
#include "genista/stores/rocksdb/clustered_db.hpp"

#include <chrono>
#include <new>
#include <utility>

#include "genista/detail/base/fail_point.hpp"

namespace genista::rocks {
namespace {

snapshotter_place place_of(clustered_store& store, bool read_only, const std::shared_ptr<store_watch>& watch,
                           write_accounts* accounts = nullptr) {
    return {.db = &store.db(),
            .records = &store.family(),
            .identity = store.identity(),
            .generation = store.generation(),
            .read_only = read_only,
            .lives = store.lives(),
            .accounts = accounts,
            .notes = store.notes(),
            .recorded = store.snapshots(),
            .watch = watch};
}

// All parts report to the log of the watch.
guard_options with_log(guard_options options, const store_watch& watch) {
    if (watch.log()) options.log = watch.log();
    return options;
}

}  // namespace

result<std::unique_ptr<clustered_db>> clustered_db::open(const std::string& path, clustered_db_options options) try {
    const auto begin = std::chrono::steady_clock::now();
    auto watch = std::make_shared<store_watch>(event_log{options.log});
    auto store = clustered_store::open(path, options.store);
    if (!store) return store.error();
    options.filter.hash = (*store)->hash();
    options.filter.key_is_new = (*store)->is_new();
    auto filter_options = beside_the_guard(options.filter);
    if (!filter_options) return filter_options.error();
    options.filter = *filter_options;
    // A store opened for reading gets no writes, so there is nothing to save.
    if (options.store.read_only) options.snapshotter = {.every = std::chrono::milliseconds{0}, .on_close = false};
    auto found = find_filter(place_of(**store, options.store.read_only, watch), options.filter, options.progress,
                             options.build_behind ? building::behind : building::now);
    if (!found) return found.error();
    std::unique_ptr<clustered_db> made{new clustered_db{*std::move(store), *std::move(found), options, watch}};
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    watch->opened(made->origin_, made->counters().filter.keys, taken.count());
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to open %s", path.c_str());
}

clustered_db::clustered_db(std::unique_ptr<clustered_store> store, found_filter found,
                           const clustered_db_options& options, std::shared_ptr<store_watch> watch)
    : store_{std::move(store)},
      watch_{std::move(watch)},
      origin_{found.origin},
      snapshot_on_close_{options.snapshotter.on_close},
      accounts_{store_->db(), nullptr, std::nullopt, nullptr},
      guarded_{std::move(found.filter), *store_, with_log(options.guard, *watch_)} {
    rocks_guard_core& guard = guarded_.core();
    if (origin_ == filter_origin::partial) guard.need_repair_everywhere();
    // Repairs now what fits into the filter, unless the caller asked not to wait. Other keys stay
    // "maybe". After a few ranges that do not fit, the snapshotter's thread continues.
    if (origin_ == filter_origin::partial && !options.build_behind)
        (void)guard.repair({.most_failures = most_failures_at_opening});
    snapshotter_work work;
    if (options.build_behind && options.progress) {
        work.progress = [report = options.progress](unsigned done, unsigned all) { report(done, all); };
    }
    snapshotter_ = std::make_unique<filter_snapshotter>(place_of(*store_, options.store.read_only, watch_, &accounts_),
                                                        guard, writers_, options.snapshotter, std::move(work));
    snapshotter_->start();
}

result<void> clustered_db::add_metrics(metrics_page& page, const metric_labels& labels) const try {
    if (const auto added = guarded_.add_metrics(page, labels); !added) return added;
    watch_->add_metrics(page);
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "metrics: no memory for a page");
}

result<std::string> clustered_db::metrics_text(const metric_labels& labels) const try {
    metrics_page page;
    if (const auto added = add_metrics(page, labels); !added) return added.error();
    return page.text();
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "metrics: no memory for a page");
}

clustered_db::~clustered_db() {
    (void)close();
}

result<void> clustered_db::put(key_view key, std::string_view value) {
    if (is_closed()) return closed();
    const writers_lock::shared inside{writers_};
    // The steps of guarded_.put and erase, spelled out so that the store counts the entries it
    // writes.
    rocks_guard_core& guard = guarded_.core();
    const hashed_key hashed{guard.hash(), key};
    rocks_guard_core::entering in{guard, hashed};
    fail_point("guard.entered");
    const auto written = store_->write(hashed.where(), key, value, &accounts_);
    fail_point("store.committed");
    in.on_committed(hashed);  // after an error too: the write may have been done
    fail_point("guard.inserted");
    return written;
}

result<void> clustered_db::erase(key_view key) {
    if (is_closed()) return closed();
    const writers_lock::shared inside{writers_};
    rocks_guard_core& guard = guarded_.core();
    const hashed_key hashed{guard.hash(), key};
    if (!guard.may_contain(hashed)) return {};
    if (const auto gone = store_->remove(hashed.where(), key, &accounts_); !gone) return gone;
    fail_point("store.removed");
    guard.on_erased(hashed);
    fail_point("guard.forgotten");
    return {};
}

result<void> clustered_db::audit() {
    if (is_closed()) return closed();
    // Background adapts change bins and counters. An audit needs a filter that does not change.
    guarded_.core().drain();
    const writers_lock::exclusive nobody_writes{writers_};
    return guarded_.filter().audit(store_->remote());
}

result<void> clustered_db::close() {
    if (is_closed()) return {};
    snapshotter_->stop();
    // Repairs a few ranges only: closing does not wait for work that an opening left to the thread.
    rocks_guard_core& guard = guarded_.core();
    constexpr unsigned few = range_states::number_of_ranges / 64;
    if (snapshot_on_close_ && guard.any_range_needs_repair() && guard.pending_ranges() <= few) (void)guarded_.repair();
    const bool saves = snapshot_on_close_ && guard.pending_ranges() <= few;
    const auto saved = saves ? snapshotter_->save() : result<void>{};
    snapshotter_->close();
    guarded_.core().drain();  // afterwards its thread reads the store no more
    const auto gone = store_->close();
    closed_.store(true, std::memory_order_relaxed);
    if (!gone) return gone;
    return saved;
}

}  // namespace genista::rocks
