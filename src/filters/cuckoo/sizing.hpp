// The size of a filter of the cuckoo family: bins for a load, fingerprints for a rate, and which
// shapes are impossible.
#pragma once

#include "genista/detail/filters/cuckoo/family.hpp"

namespace genista::cuckoo {

inline constexpr unsigned least_tables = 2, most_tables = 8;
inline constexpr unsigned most_bin_slots = 8;
inline constexpr unsigned least_fingerprint_bits = 2,
                          most_fingerprint_bits = 32;  // one bit would leave one value beside "empty"
inline constexpr double least_load = 0.01;
inline constexpr std::uint64_t most_slots = std::uint64_t{1} << 40;  // family.hpp numbers them so

// The load to which tables of this shape can be filled, a little below the point where it becomes
// impossible.
[[nodiscard]] double most_load(unsigned tables, unsigned bin_slots) noexcept;

// The false-positive rate of one query at this load: one chance for each slot examined.
[[nodiscard]] double rate_of(const cuckoo_shape& shape, double load) noexcept;

// The shape for these options; an error names what lies outside its range, and the range.
[[nodiscard]] result<cuckoo_shape> shape_for(const member_of_family& who, const cuckoo_options& options) noexcept;

[[nodiscard]] std::uint64_t table_bytes(const cuckoo_shape& shape) noexcept;

}  // namespace genista::cuckoo
