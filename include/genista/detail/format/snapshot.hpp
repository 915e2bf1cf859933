// snapshot: the envelope: the header, lengths and checksums of every saved filter of any kind.
//
// It promises two things. Damage never loads: every bit of the file is under a checksum, and
// open_snapshot checks all of them, and all lengths, before it hands out a byte. And any byte
// string at all, hostile or torn, gives a view or a clear error, without assertion, over-read or
// allocation. The checksums catch accidents, not forgeries: an attacker who can write snapshots can
// write valid ones, so loaders check every parameter as well.
//
// All numbers are little-endian. The header takes 192 bytes:
//
//       0  magic, 8 bytes            8  format version, 2     10  kind, 2       12  kind version, 2
//      14  hash id, 2               16  key id, 8             24  store identity, 16
//      40  sequence number, 8       48  total bytes, 8        56  parameter bytes, 4
//      60  section count, 4         64  section lengths in bytes, 8 x 8
//     128  payload checksum, 16    144  reserved zeros, 40   184  header checksum, 8
//
// and the payload follows, every part padded with zeros to the next multiple of 64:
//
//     192: parameters 0.. | section 0 0.. | section 1 0.. | ...   up to `total bytes`, then nothing
//
// I1  Every section starts at a multiple of 64 bytes from the file's start: a mapped or read file
//     (mapped_file.hpp) can be used in place. A loader copies bytes that start elsewhere before it
//     casts.
// I2  header checksum = XXH3-64 of bytes [0, 184); payload checksum = XXH3-128 of bytes [192,
//     total).
// I3  Equal contents give equal bytes: padding, reserved bytes and the lengths of absent sections
//     are zero in every snapshot that opens.
//
// That is version 1. A filter that is written piece by piece while it changes has its lengths and
// its checksum only at the end: version 2 begins with a header without them and ends with a header
// that has them, and the payload is between the two.
//
// docs/format.md has the same as tables, and one section per kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "genista/base/result.hpp"
#include "genista/detail/format/fields.hpp"
#include "genista/format/sink.hpp"

namespace genista {

inline constexpr std::uint16_t snapshot_format_version = 1;
inline constexpr std::uint16_t streamed_format_version = 2;
inline constexpr std::size_t snapshot_header_bytes = 192;
inline constexpr std::size_t snapshot_alignment_bytes = 64;
inline constexpr std::size_t max_snapshot_sections = 8;

// A number is never used again for another kind.
enum class snapshot_kind : std::uint16_t {
    bloom = 1,
    blocked_bloom = 2,
    cuckoo_partial = 3,
    broom = 4,
    cuckoo = 5,
    cuckooing = 6,
    cyclic = 7,
    swapping = 8,
    broom_paper = 9,
    adaptive_bloom = 10,
    cascade = 11,
    whitelist = 12,
    succinct = 13,
    multiset = 14,
    optimal = 15,
    spectral = 16,
    lossy = 17,
    cleary = 18,
    bloomier = 19,
    exact_oracle = 20,
    count_min_oracle = 21,
    count_sketch_oracle = 22,
    score_oracle = 23,
    oracle_model = 24,
    daisy_bloom = 25,
    weighted_bloom = 26,
    daisy_fingerprint = 27,
    daisy_broom = 28,
    with_oracle = 29,
};

// The name of the filter or oracle, or "unknown".
[[nodiscard]] std::string_view to_string(snapshot_kind kind) noexcept;

// Structures of papers/, which had snapshots once. The numbers stay theirs; open_snapshot refuses
// the files by name.
[[nodiscard]] bool is_retired(snapshot_kind kind) noexcept;

// Ties a filter to the state of the store it mirrors: it has at least every write up to `sequence`.
// Zeros if there is no store.
struct store_mark {
    std::array<std::byte, 16> identity{};
    std::uint64_t sequence = 0;

    friend bool operator==(const store_mark&, const store_mark&) = default;
};

// What a snapshot's header says, whatever its kind.
struct snapshot_info {
    snapshot_kind kind{};
    std::uint16_t kind_version = 0;
    std::uint16_t hash_id = 0;
    std::uint64_t key_id = 0;
    store_mark store{};

    friend bool operator==(const snapshot_info&, const snapshot_info&) = default;
};

// Size of the whole file, or an error if the parameters exceed max_parameters_bytes, the sections
// max_snapshot_sections, or the sum 2^63 - 1 bytes (what a file can have).
[[nodiscard]] result<std::uint64_t> snapshot_size_bytes(std::uint64_t parameters_bytes,
                                                        std::span<const std::uint64_t> section_bytes) noexcept;

// Reads every byte twice (checksum, then write) and copies none. The first failed write ends it; a
// sink that throws counts as failed.
result<void> write_snapshot(sink& out, const snapshot_info& info, std::span<const std::byte> parameters,
                            std::span<const std::span<const std::byte>> sections) noexcept;

struct snapshot_view {
    snapshot_info info;
    std::span<const std::byte> parameters;
    std::array<std::span<const std::byte>, max_snapshot_sections> sections;
    std::size_t section_count = 0;
    std::uint16_t format_version = snapshot_format_version;
};

// Any bytes give a view or an error, and the view satisfies I1-I3. It refers to `bytes`. An unknown
// kind is no error here, so that `genista inspect` can show it; loaders use open_snapshot_as. A
// retired kind is one, which names the filter.
[[nodiscard]] result<snapshot_view> open_snapshot(std::span<const std::byte> bytes) noexcept;

// open_snapshot for the loader of one kind: refuses other kinds, kind versions outside
// 1..newest_kind_version and another number of sections.
[[nodiscard]] result<snapshot_view> open_snapshot_as(snapshot_kind kind, std::uint16_t newest_kind_version,
                                                     std::size_t section_count,
                                                     std::span<const std::byte> bytes) noexcept;

}  // namespace genista
