// How the databases of a run are opened: the same for all rows but for the filter.
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <memory>
#include <string>

#include "compare/request.hpp"
#include "genista/base/result.hpp"

namespace genista::tool::compare {

using filter_policy = std::shared_ptr<const rocksdb::FilterPolicy>;

// A block cache of its own for each call. No compression: blocks then cost what they are. No info
// log in the database's folder: a run that only reads a store does not change it.
[[nodiscard]] rocksdb::Options rocksdb_options(const request& asked, bool direct_reads,
                                               const filter_policy& policy = {});

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

}  // namespace genista::tool::compare
