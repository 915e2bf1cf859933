// Store, guard and keeper put together. See clustered_db.hpp.
#include "genista/stores/rocksdb/clustered_db.hpp"

#include <new>
#include <utility>

#include "genista/base/fail_point.hpp"

namespace genista::rocks {
namespace {

keeper_place place_of(clustered_store& store, bool read_only, write_accounts* accounts = nullptr) {
    return {.db = &store.db(),
            .records = &store.family(),
            .identity = store.identity(),
            .generation = store.generation(),
            .read_only = read_only,
            .lives = store.lives(),
            .accounts = accounts};
}

}  // namespace

result<std::unique_ptr<clustered_db>> clustered_db::open(const std::string& path, clustered_db_options options) try {
    auto store = clustered_store::open(path, options.store);
    if (!store) return store.error();
    options.filter.hash = (*store)->hash();
    options.filter.key_is_new = (*store)->is_new();
    auto filter_options = beside_the_guard(options.filter);
    if (!filter_options) return filter_options.error();
    options.filter = *filter_options;
    // Nobody writes to a store opened for reading: nothing to keep.
    if (options.store.read_only) options.keeper = {.every = std::chrono::milliseconds{0}, .on_close = false};
    auto found = find_filter(place_of(**store, options.store.read_only), options.filter, options.progress,
                             options.build_behind ? building::behind : building::now);
    if (!found) return found.error();
    return std::unique_ptr<clustered_db>{new clustered_db{*std::move(store), *std::move(found), options}};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to open %s", path.c_str());
}

clustered_db::clustered_db(std::unique_ptr<clustered_store> store, found_filter found,
                           const clustered_db_options& options)
    : store_{std::move(store)},
      origin_{found.origin},
      snapshot_on_close_{options.keeper.on_close},
      accounts_{store_->db(), nullptr, std::nullopt, nullptr},
      guarded_{std::move(found.filter), *store_, options.guard} {
    rocks_gate& guard = guarded_.inner_gate();
    if (origin_ == filter_origin::partial) guard.need_repair_everywhere();
    // What fits is brought in now, unless the caller does not want to wait; the rest stays "maybe". After so many ranges that
    // do not fit the keeper's thread goes on.
    if (origin_ == filter_origin::partial && !options.build_behind)
        (void)guard.repair({.most_failures = most_failures_at_opening});
    keeper_work work;
    if (options.build_behind && options.progress) {
        work.progress = [report = options.progress](unsigned done, unsigned all) { report(done, all); };
    }
    keeper_ = std::make_unique<filter_keeper>(place_of(*store_, options.store.read_only, &accounts_), guard, writers_,
                                              options.keeper, std::move(work));
    keeper_->start();
}

clustered_db::~clustered_db() {
    (void)close();
}

result<void> clustered_db::put(key_view key, std::string_view value) {
    const writers_lock::shared inside{writers_};
    accounts_.begin(1);
    auto written = guarded_.put(key, value);
    if (!written) accounts_.failed(1);
    return written;
}

result<void> clustered_db::erase(key_view key) {
    const writers_lock::shared inside{writers_};
    // guarded_.erase, step by step: only one that reaches the store takes a sequence number.
    rocks_gate& guard = guarded_.inner_gate();
    const digest d = guard.hash()(key);
    if (!guard.may_contain(key, d)) return {};
    accounts_.begin(1);
    if (const auto gone = store_->remove(d, key); !gone) {
        accounts_.failed(1);
        return gone;
    }
    fail_point("store.removed");
    guard.forget(key);
    fail_point("guard.forgotten");
    return {};
}

result<void> clustered_db::audit() {
    const writers_lock::exclusive nobody_writes{writers_};
    return guarded_.filter().audit(store_->remote());
}

result<void> clustered_db::close() {
    if (keeper_ == nullptr) return {};
    keeper_->stop();
    // A few ranges only: what an opening left to a thread is not done while the caller waits.
    rocks_gate& guard = guarded_.inner_gate();
    constexpr unsigned few = doors::number_of_doors / 64;
    if (snapshot_on_close_ && guard.any_jammed() && guard.pending_ranges() <= few) (void)guarded_.repair();
    const bool saves = snapshot_on_close_ && guard.pending_ranges() <= few;
    const auto saved = saves ? keeper_->save() : result<void>{};
    keeper_.reset();
    guarded_.inner_gate().drain();  // its thread reads the store no more
    if (const auto closed = store_->close(); !closed) return closed;
    return saved;
}

}  // namespace genista::rocks
