// Store, guard and keeper put together. See clustered_db.hpp.
#include "genista/stores/rocksdb/clustered_db.hpp"

#include <new>
#include <utility>

namespace genista::rocks {
namespace {

keeper_place place_of(clustered_store& store, bool read_only) {
    return {.db = &store.db(),
            .records = &store.family(),
            .identity = store.identity(),
            .generation = store.generation(),
            .read_only = read_only,
            .lives = store.lives()};
}

}  // namespace

result<std::unique_ptr<clustered_db>> clustered_db::open(const std::string& path, clustered_db_options options) try {
    auto store = clustered_store::open(path, options.store);
    if (!store) return store.error();
    options.filter.hash = (*store)->hash();
    options.filter.key_is_new = (*store)->is_new();
    // Nobody writes to a store opened for reading: nothing to keep.
    if (options.store.read_only) options.keeper = {.every = std::chrono::milliseconds{0}, .on_close = false};
    auto found = find_filter(place_of(**store, options.store.read_only), options.filter, options.progress);
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
      guarded_{std::move(found.filter), *store_, options.guard},
      keeper_{std::make_unique<filter_keeper>(place_of(*store_, options.store.read_only), guarded_.inner_gate(),
                                              writers_, options.keeper)} {}

clustered_db::~clustered_db() {
    (void)close();
}

result<void> clustered_db::put(key_view key, std::string_view value) {
    if (is_closed()) return closed();
    const writers_lock::shared inside{writers_};
    return guarded_.put(key, value);
}

result<void> clustered_db::erase(key_view key) {
    if (is_closed()) return closed();
    const writers_lock::shared inside{writers_};
    return guarded_.erase(key);
}

result<void> clustered_db::audit() {
    if (is_closed()) return closed();
    const writers_lock::exclusive nobody_writes{writers_};
    return guarded_.filter().audit(store_->remote());
}

result<void> clustered_db::close() {
    if (is_closed()) return {};
    keeper_->stop();
    if (snapshot_on_close_ && guarded_.inner_gate().any_jammed()) (void)guarded_.repair();
    const auto saved = snapshot_on_close_ ? keeper_->save() : result<void>{};
    keeper_->close();
    guarded_.inner_gate().drain();  // its thread reads the store no more
    const auto gone = store_->close();
    closed_.store(true, std::memory_order_relaxed);
    if (!gone) return gone;
    return saved;
}

}  // namespace genista::rocks
