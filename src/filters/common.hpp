// Small functions outside the hot paths that several filters share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "genista/filters/filter.hpp"

namespace genista {

// A cache line. Tables of single bits are whole lines.
inline constexpr std::uint64_t bloom_line_bits = 512;

// The caller's hash, or else a keyed hash with a random key.
[[nodiscard]] inline result<hasher> hasher_from(const filter_options& options) noexcept {
    if (options.hash) return *options.hash;
    const auto key = hash_key::random();
    if (!key) return key.error();
    return hasher{*key};
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

}  // namespace genista
