// sorted_files: fills a new database in one step. Records arrive in their final order, are written
// to table files and ingested as the last level: no log, no compaction, and the same blocks for
// every filter of the options.
//
// Snapshots of a filter beside the database do not see writes that bypass the log: only for
// databases without a guard.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>

#include <memory>
#include <string>
#include <vector>

#include "genista/base/result.hpp"

namespace genista::tool::compare {

// Below the folder of a database. The folder of an interrupted run may be removed.
inline constexpr const char* loading_folder = "/genista-loading";
void remove_loading(const std::string& database) noexcept;

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
