// hash_state: an expanded hash key, the plain data that the hashing kernels read. Made by hasher.
#pragma once

#include <array>
#include <cstdint>

#include "genista/hash/key.hpp"

namespace genista {

// The ids are written into snapshots: never renumber.
enum class hash_kind : std::uint16_t {
    custom = 0,   // a function of the caller's, for tests and controls; cannot be saved
    keyed = 1,    // AES-128 up to 15 bytes, SipHash-1-3-128 beyond: for keys that an attacker may choose
    trusted = 2,  // XXH3-128 with a random seed: faster on long keys, for keys that no attacker chooses
};

struct alignas(16) hash_state {
    std::array<std::array<std::uint8_t, 16>, 11> round_keys{};  // AES-128, encryption order
    std::uint64_t sip_key[2] = {0, 0};
    std::uint64_t trusted_seed = 0;
    hash_kind kind = hash_kind::keyed;
    digest (*custom)(const void* context, key_view key) noexcept = nullptr;
    const void* context = nullptr;
};

}  // namespace genista
