// The fields that open the parameter block of every filter, so that docs/format.md draws them once:
//
//     capacity u64 | false-positive rate f64 | keys u64 | hash key 32 bytes
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "genista/filters/filter.hpp"
#include "genista/format/snapshot.hpp"

namespace genista {

struct common_fields {
    filter_options options;
    std::uint64_t keys = 0;
};

// The header of a filter that belongs to no store; an error for a custom hash, which cannot be written down.
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

inline void write_common(field_writer& fields, const filter_stats& stats, const hasher& hash) noexcept {
    fields.u64(stats.capacity).f64(stats.false_positive_rate).u64(stats.keys);
    fields.bytes(std::as_bytes(std::span{hash.key().bytes}));
}

// The hash function, whose key is the next field. An error unless it is the one of the header.
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

// Checks what can be checked without knowing the structure: the hash, its key, the ranges.
[[nodiscard]] inline result<common_fields> read_common(field_reader& fields, const snapshot_info& info,
                                                       std::string_view filter, double min_rate) noexcept {
    common_fields read;
    read.options.capacity = fields.u64();
    read.options.false_positive_rate = fields.f64();
    read.keys = fields.u64();
    const auto hash = read_hash(fields, info);
    if (!hash) return hash.error();
    if (const auto checked = check_options(filter, read.options, min_rate); !checked) {
        return error::make(error_code::corrupt, "snapshot: %s", checked.error().message().data());
    }
    read.options.hash = *hash;
    return read;
}

}  // namespace genista
