// sorted_files: a new database filled in one go. Records come in their final order, go into table
// files directly and join the database as its last level: no log, no compaction, and the same
// blocks whatever filter the options name.
//
// Past the log means past every snapshot of a filter beside the database: only for databases that
// nobody has guarded yet.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>

#include <memory>
#include <string>
#include <vector>

#include "genista/base/result.hpp"

namespace genista::tool::compare {

// Below the folder of a database. One that a run has left when it was cut short may be removed.
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
