// Opening, reading and writing the clustered layout. See clustered_store.hpp.
#include "genista/detail/stores/rocksdb/clustered_store.hpp"

#include <rocksdb/write_batch.h>

#include <new>
#include <utility>
#include <vector>

#include "genista/detail/stores/rocksdb/write_accounts.hpp"

namespace genista::rocks {
namespace {

static_assert(guarded_store<clustered_store>);

bool is_empty(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family) {
    const std::unique_ptr<rocksdb::Iterator> at{db.NewIterator({}, &family)};
    at->SeekToFirst();
    return !at->Valid() && at->status().ok();
}

// Reads the meta of an open database, or writes it if the database is new.
result<store_meta> establish_meta(database& db, const std::string& path, const clustered_options& options) {
    rocksdb::ColumnFamilyHandle* family = db.family(meta_family_name);
    if (family != nullptr) {
        const auto there = read_meta(db.base(), *family, path);
        if (!there) return there.error();
        if (there->has_value()) {
            if (const auto fits = check_layout(**there, layout::clustered, path); !fits) return fits.error();
            return **there;
        }
    }
    // The database has no meta. If it has no data either, genista may take it.
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

// Has the options of `default`, because it holds values that would otherwise be stored there.
rocksdb::ColumnFamilyOptions values_options(const clustered_options& options) {
    return rocksdb::ColumnFamilyOptions{options.rocksdb};
}

result<void> done_or(const rocksdb::Status& status, const char* doing) noexcept {
    if (status.ok()) return {};
    return to_error(status, doing);
}

template <class Write>
rocksdb::Status counted(write_accounts* accounts, std::uint64_t entries, const Write& write) {
    return accounts != nullptr ? accounts->counted(entries, write) : write();
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
                                        .families = {{meta_family_name, rocksdb::ColumnFamilyOptions{}},
                                                     {values_family_name, values_options(options)}},
                                        .create_if_missing = options.create_if_missing,
                                        .read_only = options.read_only,
                                        .arrangement = layout::clustered});
    if (!opened) return opened.error();
    const bool had_meta = opened->family(meta_family_name) != nullptr;
    auto meta = establish_meta(*opened, path, options);
    if (!meta) return meta.error();
    if (!options.read_only) {
        if (options.values_apart_from != 0 && opened->family(values_family_name) == nullptr) {
            if (const auto made = opened->create_family(values_options(options), values_family_name); !made)
                return made.error();
        }
        // Written before the first value that an older version would not find.
        if (opened->family(values_family_name) != nullptr) meta->format = values_apart_format;
        if (const auto begun = begin_life(opened->base(), *opened->family(meta_family_name), *meta); !begun)
            return begun.error();
    }
    const auto identity = store_identity(opened->base());
    if (!identity) return identity.error();
    return std::unique_ptr<clustered_store>{
        new clustered_store{std::move(*opened), *meta, *identity, !had_meta, options}};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to open %s", path.c_str());
}

clustered_store::clustered_store(database opened, const store_meta& meta, const store_id& identity, bool is_new,
                                 const clustered_options& options)
    : database_{std::move(opened)},
      meta_{meta},
      hash_{meta.hash()},
      identity_{identity},
      is_new_{is_new},
      writes_{options.writes},
      records_{database_.base(), *database_.family(rocksdb::kDefaultColumnFamilyName)},
      values_{database_.family(values_family_name)},
      values_apart_from_{options.values_apart_from},
      has_values_apart_{values_ != nullptr && !is_empty(database_.base(), *values_)} {}

result<bool> clustered_store::read(const digest& where, key_view key, std::string& value) try {
    const record_key name{where, key};
    rocksdb::Status got = db().Get({}, &family(), name.slice(), &value);
    if (got.ok() && value.empty() && has_values_apart_.load(std::memory_order_acquire)) {
        // Reads both at one moment. Between two separate reads a writer could replace a long value
        // by a short one.
        std::vector<std::string> both;
        const auto asked = db().MultiGet({}, {&family(), values_}, {name.slice(), name.slice()}, &both);
        got = asked[0];
        const bool apart = got.ok() && both[0].empty() && !asked[1].IsNotFound();
        if (apart) got = asked[1];
        if (got.ok()) value = std::move(both[apart ? 1 : 0]);
    }
    if (got.ok()) return true;
    if (got.IsNotFound()) return false;
    return to_error(got, "read a value");
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to read a value");
}

result<void> clustered_store::write(const digest& where, key_view key, std::string_view value,
                                    write_accounts* accounts) try {
    const record_key name{where, key};
    const rocksdb::Slice text{value.data(), value.size()};
    const bool apart = values_ != nullptr && values_apart_from_ != 0 && value.size() >= values_apart_from_;
    if (apart) has_values_apart_.store(true, std::memory_order_release);
    // An empty record refers to the family of long values, which must hold no older value of this
    // key.
    const bool clear =
        values_ != nullptr && !apart && (value.empty() || has_values_apart_.load(std::memory_order_acquire));
    if (!apart && !clear) {
        const auto put = [&] { return db().Put(writes_, &family(), name.slice(), text); };
        return done_or(counted(accounts, 1, put), "write a value");
    }
    rocksdb::WriteBatch both;
    rocksdb::Status done = both.Put(&family(), name.slice(), apart ? rocksdb::Slice{} : text);
    if (done.ok()) done = apart ? both.Put(values_, name.slice(), text) : both.Delete(values_, name.slice());
    if (done.ok()) done = counted(accounts, 2, [&] { return db().Write(writes_, &both); });
    return done_or(done, "write a value");
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to write a value");
}

result<void> clustered_store::remove(const digest& where, key_view key, write_accounts* accounts) try {
    const record_key name{where, key};
    if (!has_values_apart_.load(std::memory_order_acquire)) {
        const auto erase = [&] { return db().Delete(writes_, &family(), name.slice()); };
        return done_or(counted(accounts, 1, erase), "delete a value");
    }
    rocksdb::WriteBatch both;
    rocksdb::Status done = both.Delete(&family(), name.slice());
    if (done.ok()) done = both.Delete(values_, name.slice());
    if (done.ok()) done = counted(accounts, 2, [&] { return db().Write(writes_, &both); });
    return done_or(done, "delete a value");
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
    const rocksdb::Status closed = database_.close();
    records_.closed(database_.base());
    has_values_apart_.store(false, std::memory_order_relaxed);  // its handle is destroyed
    values_ = nullptr;
    return done_or(closed, "close the database");
}

}  // namespace genista::rocks
