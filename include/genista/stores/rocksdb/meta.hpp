// What a database says about itself in the column family genista.meta: key → value, all written in one synced batch.
//
//     format       u32      1. A database of a newer format is refused, not guessed at.
//     layout       text     clustered | indexed
//     hash_kind    u32      hash_state.hpp
//     hash_key     32 bytes R's order on disk depends on it, so it is drawn once, when the database is made
//     state        text     ready | indexing (the index is being built: whoever finds this starts over)
//     generation   u64      grows when R changes past the log (ingested files, a new index): older filters are stale
//
// Numbers are little-endian.
#pragma once

#include <rocksdb/db.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "genista/base/result.hpp"
#include "genista/hash/hasher.hpp"

namespace genista::rocks {

inline constexpr const char* meta_family_name = "genista.meta";
inline constexpr const char* index_family_name = "genista.index";
inline constexpr std::string_view own_family_prefix = "genista.";  // names that users may not take
inline constexpr std::uint32_t newest_format = 1;

enum class layout : unsigned char {
    clustered,  // the user's values are kept under their record_keys
    indexed,    // the user's data stay as they are, the records have a column family of their own
};
[[nodiscard]] std::string_view to_string(layout which) noexcept;

enum class store_state : unsigned char { ready, indexing };

struct store_meta {
    std::uint32_t format = newest_format;
    layout arrangement = layout::clustered;
    hash_kind hashing = hash_kind::keyed;
    hash_key key{};
    store_state state = store_state::ready;
    std::uint64_t generation = 0;

    // With a key from the operating system's generator, unless one is given (tests, experiments that must repeat).
    [[nodiscard]] static result<store_meta> make(layout arrangement, const std::optional<hash_key>& key) noexcept;

    [[nodiscard]] hasher hash() const noexcept { return hasher{key, hashing}; }
};

// Nothing: the family is empty, because whoever made it did not come further. `path` is for the message.
[[nodiscard]] result<std::optional<store_meta>> read_meta(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                                                          std::string_view path);
// Durable when it returns.
[[nodiscard]] result<void> write_meta(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family, const store_meta& meta);

// An error that says what is there and what was asked for.
[[nodiscard]] result<void> check_layout(const store_meta& meta, layout wanted, std::string_view path) noexcept;

// Names the database, for store_mark (format/snapshot.hpp).
using store_id = std::array<std::byte, 16>;
[[nodiscard]] result<store_id> store_identity(rocksdb::DB& db);

}  // namespace genista::rocks
