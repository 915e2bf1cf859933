// database: an open RocksDB with the handles of all its column families, and the way to one: what
// is on disk, may it be guarded, and if not, why. Both layouts open through here.
//
// RocksDB is opened with every family that is there. A path that is no database is left untouched,
// and so is a database that turns out to be another layout's or a newer format's, as far as RocksDB
// lets one look without opening (it replays its log).
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

// Blocks of 8 KB in a cache of 32 MB, no filters of RocksDB's own: the guard is one. Anything here
// may be replaced.
[[nodiscard]] rocksdb::Options default_rocksdb_options();

// How long the log is kept after its contents are in tables: a filter's snapshot catches up from
// it.
inline constexpr std::uint64_t default_wal_kept_mb = 256;

// Handles die before their database.
class database {
  public:
    struct opening {
        rocksdb::Options options;  // of the database, the family `default`, and every family that is not named below
        std::vector<rocksdb::ColumnFamilyDescriptor> families;
        bool create_if_missing = true;
        bool read_only = false;
        std::optional<layout> arrangement = std::nullopt;  // the one that is wanted, for a better message
    };

    // Opens what is there, or makes an empty one with the family `default` alone. For writing,
    // families that have a merge operator must be given one.
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
    // Takes a handle out of our care; false if it is not in it.
    bool release(rocksdb::ColumnFamilyHandle* handle) noexcept;
    // Only the handles stay in our care: somebody else deletes the database, after us.
    [[nodiscard]] rocksdb::DB* release_base() noexcept { return db_.release(); }
    void destroy_handles(rocksdb::DB& of) noexcept;

    // Afterwards every call to base() is an error.
    rocksdb::Status close();

  private:
    std::unique_ptr<rocksdb::DB> db_;
    std::vector<rocksdb::ColumnFamilyHandle*> handles_;
    bool is_new_ = false;
    bool is_closed_ = false;
};

// Settings under which a guard could miss that a key appeared, or R and data could come apart: an
// error that names the first.
[[nodiscard]] result<void> check_guardable(const rocksdb::Options& options, layout arrangement) noexcept;
// The same for the options of the index, which is R: settings that lose or disorder its records.
[[nodiscard]] result<void> check_index(const rocksdb::ColumnFamilyOptions& options) noexcept;

}  // namespace genista::rocks
