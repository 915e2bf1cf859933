// meta: what a database says about itself in the column family genista.meta, so that an opening can
// refuse what it does not understand. Key → value, all written in one synced batch:
//
//     format       u32      1, or 2: a clustered store with genista.values (clustered_store.hpp). A
//                           newer one is refused.
//     layout       text     clustered | indexed
//     hash_kind    u32      hasher.hpp
//     hash_key     32 bytes drawn once, when the database is made, because R's order on disk
//                  depends on it
//     state        text     ready | indexing (the index is being built: an opening that finds this
//                           starts over)
//     generation   u64      grows when R changes in a way the log does not show (ingested files, a
//                           new index): older filters are stale
//     lives        (id u64, first u64)...  one for each opening for writing, oldest first; see
//                                          store_life
//     mark         sequence u64, entries u64, file u64, session text: up to where all writes are
//                  accounted for; see write_mark. Empty: nowhere
//     snapshots    (id u64, shown u64)...  of the filter, newest last, in the clustered layout; see
//                                          snapshot_record. Written by itself, after each snapshot
//
// Numbers are little-endian.
#pragma once

#include <rocksdb/db.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/hash/hasher.hpp"

namespace genista::rocks {

inline constexpr const char* meta_family_name = "genista.meta";
inline constexpr const char* index_family_name = "genista.index";
inline constexpr std::string_view own_family_prefix = "genista.";  // users may not use it
inline constexpr std::uint32_t first_format = 1;
inline constexpr std::uint32_t values_apart_format = 2;
inline constexpr std::uint32_t newest_format = 2;

enum class layout : unsigned char {
    clustered,  // the user's values are kept under their record_keys
    indexed,    // the user's data stay as they are; the records have a column family of their own
};
[[nodiscard]] std::string_view to_string(layout which) noexcept;

enum class store_state : unsigned char { ready, indexing };

// One opening for writing. Copies of a database have the same identity and use the same sequence
// numbers for different writes; the ids of their lives are random, so that a filter saved by one
// copy is not loaded by the other. A life ends where the next one begins: a snapshot of a life that
// shows a later write belongs to another history. An opening that builds the index again removes
// all earlier lives.
struct store_life {
    std::uint64_t id = 0;
    std::uint64_t first = 0;  // the sequence number before the first write of this life
};
inline constexpr std::size_t lives_kept = 64;  // snapshots of older lives are not used

// Up to here every write to the guarded family went through the guard (decision 0022). A loss of
// power may lose a mark: then the one before it counts, and a longer piece of the log is checked.
struct write_mark {
    std::uint64_t sequence = 0;  // the store's sequence number before the mark was written
    // Of the batch that wrote the mark: if the store has no more than these, nothing was written
    // after it.
    std::uint64_t entries = 0;
    std::uint64_t file = 0;  // tables with a higher number are accounted for if `session` made them
    std::string session;     // RocksDB's name for the opening that wrote the mark
    friend bool operator==(const write_mark&, const write_mark&) = default;
};

// A snapshot that the store has taken, written down before its file is published. A copy of the
// store made before that does not have the record and refuses the file, whatever was written to the
// copy since.
struct snapshot_record {
    std::uint64_t id = 0;     // random; the file carries it
    std::uint64_t shown = 0;  // the file shows no write after this one
    friend bool operator==(const snapshot_record&, const snapshot_record&) = default;
};
using snapshot_records = std::vector<snapshot_record>;
inline constexpr std::size_t snapshot_records_kept = 16;

struct store_meta {
    std::uint32_t format = first_format;
    layout arrangement = layout::clustered;
    hash_kind hashing = hash_kind::keyed;
    hash_key key{};
    store_state state = store_state::ready;
    std::uint64_t generation = 0;
    std::vector<store_life> lives{};
    std::optional<write_mark> mark = std::nullopt;             // none: databases of older versions
    std::optional<snapshot_records> snapshots = std::nullopt;  // none: no snapshot was written down yet

    // Draws the key from the operating system's generator, unless one is given.
    [[nodiscard]] static result<store_meta> make(layout arrangement, const std::optional<hash_key>& key) noexcept;

    [[nodiscard]] hasher hash() const noexcept { return hasher{key, hashing}; }
};

// Nothing if the family is empty: the process that made it stopped before it wrote. `path` is for
// the message.
[[nodiscard]] result<std::optional<store_meta>> read_meta(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                                                          std::string_view path);
// Durable when it returns. One batch of meta_entries entries, each with a sequence number of its
// own.
inline constexpr std::uint64_t meta_entries = 8;
[[nodiscard]] result<void> write_meta(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family, const store_meta& meta);
// Writes only the mark: one entry. None: the next opening builds the index again.
[[nodiscard]] rocksdb::Status write_mark_entry(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                                               const std::optional<write_mark>& mark, bool durably);

// Writes only the snapshots: one entry. When it returns, this and all earlier writes are durable.
[[nodiscard]] rocksdb::Status write_snapshot_records(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                                                     const snapshot_records& records);
// The id of a life or a snapshot.
[[nodiscard]] result<std::uint64_t> random_id() noexcept;

// A mark of the current tables and this session's name, without a sequence number.
[[nodiscard]] result<write_mark> mark_tables(rocksdb::DB& db);

// At every opening for writing, before anything else is written: draws an id, adds it to
// `meta.lives`, and marks all earlier writes as accounted for. REQUIRES: they are. Durable when it
// returns.
[[nodiscard]] result<void> begin_life(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family, store_meta& meta);

// An error that names the layout found and the one wanted.
[[nodiscard]] result<void> check_layout(const store_meta& meta, layout wanted, std::string_view path) noexcept;

// Identifies the database, for store_mark (format/snapshot.hpp).
using store_id = std::array<std::byte, 16>;
[[nodiscard]] result<store_id> store_identity(rocksdb::DB& db);

}  // namespace genista::rocks
