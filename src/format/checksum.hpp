// checksum: the two checksums of a snapshot (snapshot.hpp, I2). This is the only file of the folder
// that uses xxHash.
//
// XXH_INLINE_ALL compiles the functions in, so that users of the library need no libxxhash at run
// time. XXH3, because it runs at memory speed with plain SSE2 and its output has been frozen since
// 0.8.0. It is no protection against forgery.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "genista/detail/format/fields.hpp"

namespace genista::detail {

using checksum128 = std::array<std::byte, 16>;  // low word, then high word, both little-endian

[[nodiscard]] inline std::uint64_t checksum64_of(std::span<const std::byte> bytes) noexcept {
    return XXH3_64bits(bytes.data(), bytes.size());
}

[[nodiscard]] inline checksum128 to_bytes(const XXH128_hash_t& hash) noexcept {
    checksum128 bytes;
    store_little_endian(bytes.data(), std::uint64_t{hash.low64});
    store_little_endian(bytes.data() + 8, std::uint64_t{hash.high64});
    return bytes;
}

[[nodiscard]] inline checksum128 checksum128_of(std::span<const std::byte> bytes) noexcept {
    return to_bytes(XXH3_128bits(bytes.data(), bytes.size()));
}

// The same over bytes that arrive in pieces.
class checksum128_stream {
  public:
    checksum128_stream() noexcept { XXH3_128bits_reset(&state_); }
    void add(std::span<const std::byte> bytes) noexcept {
        if (!bytes.empty()) XXH3_128bits_update(&state_, bytes.data(), bytes.size());
    }
    [[nodiscard]] checksum128 value() const noexcept { return to_bytes(XXH3_128bits_digest(&state_)); }

  private:
    XXH3_state_t state_;  // half a KiB in place: XXH3_createState would allocate
};

}  // namespace genista::detail
