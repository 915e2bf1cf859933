// MurmurHash64A: a fast and popular seeded hash whose collisions do not depend on the seed.
//
// It is the control of tests/hash/collisions_test.cpp: plugged into a filter, it must make the
// filter fail. Austin Appleby's design of 2008; g++'s std::hash of strings is the same function
// under one fixed seed.
//
//     h = seed ^ size·m;   for each 8 bytes k:  h = (h ^ f(k))·m,
//                          with f(k) = m·mix(m·k),  mix(v) = v ^ (v >> 47)
//     then the 0-7 bytes left as a word t:  h = (h ^ t)·m if there are any;   result  mix(m·mix(h))
#pragma once

#include <cstddef>
#include <cstdint>

#include "genista/hash/hasher.hpp"
#include "genista/hash/key.hpp"

namespace genista::test {

inline constexpr std::uint64_t murmur_factor = 0xc6a4a7935bd1e995;

[[nodiscard]] constexpr std::uint64_t murmur_mix(std::uint64_t v) noexcept {
    return v ^ (v >> 47);
}

[[nodiscard]] constexpr std::uint64_t murmur_block(std::uint64_t k) noexcept {
    return murmur_mix(k * murmur_factor) * murmur_factor;
}

[[nodiscard]] inline std::uint64_t murmur64a(key_view key, std::uint64_t seed) noexcept {
    const auto word = [&](std::size_t from, std::size_t count) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < count; ++i) value |= std::to_integer<std::uint64_t>(key.data[from + i]) << (8 * i);
        return value;
    };
    std::uint64_t h = seed ^ (key.size * murmur_factor);
    std::size_t at = 0;
    for (; at + 8 <= key.size; at += 8) h = (h ^ murmur_block(word(at, 8))) * murmur_factor;
    if (at < key.size) h = (h ^ word(at, key.size - at)) * murmur_factor;
    return murmur_mix(murmur_mix(h) * murmur_factor);
}

// In the form of a filter's hash: two words of digest from two seeds. `context` is the first seed.
[[nodiscard]] inline digest murmur_digest(const void* context, key_view key) noexcept {
    const std::uint64_t seed = *static_cast<const std::uint64_t*>(context);
    return digest{murmur64a(key, seed), murmur64a(key, ~seed * 0x9e3779b97f4a7c15)};
}

// The seed must outlive the hasher.
[[nodiscard]] inline hasher murmur_hasher(const std::uint64_t& seed) noexcept {
    return hasher::custom(murmur_digest, &seed);
}

}  // namespace genista::test
