// What is drawn at random when a filter or an oracle is made: its hash, the seed of its choices,
// and salts.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "genista/base/result.hpp"
#include "genista/detail/base/random_source.hpp"
#include "genista/hash/hasher.hpp"

namespace genista {

// The caller's hash function, or else a keyed one with a random key.
[[nodiscard]] inline result<hasher> hasher_or_random(const std::optional<hasher>& chosen) noexcept {
    if (chosen) return *chosen;
    const auto key = hash_key::random();
    if (!key) return key.error();
    return hasher{*key};
}

// The seed of a filter's random numbers: that of a `repeatable`, or one from the operating system.
[[nodiscard]] inline result<std::uint64_t> seed_of_chance(const random_source& source) noexcept {
    if (source.seed()) return *source.seed();
    const auto random = hash_key::random();
    if (!random) return random.error();
    std::uint64_t seed = 0;
    std::memcpy(&seed, random->bytes.data(), sizeof seed);
    return seed;
}

// The next salt of a filter's hash functions: a bijection of a counter, so that no salt comes
// twice.
[[nodiscard]] inline std::uint64_t next_salt(std::uint64_t& counter) noexcept {
    std::uint64_t word = counter += 0x9e3779b97f4a7c15u;
    word = (word ^ word >> 31) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 29) * 0x94d049bb133111ebu;
    return word ^ word >> 32;
}

}  // namespace genista
