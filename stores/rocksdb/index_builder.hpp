// Builds the index of an existing database: one scan of `default`, one record for each key. After a
// crash in the middle the next opening starts over.
//
//     meta: state = indexing, a new generation (synced)  →  an empty genista.index  →  fill it, past the log  →
//     flush  →  meta: state = ready (synced)
#pragma once

#include <cstdint>

#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"

namespace genista::rocks {

// Leaves genista.meta and genista.index complete, and `meta` as it is on disk. Returns the number
// of keys. `index` has the options of a new index family.
[[nodiscard]] result<std::uint64_t> build_index(database& db, store_meta& meta,
                                                const rocksdb::ColumnFamilyOptions& index,
                                                const opening_progress& progress);

}  // namespace genista::rocks
