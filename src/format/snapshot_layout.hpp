// snapshot_layout: the offset of each field of the snapshot header (drawn in
// genista/format/snapshot.hpp and docs/format.md), in one place for the writer and the reader.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "genista/detail/format/snapshot.hpp"

namespace genista::detail {

// A byte above 0x7f reveals a 7-bit channel, the line ends reveal a transfer in text mode in either
// direction, and a reader can recognise the letters.
inline constexpr std::array<std::byte, 8> snapshot_magic = {std::byte{0x8f}, std::byte{'G'}, std::byte{'N'},
                                                            std::byte{'S'},  std::byte{'T'}, std::byte{'\r'},
                                                            std::byte{'\n'}, std::byte{'\n'}};
inline constexpr std::size_t line_ends_at = 5;  // within the magic

inline constexpr std::size_t format_version_at = 8;
inline constexpr std::size_t kind_at = 10;
inline constexpr std::size_t kind_version_at = 12;
inline constexpr std::size_t hash_id_at = 14;
inline constexpr std::size_t key_id_at = 16;
inline constexpr std::size_t store_identity_at = 24;
inline constexpr std::size_t sequence_at = 40;
inline constexpr std::size_t total_bytes_at = 48;
inline constexpr std::size_t parameters_bytes_at = 56;
inline constexpr std::size_t section_count_at = 60;
inline constexpr std::size_t section_bytes_at = 64;
inline constexpr std::size_t payload_checksum_at = 128;
inline constexpr std::size_t reserved_at = 144;
inline constexpr std::size_t header_checksum_at = 184;

static_assert(section_bytes_at + 8 * max_snapshot_sections == payload_checksum_at);
static_assert(header_checksum_at + 8 == snapshot_header_bytes);
static_assert(snapshot_header_bytes % snapshot_alignment_bytes == 0);
static_assert(max_parameters_bytes % snapshot_alignment_bytes == 0);

// The number of zeros up to the next part. It cannot overflow, because it adds nothing to the
// length.
[[nodiscard]] constexpr std::size_t padding_after(std::uint64_t length_bytes) noexcept {
    const std::uint64_t over = length_bytes % snapshot_alignment_bytes;
    return static_cast<std::size_t>(over == 0 ? 0 : snapshot_alignment_bytes - over);
}

}  // namespace genista::detail
