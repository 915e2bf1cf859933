// The store's log from a sequence number on, batch by batch: for a filter that catches up with it
// (find_filter.cpp), and for a look at who wrote (foreign_writes.cpp).
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <functional>

#include "genista/base/result.hpp"

namespace genista::rocks {

// Every batch with a write in (after, newest], in order. An error if the log does not hold all of
// them, in one line and without a gap, or if `take` reports one.
[[nodiscard]] result<void> read_log_since(rocksdb::DB& db, std::uint64_t after, std::uint64_t newest,
                                          const std::function<rocksdb::Status(const rocksdb::WriteBatch&)>& take);

}  // namespace genista::rocks
