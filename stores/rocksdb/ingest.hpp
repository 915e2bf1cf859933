// Tables to ingest: finds their keys, and writes a companion table with the records of those keys.
#pragma once

#include <rocksdb/db.h>

#include <string>
#include <vector>

#include "genista/hash/hashed_key.hpp"

namespace genista::rocks {

// The keys of the files, in R's order, each once. NotSupported: a file has entries other than puts.
rocksdb::Status keys_of_files(const rocksdb::Options& options, const std::vector<std::string>& files,
                              const hasher& hash, std::vector<kept_key>& keys);

// Writes a table of the records beside the database.
rocksdb::Status write_companion(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& index, const std::vector<kept_key>& keys,
                                std::string& path);

// Removes what a crash between writing and ingesting has left.
void remove_companions(rocksdb::DB& db);

}  // namespace genista::rocks
