// bin: an increasing sequence of numbers below a limit, in about log(limit/count) + 2 bits each, in
// a block of words.
//
// The code is that of Elias and Fano: the low bits of each number are written out, the rest (its
// *upper* part) in unary. With roughly as many different upper parts as numbers, that is half a bit
// a number above log C(limit, count).
//
//     block     [ arena's 47 bits | count, 10 bits | uppers →   ...   ← lows ]
//     uppers    for every upper part a 1 for each number that has it, then a 0:
//               "110 0 10 0" = 0, 0, 2
//     lows      the low bits of number i end i · low_bits below the block's end
//
// Uppers grow from below, lows from above: an insert or an erase moves whole runs of bits by 1 and
// by low_bits, and a block that has a word too few or too many is copied without decoding it.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>

#include "bits/move_bits.hpp"
#include "bits/words.hpp"
#include "filters/succinct/arena.hpp"

namespace genista::succinct {

// The parameters of the code, equal for all bins of a level (sets.hpp).
struct bin_code {
    unsigned low_bits = 0;
    unsigned uppers = 1;  // the number of different upper parts
    std::uint64_t lane_tops =
        0;  // the highest bit of every lane of a window (bin::window); 0: lanes are too narrow or too few

    [[nodiscard]] constexpr std::uint64_t low_of(std::uint64_t number) const noexcept {
        return number & ((std::uint64_t{1} << low_bits) - 1);
    }

    static constexpr unsigned window_bits = 57;  // bits of a word load that starts in the middle of a byte
    [[nodiscard]] static constexpr bin_code for_limit(std::uint64_t limit) noexcept {
        constexpr unsigned upper_bits = 8, narrowest = 2, widest = window_bits / 2;
        const auto width = static_cast<unsigned>(std::bit_width(limit - 1));
        const unsigned low = width > upper_bits ? width - upper_bits : 0;
        std::uint64_t tops = 0;
        for (unsigned end = low; low >= narrowest && low <= widest && end <= window_bits; end += low)
            tops |= std::uint64_t{1} << 63 >> (end - low);
        return {low, static_cast<unsigned>((limit - 1) >> low) + 1, tops};
    }
};

inline constexpr unsigned most_in_bin = 1000;

class bin {
  public:
    // Copied by members: a copy of the whole object would go through memory in every look-up.
    bin(std::span<std::uint64_t> block, const bin_code& code) noexcept
        : words_{block}, code_{code.low_bits, code.uppers, code.lane_tops} {}

    static constexpr std::uint64_t count_place = arena::header_bits, count_bits = 10;
    static constexpr std::uint64_t first_upper = count_place + count_bits;
    static_assert(first_upper < bits::word_bits && most_in_bin < 1u << count_bits);

    [[nodiscard]] static constexpr std::uint64_t words_for(const bin_code& code, std::uint64_t count) noexcept {
        return bits::words_for(first_upper + count + code.uppers + count * code.low_bits);
    }
    [[nodiscard]] unsigned count() const noexcept {
        return static_cast<unsigned>(words_[0] >> count_place & bits::low_mask(count_bits));
    }

    // The place of a number, or the place where it would be.
    struct place {
        std::uint64_t index = 0;     // among all numbers
        std::uint64_t position = 0;  // of its 1 among the uppers
    };
    struct found {
        place at{};
        std::uint64_t number = 0;
        bool is_there = false;
    };
    // The first number from `least` on, if it is below least + range. If there is none: the place
    // where `least` would be.
    template <class Words>
    [[nodiscard]] found find(std::uint64_t least, std::uint64_t range) const noexcept;
    // The same answer as find(), one step after another: its scalar version, and for the rare cases
    // that do not fit into a window.
    template <class Words>
    [[nodiscard]] found find_step_by_step(std::uint64_t least, std::uint64_t range) const noexcept;

