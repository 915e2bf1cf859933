// hash_key: the secret of a filter. Whoever does not know it cannot aim at the filter's bits.
#pragma once

#include <array>
#include <cstdint>

#include "genista/base/result.hpp"

namespace genista {

struct hash_key {
    std::array<std::uint8_t, 32> bytes{};  // 0..15 the AES-128 key, 16..31 the SipHash key

    // From the operating system's generator; the default of every filter.
    [[nodiscard]] static result<hash_key> random() noexcept;

    // The same key for the same seed on every machine: for tests and for experiments that must repeat. Not secret.
    [[nodiscard]] static hash_key from_seed(std::uint64_t seed) noexcept;

    // Names the key without giving it away: 64 bits of a keyed function of a constant.
    [[nodiscard]] std::uint64_t id() const noexcept;

    friend bool operator==(const hash_key&, const hash_key&) noexcept = default;
};

}  // namespace genista
