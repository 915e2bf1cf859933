// Writes that did not go through the guard, looked for at opening (decision 0022): between the last
// mark (write_mark in meta.hpp) and now. While the database is open write_accounts.hpp does it.
//
//     log       every batch since the mark is there, and one that touches `default` has the records
//               of its keys
//     tables    a table of `default` that is newer than the mark was made by the marking session,
//               or by this one
//
// A file that RocksDB takes in may have no sequence number, so that the log alone does not tell.
// What only deletes files (DeleteFilesInRange) leaves no trace; guarded_db removes the records of
// such keys when it meets them.
#pragma once

#include <rocksdb/db.h>

#include <optional>
#include <string>

#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/detail/stores/rocksdb/meta.hpp"

namespace genista::rocks {

// Why the index may lack keys, or nothing. An error is one of reading. `default` must not be
// compacted meanwhile.
[[nodiscard]] result<std::optional<std::string>> find_foreign_writes(const database& db, const store_meta& meta);

}  // namespace genista::rocks
