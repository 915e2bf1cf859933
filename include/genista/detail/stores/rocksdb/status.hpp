// RocksDB's Status as our error and back: the same failure in two vocabularies.
#pragma once

#include <rocksdb/status.h>

#include <string_view>

#include "genista/base/result.hpp"

namespace genista::rocks {

// `doing` says in words what was tried, for example "open the database /data/users". `status` is no
// success.
[[nodiscard]] error to_error(const rocksdb::Status& status, std::string_view doing) noexcept;

[[nodiscard]] rocksdb::Status to_status(const error& failure);

}  // namespace genista::rocks
