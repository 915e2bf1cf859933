// lookup_state: the plain view of a broom table that look-up kernels read. Replaced as a whole when growth begins or ends, and
// never freed while the filter lives, so that a reader may finish with the one it has.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "genista/filters/broom/faults.hpp"
#include "genista/hash/hash_state.hpp"

namespace genista {
inline namespace GENISTA_BROOM_VARIANT {

namespace broom {
class core;
}  // namespace broom

// Bits of a version word; from bit 3 on it counts changes.
inline constexpr std::uint32_t broom_locked = 1;   // a writer has the group
inline constexpr std::uint32_t broom_writing = 2;  // and changes it
inline constexpr std::uint32_t broom_leaving = 4;  // bins of this table move to a larger one: kernels ask the core

struct broom_lookup_state {
    const std::byte* lines = nullptr;  // 64 bytes a bin
    std::uint64_t bins = 0;
    const std::atomic<std::uint32_t>* versions = nullptr;  // a stripe of groups each
    std::uint64_t stripe_mask = 0;
    const std::uint64_t* salt_words = nullptr;  // by the code in a line
    const hash_state* mix = nullptr;            // the cipher that fingerprints come from
    const std::uint32_t* sides = nullptr;       // a handle a group, of a block in side_words
    const std::uint64_t* side_words = nullptr;
    const std::uint64_t* tails = nullptr;
    unsigned tail_bits = 0;
    unsigned unsalted_code = 256;       // bins with this code have no salt; 256: no bin has
    const broom::core* core = nullptr;  // who answers what a kernel leaves open
};

}  // namespace GENISTA_BROOM_VARIANT
}  // namespace genista
