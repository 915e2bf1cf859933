// Opening: looks at the path, builds the index if there is none, finds the filter and puts the
// guard around it. The audit. See guarded_db.hpp.
#include <rocksdb/table.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <utility>

#include "genista/stores/rocksdb/guarded_db.hpp"
#include "stores/rocksdb/index_builder.hpp"
#include "stores/rocksdb/log_reader.hpp"
#include "stores/rocksdb/range_deletes.hpp"

namespace genista::rocks {
namespace {

// The index is only read in ranges, so it needs no filters, hashes or prefixes. Memory and levels
// are as the user set them.
rocksdb::ColumnFamilyOptions index_options(const guarded_db_options& options) {
    if (options.index) return *options.index;
    const rocksdb::Options& user = options.rocksdb;
    rocksdb::ColumnFamilyOptions made;
    made.write_buffer_size = user.write_buffer_size;
    made.max_write_buffer_number = user.max_write_buffer_number;
    made.target_file_size_base = user.target_file_size_base;
    made.max_bytes_for_level_base = user.max_bytes_for_level_base;
    made.level_compaction_dynamic_level_bytes = user.level_compaction_dynamic_level_bytes;
    made.compression = user.compression;
    rocksdb::BlockBasedTableOptions table;
    table.format_version = 5;
    const auto* const theirs =
        user.table_factory == nullptr ? nullptr : user.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (theirs != nullptr) table.block_cache = theirs->block_cache;
    made.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return made;
}

result<void> check_families(const guarded_db_options& options) noexcept {
    for (const auto& each : options.families) {
        if (each.name == rocksdb::kDefaultColumnFamilyName) {
            return error::make(error_code::invalid_argument,
                               "the column family default takes its options from guarded_db_options::rocksdb");
        }
        if (each.name.starts_with(own_family_prefix)) {
            return error::make(error_code::invalid_argument, "the column family %s belongs to genista",
                               each.name.c_str());
        }
    }
    return {};
}

// Families that the caller names and the database lacks are handled as RocksDB does.
result<void> check_missing(const database& db, const guarded_db_options& options, const std::string& path) {
    for (const auto& each : options.families) {
        if (options.rocksdb.create_missing_column_families || db.family(each.name) != nullptr) continue;
        return error::make(error_code::invalid_argument, "%s has no column family %s", path.c_str(), each.name.c_str());
    }
    return {};
}
result<void> create_missing(database& db, const guarded_db_options& options) {
    for (const auto& each : options.families) {
        if (db.family(each.name) != nullptr) continue;
        if (const auto made = db.create_family(each.options, each.name); !made) return made.error();
    }
    return {};
}

result<rocksdb::ColumnFamilyHandle*> meta_family(database& db) {
    if (rocksdb::ColumnFamilyHandle* const there = db.family(meta_family_name); there != nullptr) return there;
    return db.create_family({}, meta_family_name);
}

std::uint64_t keys_of(const database& db) {
    std::uint64_t keys = 0;
    return db.base().GetIntProperty(rocksdb::DB::Properties::kEstimateNumKeys, &keys) ? keys : 0;
}

struct established_index {
    store_meta meta;
    std::uint64_t keys = 0;
    std::string because;   // why the index lacked keys, or may have lacked them
    bool is_whole = true;  // false: a thread completes it after opening
};

// Begins an index that may lack keys, in a state that says so.
result<void> begin_index(database& db, established_index& at, const guarded_db_options& options) {
    const auto notes = meta_family(db);
    if (!notes) return notes.error();
    at.meta.state = store_state::indexing;
    ++at.meta.generation;
    at.meta.lives.clear();  // as in build_index
    if (const auto written = write_meta(db.base(), **notes, at.meta); !written) return written;
    if (db.family(index_family_name) == nullptr) {
        if (const auto made = db.create_family(index_options(options), index_family_name); !made) return made.error();
    }
    at.is_whole = false;
    return {};
}

// The meta of a database. Its index is whole: it was, or is built now. Or it is only begun.
result<established_index> establish_index(database& db, const std::string& path, const guarded_db_options& options,
                                          const event_log& log) {
    established_index at;
    std::optional<store_meta> meta;
    if (rocksdb::ColumnFamilyHandle* const notes = db.family(meta_family_name); notes != nullptr) {
        const auto there = read_meta(db.base(), *notes, path);
        if (!there) return there.error();
        meta = *there;
    }
    if (meta) {
        if (const auto fits = check_layout(*meta, layout::indexed, path); !fits) return fits.error();
        const bool whole = meta->state == store_state::ready && db.family(index_family_name) != nullptr;
        if (whole && !options.rebuild_index) {
            auto foreign = find_foreign_writes(db, *meta);
            if (!foreign) return foreign.error();
            if (!*foreign) {
                at.meta = *meta;
                return at;
            }
            at.because = **foreign;
        }
    } else {
        if (!db.is_new() && !options.index_existing) {
            return error::make(error_code::mismatch,
                               "%s is a RocksDB database without an index, and index_existing is off", path.c_str());
        }
        const auto made = store_meta::make(layout::indexed, options.key);
        if (!made) return made.error();
        meta = *made;
    }
    at.meta = *meta;
    if (options.build_behind && !options.rebuild_index && !db.is_new()) {
        if (const auto begun = begin_index(db, at, options); !begun) return begun.error();
        return at;
    }
    log.report(event_level::info, event_kind::indexing_begun, "the index of %s is built from its data", path.c_str());
    const auto begin = std::chrono::steady_clock::now();
    const auto built = build_index(db, at.meta, index_options(options), options.progress);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (!built) {
        log.report(event_level::error, event_kind::indexing_failed,
                   "the index of %s could not be built (%.3f s); the next opening starts over: %.*s", path.c_str(),
                   taken.count(), static_cast<int>(built.error().message().size()), built.error().message().data());
        return built.error();
    }
    log.report(event_level::info, event_kind::indexing_ended, "the index of %s was built with %llu keys in %.3f s",
               path.c_str(), static_cast<unsigned long long>(*built), taken.count());
    at.keys = *built;
    return at;
}

// Opens the database. `default` is not compacted before its tables have been looked at.
result<database> open_database(const std::string& path, const guarded_db_options& options) {
    std::vector<rocksdb::ColumnFamilyDescriptor> families = options.families;
    families.emplace_back(meta_family_name, rocksdb::ColumnFamilyOptions{});
    families.emplace_back(index_family_name, index_options(options));
    rocksdb::Options uncompacted = options.rocksdb;
    uncompacted.disable_auto_compactions = true;
    return database::open(path, {.options = uncompacted,
                                 .families = families,
                                 .create_if_missing = options.create_if_missing,
                                 .arrangement = layout::indexed});
}

result<void> allow_compactions(database& db, const guarded_db_options& options) {
    if (options.rocksdb.disable_auto_compactions) return {};
    std::vector<rocksdb::ColumnFamilyHandle*> held;
    for (rocksdb::ColumnFamilyHandle* each : db.families()) {
        const std::string name = each->GetName();
        const bool is_named =
            std::ranges::find(options.families, name, &rocksdb::ColumnFamilyDescriptor::name) != options.families.end();
        if (!is_named && !name.starts_with(own_family_prefix)) held.push_back(each);
    }
    if (const auto done = db.base().EnableAutoCompaction(held); !done.ok())
        return to_error(done, "allow compactions again");
    return {};
}

}  // namespace

struct guarded_db::parts {
    database opened;
    rocksdb::DB* base;
    store_meta meta;
    std::string because;  // why the index lacked keys
    bool index_is_whole;
    found_filter found;
    const guarded_db_options& options;
    store_id identity;
    std::shared_ptr<ingest_listener> ingests;
    std::shared_ptr<store_watch> watch;
};

result<std::unique_ptr<guarded_db>> guarded_db::open(const std::string& path, guarded_db_options options) try {
    const auto begin = std::chrono::steady_clock::now();
    auto watch = std::make_shared<store_watch>(event_log{options.log});
    if (options.log) options.guard.log = watch->log();
    if (const auto fits = check_guardable(options.rocksdb, layout::indexed); !fits) return fits.error();
    if (options.index) {
        if (const auto fits = check_index(*options.index); !fits) return fits.error();
    }
    if (const auto fits = check_families(options); !fits) return fits.error();
    auto filter_options = beside_the_guard(options.filter);
    if (!filter_options) return filter_options.error();
    options.filter = *filter_options;
    if (options.rocksdb.WAL_size_limit_MB == 0) options.rocksdb.WAL_size_limit_MB = options.wal_kept_mb;
    const auto ingests = std::make_shared<ingest_listener>();
    options.rocksdb.listeners.push_back(ingests);
    auto opened = open_database(path, options);
    if (!opened) return opened.error();
    if (const auto fits = check_missing(*opened, options, path); !fits) return fits.error();
    auto index = establish_index(*opened, path, options, watch->log());
    if (!index) return index.error();
    if (const auto allowed = allow_compactions(*opened, options); !allowed) return allowed.error();
    store_meta& meta = index->meta;
    if (const auto made = create_missing(*opened, options); !made) return made.error();
    remove_companions(opened->base());
    if (const auto begun = begin_life(opened->base(), *opened->family(meta_family_name), meta); !begun)
        return begun.error();

    if (const auto finished = finish_range_deletes(*opened); !finished) return finished.error();
    const auto identity = store_identity(opened->base());
    if (!identity) return identity.error();
    options.filter.hash = meta.hash();
    options.filter.key_is_new = opened->is_new();
    options.filter.capacity = std::max(options.filter.capacity, index->is_whole ? index->keys : keys_of(*opened));
    progress_report building_it;
    if (options.progress) {
        building_it = [&](std::uint64_t done, std::uint64_t all) {
            options.progress(opening_stage::filtering, done, all);
        };
    }
    auto found = find_filter({.db = &opened->base(),
                              .records = opened->family(index_family_name),
                              .identity = *identity,
                              .generation = meta.generation,
                              .lives = meta.lives,
                              .watch = watch},
                             options.filter, building_it, options.build_behind ? building::behind : building::now);
    if (!found) return found.error();
    rocksdb::DB* const base = opened->release_base();
    std::unique_ptr<guarded_db> made{new guarded_db{parts{.opened = *std::move(opened),
                                                          .base = base,
                                                          .meta = meta,
                                                          .because = index->because,
                                                          .index_is_whole = index->is_whole,
                                                          .found = *std::move(found),
                                                          .options = options,
                                                          .identity = *identity,
                                                          .ingests = ingests,
                                                          .watch = watch}}};
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    watch->opened(made->origin(), made->counters().filter.keys, taken.count());
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to open %s", path.c_str());
}

guarded_db::guarded_db(parts made)
    : StackableDB{made.base},
      handles_{std::move(made.opened)},
      index_id_{handles_.family(index_family_name)->GetID()},
      meta_id_{handles_.family(meta_family_name)->GetID()},
      has_merge_operator_{made.options.rocksdb.merge_operator != nullptr},
      has_row_cache_{made.options.rocksdb.row_cache != nullptr},
      snapshot_on_close_{made.options.snapshotter.on_close},
      origin_{made.found.origin},
      identity_{made.identity},
      reindexed_because_{std::move(made.because)},
      progress_{made.options.build_behind ? made.options.progress : opening_progress{}},
      meta_{std::move(made.meta)},
      generation_{meta_.generation},
      ingests_{std::move(made.ingests)},
      accounts_{*db_, handles_.family(meta_family_name), meta_.mark, ingests_},
      records_{*db_, *handles_.family(index_family_name)},
      watch_{std::move(made.watch)},
      core_{std::make_unique<rocks_guard_core>(std::move(made.found.filter), records_, made.options.guard,
                                               [this](const hashed_key& key) { remove_orphan(key); })} {
    ingests_->on_foreign_file([this] { accounts_.forget_mark(); });
    if (!reindexed_because_.empty()) core_->on_foreign_writes(reindexed_because_);
    if (!made.index_is_whole)
        core_->need_repair_everywhere(false);
    else if (origin_ == filter_origin::partial)
        core_->need_repair_everywhere();
    // Repairs now what fits into the filter, unless the caller asked not to wait. Other keys stay
    // "maybe". After a few ranges that do not fit, the snapshotter's thread continues.
    if (origin_ == filter_origin::partial && !made.options.build_behind)
        (void)core_->repair({.most_failures = most_failures_at_opening});
    snapshotter_work work{.make_whole = [this](const std::atomic<bool>& stop) { return make_whole(stop); }};
    if (progress_) {
        work.progress = [this](unsigned done, unsigned all) { progress_(opening_stage::filtering, done, all); };
    }
    snapshotter_ = std::make_unique<filter_snapshotter>(snapshotter_place{.db = db_,
                                                                          .records = &records_.family(),
                                                                          .identity = made.identity,
                                                                          .generation = meta_.generation,
                                                                          .lives = meta_.lives,
                                                                          .accounts = &accounts_,
                                                                          .watch = watch_},
                                                        *core_, writers_, made.options.snapshotter, std::move(work));
    snapshotter_->start();
}

result<void> guarded_db::add_metrics(metrics_page& page, const metric_labels& labels) const try {
    if (const auto added = genista::add_metrics(page, counters(), core_->live_counters(), labels); !added) return added;
    watch_->add_metrics(page);
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "metrics: no memory for a page");
}

