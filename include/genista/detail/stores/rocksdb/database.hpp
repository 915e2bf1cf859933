// database: an open RocksDB with the handles of all its column families, and the way to open one:
// what is on disk, whether it may be guarded, and if not, why. Both layouts open through here.
//
// RocksDB is opened with every family that exists. A path that is no database is not changed.
// Neither is a database of another layout or of a newer format, as far as RocksDB allows a look
// without opening (it replays its log).
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/detail/stores/rocksdb/meta.hpp"

namespace genista::rocks {

// Blocks of 8 KB, a cache of 32 MB, and none of RocksDB's own filters, because the guard is one.
// Any of it may be changed.
[[nodiscard]] rocksdb::Options default_rocksdb_options();

// How much of the log is kept after its contents are in tables: a loaded filter replays it from its
// snapshot on.
inline constexpr std::uint64_t default_wal_kept_mb = 256;

// Handles are destroyed before their database.
class database {
  public:
    struct opening {
        rocksdb::Options options;  // of the database, of the family `default`, and of every family not named below
        std::vector<rocksdb::ColumnFamilyDescriptor> families;
        bool create_if_missing = true;
        bool read_only = false;
        std::optional<layout> arrangement = std::nullopt;  // the expected one, for a better message
    };

    // Opens the database, or makes an empty one with only the family `default`. To open for
    // writing, a family with a merge operator must be given it.
    [[nodiscard]] static result<database> open(const std::string& path, opening how);

    database() = default;
    database(database&&) noexcept = default;
    database& operator=(database&& other) noexcept;
    ~database() { (void)close(); }

    [[nodiscard]] rocksdb::DB& base() const noexcept { return *db_; }
    [[nodiscard]] bool is_new() const noexcept { return is_new_; }
    // Null if there is no such family.
    [[nodiscard]] rocksdb::ColumnFamilyHandle* family(std::string_view name) const noexcept;
    [[nodiscard]] const std::vector<rocksdb::ColumnFamilyHandle*>& families() const noexcept { return handles_; }

    [[nodiscard]] result<rocksdb::ColumnFamilyHandle*> create_family(const rocksdb::ColumnFamilyOptions& options,
                                                                     const std::string& name);
    [[nodiscard]] result<void> drop_family(rocksdb::ColumnFamilyHandle* handle);
    // Gives up ownership of a handle; false if it is not owned here.
    bool release(rocksdb::ColumnFamilyHandle* handle) noexcept;
    // Gives up ownership of the database but not of the handles. The new owner deletes the database
    // after this object.
    [[nodiscard]] rocksdb::DB* release_base() noexcept { return db_.release(); }
    void destroy_handles(rocksdb::DB& of) noexcept;

    // Afterwards base() must not be called.
    rocksdb::Status close();

  private:
    std::unique_ptr<rocksdb::DB> db_;
    std::vector<rocksdb::ColumnFamilyHandle*> handles_;
    bool is_new_ = false;
    bool is_closed_ = false;
};

// An error that names the first setting under which a guard could miss a new key, or R and the data
// could disagree.
[[nodiscard]] result<void> check_guardable(const rocksdb::Options& options, layout arrangement) noexcept;
// The same for the options of the index, which is R: settings that lose its records or change their
// order.
[[nodiscard]] result<void> check_index(const rocksdb::ColumnFamilyOptions& options) noexcept;

}  // namespace genista::rocks
