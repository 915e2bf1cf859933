// Helpers at the boundary of a filter: inside, functions may throw std::bad_alloc; callers only
// ever get errors.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "base/without_throwing.hpp"
#include "genista/base/result.hpp"
#include "genista/detail/base/random_source.hpp"
#include "genista/hash/hasher.hpp"

namespace genista {

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
