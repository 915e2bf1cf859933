// wide_word: a constant number of 64-bit words handled as one unsigned integer, so that a structure
// that fills "O(1) machine words" [broom18 App. A] can be written as if it filled one.
//
//     bit      0 ........ 63 | 64 ....... 127 | ...            bit 0 is the first
//              words[0]      | words[1]       | ...
//
// Arithmetic is modulo 2^bits, and carries and shifts cross the words. Each operation is a loop
// over the words and over nothing else: its cost depends on `Words` alone. An operation calls
// Kernel::step() for every word that it touches, so counted<Kernel> (words.hpp) measures the
// claimed cost. Built on words.hpp; used by bit_planes.hpp and bit_strings.hpp.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "bits/words.hpp"

namespace genista::bits {

template <std::size_t Words, class Kernel = portable_words>
struct wide_word {
    static_assert(Words >= 1);
    static constexpr std::size_t bits = Words * word_bits;

    std::array<std::uint64_t, Words> words{};

    //  ---- constants ----

    [[nodiscard]] static wide_word of(std::uint64_t low) noexcept {
        wide_word made;
        made.words[0] = low;
        return made;
    }
    // The `count` lowest bits, 0 <= count <= bits.
    [[nodiscard]] static wide_word low(std::size_t count) noexcept {
        assert(count <= bits);
        return each([count](std::size_t w) {
            const std::size_t below = w * word_bits;
            return count <= below ? 0 : count - below >= word_bits ? ~std::uint64_t{0} : low_mask(count - below);
        });
    }
    // Bit `position`, 0 <= position < bits.
    [[nodiscard]] static wide_word bit(std::size_t position) noexcept {
        assert(position < bits);
        return each(
            [position](std::size_t w) { return std::uint64_t{position / word_bits == w} << (position % word_bits); });
    }

    // ---- logic and arithmetic ----

    friend wide_word operator&(const wide_word& a, const wide_word& b) noexcept {
        return each([&](std::size_t w) { return a.words[w] & b.words[w]; });
    }
    friend wide_word operator|(const wide_word& a, const wide_word& b) noexcept {
        return each([&](std::size_t w) { return a.words[w] | b.words[w]; });
    }
    friend wide_word operator^(const wide_word& a, const wide_word& b) noexcept {
        return each([&](std::size_t w) { return a.words[w] ^ b.words[w]; });
    }
    friend wide_word operator~(const wide_word& a) noexcept {
        return each([&](std::size_t w) { return ~a.words[w]; });
    }
    // a & ~b
    [[nodiscard]] wide_word without(const wide_word& b) const noexcept {
        return each([&](std::size_t w) { return words[w] & ~b.words[w]; });
    }
    // Shifts by any distance; from `bits` on the result is zero.
    friend wide_word operator<<(const wide_word& a, std::size_t distance) noexcept {
        const std::size_t far = distance / word_bits, near = distance % word_bits;
        return each([&](std::size_t w) {
            const std::uint64_t upper = w >= far ? a.words[w - far] << near : 0;
            return near != 0 && w >= far + 1 ? upper | a.words[w - far - 1] >> (word_bits - near) : upper;
        });
    }
    friend wide_word operator>>(const wide_word& a, std::size_t distance) noexcept {
        const std::size_t far = distance / word_bits, near = distance % word_bits;
        return each([&](std::size_t w) {
            const std::uint64_t lower = far < Words - w ? a.words[w + far] >> near : 0;
            return near != 0 && far + 1 < Words - w ? lower | a.words[w + far + 1] << (word_bits - near) : lower;
        });
    }
    friend wide_word operator+(const wide_word& a, const wide_word& b) noexcept {
        std::uint64_t carry = 0;
        return each([&](std::size_t w) {
            const std::uint64_t partial = a.words[w] + b.words[w];
            const std::uint64_t sum = partial + carry;
            carry = std::uint64_t{partial < a.words[w]} | std::uint64_t{sum < partial};
            return sum;
        });
    }
    friend wide_word operator-(const wide_word& a, const wide_word& b) noexcept {
        std::uint64_t borrow = 0;
        return each([&](std::size_t w) {
            const std::uint64_t partial = a.words[w] - b.words[w];
            const std::uint64_t difference = partial - borrow;
            borrow = std::uint64_t{a.words[w] < b.words[w]} | std::uint64_t{partial < borrow};
            return difference;
        });
    }
    // A copy of `pattern` (its low `width` bits, width <= 64) at every set bit, by multiplication.
    // REQUIRES: the set bits are at least `width` apart. Then copies do not overlap, no carry
    // arises, and a sum of copies is their union.
    [[nodiscard]] wide_word stamped(std::uint64_t pattern) const noexcept {
        __extension__ using double_word = unsigned __int128;
        std::uint64_t over = 0;
        return each([&](std::size_t w) {
            const double_word product = static_cast<double_word>(words[w]) * pattern;
            const std::uint64_t out = static_cast<std::uint64_t>(product) | over;
            over = static_cast<std::uint64_t>(product >> word_bits);
            return out;
        });
    }

