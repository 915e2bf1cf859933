// The index of an existing database: one scan of `default`, one record a key. A crash in the middle
// starts over.
//
//     meta: state = indexing, a new generation (synced)  →  an empty genista.index  →  fill it, past the log  →
//     flush  →  meta: state = ready (synced)
#pragma once

#include <cstdint>

#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"

namespace genista::rocks {

// Leaves genista.meta and genista.index as they should be, `meta` as it is on disk, and returns the
// number of keys. `index` are the options of a new index family.
[[nodiscard]] result<std::uint64_t> build_index(database& db, store_meta& meta,
                                                const rocksdb::ColumnFamilyOptions& index,
                                                const opening_progress& progress);

}  // namespace genista::rocks
