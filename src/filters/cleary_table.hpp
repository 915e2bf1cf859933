// The reading half of cleary_filter's table: blocks, runs and remainders.
// genista/filters/cleary.hpp has the picture and the invariants.
//
// Every function takes a kernel of bits/words.hpp, so that select is one instruction where the
// processor has one. Cell numbers go on past the last cell (*unwrapped*): a walk round the end
// compares plain numbers. No walk goes round twice.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <limits>

#include "bits/words.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/hash/key.hpp"

namespace genista::cleary {

inline constexpr std::uint64_t block_cells = 60;
inline constexpr std::uint64_t all_cells = (std::uint64_t{1} << block_cells) - 1;
inline constexpr std::uint64_t most_offset = 255;  // this value and all larger ones

// A value: home cell and remainder.
struct target {
    std::uint64_t block;
    std::uint64_t index;  // within the block
    std::uint64_t remainder;
};

// The home is scale(position, cells), monotone in the position for any number of blocks: the high
// word of the product is the block; the low word, scaled again, is the cell in it. Bits: those of a
// remainder if known at compile time, else 0.
template <unsigned Bits = 0>
target aim(const cleary_state& s, const digest& d) noexcept {
    const uint128 product = static_cast<uint128>(d.position) * s.block_count;
    return {static_cast<std::uint64_t>(product >> 64), scale(static_cast<std::uint64_t>(product), block_cells),
            d.seed >> (bits::word_bits - (Bits != 0 ? Bits : s.bits))};
}

struct cell {
    std::uint64_t block = 0;  // unwrapped
    std::uint64_t index = 0;

    [[nodiscard]] constexpr std::uint64_t number() const noexcept { return block * block_cells + index; }
    [[nodiscard]] constexpr cell next() const noexcept {
        return index + 1 == block_cells ? cell{block + 1, 0} : cell{block, index + 1};
    }
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero inside a defaulted comparison for a pointer
    friend constexpr auto operator<=>(const cell&, const cell&) noexcept = default;
};

inline std::uint64_t cell_count(const cleary_state& s) noexcept {
    return s.block_count * block_cells;
}
inline std::uint64_t wrapped(const cleary_state& s, std::uint64_t number) noexcept {
    while (number >= cell_count(s)) number -= cell_count(s);
    return number;
}
inline cleary_block& block_at(const cleary_state& s, std::uint64_t unwrapped) noexcept {
    while (unwrapped >= s.block_count) unwrapped -= s.block_count;
    return s.blocks[unwrapped];
}
inline std::uint64_t occupied_of(const cleary_block& b) noexcept {
    return b.occupied & all_cells;
}
inline std::uint64_t ends_of(const cleary_block& b) noexcept {
    return b.ends & all_cells;
}
inline std::uint64_t offset_of(const cleary_block& b) noexcept {
    return b.occupied >> block_cells | b.ends >> block_cells << 4;
}

// ---- remainders

// Several remainders in a word, compared at once. A load begins at a whole byte, so up to 8 -
// gcd(8, bits) bits are lost.
struct lanes {
    unsigned bits;
    std::uint64_t count;
    std::uint64_t ones;