    friend bool operator==(const wide_word& a, const wide_word& b) noexcept {
        std::uint64_t difference = 0;
        for (std::size_t w = 0; w < Words; ++w) {
            Kernel::step();
            difference |= a.words[w] ^ b.words[w];
        }
        return difference == 0;
    }

    //  ---- queries ----

    [[nodiscard]] bool test(std::size_t position) const noexcept {
        assert(position < bits);
        Kernel::step();
        return (words[position / word_bits] >> (position % word_bits) & 1) != 0;
    }
    [[nodiscard]] bool any() const noexcept { return !(*this == wide_word{}); }
    [[nodiscard]] std::size_t count() const noexcept {
        std::size_t total = 0;
        for (std::size_t w = 0; w < Words; ++w) {
            Kernel::step();
            total += Kernel::popcount(words[w]);
        }
        return total;
    }
    // One more than the highest set bit; 0 if there is none.
    [[nodiscard]] std::size_t length() const noexcept {
        std::size_t found = 0;
        for (std::size_t w = 0; w < Words; ++w) {
            Kernel::step();
            if (words[w] != 0) found = w * word_bits + static_cast<std::size_t>(std::bit_width(words[w]));
        }
        return found;
    }
    // The position of set bit number `k`, from 0; `bits` if there are not that many.
    [[nodiscard]] std::size_t select(std::size_t k) const noexcept {
        std::size_t home = Words, left = 0, before = 0;
        for (std::size_t w = 0; w < Words; ++w) {  // no early exit: the step count does not depend on k
            Kernel::step();
            const std::size_t here = Kernel::popcount(words[w]);
            if (before <= k && k < before + here) {
                home = w;
                left = k - before;
            }
            before += here;
        }
        Kernel::step();
        return home == Words ? bits : home * word_bits + Kernel::select(words[home], left);
    }

    // ---- moving bits in parallel ----

    // PEXT over the whole width: the bits at the set bits of `mask`, together at the low end.
    [[nodiscard]] wide_word extract(const wide_word& mask) const noexcept {
        wide_word out;
        std::size_t filled = 0;
        for (std::size_t w = 0; w < Words; ++w) {
            const std::uint64_t piece = Kernel::extract(words[w], mask.words[w]);
            const std::size_t index = filled / word_bits, shift = filled % word_bits;
            if (index < Words) out.words[index] |= piece << shift;
            if (shift != 0 && index + 1 < Words) out.words[index + 1] |= piece >> (word_bits - shift);
            filled += Kernel::popcount(mask.words[w]);
            for (std::size_t part = 0; part < 4; ++part) Kernel::step();  // extract, two stores, popcount
        }
        return out;
    }
    // PDEP over the whole width: the low bits, in order, to the positions of `mask`.
    [[nodiscard]] wide_word deposit(const wide_word& mask) const noexcept {
        wide_word out;
        std::size_t taken = 0;
        for (std::size_t w = 0; w < Words; ++w) {
            const std::size_t index = taken / word_bits, shift = taken % word_bits;
            std::uint64_t piece = index < Words ? words[index] >> shift : 0;
            if (shift != 0 && index + 1 < Words) piece |= words[index + 1] << (word_bits - shift);
            out.words[w] = Kernel::deposit(piece, mask.words[w]);
            taken += Kernel::popcount(mask.words[w]);
            for (std::size_t part = 0; part < 4; ++part) Kernel::step();  // two loads, deposit, popcount
        }
        return out;
    }
    // Opens a gap of zeros: the bits at `position` and above move up by `distance`.
    [[nodiscard]] wide_word with_gap(std::size_t position, std::size_t distance) const noexcept {
        const wide_word below = low(position);
        return (*this & below) | (without(below) << distance);
    }
    // Closes a gap: removes bits position .. position + distance - 1; the bits above move down.
    [[nodiscard]] wide_word without_gap(std::size_t position, std::size_t distance) const noexcept {
        const wide_word below = low(position);
        return (*this & below) | (*this >> distance).without(below);
    }

  private:
    // Word w of the result is word_of(w), from the first word to the last: the closure may carry
    // state from word to word.
    template <class WordOf>
    static wide_word each(WordOf word_of) noexcept {
        wide_word out;
        for (std::size_t w = 0; w < Words; ++w) {
            Kernel::step();
            out.words[w] = word_of(w);
        }
        return out;
    }
};

}  // namespace genista::bits
