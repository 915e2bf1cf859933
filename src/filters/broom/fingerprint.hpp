// fingerprint: the bits that represent a key inside its bin during one epoch, cut from
// pseudo-random words.
//
//     word 0   bits 0..5 quotient | 6..13 remainder | 14..29 tail | 30..32 overflow class |
//              33..63 stream bits 0..30
//     word 1   bits 0..31 tag | 32..63 stream bits 31..62
//     further stream words come from further blocks
//
// The base is (quotient, remainder, tail). Class, tag and stream are independent of it: neither the
// fact that a look-up left the line nor the choice of the keys that overflow says anything about
// bases (docs/filters/broom.md, Lemma 1).
#pragma once

#include <cstdint>

#include "filters/broom/line.hpp"
#include "filters/broom/shape.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

struct mixed {
    std::uint64_t word[2];
};

struct fingerprint {
    line_key key;
    std::uint32_t tail;
    std::uint32_t tag;
    unsigned overflow_class;  // 0..7

    [[nodiscard]] static constexpr fingerprint of(const mixed& m, shape s) noexcept {
        const auto low = [](unsigned bits) { return static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1); };
        return {{static_cast<unsigned>(m.word[0] & 63), static_cast<std::uint8_t>(m.word[0] >> 6)},
                static_cast<std::uint32_t>(m.word[0] >> 14) & low(s.tail_bits),
                static_cast<std::uint32_t>(m.word[1]) & low(s.tag_bits()),
                static_cast<unsigned>(m.word[0] >> 30 & 7)};
    }
    // The base as one number.
    [[nodiscard]] constexpr std::uint32_t base() const noexcept {
        return tail << 14 | static_cast<std::uint32_t>(key.remainder) << 6 | key.quotient;
    }
};

inline constexpr unsigned stream_bits_first_block = 63;

[[nodiscard]] constexpr std::uint64_t first_stream_bits(const mixed& m) noexcept {
    return (m.word[0] >> 33) | (m.word[1] >> 32) << 31;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
