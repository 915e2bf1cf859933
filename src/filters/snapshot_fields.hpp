// The fields that begin the parameter block of every filter, so that docs/format.md draws them
// once:
//
//     capacity u64 | false-positive rate f64 | keys u64 | hash key 32 bytes
#pragma once

#include <cstdint>

#include "format/hash_fields.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

struct common_fields {
    filter_options options;
    std::uint64_t keys = 0;
};

inline void write_common(field_writer& fields, const filter_stats& stats, const hasher& hash) noexcept {
    fields.u64(stats.capacity).f64(stats.false_positive_rate).u64(stats.keys);
    write_hash(fields, hash);
}

// The checks that do not depend on the structure: the hash, its key, the ranges.
[[nodiscard]] result<common_fields> read_common(field_reader& fields, const snapshot_info& info,
                                                std::string_view filter, double min_rate) noexcept;

// A snapshot of a filter whose common fields have been read; `fields` goes on behind them. It
// refers to the bytes.
struct opened_filter {
    snapshot_view view;
    field_reader fields;
    common_fields common;
};
[[nodiscard]] result<opened_filter> open_filter(snapshot_kind kind, std::uint16_t newest_version, std::size_t sections,
                                                std::span<const std::byte> bytes, std::string_view filter,
                                                double min_rate) noexcept;

// Writes the common fields, what add(field_writer&) adds to them, and the sections.
template <class Add>
[[nodiscard]] result<void> save_filter(sink& out, snapshot_kind kind, std::uint16_t version, const filter_stats& stats,
                                       const hasher& hash, std::span<const std::span<const std::byte>> sections,
                                       Add add) noexcept {
    const auto info = describe(kind, version, hash);
    if (!info) return info.error();
    field_writer fields;
    write_common(fields, stats, hash);
    add(fields);
    return write_snapshot(out, *info, fields.view(), sections);
}

}  // namespace genista
