// aes_soft: AES-128 encryption in plain C++, the scalar version that gives the same digests on
// processors without AES instructions.
//
// Tables are computed at compile time from the field GF(2^8) mod x^8+x^4+x^3+x+1 (FIPS 197). One
// table T[b] holds (2·S[b], S[b], S[b], 3·S[b]); the other three columns are its rotations. It is
// not constant-time with respect to the cache, which docs/filters say is out of scope.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace genista::aes {

constexpr std::uint8_t times_two(std::uint8_t x) noexcept {
    return static_cast<std::uint8_t>((x << 1) ^ ((x >> 7) * 0x1b));
}

// S[x] = affine(x^-1). Powers of the generator 3 give inverses: 3^i and 3^(255-i).
constexpr std::array<std::uint8_t, 256> make_sbox() noexcept {
    std::array<std::uint8_t, 256> power{};
    std::array<std::uint8_t, 256> logarithm{};
    std::uint8_t value = 1;
    for (unsigned i = 0; i < 255; ++i) {
        power[i] = value;
        logarithm[value] = static_cast<std::uint8_t>(i);
        value = static_cast<std::uint8_t>(value ^ times_two(value));
    }
    std::array<std::uint8_t, 256> box{};
    for (unsigned x = 0; x < 256; ++x) {
        const std::uint8_t inverse = x == 0 ? std::uint8_t{0} : power[(255u - logarithm[x]) % 255u];
        std::uint8_t image = 0x63;
        for (int turn = 0; turn < 5; ++turn) image = static_cast<std::uint8_t>(image ^ std::rotl(inverse, turn));
        box[x] = image;
    }
    return box;
}

inline constexpr std::array<std::uint8_t, 256> sbox = make_sbox();

constexpr std::array<std::uint32_t, 256> make_table() noexcept {
    std::array<std::uint32_t, 256> table{};
    for (unsigned x = 0; x < 256; ++x) {
        const std::uint8_t s = sbox[x];
        const std::uint8_t s2 = times_two(s);
        const auto s3 = static_cast<std::uint8_t>(s2 ^ s);
        table[x] = std::uint32_t{s2} | std::uint32_t{s} << 8 | std::uint32_t{s} << 16 | std::uint32_t{s3} << 24;
    }
    return table;
}

inline constexpr std::array<std::uint32_t, 256> round_table = make_table();

using block = std::array<std::uint8_t, 16>;
using round_keys = std::array<block, 11>;

constexpr round_keys expand_key(const block& key) noexcept {
    round_keys keys{};
    keys[0] = key;
    std::uint8_t constant = 1;
    for (std::size_t round = 1; round <= 10; ++round) {
        const block& before = keys[round - 1];
        block& now = keys[round];
        for (std::size_t i = 0; i < 4; ++i)
            now[i] = static_cast<std::uint8_t>(before[i] ^ sbox[before[12 + (i + 1) % 4]]);
        now[0] = static_cast<std::uint8_t>(now[0] ^ constant);
        for (std::size_t i = 4; i < 16; ++i) now[i] = static_cast<std::uint8_t>(before[i] ^ now[i - 4]);
        constant = times_two(constant);
    }
    return keys;
}

// A column as a little-endian word: row 0 in the lowest byte.
constexpr std::uint32_t column(const block& bytes, std::size_t index) noexcept {
    return std::uint32_t{bytes[4 * index]} | std::uint32_t{bytes[4 * index + 1]} << 8 |
           std::uint32_t{bytes[4 * index + 2]} << 16 | std::uint32_t{bytes[4 * index + 3]} << 24;
}

constexpr std::uint8_t byte_of(std::uint32_t word, int row) noexcept {
    return static_cast<std::uint8_t>(word >> (8 * row));
}

constexpr block encrypt(const round_keys& keys, const block& plain) noexcept {
    std::array<std::uint32_t, 4> state{};
    for (std::size_t c = 0; c < 4; ++c) state[c] = column(plain, c) ^ column(keys[0], c);
    for (std::size_t round = 1; round < 10; ++round) {
        std::array<std::uint32_t, 4> next{};
        for (std::size_t c = 0; c < 4; ++c) {
            next[c] = round_table[byte_of(state[c], 0)] ^ std::rotl(round_table[byte_of(state[(c + 1) % 4], 1)], 8) ^
                      std::rotl(round_table[byte_of(state[(c + 2) % 4], 2)], 16) ^
                      std::rotl(round_table[byte_of(state[(c + 3) % 4], 3)], 24) ^ column(keys[round], c);
        }
        state = next;
    }
    block cipher{};
    for (std::size_t c = 0; c < 4; ++c) {
        for (std::size_t row = 0; row < 4; ++row) {
            const std::uint8_t s = sbox[byte_of(state[(c + row) % 4], static_cast<int>(row))];
            cipher[4 * c + row] = static_cast<std::uint8_t>(s ^ keys[10][4 * c + row]);
        }
    }
    return cipher;
}

}  // namespace genista::aes
