// Makes damaged snapshots pass their checksums, so that tests and fuzzers reach the checks behind them.
//
// Written from docs/format.md and not from the library's sources: the offsets here are a second witness of the format.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace genista::test {

inline void put_little_endian(std::span<std::byte> bytes, std::size_t at, std::size_t width, std::uint64_t value) {
    for (std::size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
}

// Both checksums over whatever is there. Fewer than 192 bytes have none and stay as they are.
inline void fix_checksums(std::span<std::byte> bytes) {
    if (bytes.size() < 192) return;
    const XXH128_hash_t payload = XXH3_128bits(bytes.data() + 192, bytes.size() - 192);
    put_little_endian(bytes, 128, 8, payload.low64);
    put_little_endian(bytes, 136, 8, payload.high64);
    put_little_endian(bytes, 184, 8, XXH3_64bits(bytes.data(), 184));
}

// Beyond that: magic, format version, reserved zeros, total length. What is left to be wrong are the lengths of the
// parts, the padding and all that a filter's own loader has to check.
inline void fix_envelope(std::span<std::byte> bytes) {
    if (bytes.size() < 192) return;
    constexpr std::array<unsigned char, 10> start = {0x8f, 'G', 'N', 'S', 'T', '\r', '\n', '\n', 1, 0};
    std::transform(start.begin(), start.end(), bytes.begin(), [](unsigned char c) { return std::byte{c}; });
    std::fill(bytes.begin() + 144, bytes.begin() + 184, std::byte{0});
    put_little_endian(bytes, 48, 8, bytes.size());
    fix_checksums(bytes);
}

}  // namespace genista::test
