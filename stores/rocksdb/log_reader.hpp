// Reads the store's log: a filter is brought up to date with it (find_filter.cpp), and writes that
// did not go through the guard are found with it.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "genista/base/result.hpp"
#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/detail/stores/rocksdb/meta.hpp"

namespace genista::rocks {

// Calls `take` for every batch with a write in (after, newest], in order. An error if the log does
// not hold all of them without a gap, or if `take` reports one.
[[nodiscard]] result<void> read_log_since(rocksdb::DB& db, std::uint64_t after, std::uint64_t newest,
                                          const std::function<rocksdb::Status(const rocksdb::WriteBatch&)>& take);

// Looks at opening for writes that did not go through the guard, between the last mark (write_mark
// in meta.hpp) and now (decision 0022). While the database is open, write_accounts.hpp does this.
//
//     log       every batch since the mark is present, and a batch that changes `default` has the
//               records of its keys
//     tables    a table of `default` newer than the mark was written by the session that wrote the
//               mark, or by this one
//
// The log alone is not enough, because RocksDB may ingest a file without a sequence number. A call
// that only deletes files (DeleteFilesInRange) leaves no trace. guarded_db removes the records of
// such keys when a query meets them.
//
// Returns why the index may lack keys, or nothing. An error means that reading failed. REQUIRES:
// `default` is not compacted meanwhile.
[[nodiscard]] result<std::optional<std::string>> find_foreign_writes(const database& db, const store_meta& meta);

}  // namespace genista::rocks
