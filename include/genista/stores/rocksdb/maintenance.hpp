// maintenance: work on a guarded store that no program has open: compare its data with its index,
// and take the guard off. `genista store audit|reindex|unguard` are these functions with a table
// (reindex is guarded_db::open with rebuild_index).
//
// Settings come from the OPTIONS file that RocksDB keeps beside the data: where the log lies,
// compression, blobs. What the file can only name (a merge operator, a comparator, a prefix
// extractor of your own) is an error that says its name: a database that is opened without its
// merge operator loses operands. Tables in several directories (db_paths) are not in the file, and
// RocksDB misses them. A program that has such settings gives its own.
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

// `stage` is a text for people; done of all, in keys; all is an estimate.
using maintenance_progress = std::function<void(std::string_view stage, std::uint64_t done, std::uint64_t all)>;

// How a database was opened last.
struct store_settings {
    rocksdb::Options rocksdb{};                               // the database and the family `default`
    std::vector<rocksdb::ColumnFamilyDescriptor> families{};  // other families of the user's
    std::optional<rocksdb::ColumnFamilyOptions> index{};      // of genista.index, if there is one
};
// From its OPTIONS file. `env` null: the operating system's. A file that names a directory of the
// log outside of the store is an error, unless `wal_dir` says where the log lies: a copy of the
// store names the log of the original, and who opens the copy with it takes the original's log
// away.
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
    std::uint64_t records = 0;              // in the index; clustered: the data themselves
    std::uint64_t keys_without_record = 0;  // a guard denies them
    std::uint64_t records_without_key = 0;  // cost reads; the first mistake on each repairs it
    std::uint64_t bad_records = 0;          // too short, or with another digest than their key's
    std::vector<std::string> examples{};    // keys of the three, the first few

    struct snapshot {
        std::string path;
        std::uint64_t size_bytes = 0;
        std::string trouble;  // empty: whole. It may be too old or of another history all the same: opening decides.
    };
    std::vector<snapshot> snapshots{};
    std::string unreadable{};  // what the scan stopped at, if it did: then the figures above are not all

    // Nothing to repair. A store that is being indexed, or has no index, is indexed again when it
    // is opened.
    [[nodiscard]] bool is_sound() const noexcept;
};

// Reads the store and changes nothing, not even its log of messages. Two scans; where they differ,
// two more with a look-up for each key, which name the keys. A program may write meanwhile: the
// store is seen as of the beginning, if RocksDB can read it at all.
[[nodiscard]] result<store_audit> audit_store(const std::string& path, const maintenance_options& options = {});

// Whether guarded_db::open with rebuild_index can build the index: it is a guarded store in the
// indexed layout. Changes nothing.
[[nodiscard]] result<void> can_reindex(const std::string& path, const maintenance_options& options = {});

struct unguarded_store {
    std::vector<std::string> families{};  // dropped now
    std::vector<std::string> files{};     // removed now
    std::vector<std::string> kept{};      // in the folder genista/, but not genista's: left there
};

// Removes the column families genista.* and genista's files, so that a program that knows nothing
// of them opens the database again; the user's families are not touched. The clustered layout
// cannot be unguarded: its values lie under hashed keys. Killed in the middle it leaves a store
// that guarded_db opens (it builds the index again) and that a second call goes on with;
// genista.meta goes last. Nothing to do is no error.
[[nodiscard]] result<unguarded_store> unguard_store(const std::string& path, const maintenance_options& options = {});

}  // namespace genista::rocks