    [[nodiscard]] constexpr std::uint64_t tops() const noexcept { return ones << (bits - 1); }
    [[nodiscard]] static constexpr lanes of(unsigned bits) noexcept {
        const unsigned skipped = bits % 8 == 0 ? 0 : bits % 4 == 0 ? 4 : bits % 2 == 0 ? 6 : 7;
        lanes made{bits, (bits::word_bits - skipped) / bits, 0};
        for (std::uint64_t lane = 0; lane < made.count; ++lane) made.ones |= std::uint64_t{1} << (lane * bits);
        return made;
    }
};

// Bits: known at compile time, or 0.
template <unsigned Bits>
lanes lanes_in(const cleary_state& s) noexcept {
    if constexpr (Bits != 0) {
        return lanes::of(Bits);
    } else {
        return {s.bits, s.lanes, s.ones};
    }
}

inline std::uint64_t load_bits(const cleary_state& s, std::uint64_t bit) noexcept {
    std::uint64_t word;
    std::memcpy(&word, s.remainders + bit / 8, sizeof word);
    return word >> bit % 8;
}
inline std::uint64_t remainder_at(const cleary_state& s, std::uint64_t number) noexcept {
    return load_bits(s, number * s.bits) & bits::low_mask(s.bits);
}

// The top bits of those lanes from a cell on that hold the remainder; other bits may also be set.
template <unsigned Bits>
std::uint64_t equal_lanes(const cleary_state& s, std::uint64_t number, std::uint64_t remainder) noexcept {
    const lanes l = lanes_in<Bits>(s);
    const std::uint64_t rest = l.tops() - l.ones;
    const std::uint64_t unlike = load_bits(s, number * l.bits) ^ remainder * l.ones;
    return ~(((unlike & rest) + rest) | unlike);  // no lane carries
}

// Is the remainder one of `length` (1 to lanes) from a cell on?
template <unsigned Bits>
bool equal_in_word(const cleary_state& s, std::uint64_t number, std::uint64_t length,
                   std::uint64_t remainder) noexcept {
    const lanes l = lanes_in<Bits>(s);
    const std::uint64_t asked = ~std::uint64_t{0} >> (bits::word_bits - length * l.bits);
    return (equal_lanes<Bits>(s, number, remainder) & l.tops() & asked) != 0;
}

// The same for any length from 1 on. REQUIRES: the cells do not go round the table's end.
template <unsigned Bits>
bool any_equal(const cleary_state& s, std::uint64_t number, std::uint64_t length, std::uint64_t remainder) noexcept {
    const std::uint64_t count = lanes_in<Bits>(s).count;
    for (; length > count; number += count, length -= count) {
        if (equal_in_word<Bits>(s, number, count, remainder)) return true;
    }
    return equal_in_word<Bits>(s, number, length, remainder);
}

// Of `length` rising remainders from a cell on, how many are smaller?
inline std::uint64_t count_smaller(const cleary_state& s, std::uint64_t number, std::uint64_t length,
                                   std::uint64_t remainder) noexcept {
    const lanes l = lanes_in<0>(s);
    const std::uint64_t y = remainder * l.ones, tops = l.tops();
    std::uint64_t smaller = 0;
    for (std::uint64_t bit = number * l.bits; smaller < length; bit += l.count * l.bits) {
        const std::uint64_t x = load_bits(s, bit);
        const std::uint64_t here = std::min(length - smaller, l.count);
        // Top bits aside, is x at least y? The top bits of x absorb the borrow.
        const std::uint64_t rest_reaches = ((x & (tops - l.ones)) | tops) - (y & (tops - l.ones));
        const std::uint64_t less = tops & ((~x & y) | (~(x ^ y) & ~rest_reaches));
        const auto found =
            static_cast<std::uint64_t>(std::popcount(less & (~std::uint64_t{0} >> (bits::word_bits - here * l.bits))));
        smaller += found;
        if (found < here) break;
    }
    return smaller;
}

// ---- runs

template <class Words>
struct runs {
    // The cell behind end number `ends` (at least 1) from a cell on.
    static cell behind_ends(const cleary_state& s, cell from, std::uint64_t ends) noexcept {
        for (;; ++from.block, from.index = 0) {
            const std::uint64_t here = ends_of(block_at(s, from.block)) >> from.index << from.index;
            const std::uint64_t count = Words::popcount(here);
            if (count >= ends) return cell{from.block, Words::select(here, ends - 1)}.next();
            ends -= count;
        }
    }

    // The number of occupied homes behind `after`, up to and including `last`.
    static std::uint64_t occupied_between(const cleary_state& s, cell after, cell last) noexcept {
        std::uint64_t count = 0;
        for (std::uint64_t block = after.block; block <= last.block; ++block) {
            std::uint64_t here = occupied_of(block_at(s, block));
            if (block == after.block) here = here >> (after.index + 1) << (after.index + 1);
            if (block == last.block) here &= bits::low_mask(last.index + 1);
            count += Words::popcount(here);
        }
        return count;
    }

    // Where the run of a home begins, or would begin.
    struct place {
        cell home;    // unwrapped: the search may begin before the table's first cell
        cell before;  // the first cell behind all runs of earlier homes
        [[nodiscard]] cell start() const noexcept { return std::max(home, before); }
    };
    static place find(const cleary_state& s, std::uint64_t block, std::uint64_t index) noexcept {
        std::uint64_t begin = block;
        std::uint64_t count = Words::popcount(s.blocks[block].occupied & bits::low_mask(index));
        // By I3 this ends within one round.
        while (offset_of(s.blocks[begin]) == most_offset) {
            begin = begin == 0 ? s.block_count - 1 : begin - 1;
            count += Words::popcount(occupied_of(s.blocks[begin]));
        }
        const std::uint64_t offset = offset_of(s.blocks[begin]);
        cell before{begin + offset / block_cells, offset % block_cells};
        if (count != 0) before = behind_ends(s, before, count);
        return {{begin <= block ? block : block + s.block_count, index}, before};
    }

    // All cells from x to the end of the runs of homes up to x are taken: skip to that end, and
    // repeat. Counting continues where it stopped, so the walk takes a few steps for each block.
    // Beyond `most` cells the answer may be any cell.
    static cell first_free(const cleary_state& s, cell x, cell behind,
                           std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) noexcept {
        const std::uint64_t home = x.number();
        while (behind > x) {
            if (behind.number() - home > most) return behind;
            const std::uint64_t more = occupied_between(s, x, behind);
            x = behind;
            if (more != 0) behind = behind_ends(s, behind, more);
        }
        return x;
    }
};

inline bool is_occupied(const cleary_state& s, const target& t) noexcept {
    return (s.blocks[t.block].occupied >> t.index & 1) != 0;
}

// The look-up in the run of an occupied home, wherever the run lies.
template <class Words, unsigned Bits>
bool in_run(const cleary_state& s, const target& t) noexcept {
    const cell start = runs<Words>::find(s, t.block, t.index).start();
    const std::uint64_t length = runs<Words>::behind_ends(s, start, 1).number() - start.number();
    const std::uint64_t first = wrapped(s, start.number()), up_to_end = cell_count(s) - first;
    if (length <= up_to_end) return any_equal<Bits>(s, first, length, t.remainder);
    return any_equal<Bits>(s, first, up_to_end, t.remainder) || any_equal<Bits>(s, 0, length - up_to_end, t.remainder);
}

}  // namespace genista::cleary
