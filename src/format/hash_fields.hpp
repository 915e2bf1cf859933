// hash_fields: the hash function in a snapshot. Its id and the name of its key are in the header,
// the key itself is among the parameters.
//
// Every filter and oracle that hashes keys writes and reads them with these functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "genista/detail/format/snapshot.hpp"
#include "genista/hash/hasher.hpp"

namespace genista {

// The header of a snapshot that belongs to no store. An error for a custom hash, which cannot be
// saved.
[[nodiscard]] inline result<snapshot_info> describe(snapshot_kind kind, std::uint16_t version,
                                                    const hasher& hash) noexcept {
    if (hash.kind() == hash_kind::custom) {
        return error::make(error_code::unsupported, "a filter with a custom hash function cannot be saved");
    }
    snapshot_info info;
    info.kind = kind;
    info.kind_version = version;
    info.hash_id = static_cast<std::uint16_t>(hash.kind());
    info.key_id = hash.key().id();
    return info;
}

inline void write_hash(field_writer& fields, const hasher& hash) noexcept {
    fields.bytes(std::as_bytes(std::span{hash.key().bytes}));
}

// The hash function, whose key is the next field. An error if it is not the one of the header.
[[nodiscard]] inline result<hasher> read_hash(field_reader& fields, const snapshot_info& info) noexcept {
    hash_key key;
    const std::span<const std::byte> key_bytes = fields.bytes(key.bytes.size());
    std::transform(key_bytes.begin(), key_bytes.end(), key.bytes.begin(),
                   [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
    if (info.hash_id != static_cast<std::uint16_t>(hash_kind::keyed) &&
        info.hash_id != static_cast<std::uint16_t>(hash_kind::trusted)) {
        return error::make(error_code::unsupported,
                           "snapshot uses hash function %u; known are 1 (keyed) and 2 (trusted)",
                           unsigned{info.hash_id});
    }
    if (key.id() != info.key_id)
        return error::make(error_code::corrupt, "snapshot's hash key does not match its key id");
    return hasher{key, static_cast<hash_kind>(info.hash_id)};
}

}  // namespace genista
