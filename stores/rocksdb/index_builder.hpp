// Records for keys that come in bulk: those of an existing database, and those of table files that
// are ingested; and what an audit compares the index with.
#pragma once

#include <rocksdb/db.h>

#include <cstdint>
#include <string>
#include <vector>

#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/hash/hashed_key.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"

namespace genista::rocks {

// For reading a family from end to end: independent of the prefixes that it is configured with, and
// without its blocks in the cache.
[[nodiscard]] inline rocksdb::ReadOptions scan_options(std::size_t readahead_bytes = 0) {
    rocksdb::ReadOptions how;
    how.total_order_seek = true;
    how.fill_cache = false;
    how.readahead_size = readahead_bytes;
    return how;
}
inline constexpr std::size_t scan_readahead_bytes = std::size_t{2} << 20;

// Builds the index of an existing database: one scan of `default`, one record for each key. After a
// crash in the middle the next opening starts over.
//
//     meta: state = indexing, a new generation (synced)  →  an empty genista.index  →  fill it, past the log  →
//     flush  →  meta: state = ready (synced)
//
// Leaves genista.meta and genista.index complete, and `meta` as it is on disk. Returns the number
// of keys. `index` has the options of a new index family.
[[nodiscard]] result<std::uint64_t> build_index(database& db, store_meta& meta,
                                                const rocksdb::ColumnFamilyOptions& index,
                                                const opening_progress& progress);

// Tables to ingest.

// The keys of the files, in R's order, each once. NotSupported: a file has entries other than puts.
rocksdb::Status keys_of_files(const rocksdb::Options& options, const std::vector<std::string>& files,
                              const hasher& hash, std::vector<kept_key>& keys);

// Writes a table of the records beside the database.
rocksdb::Status write_companion(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& index, const std::vector<kept_key>& keys,
                                std::string& path);

// Removes what a crash between writing and ingesting has left.
void remove_companions(rocksdb::DB& db);

// A checksum of a set of keys that does not depend on their order. Digests are pseudo-random, so
// different sets have different sums. An audit compares the keys of the data with the keys of the
// index this way, without keeping either in memory.
struct digest_sum {
    std::uint64_t keys = 0, positions = 0, seeds = 0;
    void add(const digest& d) noexcept {
        ++keys;
        positions += d.position;
        seeds += d.seed;
    }
    friend bool operator==(const digest_sum&, const digest_sum&) = default;
};

}  // namespace genista::rocks