result<std::string> guarded_db::metrics_text(const metric_labels& labels) const try {
    metrics_page page;
    if (const auto added = add_metrics(page, labels); !added) return added.error();
    return page.text();
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "metrics: no memory for a page");
}

namespace {

result<digest_sum> sum_of_default(rocksdb::DB& db, const hasher& hash) {
    const std::unique_ptr<rocksdb::Iterator> at{db.NewIterator(scan_options())};
    digest_sum sum;
    for (at->SeekToFirst(); at->Valid(); at->Next()) sum.add(hash(to_key(at->key())));
    if (!at->status().ok()) return to_error(at->status(), "read all keys");
    return sum;
}

}  // namespace

result<void> guarded_db::audit() {
    if (closed_.load(std::memory_order_relaxed)) return error::make(error_code::io, "no audit: the database is closed");
    // Background adapts change bins and counters. An audit needs a filter that does not change.
    core_->drain();
    const std::unique_lock no_range_delete{clearing_};
    const writers_lock::exclusive alone{writers_};
    const auto data = sum_of_default(*db_, core_->hash());
    if (!data) return data.error();
    digest_sum index;
    bool lied = false;
    const auto read = records_.for_each(0, ~std::uint64_t{0}, [&](const digest& d, key_view key) {
        lied = lied || core_->hash()(key) != d;
        index.add(d);
        return true;
    });
    if (!read) return read;
    if (lied) return error::make(error_code::corrupt, "a record of the index has a digest that is not its key's");
    if (!(*data == index)) {
        return error::make(error_code::corrupt, "the index (%llu records) does not match the data (%llu keys)",
                           static_cast<unsigned long long>(index.keys), static_cast<unsigned long long>(data->keys));
    }
    return core_->filter().audit(records_);
}

}  // namespace genista::rocks
