// Bits of an array of words, moved up or down by a distance; the ranges may overlap. What they leave behind keeps what it was.
#pragma once

#include <cstdint>
#include <span>

#include "genista/bits/words.hpp"

namespace genista::bits {

namespace move_detail {

// 64 bits from `position` on, in two words that both exist unless it is a word's first bit.
[[nodiscard]] inline std::uint64_t word_at(const std::uint64_t* words, std::uint64_t position) noexcept {
    const std::uint64_t index = position / word_bits, shift = position % word_bits;
    return shift == 0 ? words[index] : words[index] >> shift | words[index + 1] << (word_bits - shift);
}

}  // namespace move_detail

// [from, from + count) → [from + by, …), by whole words of where they go, the last one first.
inline void move_bits_up(std::span<std::uint64_t> words, std::uint64_t from, std::uint64_t count,
                         std::uint64_t by) noexcept {
    const std::uint64_t first = from + by, last = first + count;
    std::uint64_t end = last;
    if (const std::uint64_t part = end % word_bits; part != 0 && part <= count) {
        write_bits(words, end - part, part, read_bits(words, end - part - by, part));
        end -= part;
    }
    for (; end >= first + word_bits && end % word_bits == 0; end -= word_bits)
        words[end / word_bits - 1] = move_detail::word_at(words.data(), end - word_bits - by);
    if (end > first) write_bits(words, first, end - first, read_bits(words, from, end - first));
}

// [from, from + count) → [from - by, …), the first one first.
inline void move_bits_down(std::span<std::uint64_t> words, std::uint64_t from, std::uint64_t count,
                           std::uint64_t by) noexcept {
    const std::uint64_t last = from - by + count;
    std::uint64_t begin = from - by;
    if (const std::uint64_t part = (word_bits - begin % word_bits) % word_bits; part != 0 && part <= count) {
        write_bits(words, begin, part, read_bits(words, begin + by, part));
        begin += part;
    }
    for (; begin + word_bits <= last && begin % word_bits == 0; begin += word_bits)
        words[begin / word_bits] = move_detail::word_at(words.data(), begin + by);
    if (begin < last) write_bits(words, begin, last - begin, read_bits(words, begin + by, last - begin));
}

}  // namespace genista::bits