    // The few numbers of one upper part, seen at once: their low bits are the lanes of a word, the
    // first number the highest. No branch depends on random data: a mispredicted one delays the
    // next look-ups, which costs more than all of this.
    struct window {
        bool is_whole = false;     // false: the window is unusable, and find_step_by_step has to answer
        place at{};                // of the first of them
        std::uint64_t lanes = 0;   // the bits below the last lane are arbitrary
        std::uint64_t inside = 0;  // all bits of their lanes
    };
    // Whole in nearly all cases where all numbers of the range have the upper part of the first.
    template <class Words>
    [[nodiscard]] window look(std::uint64_t least, std::uint64_t range) const noexcept;
    // The highest bits of the lanes that are in the range asked for.
    [[nodiscard]] std::uint64_t equal_lanes(const window& seen, std::uint64_t least,
                                            std::uint64_t range) const noexcept {
        const std::uint64_t tops = code_.lane_tops, ones = tops >> (code_.low_bits - 1), rest = tops - ones;
        std::uint64_t all = code_.low_of(least) * ones, unlike = ~std::uint64_t{0};
        for (std::uint64_t symbol = 0; symbol < range; ++symbol, all += ones) {
            const std::uint64_t differ = seen.lanes ^ all;
            unlike &= ((differ & rest) + rest) | differ;
        }
        return ~unlike & tops & seen.inside;
    }
    // The same for lanes that are smaller. (The subtraction borrows from no neighbour: every lane
    // has a 1 on top.)
    [[nodiscard]] std::uint64_t smaller_lanes(const window& seen, std::uint64_t least) const noexcept {
        const std::uint64_t tops = code_.lane_tops, all = code_.low_of(least) * (tops >> (code_.low_bits - 1));
        const std::uint64_t borrows = ~((seen.lanes | tops) - (all & ~tops));
        return ((~seen.lanes & all) | (~(seen.lanes ^ all) & borrows)) & tops & seen.inside;
    }

    // REQUIRES: the block has a word of room; `where` is the result of find for `least`, and the
    // number is in the range of that search.
    void insert(const found& where, std::uint64_t least, std::uint64_t number) noexcept;
    void erase(const place& where) noexcept;
    // Changes a number. REQUIRES: no other number lies between `from` and `to`.
    void change(const place& where, std::uint64_t from, std::uint64_t to) noexcept;

    // All numbers in order; `out` has room for count().
    void read(std::span<std::uint64_t> out) const noexcept;
    // REQUIRES: the block is zero except for its header.
    void write(std::span<const std::uint64_t> numbers) noexcept;
    // Copies the numbers of another block of the same code. REQUIRES: this block is zero except for
    // its header.
    void copy(const bin& other) noexcept;
    // For any bytes: is this what write() makes of some numbers below the limit?
    [[nodiscard]] bool is_sound(std::uint64_t limit) const noexcept;

  private:
    [[nodiscard]] std::uint64_t low_place(std::uint64_t index) const noexcept {
        return bits::word_bits * words_.size() - (index + 1) * code_.low_bits;
    }
    [[nodiscard]] std::uint64_t low(std::uint64_t index) const noexcept {
        return bits::read_bits(words_, low_place(index), code_.low_bits);
    }
    [[nodiscard]] bool upper_bit(std::uint64_t position) const noexcept {
        return (words_[position / bits::word_bits] >> position % bits::word_bits & 1) != 0;
    }
    void set_count(std::uint64_t count) noexcept { bits::write_bits(words_, count_place, count_bits, count); }
    [[nodiscard]] std::uint64_t end_of_uppers() const noexcept { return first_upper + count() + code_.uppers; }

    // Eight bytes from any byte of the block on, as a word. REQUIRES: they are in the block.
    [[nodiscard]] std::uint64_t word_at_byte(std::uint64_t byte) const noexcept {
        if constexpr (std::endian::native == std::endian::little) {
            std::uint64_t word;
            std::memcpy(&word, reinterpret_cast<const std::byte*>(words_.data()) + byte, sizeof word);
            return word;
        } else {
            return bits::read_bits(words_, 8 * byte, bits::word_bits);
        }
    }

