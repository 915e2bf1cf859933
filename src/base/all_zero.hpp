// all_zero: whether bytes are all zero, to check padding and the unused end of a table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace genista {

[[nodiscard]] inline bool all_zero(std::span<const std::byte> bytes) noexcept {
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace genista
