// clustered_store: RocksDB with the values under their record_keys, so that R is the data itself.
// The records from which a filter learns are in the blocks of the values, and R costs no extra
// write and no space but 16 bytes a key. Iterators see the order of hashes; if you need the order
// of keys, take the indexed layout (guarded_db.hpp).
//
//     auto store = genista::rocks::clustered_store::open("/data/users");
//     auto filter = genista::broom_filter::build({.hash = (*store)->hash()}, (*store)->remote());
//     genista::guarded users{*std::move(filter), **store};
//
// An adapt and an erase read the records of one bin, about 45 keys, and RocksDB reads whole blocks.
// So values of `values_apart_from` bytes or more are not stored between the keys: they have a
// column family of their own, genista.values, under the same record_keys, and their record in
// `default` is empty.
//
//     cost     a false positive reads at most 45 · (key + values_apart_from) bytes and about two
//              more blocks, whatever the size of the values. A long value costs its reader two more
//              look-ups and its writer a second record; in a store that has any, writing a short
//              value and erasing also write a tombstone into genista.values
//
// A store that was made by an older version gets the family at its next opening for writing (format
// 2, meta.hpp); values in `default` stay there until they are written again.
//
// Models guarded_store (guard/guarded.hpp). clustered_db.hpp combines the store, its filter and the
// filter's snapshots.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/detail/stores/rocksdb/ordered_records.hpp"
#include "genista/guard/guarded.hpp"

namespace genista::rocks {

struct clustered_options {
    bool create_if_missing = true;
    bool read_only = false;
    rocksdb::Options rocksdb = default_rocksdb_options();
    rocksdb::WriteOptions writes{};                   // for example sync. disableWAL is refused.
    std::uint64_t wal_kept_mb = default_wal_kept_mb;  // used if rocksdb.WAL_size_limit_MB is 0
    // Values of so many bytes or more go to genista.values. 0: none do; in a store that has the
    // family this holds for values written from now on.
    std::size_t values_apart_from = 1024;
    // Of a new database; none: a random one. A database that records are copied into needs theirs.
    std::optional<hash_key> key = std::nullopt;
};

inline constexpr const char* values_family_name = "genista.values";

class write_accounts;

class clustered_store {
  public:
    [[nodiscard]] static result<std::unique_ptr<clustered_store>> open(const std::string& path,
                                                                       clustered_options options = {});

    [[nodiscard]] result<bool> read(const digest& where, key_view key, std::string& value);
    // `accounts` counts the entries of writes through a guard (write_accounts.hpp); clustered_db
    // passes its own.
    [[nodiscard]] result<void> write(const digest& where, key_view key, std::string_view value,
                                     write_accounts* accounts = nullptr);
    [[nodiscard]] result<void> remove(const digest& where, key_view key, write_accounts* accounts = nullptr);
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] ordered_records& remote() noexcept { return records_; }

    [[nodiscard]] rocksdb::DB& db() noexcept { return database_.base(); }
    [[nodiscard]] rocksdb::ColumnFamilyHandle& family() noexcept { return records_.family(); }
    [[nodiscard]] const store_id& identity() const noexcept { return identity_; }
    [[nodiscard]] std::uint64_t generation() const noexcept { return meta_.generation; }
    [[nodiscard]] const std::vector<store_life>& lives() const noexcept { return meta_.lives; }
    // genista.meta, and the snapshots that it listed at opening.
    [[nodiscard]] rocksdb::ColumnFamilyHandle* notes() const { return database_.family(meta_family_name); }
    [[nodiscard]] const std::optional<snapshot_records>& snapshots() const noexcept { return meta_.snapshots; }
    [[nodiscard]] std::uint64_t sequence() const { return database_.base().GetLatestSequenceNumber(); }
    [[nodiscard]] bool is_new() const noexcept { return is_new_; }
    [[nodiscard]] std::uint64_t estimated_keys() const;  // RocksDB's estimate

    // Writes everything that is in memory to tables.
    [[nodiscard]] result<void> flush();
    // Afterwards everything in the log survives a loss of power.
    [[nodiscard]] result<void> sync();
    // REQUIRES: no other call is under way. Calls afterwards are errors.
    [[nodiscard]] result<void> close();

    clustered_store(const clustered_store&) = delete;
    clustered_store& operator=(const clustered_store&) = delete;

  private:
    clustered_store(database opened, const store_meta& meta, const store_id& identity, bool is_new,
                    const clustered_options& options);

    database database_;
    store_meta meta_;
    hasher hash_;
    store_id identity_;
    bool is_new_;
    rocksdb::WriteOptions writes_;
    ordered_records records_;
    rocksdb::ColumnFamilyHandle* values_;  // genista.values, or null
    std::size_t values_apart_from_;
    // genista.values may hold something. While it is false, short values need no tombstones there.
    std::atomic<bool> has_values_apart_{false};
};

}  // namespace genista::rocks
