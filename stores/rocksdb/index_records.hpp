// index_records: the index of a filter (remote/indexed.hpp) in a RocksDB database of its own, with
// batches, as filters of the cuckoo family need it beside the records.
//
//     key      record_key: the place and the bytes of the key        value    empty
//
//     auto index = genista::rocks::index_records::open("/data/users-index");
//     genista::indexed_store both{**store, **index};
//     auto filter = genista::cuckooing_filter::build({.hash = both.hash()}, both.remote());
//
// ## Why no log is needed
//
// Places are chosen by a filter in RAM, and have no meaning without it. A crash or a loss of power
// that loses the index has lost the filter too. The records (ordered_records.hpp) are the truth,
// and have a log: the next process builds a new filter from them, which writes the whole index
// again, in two sequential reads. So writes use no log (disableWAL), closing flushes nothing, and
// opening deletes the index of an earlier process unread, since the index of another filter is
// worse than none. A filter loaded from a snapshot answers without an index, and changes nothing
// before rebuild() has written it (filters/cuckoo/family.hpp). While the process lives, an apply is
// one batch and therefore whole.
//
// ## What may be deleted
//
// A directory with the file `genista-index`, which is created before anything else. RocksDB's lock
// decides whether another process still uses it. A directory with any other content, or a file, is
// left unchanged and refused.
//
// Threads: any number, as remote.hpp asks. What put and erase return is exact for one writer at a
// time, which the filter is.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/detail/stores/rocksdb/ordered_records.hpp"
#include "genista/remote/remote.hpp"

namespace genista::rocks {

inline constexpr const char* index_marker_name = "genista-index";

// A place that often gets another key has a tombstone for each of the former ones, and a look at it
// passes them all until they are compacted away: memtables are small, and compacted early.
[[nodiscard]] inline rocksdb::Options index_rocksdb_options() {
    rocksdb::Options how = default_rocksdb_options();
    how.write_buffer_size = std::size_t{1} << 20;
    how.level0_file_num_compaction_trigger = 2;
    return how;
}

struct index_records_options {
    rocksdb::Options rocksdb = index_rocksdb_options();
};

class index_records {
  public:
    // An empty index at `path`. Records that were there are deleted.
    [[nodiscard]] static result<std::unique_ptr<index_records>> open(const std::string& path,
                                                                     index_records_options options = {});

    [[nodiscard]] result<bool> put(const digest& where, key_view key) { return change({where, key, true}); }
    [[nodiscard]] result<bool> erase(const digest& where, key_view key) { return change({where, key, false}); }
    [[nodiscard]] result<bool> contains(const digest& where, key_view key) { return records_.contains(where, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        return records_.for_each(first, last, std::forward<Visit>(visit));
    }

    [[nodiscard]] result<void> apply(std::span<const record_change> changes);
    [[nodiscard]] result<void> erase_range(std::uint64_t first, std::uint64_t last);

    // Writes everything in memory into tables, so that reads cost what they cost with many records.
    // Not needed for safety.
    [[nodiscard]] result<void> flush();
    [[nodiscard]] rocksdb::DB& db() noexcept { return *db_; }

  private:
    explicit index_records(std::unique_ptr<rocksdb::DB> opened) noexcept
        : db_{std::move(opened)}, records_{*db_, *db_->DefaultColumnFamily()} {}
    [[nodiscard]] result<bool> change(const record_change& wanted);

    std::unique_ptr<rocksdb::DB> db_;
    ordered_records records_;
};

}  // namespace genista::rocks
