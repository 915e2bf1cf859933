// maintenance: work on a guarded store that no program has open: compare its data with its index,
// and remove the guard. `genista store audit|reindex|unguard` are these functions with a table
// (reindex is guarded_db::open with rebuild_index).
//
// Settings come from the OPTIONS file that RocksDB keeps beside the data: the directory of the log,
// compression, blobs. If the file only names a setting (a merge operator, a comparator, a prefix
// extractor of your own), that is an error with the name: a database that is opened without its
// merge operator loses operands. Tables in several directories (db_paths) are not in the file, and
// RocksDB then reports them missing. A program with such settings passes its own.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/detail/stores/rocksdb/meta.hpp"

namespace genista::rocks {

// `stage` is a text for people; `done` of `all`, in keys; `all` is an estimate.
using maintenance_progress = std::function<void(std::string_view stage, std::uint64_t done, std::uint64_t all)>;

// How a database was last opened.
struct store_settings {
    rocksdb::Options rocksdb{};                               // the database and the family `default`
    std::vector<rocksdb::ColumnFamilyDescriptor> families{};  // the user's other families
    std::optional<rocksdb::ColumnFamilyOptions> index{};      // of genista.index, if it exists
};
// Reads the OPTIONS file. `env` null: the operating system's. A file that names a directory of the
// log outside of the store is an error, unless `wal_dir` gives the directory: a copy of the store
// names the log of the original, and to open the copy with it would take the log away from the
// original.
[[nodiscard]] result<store_settings> settings_of(const std::string& path, rocksdb::Env* env = nullptr,
                                                 const std::string& wal_dir = {});

struct maintenance_options {
    std::optional<store_settings> settings{};  // none: settings_of(path, env, wal_dir)
    std::string wal_dir{};
    rocksdb::Env* env = nullptr;
    maintenance_progress progress{};
};

struct store_audit {
    static constexpr std::size_t examples_kept = 5;

    layout arrangement = layout::indexed;
    store_state state = store_state::ready;
    bool has_index = true;
    std::uint64_t keys = 0;                 // in the data
    std::uint64_t records = 0;              // in the index; clustered layout: the data themselves
    std::uint64_t keys_without_record = 0;  // a guard denies them
    std::uint64_t records_without_key = 0;  // cost reads; the first false positive on each removes it
    std::uint64_t bad_records = 0;          // too short, or with a digest that is not their key's
    std::vector<std::string> examples{};    // the first few keys of these three kinds

    struct snapshot {
        std::string path;
        std::uint64_t size_bytes = 0;
        std::string trouble;  // empty: whole. It may still be too old or of another history: opening decides
    };
    std::vector<snapshot> snapshots{};
    std::string unreadable{};  // the error that stopped the scan, if any: then the figures above are incomplete

    // Nothing needs repair. A store that is being indexed, or has no index, is indexed again when
    // it is opened.
    [[nodiscard]] bool is_sound() const noexcept;
};

// Reads the store and changes nothing, not even RocksDB's log of messages. Two scans; if they
// differ, two more with a look-up for each key, which find the keys. A program may write meanwhile:
// the audit shows the store as of its beginning, if RocksDB can read it at all.
[[nodiscard]] result<store_audit> audit_store(const std::string& path, const maintenance_options& options = {});

// Whether guarded_db::open with rebuild_index can build the index: only for a guarded store in the
// indexed layout. Changes nothing.
[[nodiscard]] result<void> can_reindex(const std::string& path, const maintenance_options& options = {});

struct unguarded_store {
    std::vector<std::string> families{};  // dropped by this call
    std::vector<std::string> files{};     // removed by this call
    std::vector<std::string> kept{};      // files in the folder genista/ that are not genista's: not removed
};

// Removes the column families genista.* and genista's files, so that a program without genista can
// open the database again; the user's families are not changed. The clustered layout cannot be
// unguarded: its values are stored under hashed keys. If the process is killed in the middle,
// guarded_db still opens the store (it builds the index again), and a second call continues;
// genista.meta is dropped last. It is no error if there is nothing to do.
[[nodiscard]] result<unguarded_store> unguard_store(const std::string& path, const maintenance_options& options = {});

}  // namespace genista::rocks
