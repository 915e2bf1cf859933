// digest: what a filter and R know of a key, 128 keyed pseudo-random bits.
#pragma once

#include <compare>
#include <cstdint>

#include "genista/base/uint128.hpp"

namespace genista {

struct digest {
    std::uint64_t position = 0;  // where: R is sorted by it, and every bin of a filter is a range of it
    std::uint64_t seed = 0;      // what: fingerprints are drawn from it

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero inside a defaulted comparison for a pointer
    friend constexpr auto operator<=>(const digest&, const digest&) noexcept = default;
};

// The bin of `position` among `bins`, monotone in position: bin b owns one contiguous range of R at every size.
[[nodiscard]] constexpr std::uint64_t scale(std::uint64_t position, std::uint64_t bins) noexcept {
    return static_cast<std::uint64_t>((static_cast<uint128>(position) * bins) >> 64);
}

}  // namespace genista
