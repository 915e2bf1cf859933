// Keys for the broom filter's own uses, drawn from the filter's hash key under a label each, so that no two uses share one.
#pragma once

#include <cstring>

#include "genista/filters/broom/faults.hpp"
#include "genista/hash/hasher.hpp"

namespace genista {
inline namespace GENISTA_BROOM_VARIANT {
namespace broom {

// `label` has at most 15 characters. The keyed hash sees 24 bytes: label, zeros, half.
[[nodiscard]] inline hash_key derive_key(const hash_key& from, const char* label) noexcept {
    hash_key made;
    const hasher keyed{from};
    for (std::size_t half = 0; half < 2; ++half) {
        char text[24] = {};
        std::strncpy(text, label, 15);
        text[23] = static_cast<char>(half);
        const digest d = keyed(key_view{reinterpret_cast<const std::byte*>(text), sizeof text});
        for (std::size_t i = 0; i < 8; ++i) {
            made.bytes[16 * half + i] = static_cast<std::uint8_t>(d.position >> (8 * i));
            made.bytes[16 * half + 8 + i] = static_cast<std::uint8_t>(d.seed >> (8 * i));
        }
    }
    return made;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_VARIANT
}  // namespace genista
