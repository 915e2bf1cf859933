// Scalar versions of genista/bits/words.hpp: one bit at a time, so simple that they need no test of
// their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace genista::test {

[[nodiscard]] inline bool plain_bit(std::uint64_t word, std::size_t position) {
    return (word >> position & 1) != 0;
}

[[nodiscard]] inline std::uint64_t plain_low_mask(std::size_t count) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < count; ++i) out |= std::uint64_t{1} << i;
    return out;
}
[[nodiscard]] inline std::size_t plain_rank(std::uint64_t word, std::size_t position) {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < position; ++i) seen += plain_bit(word, i);
    return seen;
}
// 64 if there is no such bit.
[[nodiscard]] inline std::size_t plain_select(std::uint64_t word, std::size_t k) {
    for (std::size_t i = 0; i < 64; ++i)
        if (plain_bit(word, i) && k-- == 0) return i;
    return 64;
}
[[nodiscard]] inline std::uint64_t plain_extract(std::uint64_t word, std::uint64_t mask) {
    std::uint64_t out = 0;
    std::size_t filled = 0;
    for (std::size_t i = 0; i < 64; ++i)
        if (plain_bit(mask, i)) out |= std::uint64_t{plain_bit(word, i)} << filled++;
    return out;
}
[[nodiscard]] inline std::uint64_t plain_deposit(std::uint64_t word, std::uint64_t mask) {
    std::uint64_t out = 0;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < 64; ++i)
        if (plain_bit(mask, i)) out |= std::uint64_t{plain_bit(word, taken++)} << i;
    return out;
}
[[nodiscard]] inline std::uint64_t plain_reverse(std::uint64_t word) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < 64; ++i) out |= std::uint64_t{plain_bit(word, i)} << (63 - i);
    return out;
}

[[nodiscard]] inline bool plain_bit(std::span<const std::uint64_t> words, std::uint64_t position) {
    return plain_bit(words[position / 64], position % 64);
}
[[nodiscard]] inline std::uint64_t plain_read_bits(std::span<const std::uint64_t> words, std::uint64_t position,
                                                   std::size_t width) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < width; ++i) out |= std::uint64_t{plain_bit(words, position + i)} << i;
    return out;
}
inline void plain_write_bits(std::span<std::uint64_t> words, std::uint64_t position, std::size_t width,
                             std::uint64_t value) {
    for (std::size_t i = 0; i < width; ++i) {
        const std::uint64_t bit = std::uint64_t{1} << ((position + i) % 64);
        std::uint64_t& word = words[(position + i) / 64];
        word = plain_bit(value, i) ? word | bit : word & ~bit;
    }
}
[[nodiscard]] inline std::uint64_t plain_find_next(std::span<const std::uint64_t> words, std::uint64_t from) {
    for (std::uint64_t i = from; i < words.size() * 64; ++i)
        if (plain_bit(words, i)) return i;
    return words.size() * 64;
}

}  // namespace genista::test
