// Small functions outside the hot paths that several filters share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "genista/base/result.hpp"
#include "genista/detail/base/caught.hpp"
#include "genista/filters/filter.hpp"
#include "hash/chance.hpp"

namespace genista {

// A cache line. Tables of single bits are whole lines.
inline constexpr std::uint64_t bloom_line_bits = 512;

[[nodiscard]] inline result<hasher> hasher_from(const filter_options& options) noexcept {
    return hasher_or_random(options.hash);
}

// Statistics of a filter that does not adapt.
[[nodiscard]] inline filter_stats plain_stats(std::uint64_t keys, std::uint64_t capacity, double rate,
                                              std::uint64_t local_bytes) noexcept {
    filter_stats now;
    now.keys = keys;
    now.capacity = capacity;
    now.false_positive_rate = rate;
    now.local_bytes = local_bytes;
    return now;
}

// Two filters can be merged only if one hash function filled both.
[[nodiscard]] inline result<void> check_same_hash(const hasher& a, const hasher& b) noexcept {
    if (a == b) return {};
    return error::make(error_code::mismatch, "merge: the filters have different hash keys (%016llx and %016llx)",
                       static_cast<unsigned long long>(a.key().id()), static_cast<unsigned long long>(b.key().id()));
}

// into |= from; equal sizes.
inline void or_into(std::span<std::byte> into, std::span<const std::byte> from) noexcept {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] |= from[i];
}

inline void fill_with_zeros(std::span<std::byte> table) noexcept {
    std::fill(table.begin(), table.end(), std::byte{0});
}

// keys_for_bits as the inverse of bits_for.
//
// The largest capacity whose table fits into `bits`. REQUIRES: bits_of(capacity) grows with
// capacity.
template <class BitsOf>
result<std::uint64_t> largest_capacity(std::uint64_t bits, BitsOf bits_of) noexcept {
    if (bits_of(1) > bits) {
        return error::make(error_code::invalid_argument,
                           "%llu bits do not hold a single key; the smallest table has %llu",
                           static_cast<unsigned long long>(bits), static_cast<unsigned long long>(bits_of(1)));
    }
    std::uint64_t fits = 1;
    std::uint64_t too_many = max_capacity + 1;
    while (too_many - fits > 1) {
        const std::uint64_t middle = fits + (too_many - fits) / 2;
        (bits_of(middle) <= bits ? fits : too_many) = middle;
    }
    return fits;
}

}  // namespace genista
