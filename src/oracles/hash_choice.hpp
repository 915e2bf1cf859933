// hasher_or_random: the caller's hash function, or a keyed one with a random key. Every oracle
// makes this choice.
#pragma once

#include <optional>

#include "genista/hash/hasher.hpp"

namespace genista {

[[nodiscard]] inline result<hasher> hasher_or_random(const std::optional<hasher>& chosen) noexcept {
    if (chosen) return *chosen;
    const auto key = hash_key::random();
    if (!key) return key.error();
    return hasher{*key};
}

}  // namespace genista
