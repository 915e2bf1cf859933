// Small cold pieces that several filters share.
#pragma once

#include <cstddef>
#include <span>

#include "genista/filters/filter.hpp"

namespace genista {

// The caller's hash, or a keyed one with a random key.
[[nodiscard]] inline result<hasher> hasher_from(const filter_options& options) noexcept {
    if (options.hash) return *options.hash;
    const auto key = hash_key::random();
    if (!key) return key.error();
    return hasher{*key};
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

}  // namespace genista
