// Opening, reading and writing. See clustered_store.hpp.
#include "genista/stores/rocksdb/clustered_store.hpp"

#include <new>
#include <utility>

namespace genista::rocks {
namespace {

static_assert(guarded_store<clustered_store>);

bool is_empty(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family) {
    const std::unique_ptr<rocksdb::Iterator> at{db.NewIterator({}, &family)};
    at->SeekToFirst();
    return !at->Valid() && at->status().ok();
}

// The meta of an open database: as it is, or written now if the database is new.
result<store_meta> settle_meta(database& db, const std::string& path, const clustered_options& options) {
    rocksdb::ColumnFamilyHandle* family = db.family(meta_family_name);
    if (family != nullptr) {
        const auto there = read_meta(db.base(), *family, path);
        if (!there) return there.error();
        if (there->has_value()) {
            if (const auto fits = check_layout(**there, layout::clustered, path); !fits) return fits.error();
            return **there;
        }
    }
    // Nothing is written about it: ours to make, if nobody has put anything into it.
    if (!is_empty(db.base(), *db.family(rocksdb::kDefaultColumnFamilyName)) ||
        db.family(index_family_name) != nullptr) {
        return error::make(error_code::mismatch,
                           "%s is a RocksDB database with data of its own: it can be guarded in the indexed layout, "
                           "clustered was asked for",
                           path.c_str());
    }
    if (options.read_only) {
        return error::make(error_code::mismatch, "%s is a RocksDB database, but not a guarded one", path.c_str());
    }
    const auto made = store_meta::make(layout::clustered, options.key);
    if (!made) return made.error();
    if (family == nullptr) {
        const auto created = db.create_family({}, meta_family_name);
        if (!created) return created.error();
        family = *created;
    }
    if (const auto written = write_meta(db.base(), *family, *made); !written) return written.error();
    return made;
}

result<void> done_or(const rocksdb::Status& status, const char* doing) noexcept {
    if (status.ok()) return {};
    return to_error(status, doing);
}

}  // namespace

result<std::unique_ptr<clustered_store>> clustered_store::open(const std::string& path, clustered_options options) try {
    if (const auto fits = check_guardable(options.rocksdb, layout::clustered); !fits) return fits.error();
    if (options.writes.disableWAL) {
        return error::make(error_code::unsupported,
                           "a guarded database cannot be written without its log (disableWAL)");
    }
    if (options.rocksdb.WAL_size_limit_MB == 0) options.rocksdb.WAL_size_limit_MB = options.wal_kept_mb;
    auto opened = database::open(path, {.options = options.rocksdb,
                                        .families = {{meta_family_name, rocksdb::ColumnFamilyOptions{}}},
                                        .create_if_missing = options.create_if_missing,
                                        .read_only = options.read_only});
    if (!opened) return opened.error();
    const bool had_meta = opened->family(meta_family_name) != nullptr;
    auto meta = settle_meta(*opened, path, options);
    if (!meta) return meta.error();
    if (!options.read_only) {
        if (const auto begun = begin_life(opened->base(), *opened->family(meta_family_name), *meta); !begun)
            return begun.error();
    }
    const auto identity = store_identity(opened->base());
    if (!identity) return identity.error();
    return std::unique_ptr<clustered_store>{
        new clustered_store{std::move(*opened), *meta, *identity, !had_meta, options.writes}};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to open %s", path.c_str());
}

clustered_store::clustered_store(database opened, const store_meta& meta, const store_id& identity, bool is_new,
                                 const rocksdb::WriteOptions& writes)
    : database_{std::move(opened)},
      meta_{meta},
      hash_{meta.hash()},
      identity_{identity},
      is_new_{is_new},
      writes_{writes},
      records_{database_.base(), *database_.family(rocksdb::kDefaultColumnFamilyName)} {}

result<bool> clustered_store::read(const digest& where, key_view key, std::string& value) try {
    const record_key name{where, key};
    const rocksdb::Status got = db().Get({}, &family(), name.slice(), &value);
    if (got.ok()) return true;
    if (got.IsNotFound()) return false;
    return to_error(got, "read a value");
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to read a value");
}

result<void> clustered_store::write(const digest& where, key_view key, std::string_view value) try {
    const record_key name{where, key};
    return done_or(db().Put(writes_, &family(), name.slice(), {value.data(), value.size()}), "write a value");
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to write a value");
}

result<void> clustered_store::remove(const digest& where, key_view key) try {
    const record_key name{where, key};
    return done_or(db().Delete(writes_, &family(), name.slice()), "delete a value");
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to delete a value");
}

std::uint64_t clustered_store::estimated_keys() const {
    std::uint64_t keys = 0;
    database_.base().GetIntProperty(&records_.family(), rocksdb::DB::Properties::kEstimateNumKeys, &keys);
    return keys;
}

result<void> clustered_store::flush() {
    return done_or(db().Flush({}, database_.families()), "flush the database");
}
result<void> clustered_store::sync() {
    return done_or(db().FlushWAL(true), "sync the log");
}
result<void> clustered_store::close() {
    return done_or(database_.close(), "close the database");
}

}  // namespace genista::rocks
