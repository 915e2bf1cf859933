// How the databases of a run are opened, the same for all rows but for the filter, and filled.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compare/request.hpp"
#include "genista/base/result.hpp"

namespace genista::tool::compare {

using filter_policy = std::shared_ptr<const rocksdb::FilterPolicy>;

// A block cache of its own for each call. No compression: blocks then cost what they are. No info
// log in the database's folder: a run that only reads a store does not change it.
[[nodiscard]] rocksdb::Options rocksdb_options(const request& asked, bool direct_reads,
                                               const filter_policy& policy = {});

// How all records are read one time.
[[nodiscard]] rocksdb::ReadOptions read_once();

struct sized_policy {
    filter_policy policy;
    double bits_per_key = 0;  // measured, on a sample
};

// RocksDB's own filter of so many bits a key. The option of the Ribbon filter is the size of a
// Bloom filter with the same rate, so its own size is found by trials, on a file of up to `keys`
// keys in RAM.
[[nodiscard]] result<sized_policy> policy_of_size(filter_kind kind, double bits_per_key, std::uint64_t keys);

// Bytes of the filters in all files of a family, from RocksDB's own properties.
[[nodiscard]] result<std::uint64_t> filter_bytes(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family);

// Below the folder of a database. The folder of an interrupted run may be removed.
inline constexpr const char* loading_folder = "/genista-loading";
void remove_loading(const std::string& database) noexcept;

// Fills a new database in one step. Records arrive in their final order, are written to table files
// and ingested as the last level: no log, no compaction, and the same blocks for every filter of
// the options.
//
// Snapshots of a filter beside the database do not see writes that bypass the log: only for
// databases without a guard.
class sorted_files {
  public:
    // Files are made in `folder`, on the file system of the database; it is made too, and removed
    // at the end.
    sorted_files(const rocksdb::Options& options, std::string folder);
    sorted_files(const sorted_files&) = delete;
    sorted_files& operator=(const sorted_files&) = delete;
    ~sorted_files();

    [[nodiscard]] result<void> add(const rocksdb::Slice& key, const rocksdb::Slice& value);
    [[nodiscard]] result<void> move_into(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family);

  private:
    static constexpr std::uint64_t file_bytes = std::uint64_t{64} << 20;
    [[nodiscard]] result<void> begin_file();
    [[nodiscard]] result<void> end_file();

    rocksdb::Options options_;
    std::string folder_;
    std::unique_ptr<rocksdb::SstFileWriter> writer_;
    std::vector<std::string> files_;
};

}  // namespace genista::tool::compare
