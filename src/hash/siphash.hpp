// siphash: SipHash-C-D, a keyed hash of byte strings whose output cannot be predicted without the
// 128-bit key.
//
// Why it is here: an adversary who chooses long keys must not be able to construct collisions of
// their digests. With fast seeded hashes that is possible (tests/hash/collisions_test.cpp shows
// keys that collide under every seed of one of them). SipHash is a pseudo-random function by
// design: no better attack on it is known than guessing the key (believed, not proved). Aumasson
// and Bernstein, "SipHash: a fast short-input PRF", 2012. C rounds follow each word, D rounds
// finish: 2-4 is the authors' cautious choice, 1-3 is common in hash tables.
//
// The state is four words; a message word m is added before and after the C rounds, so it cannot be
// cancelled afterwards:
//
//     k0 k1        m0            m1                    last word             finish
//      |  |         |             |        bits  0..55: the 0-7 bytes left     |
//      v  v         v             v        bits 56..63: size mod 256           v
//     [v0 v1 v2 v3] C rounds ---> C rounds --->  ... ---> C rounds ---> D rounds ---> v0^v1^v2^v3
//
// I1  Words are read little-endian on every machine: the output is a function of the bytes alone.
// I2  No table and no branch depends on the key or on the bytes, only on the size.
// I3  Only data[0, size) is read; data may be null if size is 0.
//
// Next: hasher.hpp, which chooses between this and AES; tests/hash/siphash_test.cpp, checked
// against libsodium.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace genista {

namespace siphash_detail {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big,
              "mixed-endian machines would need their own loads");

[[nodiscard]] inline std::uint64_t load_64(const std::byte* from) noexcept {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word;
}

[[nodiscard]] inline std::uint64_t load_32(const std::byte* from) noexcept {
    std::uint32_t word;
    std::memcpy(&word, from, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
    return word;
}

// The size % 8 bytes after the last whole word, in the low bytes; the rest is zero. Overlapping
// loads replace a loop.
[[nodiscard]] inline std::uint64_t load_tail(const std::byte* data, std::size_t size) noexcept {
    const std::size_t left = size & 7;
    if (left == 0) return 0;
    if (size >= 8) return load_64(data + size - 8) >> (64 - 8 * left);  // shifts out the bytes of the whole word before
    if (left >= 4) return load_32(data) | (load_32(data + left - 4) << (8 * (left - 4)));
    // 1, 2 or 3 bytes: first, middle and last cover them all, at indices 0, left / 2 and left - 1.
    return std::to_integer<std::uint64_t>(data[0]) |
           (std::to_integer<std::uint64_t>(data[left / 2]) << (8 * (left / 2))) |
           (std::to_integer<std::uint64_t>(data[left - 1]) << (8 * (left - 1)));
}

struct state {
    std::uint64_t v0, v1, v2, v3;

    // The constants are the paper's: the ASCII text "somepseudorandomlygeneratedbytes", so that the
    // halves differ.
    state(std::uint64_t k0, std::uint64_t k1) noexcept
        : v0{k0 ^ 0x736f6d6570736575u},
          v1{k1 ^ 0x646f72616e646f6du},
          v2{k0 ^ 0x6c7967656e657261u},
          v3{k1 ^ 0x7465646279746573u} {}

    template <int Rounds>
    void mix() noexcept {
        for (int round = 0; round < Rounds; ++round) {
            v0 += v1;
            v2 += v3;
            v1 = std::rotl(v1, 13) ^ v0;
            v3 = std::rotl(v3, 16) ^ v2;
            v0 = std::rotl(v0, 32);
            v2 += v1;
            v0 += v3;
            v1 = std::rotl(v1, 17) ^ v2;
            v3 = std::rotl(v3, 21) ^ v0;
            v2 = std::rotl(v2, 32);
        }
    }

    template <int Rounds>
    void absorb(std::uint64_t word) noexcept {
        v3 ^= word;
        mix<Rounds>();
        v0 ^= word;
    }

    template <int Rounds>
    void absorb_all(const std::byte* data, std::size_t size) noexcept {
        const std::size_t whole = size & ~std::size_t{7};
        for (std::size_t at = 0; at != whole; at += 8) absorb<Rounds>(load_64(data + at));
        absorb<Rounds>(load_tail(data, size) | (std::uint64_t{size & 0xff} << 56));
    }

    [[nodiscard]] std::uint64_t folded() const noexcept { return v0 ^ v1 ^ v2 ^ v3; }
};

}  // namespace siphash_detail

// 64 bits of SipHash-C-D under the key (k0, k1), each the little-endian reading of eight key bytes.
template <int C, int D>
[[nodiscard]] inline std::uint64_t siphash_64(std::uint64_t k0, std::uint64_t k1, const std::byte* data,
                                              std::size_t size) noexcept {
    static_assert(C >= 1 && D >= 1, "SipHash needs at least one round of each kind");
    siphash_detail::state state{k0, k1};
    state.absorb_all<C>(data, size);
    state.v2 ^= 0xff;
    state.mix<D>();
    return state.folded();
}

// 128 bits, first word first. Defined by the authors' reference code: other constants, then D more
// rounds for the second word. Neither word equals siphash_64 of the same bytes.
template <int C, int D>
[[nodiscard]] inline std::array<std::uint64_t, 2> siphash_128(std::uint64_t k0, std::uint64_t k1, const std::byte* data,
                                                              std::size_t size) noexcept {
    static_assert(C >= 1 && D >= 1, "SipHash needs at least one round of each kind");
    siphash_detail::state state{k0, k1};
    state.v1 ^= 0xee;
    state.absorb_all<C>(data, size);
    state.v2 ^= 0xee;
    state.mix<D>();
    const std::uint64_t first = state.folded();
    state.v1 ^= 0xdd;
    state.mix<D>();
    return {first, state.folded()};
}

}  // namespace genista
