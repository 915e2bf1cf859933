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
