// Repairs the checksums of damaged snapshots, so that tests and fuzzers reach the checks behind
// them.
//
// Written from docs/format.md and not from the library's sources: the offsets here check the format
// independently.
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

// Format version 2, which has a second header at the end: the one with the lengths and the checksum
// of the payload.
inline bool is_streamed(std::span<const std::byte> bytes) {
    return bytes.size() >= 2 * 192 && bytes[8] == std::byte{2} && bytes[9] == std::byte{0};
}
// Where the header begins that has the lengths.
inline std::size_t lengths_header_at(std::span<const std::byte> bytes) {
    return is_streamed(bytes) ? bytes.size() - 192 : 0;
}

// Repairs both checksums. Fewer than 192 bytes have none and stay as they are.
inline void fix_checksums(std::span<std::byte> bytes) {
    if (bytes.size() < 192) return;
    const std::size_t at = lengths_header_at(bytes);
    const std::size_t end = at == 0 ? bytes.size() : at;
    const XXH128_hash_t payload = XXH3_128bits(bytes.data() + 192, end - 192);
    put_little_endian(bytes, at + 128, 8, payload.low64);
    put_little_endian(bytes, at + 136, 8, payload.high64);
    put_little_endian(bytes, 184, 8, XXH3_64bits(bytes.data(), 184));
    put_little_endian(bytes, at + 184, 8, XXH3_64bits(bytes.data() + at, 184));
}

// Repairs more: magic, format version, reserved zeros, total length. What can still be wrong are
// the lengths of the parts, the padding and all that a filter's own loader has to check. A streamed
// file stays streamed.
inline void fix_envelope(std::span<std::byte> bytes) {
    if (bytes.size() < 192) return;
    const bool streamed = is_streamed(bytes);
    constexpr std::array<unsigned char, 8> start = {0x8f, 'G', 'N', 'S', 'T', '\r', '\n', '\n'};
    std::transform(start.begin(), start.end(), bytes.begin(), [](unsigned char c) { return std::byte{c}; });
    put_little_endian(bytes, 8, 2, streamed ? 2 : 1);
    std::fill(bytes.begin() + 144, bytes.begin() + 184, std::byte{0});
    const std::size_t at = lengths_header_at(bytes);
    if (streamed) {
        std::fill(bytes.begin() + 48, bytes.begin() + 56, std::byte{0});
        std::fill(bytes.begin() + 64, bytes.begin() + 144, std::byte{0});
        const auto last = bytes.subspan(at);
        std::copy(bytes.begin(), bytes.begin() + 48, last.begin());
        std::copy(bytes.begin() + 56, bytes.begin() + 64, last.begin() + 56);
        std::fill(last.begin() + 144, last.begin() + 184, std::byte{0});
    }
    put_little_endian(bytes, at + 48, 8, bytes.size());
    fix_checksums(bytes);
}

}  // namespace genista::test
