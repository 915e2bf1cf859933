// Reads the store's log from a sequence number on, batch by batch. A filter is brought up to date
// with it (find_filter.cpp), and foreign writes are found with it (foreign_writes.cpp).
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <functional>

#include "genista/base/result.hpp"

namespace genista::rocks {

// Calls `take` for every batch with a write in (after, newest], in order. An error if the log does
// not hold all of them without a gap, or if `take` reports one.
[[nodiscard]] result<void> read_log_since(rocksdb::DB& db, std::uint64_t after, std::uint64_t newest,
                                          const std::function<rocksdb::Status(const rocksdb::WriteBatch&)>& take);

}  // namespace genista::rocks
