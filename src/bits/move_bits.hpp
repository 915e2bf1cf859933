// move_bits: moves bits of an array of words up or down by a distance; the ranges may overlap. Bits
// of the source outside of the target keep their values.
#pragma once

#include <cstdint>
#include <span>

#include "bits/words.hpp"

namespace genista::bits {

namespace move_detail {

// 64 bits from `position` on. REQUIRES: both words exist, or `position` is a word's first bit.
[[nodiscard]] inline std::uint64_t word_at(const std::uint64_t* words, std::uint64_t position) noexcept {
    const std::uint64_t index = position / word_bits, shift = position % word_bits;
    return shift == 0 ? words[index] : words[index] >> shift | words[index + 1] << (word_bits - shift);
}

}  // namespace move_detail

// Moves [from, from + count) to [from + by, …), by whole words of the target, the last one first.
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

// Moves [from, from + count) to [from - by, …), by whole words of the target, the first one first.
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

// Both steps of an insertion into packed fields in one pass: [at, end) moves up by `width` bits,
// and the low `width` bits of `value` go to [at, at + width). Only words with a bit of [at, end +
// width) are written. REQUIRES: 1 ≤ width ≤ 63, value < 2^width, at ≤ end.
[[gnu::always_inline]] inline void insert_moving_up(std::uint64_t* words, std::uint64_t at, std::uint64_t end,
                                                    unsigned width, std::uint64_t value) noexcept {
    const std::uint64_t last_bit = end + width - 1;
    std::uint64_t* word = words + at / word_bits;
    const std::uint64_t* const last = words + last_bit / word_bits;
    const unsigned shift = at % word_bits;
    const std::uint64_t below = (std::uint64_t{1} << shift) - 1;
    const std::uint64_t moving = *word & ~below;
    std::uint64_t made = (*word & below) | moving << width | value << shift;
    std::uint64_t carry = moving >> (word_bits - width) | value >> 1 >> (word_bits - 1 - shift);
    while (word != last) {
        *word++ = made;
        made = *word << width | carry;
        carry = *word >> (word_bits - width);
    }
    const std::uint64_t own = ~std::uint64_t{0} >> (word_bits - 1 - last_bit % word_bits);
    *word = (made & own) | (*word & ~own);
}

// The same downwards: [begin, at) moves down by `width` bits, and `value` goes to [at - width, at).
// Only words with a bit of [begin - width, at) are written. REQUIRES: begin ≤ at, width ≤ begin,
// and as above.
[[gnu::always_inline]] inline void insert_moving_down(std::uint64_t* words, std::uint64_t begin, std::uint64_t at,
                                                      unsigned width, std::uint64_t value) noexcept {
    const std::uint64_t first_bit = begin - width;
    std::uint64_t* word = words + (at - 1) / word_bits;
    const std::uint64_t* const first = words + first_bit / word_bits;
    const unsigned top = (at - 1) % word_bits;  // the highest bit that changes
    const std::uint64_t above = ~std::uint64_t{0} << 1 << top;
    const std::uint64_t moving = *word & ~above;
    // The value's highest bit goes to bit `top`: it is moved to the top of a word, then down by the
    // number of bits above `top`.
    const std::uint64_t high = value << (word_bits - width);
    std::uint64_t made = (*word & above) | moving >> width | high >> (word_bits - 1 - top);
    std::uint64_t carry = moving << (word_bits - width) | high << 1 << top;
    while (word != first) {
        *word-- = made;
        made = *word >> width | carry;
        carry = *word << (word_bits - width);
    }
    const std::uint64_t own = ~std::uint64_t{0} << first_bit % word_bits;
    *word = (made & own) | (*word & ~own);
}

}  // namespace genista::bits
