// Range deletes of a guarded database. The user's batch commits first, atomically, with a note in
// genista.meta; the records of the keys that it took away go afterwards, piece by piece, while
// others read and write; then the note goes.
//
//     commit   alone, one write: the ranges and the rest of the batch, and the note. A snapshot of
//              RocksDB from just before
//     pieces   keys of the snapshot in the ranges, some hundred at a time: the records of those
//              that `default` lacks go
//     done     the note goes
//
// In between R holds records of keys that `default` lacks: their queries read the store and find
// nothing. No record of a key that `default` has is ever deleted: a put that comes back into the
// range is seen, because all puts tick the put_clock. After a crash the note says that pieces are
// missing, and opening looks through R for them.
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

// [begin, end) each.
using key_ranges = std::vector<std::pair<std::string, std::string>>;

// The note: its name in genista.meta, and what it says.
[[nodiscard]] std::string range_delete_note_name(std::uint64_t number);
[[nodiscard]] std::string range_delete_note(std::span<const batch_plan::range> ranges);

// At opening, before the filter is found: what a crash left behind.
[[nodiscard]] result<void> finish_range_deletes(database& db);

}  // namespace genista::rocks
