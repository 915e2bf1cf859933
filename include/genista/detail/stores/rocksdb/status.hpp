// Conversions between RocksDB's Status and error, because the stores call RocksDB and are called by
// it.
#pragma once

#include <rocksdb/status.h>

#include <string_view>

#include "genista/base/result.hpp"

namespace genista::rocks {

// `doing` says what was tried, for example "open the database /data/users". REQUIRES: `status` is
// not OK.
[[nodiscard]] error to_error(const rocksdb::Status& status, std::string_view doing) noexcept;

[[nodiscard]] rocksdb::Status to_status(const error& failure);

}  // namespace genista::rocks
