// bin: some numbers below a limit, increasing, in about log(limit/count) + 2 bits each, in a block of words.
//
// The code is Elias and Fano's: the low bits of each number are written out, the rest (its *upper* part) in unary. With as many
// different upper parts as there are numbers, roughly, that is half a bit a number above log C(limit, count).
//
//     block     [ arena's 47 bits | count, 10 bits | uppers →   ...   ← lows ]
//     uppers    for every upper part a 1 for each number that has it, then a 0:  "110 0 10 0" = 0, 0, 2
//     lows      the low bits of number i end i · low_bits below the block's end
//
// Uppers grow from below, lows from above: a number that comes or goes moves whole runs of bits by 1 and by low_bits, and a block
// that has a word too few or too many is copied without decoding it.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <span>

#include "bits/move_bits.hpp"
#include "filters/succinct/arena.hpp"
#include "genista/bits/words.hpp"

namespace genista::succinct {

// The same for all bins of a level (sets.hpp).
struct bin_code {
    unsigned low_bits = 0;
    unsigned uppers = 1;          // different upper parts
    std::uint64_t lane_ones = 0;  // a 1 every low_bits, as often as they fit into a word

    [[nodiscard]] static constexpr bin_code for_limit(std::uint64_t limit) noexcept {
        constexpr unsigned upper_bits = 8;
        const auto width = static_cast<unsigned>(std::bit_width(limit - 1));
        const unsigned low = width > upper_bits ? width - upper_bits : 0;
        std::uint64_t ones = 0;
        for (unsigned lane = 0; low > 0 && lane < bits::word_bits / low; ++lane) ones |= std::uint64_t{1} << lane * low;
        return {low, static_cast<unsigned>((limit - 1) >> low) + 1, ones};
    }
};

inline constexpr unsigned most_in_bin = 1000;

class bin {
  public:
    bin(std::span<std::uint64_t> block, const bin_code& code) noexcept : words_{block}, code_{code} {}

    static constexpr std::uint64_t count_place = arena::header_bits, count_bits = 10;
    static constexpr std::uint64_t first_upper = count_place + count_bits;
    static_assert(first_upper < bits::word_bits && most_in_bin < 1u << count_bits);

    [[nodiscard]] static constexpr std::uint64_t words_for(const bin_code& code, std::uint64_t count) noexcept {
        return bits::words_for(first_upper + count + code.uppers + count * code.low_bits);
    }
    [[nodiscard]] unsigned count() const noexcept {
        return static_cast<unsigned>(words_[0] >> count_place & bits::low_mask(count_bits));
    }

    // Where a number is, or would be.
    struct place {
        std::uint64_t index = 0;     // among all numbers
        std::uint64_t position = 0;  // of its 1 among the uppers
    };
    struct found {
        place at{};
        std::uint64_t number = 0;
        bool is_there = false;
    };
    // The first number from `least` on, if it is below least + range. If there is none: where `least` would be.
    template <class Words>
    [[nodiscard]] found find(std::uint64_t least, std::uint64_t range) const noexcept;

    // The same question, and only whether: nearly always without a branch that chance decides.
    template <class Words>
    [[nodiscard]] bool holds(std::uint64_t least, std::uint64_t range) const noexcept;

    // The block has a word for it. `where` is what find said of `least`, and the number is in the range that it looked at.
    void insert(const found& where, std::uint64_t least, std::uint64_t number) noexcept;
    void erase(const place& where) noexcept;
    // To a number so near that none lies between the two.
    void change(const place& where, std::uint64_t from, std::uint64_t to) noexcept;

    // All numbers, in their order; `out` has room for count().
    void read(std::span<std::uint64_t> out) const noexcept;
    // Into a block that is all zero but for its header.
    void write(std::span<const std::uint64_t> numbers) noexcept;
    // The numbers of another block of the same code; this one is all zero but for its header.
    void copy(const bin& other) noexcept;
    // Is it what write() makes of some numbers below the limit? For bytes that may be anything.
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

