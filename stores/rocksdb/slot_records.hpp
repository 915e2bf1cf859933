// slot_records: a slot map (remote/slots.hpp) in a RocksDB database of its own. Filters of the
// cuckoo family need one beside the records.
//
//     key      slot, 8 bytes, big-endian: RocksDB's order of bytes is then the order of slots
//     value    the bytes of the key in that slot
//
//     auto slots = genista::rocks::slot_records::open("/data/users-slots");
//     genista::slotted_store both{**store, **slots};
//     auto filter = genista::cuckooing_filter::build({.hash = both.hash()}, both.remote());
//
// ## Why no log is needed
//
// Slots are numbered by a filter in RAM, and have no meaning without it. A crash or a loss of power
// that loses the slots has lost the filter too. The records (ordered_records.hpp) are the truth,
// and have a log: the next process builds a new filter from them, which writes all slots again, in
// two sequential reads. So writes use no log (disableWAL), closing flushes nothing, and opening
// deletes the slots of an earlier process unread, since slots of another filter are worse than
// none. A filter loaded from a snapshot answers without slots, and changes nothing before rebuild()
// has written them (filters/cuckoo/family.hpp). While the process lives, a write is one batch and
// therefore whole.
//
// ## What may be deleted
//
// A directory with the file `genista-slots`, which is created before anything else. RocksDB's lock
// decides whether another process still uses it. A directory with any other content, or a file, is
// left unchanged and refused.
//
// Threads: any number, as slots.hpp asks.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"
#include "genista/remote/slots.hpp"

namespace genista::rocks {

inline constexpr const char* slots_marker_name = "genista-slots";

struct slot_records_options {
    rocksdb::Options rocksdb = default_rocksdb_options();
};

// A walk over a range of slots: the part of for_each_slot that does not depend on the visitor.
class slot_range {
  public:
    slot_range(rocksdb::DB& db, std::uint64_t first, std::uint64_t last);

    // The next slot that holds a key, or nothing at the end. The view is valid until the next call.
    [[nodiscard]] result<std::optional<std::pair<std::uint64_t, key_view>>> next();

  private:
    std::array<char, 8> lower_bytes_{}, upper_bytes_{};
    rocksdb::Slice lower_, upper_;
    std::unique_ptr<rocksdb::Iterator> at_;
    bool begun_ = false;
};

class slot_records {
  public:
    // An empty map at `path`. Slots that were there are deleted.
    [[nodiscard]] static result<std::unique_ptr<slot_records>> open(const std::string& path,
                                                                    slot_records_options options = {});

    template <slot_reader Take>
    result<bool> read_slot(std::uint64_t slot, Take&& take) try {
        rocksdb::PinnableSlice key;
        const auto found = get(slot, key);
        if (found && *found) take(to_key(key));
        return found;
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "no memory to read a slot");
    }

    result<void> write_slots(std::span<const slot_change> changes);

    template <slot_visitor Visit>
    result<void> for_each_slot(std::uint64_t first, std::uint64_t last, Visit&& visit) try {
        if (first > last) return {};
        slot_range range{db(), first, last};
        while (true) {
            const auto record = range.next();
            if (!record) return record.error();
            if (!record->has_value() || !visit((*record)->first, (*record)->second)) return {};
        }
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "no memory to read a range of slots");
    }

    result<void> clear_slots(std::uint64_t first, std::uint64_t last);

    // Writes everything in memory into tables, so that reads cost what they cost with many slots.
    // Not needed for safety.
    [[nodiscard]] result<void> flush();
    [[nodiscard]] rocksdb::DB& db() noexcept { return *db_; }

  private:
    explicit slot_records(std::unique_ptr<rocksdb::DB> opened) noexcept : db_{std::move(opened)} {}
    [[nodiscard]] result<bool> get(std::uint64_t slot, rocksdb::PinnableSlice& key);

    std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace genista::rocks
