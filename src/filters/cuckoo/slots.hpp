// Slots of a filter of the cuckoo family: how many it needs, and how they lie in words.
//
// Some bits each in shared words: one writer, any number of readers (lookup_state.hpp says which
// reads can be trusted). Loads acquire and stores release: a reader that has seen a changed word
// also sees that the version became odd before.
#pragma once

#include <cstdint>

#include "genista/detail/filters/cuckoo/family.hpp"

namespace genista::cuckoo {

// One word beyond the last slot exists, so that no slot needs a special case.
[[nodiscard]] constexpr std::uint64_t words_for(std::uint64_t slots, unsigned slot_bits) noexcept {
    return (slots * slot_bits + 63) / 64 + 1;
}

[[nodiscard, gnu::always_inline]] inline std::uint64_t read_slot(const std::uint64_t* words, std::uint64_t slot,
                                                                 unsigned slot_bits) noexcept {
    const std::uint64_t bit = slot * slot_bits;
    const std::uint64_t* const at = words + bit / 64;
    const unsigned shift = bit % 64;
    const std::uint64_t low = __atomic_load_n(at, __ATOMIC_ACQUIRE) >> shift;
    const std::uint64_t high = __atomic_load_n(at + 1, __ATOMIC_ACQUIRE) << 1 << (63 - shift);
    return (low | high) & ((std::uint64_t{1} << slot_bits) - 1);
}

inline void write_slot(std::uint64_t* words, std::uint64_t slot, unsigned slot_bits, std::uint64_t value) noexcept {
    const std::uint64_t bit = slot * slot_bits;
    std::uint64_t* const at = words + bit / 64;
    const unsigned shift = bit % 64;
    const std::uint64_t mask = (std::uint64_t{1} << slot_bits) - 1;
    __atomic_store_n(at, (*at & ~(mask << shift)) | value << shift, __ATOMIC_RELEASE);
    if (shift + slot_bits <= 64) return;
    const unsigned gone = 64 - shift;
    __atomic_store_n(at + 1, (at[1] & ~(mask >> gone)) | value >> gone, __ATOMIC_RELEASE);
}

// ---- sizing.cpp: bins for a load, fingerprints for a rate, and which shapes are impossible

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
