// Range deletes of a guarded database. The user's batch commits first, atomically, with a note in
// genista.meta. The records of the deleted keys are removed afterwards, piece by piece, while other
// threads read and write. Then the note is removed.
//
//     commit   alone, one write: the ranges and the rest of the batch, and the note. A snapshot of
//              RocksDB from just before
//     pieces   keys of the snapshot in the ranges, some hundred at a time: the records of those
//              that `default` lacks are removed
//     done     the note is removed
//
// In between R holds records of keys that `default` lacks: their queries read the store and find
// nothing. The record of a key that `default` has is never deleted: a new put into the range is
// noticed, because every put ticks the put_clock. After a crash the note says that pieces are
// missing, and opening searches R for them.
#pragma once

#include <rocksdb/db.h>

#include <string>
#include <utility>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/hash/hasher.hpp"
#include "stores/rocksdb/batch_plan.hpp"

namespace genista::rocks {

inline constexpr std::size_t range_delete_piece = 256;  // keys

// Each is [begin, end).
using key_ranges = std::vector<std::pair<std::string, std::string>>;

// The note: its name in genista.meta, and its contents.
[[nodiscard]] std::string range_delete_note_name(std::uint64_t number);
[[nodiscard]] std::string range_delete_note(std::span<const batch_plan::range> ranges);

// Finishes at opening, before the filter is found, the range deletes that a crash left.
[[nodiscard]] result<void> finish_range_deletes(database& db);

}  // namespace genista::rocks
