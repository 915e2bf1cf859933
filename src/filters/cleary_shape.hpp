// A table of cleary_filter from outside: its size (cells, bits of a remainder, bytes), its kernels,
// and whether bytes are one. Shared with structures that keep several such tables in one buffer
// (daisy_fingerprint.hpp). genista/filters/cleary.hpp has the picture.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "filters/cleary_table.hpp"

namespace genista::cleary {

// Exact: halving a rate loses no bits.
[[nodiscard]] inline unsigned remainder_bits_for(double rate, double load) noexcept {
    unsigned bits = 1;
    for (double reached = load / 2; reached > rate; reached /= 2) ++bits;
    return bits;
}

[[nodiscard]] inline std::uint64_t blocks_for(std::uint64_t capacity, double load) noexcept {
    const double blocks = std::ceil(static_cast<double>(capacity) / load / static_cast<double>(block_cells));
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(blocks));
}

// Rounded up to whole words.
[[nodiscard]] constexpr std::uint64_t remainder_bytes(std::uint64_t blocks, unsigned bits) noexcept {
    return 8 * bits::words_for(blocks * block_cells * bits);
}
// What a look-up may read beyond the table without using it: an empty block behind the last, and
// remainders from the end of the last block's window on (src/filters/cleary_kernels.inl: at most 63
// cells behind an offset of at most 63), sixteen bytes at once.
inline constexpr std::uint64_t cells_read_too_far = 63 + 63 - block_cells;
[[nodiscard]] constexpr std::uint64_t spare_bytes(unsigned bits) noexcept {
    return 8 * bits::words_for(cells_read_too_far * bits) + 16;
}
[[nodiscard]] constexpr std::uint64_t table_bytes(std::uint64_t blocks, unsigned bits) noexcept {
    return (blocks + 1) * sizeof(cleary_block) + remainder_bytes(blocks, bits) + spare_bytes(bits);
}

// A table that has no memory yet.
[[nodiscard]] inline cleary_state shape_of(std::uint64_t blocks, unsigned bits) noexcept {
    const auto lanes = lanes::of(bits);
    cleary_state shape;
    shape.block_count = blocks;
    shape.bits = lanes.bits;
    shape.lanes = static_cast<unsigned>(lanes.count);
    shape.ones = lanes.ones;
    return shape;
}

// Gives the table its memory. REQUIRES: `zeros` points to table_bytes() zero bytes.
inline void place_into(cleary_state& shape, std::byte* zeros) noexcept {
    shape.blocks = reinterpret_cast<cleary_block*>(zeros);
    shape.remainders = zeros + (shape.block_count + 1) * sizeof(cleary_block);
}

// Are these bytes, which may be anything, a table? The error names the place where it contradicts
// itself: I1 to I3 of genista/filters/cleary.hpp, and `used`.
[[nodiscard]] result<void> check(const cleary_state& s) noexcept;

}  // namespace genista::cleary

namespace genista {

// For the active instruction set.
[[nodiscard]] const cleary_kernels* cleary_kernels_for(unsigned remainder_bits) noexcept;

}  // namespace genista
