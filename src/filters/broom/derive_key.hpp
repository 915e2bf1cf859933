// Keys for the broom filter's own uses, derived from the filter's hash key. No two uses share a
// key, and a derived key is independent of every digest.
#pragma once

#include <cstdint>
#include <cstring>

#include "genista/detail/filters/broom/faults.hpp"
#include "genista/hash/hasher.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

namespace detail {

inline void put_half(hash_key& key, std::size_t half, const digest& d) noexcept {
    for (std::size_t i = 0; i < 8; ++i) {
        key.bytes[16 * half + i] = static_cast<std::uint8_t>(d.position >> (8 * i));
        key.bytes[16 * half + 8 + i] = static_cast<std::uint8_t>(d.seed >> (8 * i));
    }
}

}  // namespace detail

// Blocks of the cipher that no user's key can be: the last byte of a key's block is its size, at
// most 15 (hasher.hpp). The keyed hash encrypts them under the same key, so the result is
// independent of every digest.
enum class derived_use : std::uint8_t { mixing = 1, salting = 2 };

[[nodiscard]] inline hash_key derive_key(const hash_key& from, derived_use use) noexcept {
    hash_key made;
    const hasher keyed{from};
    for (std::uint64_t half = 0; half < 2; ++half) {
        constexpr std::uint64_t no_size = std::uint64_t{0xff} << 56;
        detail::put_half(made, half, keyed.encrypt(half, no_size | static_cast<std::uint64_t>(use)));
    }
    return made;
}

// The version of adaptive_bloom, cascade and broom_paper: digests of strings of 24 bytes (label,
// zeros, half). A user may insert such a string, so this derivation is not proved independent;
// their snapshots depend on it. `label` has at most 15 characters.
[[nodiscard]] inline hash_key labelled_key(const hash_key& from, const char* label) noexcept {
    hash_key made;
    const hasher keyed{from};
    for (std::size_t half = 0; half < 2; ++half) {
        char text[24] = {};
        std::strncpy(text, label, 15);
        text[23] = static_cast<char>(half);
        detail::put_half(made, half, keyed(key_view{reinterpret_cast<const std::byte*>(text), sizeof text}));
    }
    return made;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