    std::span<std::uint64_t> words_;
    bin_code code_;
};

template <class Words>
[[gnu::always_inline]] inline bin::window bin::look(std::uint64_t least, std::uint64_t range) const noexcept {
    // The reads are in the first words_at_once + 1 words, and up to 64 bits below the lows, where
    // the uppers are.
    constexpr std::uint64_t words_at_once = 8;
    if (code_.lane_tops == 0 || words_.size() <= words_at_once ||
        (code_.low_of(least) + range - 1) >> code_.low_bits != 0) [[unlikely]]
        return {};
    // The upper part begins behind 0 number `upper`, if the header counts as all 1s except for a 0
    // at its end. `wanted` counts the 0s still missing after each word. The word in question is the
    // last with a count that is not negative; as unsigned numbers that is the smallest. Its lowest
    // digit, base 8, is the number of words behind it.
    constexpr std::uint64_t before = bits::low_mask(first_upper - 1), last = std::uint64_t{1} << (first_upper - 1);
    const std::uint64_t upper = least >> code_.low_bits, first = (words_[0] | before) & ~last;
    std::uint64_t wanted = 8 * upper + 7, best = wanted;
    for (std::uint64_t i = 0; i + 1 < words_at_once; ++i) {
        wanted += 8 * Words::popcount(i == 0 ? first : words_[i]) - (8 * bits::word_bits + 1);
        best = std::min(best, wanted);
    }
    const std::uint64_t index = 7 - best % 8;
    const std::uint64_t zeros = ~(index == 0 ? first : words_[index]);
    if (Words::popcount(zeros) <= best / 8) [[unlikely]]  // in a later word
        return {};
    const std::uint64_t position = bits::word_bits * index + Words::select(zeros, best / 8) + 1;
    const std::uint64_t uppers = word_at_byte(position / 8) >> position % 8;
    const std::uint64_t width = static_cast<std::uint64_t>(std::countr_one(uppers)) * code_.low_bits;
    if (width > bin_code::window_bits) [[unlikely]]
        return {};
    const place at{position - first_upper - upper, position};
    const std::uint64_t lows_end = bits::word_bits * words_.size() - at.index * code_.low_bits;
    return {true, at, word_at_byte((lows_end + 7) / 8 - sizeof(std::uint64_t)) << (0 - lows_end) % 8,
            ~std::uint64_t{1} << (bits::word_bits - 1 - width)};
}

template <class Words>
bin::found bin::find(std::uint64_t least, std::uint64_t range) const noexcept {
    const window seen = look<Words>(least, range);
    if (!seen.is_whole) [[unlikely]]
        return find_step_by_step<Words>(least, range);
    const std::uint64_t smaller = Words::popcount(smaller_lanes(seen, least));
    const std::uint64_t lane = seen.lanes << smaller * code_.low_bits >> (bits::word_bits - code_.low_bits);
    return {{seen.at.index + smaller, seen.at.position + smaller},
            least - code_.low_of(least) + lane,
            equal_lanes(seen, least, range) != 0};
}

template <class Words>
bin::found bin::find_step_by_step(std::uint64_t least, std::uint64_t range) const noexcept {
    const std::uint64_t upper = least >> code_.low_bits, wanted = least & bits::low_mask(code_.low_bits);
    std::uint64_t position = first_upper;
    if (upper > 0) {  // behind the 0 that ends the upper part before
        std::uint64_t zeros = ~words_[0] & ~bits::low_mask(first_upper), left = upper - 1, index = 0;
        for (std::uint64_t here; (here = Words::popcount(zeros)) <= left; left -= here) zeros = ~words_[++index];
        position = bits::word_bits * index + Words::select(zeros, left) + 1;
    }
    place at{position - first_upper - upper, position};
    for (; upper_bit(at.position); ++at.index, ++at.position) {
        const std::uint64_t rest = low(at.index);
        if (rest < wanted) continue;
        const std::uint64_t number = upper << code_.low_bits | rest;
        return {at, number, number - least < range};
    }
    // The 0 that ends this upper part. A number of a later upper part may still be in the range.
    const std::uint64_t last = std::min<std::uint64_t>((least + range - 1) >> code_.low_bits, code_.uppers - 1);
    for (std::uint64_t next = upper + 1, there = at.position + 1; next <= last; ++next, ++there) {
        if (!upper_bit(there)) continue;
        const std::uint64_t number = next << code_.low_bits | low(at.index);
        if (number - least >= range) break;
        return {{at.index, there}, number, true};
    }
    return {at, 0, false};
}

}  // namespace genista::succinct