    // 64 bits from a position on; beyond the block, anything.
    [[nodiscard]] std::uint64_t bits_from(std::uint64_t position) const noexcept {
        const std::uint64_t index = position / bits::word_bits, shift = position % bits::word_bits;
        return words_[index] >> shift | words_[std::min<std::uint64_t>(index + 1, words_.size() - 1)] << 1
                                                                                                      << (63 - shift);
    }
    // Behind how many of the first words 0 number `zero` of the uppers lies; zero becomes its number from there on.
    static constexpr std::uint64_t words_at_once = 8;
    template <class Words>
    [[nodiscard]] std::uint64_t skip_zeros(std::uint64_t& zero) const noexcept {
        std::uint64_t zeros = 0, passed = 0, index = 0;
        for (std::uint64_t i = 0; i < words_at_once; ++i) {
            zeros += Words::popcount(i == 0 ? ~words_[0] & ~bits::low_mask(first_upper) : ~words_[i]);
            const bool is_behind = zeros <= zero;
            index += is_behind ? 1 : 0;
            passed = is_behind ? zeros : passed;
        }
        zero -= passed;
        return index;
    }

    std::span<std::uint64_t> words_;
    bin_code code_;
};

template <class Words>
bin::found bin::find(std::uint64_t least, std::uint64_t range) const noexcept {
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
    // At the 0 that ends this upper part. What begins behind it may still be near enough.
    const std::uint64_t last = std::min<std::uint64_t>((least + range - 1) >> code_.low_bits, code_.uppers - 1);
    for (std::uint64_t next = upper + 1, there = at.position + 1; next <= last; ++next, ++there) {
        if (!upper_bit(there)) continue;
        const std::uint64_t number = next << code_.low_bits | low(at.index);
        if (number - least >= range) break;
        return {{at.index, there}, number, true};
    }
    return {at, 0, false};
}

// The low bits of the few numbers with this upper part are lanes of one word and compared at once, with each of the numbers asked for.
template <class Words>
bool bin::holds(std::uint64_t least, std::uint64_t range) const noexcept {
    const unsigned low_bits = code_.low_bits;
    const std::uint64_t upper = least >> low_bits, wanted = least & bits::low_mask(low_bits);
    const bool is_usual = low_bits >= 2 && low_bits <= 32 && upper > 0 && words_.size() > words_at_once &&
                          wanted + range <= std::uint64_t{1} << low_bits;
    if (!is_usual) [[unlikely]]
        return find<Words>(least, range).is_there;
    std::uint64_t zero = upper - 1, index = skip_zeros<Words>(zero);
    std::uint64_t zeros = ~words_[index];
    if (index == 0) zeros &= ~bits::low_mask(first_upper);
    for (std::uint64_t here; (here = Words::popcount(zeros)) <= zero; zero -= here)
        [[unlikely]] zeros = ~words_[++index];
    const std::uint64_t position = bits::word_bits * index + Words::select(zeros, zero) + 1;
    const auto numbers = static_cast<std::uint64_t>(std::countr_one(bits_from(position)));
    const std::uint64_t lanes = bits::word_bits / low_bits;
    if (numbers > lanes) [[unlikely]]
        return find<Words>(least, range).is_there;
    // Number `first` is the highest lane of `lanes`, the next one lies below it.
    const std::uint64_t first = position - first_upper - upper;
    const std::uint64_t lows = bits_from(low_place(first + lanes - 1));
    const std::uint64_t ones = code_.lane_ones, tops = ones << (low_bits - 1), rest = tops - ones;
    std::uint64_t equal = 0;
    for (std::uint64_t symbol = 0; symbol < range; ++symbol) {
        const std::uint64_t unlike = lows ^ (wanted + symbol) * ones;
        equal |= ~(((unlike & rest) + rest) | unlike);
    }
    const std::uint64_t asked = bits::low_mask(lanes * low_bits) & ~bits::low_mask((lanes - numbers) * low_bits);
    return (equal & tops & asked) != 0;
}

}  // namespace genista::succinct
