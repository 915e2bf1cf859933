// fingerprint: the bits that represent a key inside its bin during one epoch, cut from two
// pseudo-random words (layout.hpp, mixed_layout). Further stream words would come from further
// blocks; no slot needs them.
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

// The words of a key under a salt. They look like a digest and are none: a digest says where a key
// lies in R, these words what stands for it in its bin. Not initialised, because renewals have
// arrays of them.
struct mixed {
    std::uint64_t first;
    std::uint64_t second;

    [[nodiscard]] constexpr std::uint64_t stream() const noexcept {
        return mixed_layout::first_stream.of(first) | mixed_layout::second_stream.of(second)
                                                          << mixed_layout::first_stream.width;
    }
};

struct fingerprint {
    line_key key;
    std::uint32_t tail;
    std::uint32_t tag;
    unsigned overflow_class;  // 0..7

    [[nodiscard]] static constexpr fingerprint of(const mixed& m, shape s) noexcept {
        const auto low = [](unsigned bits) { return static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1); };
        return {.key = {mixed_layout::quotient.number(m.first),
                        static_cast<std::uint8_t>(mixed_layout::remainder.uncut(m.first))},
                .tail = static_cast<std::uint32_t>(mixed_layout::tail.uncut(m.first)) & low(s.tail_bits),
                .tag = static_cast<std::uint32_t>(mixed_layout::tag.uncut(m.second)) & low(s.tag_bits()),
                .overflow_class = mixed_layout::overflow_class.number(m.first)};
    }
    // The base as one number, its bits where the first word has them.
    [[nodiscard]] constexpr std::uint32_t base() const noexcept { return base_of(key, tail); }
    [[nodiscard]] static constexpr std::uint32_t base_of(line_key key, std::uint32_t tail) noexcept {
        return tail << mixed_layout::tail.at | std::uint32_t{key.remainder} << mixed_layout::remainder.at |
               std::uint32_t{key.quotient} << mixed_layout::quotient.at;
    }
};

static_assert(mixed_layout::tail.end() < 32, "a base is never all ones in 32 bits (epoch_build.cpp)");

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
