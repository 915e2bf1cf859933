// Opening: what is there, an index for what has none, a filter, and the guard around it. The audit. See guarded_db.hpp.
#include <rocksdb/table.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "genista/stores/rocksdb/guarded_db.hpp"
#include "stores/rocksdb/index_builder.hpp"
#include "stores/rocksdb/ingest.hpp"
#include "stores/rocksdb/range_deletes.hpp"

namespace genista::rocks {
namespace {

// The index is read in ranges only: no filters, no hashes, no prefixes. Memory and levels as the user has them.
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

// Families the user names and the database lacks: as RocksDB does it.
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

// The meta of a database whose index is whole; it is built now if need be.
result<store_meta> settle_index(database& db, const std::string& path, const guarded_db_options& options,
                                std::uint64_t& keys) {
    std::optional<store_meta> meta;
    if (rocksdb::ColumnFamilyHandle* const notes = db.family(meta_family_name); notes != nullptr) {
        const auto there = read_meta(db.base(), *notes, path);
        if (!there) return there.error();
        meta = *there;
    }
    if (meta) {
        if (const auto fits = check_layout(*meta, layout::indexed, path); !fits) return fits.error();
        const bool whole = meta->state == store_state::ready && db.family(index_family_name) != nullptr;
        if (whole && !options.rebuild_index) return *meta;
    } else {
        if (!db.is_new() && !options.index_existing) {
            return error::make(error_code::mismatch,
                               "%s is a RocksDB database without an index, and index_existing is off", path.c_str());
        }
        const auto made = store_meta::make(layout::indexed, options.key);
        if (!made) return made.error();
        meta = *made;
    }
    const auto built = build_index(db, *meta, index_options(options), options.progress);
    if (!built) return built.error();
    keys = *built;
    return *meta;
}

}  // namespace

result<std::unique_ptr<guarded_db>> guarded_db::open(const std::string& path, guarded_db_options options) try {
    if (const auto fits = check_guardable(options.rocksdb, layout::indexed); !fits) return fits.error();
    if (options.index) {
        if (const auto fits = check_index(*options.index); !fits) return fits.error();
    }
    if (const auto fits = check_families(options); !fits) return fits.error();
    if (options.rocksdb.WAL_size_limit_MB == 0) options.rocksdb.WAL_size_limit_MB = options.wal_kept_mb;
    std::vector<rocksdb::ColumnFamilyDescriptor> families = options.families;
    families.emplace_back(meta_family_name, rocksdb::ColumnFamilyOptions{});
    families.emplace_back(index_family_name, index_options(options));
    auto opened = database::open(
        path, {.options = options.rocksdb, .families = families, .create_if_missing = options.create_if_missing});
    if (!opened) return opened.error();
    if (const auto fits = check_missing(*opened, options, path); !fits) return fits.error();
    std::uint64_t keys = 0;
    auto meta = settle_index(*opened, path, options, keys);
    if (!meta) return meta.error();
    if (const auto made = create_missing(*opened, options); !made) return made.error();
    remove_companions(opened->base());
    if (const auto begun = begin_life(opened->base(), *opened->family(meta_family_name), *meta); !begun)
        return begun.error();

    if (const auto finished = finish_range_deletes(*opened); !finished) return finished.error();
    const auto identity = store_identity(opened->base());
    if (!identity) return identity.error();
    options.filter.hash = meta->hash();
    options.filter.key_is_new = opened->is_new();
    options.filter.capacity = std::max(options.filter.capacity, keys);
    progress_report building;
    if (options.progress) {
        building = [&](std::uint64_t done, std::uint64_t all) {
            options.progress(opening_stage::filtering, done, all);
        };
    }
    auto found = find_filter({.db = &opened->base(),
                              .records = opened->family(index_family_name),
                              .identity = *identity,
                              .generation = meta->generation,
                              .lives = meta->lives},
                             options.filter, building);
    if (!found) return found.error();
    rocksdb::DB* const base = opened->release_base();
    return std::unique_ptr<guarded_db>{
        new guarded_db{*std::move(opened), base, *meta, *std::move(found), options, *identity}};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to open %s", path.c_str());
}

guarded_db::guarded_db(database opened, rocksdb::DB* base, const store_meta& meta, found_filter found,
                       const guarded_db_options& options, const store_id& identity)
    : StackableDB{base},
      handles_{std::move(opened)},
      index_id_{handles_.family(index_family_name)->GetID()},
      meta_id_{handles_.family(meta_family_name)->GetID()},
      has_merge_operator_{options.rocksdb.merge_operator != nullptr},
      has_row_cache_{options.rocksdb.row_cache != nullptr},
      snapshot_on_close_{options.keeper.on_close},
      origin_{found.origin},
      identity_{identity},
      meta_{meta},
      generation_{meta.generation},
      records_{*base, *handles_.family(index_family_name)},
      gate_{std::make_unique<rocks_gate>(std::move(found.filter), records_, options.guard)},
      keeper_{std::make_unique<filter_keeper>(keeper_place{.db = base,
                                                           .records = &records_.family(),
                                                           .identity = identity,
                                                           .generation = meta.generation,
                                                           .lives = meta.lives},
                                              *gate_, writers_, options.keeper)} {}

std::string guarded_db::metrics_text(std::string_view labels) const {
    return genista::metrics_text(counters(), gate_->tally(), labels);
}

namespace {

// A sum of digests: the same for the same keys in any order, and, the digests being pseudo-random, for no others.
struct key_sum {
    std::uint64_t keys = 0, positions = 0, seeds = 0;
    void add(const digest& d) noexcept {
        ++keys;
        positions += d.position;
        seeds += d.seed;
    }
    friend bool operator==(const key_sum&, const key_sum&) = default;
};

result<key_sum> sum_of_default(rocksdb::DB& db, const hasher& hash) {
    rocksdb::ReadOptions how;
    how.total_order_seek = true;
    how.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> at{db.NewIterator(how)};
    key_sum sum;
    for (at->SeekToFirst(); at->Valid(); at->Next()) sum.add(hash(to_key(at->key())));
    if (!at->status().ok()) return to_error(at->status(), "read all keys");
    return sum;
}

}  // namespace

result<void> guarded_db::audit() {
    if (closed_.load(std::memory_order_relaxed)) return error::make(error_code::io, "no audit: the database is closed");
    const std::unique_lock no_range_delete{clearing_};
    const writers_lock::exclusive nobody_writes{writers_};
    const auto data = sum_of_default(*db_, gate_->hash());
    if (!data) return data.error();
    key_sum index;
    bool lied = false;
    const auto read = records_.for_each(0, ~std::uint64_t{0}, [&](const digest& d, key_view key) {
        lied = lied || gate_->hash()(key) != d;
        index.add(d);
        return true;
    });
    if (!read) return read;
    if (lied) return error::make(error_code::corrupt, "a record of the index has a digest that is not its key's");
    if (!(*data == index)) {
        return error::make(error_code::corrupt, "the index (%llu records) does not match the data (%llu keys)",
                           static_cast<unsigned long long>(index.keys), static_cast<unsigned long long>(data->keys));
    }
    return gate_->filter().audit(records_);
}

}  // namespace genista::rocks
