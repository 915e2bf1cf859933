// Changes of a bin's code, without decoding it. See bin.hpp.
#include "filters/succinct/bin.hpp"

#include <algorithm>
#include <bit>

namespace genista::succinct {

void bin::insert(const found& where, std::uint64_t least, std::uint64_t number) noexcept {
    // There is no number between the two: if their upper parts differ, only 0s lie between them.
    const place at{where.at.index, where.at.position + (number >> code_.low_bits) - (least >> code_.low_bits)};
    const std::uint64_t before = count(), end = end_of_uppers();
    assert(before < most_in_bin && words_for(code_, before + 1) <= words_.size());
    bits::move_bits_up(words_, at.position, end - at.position, 1);
    bits::write_bits(words_, at.position, 1, 1);
    bits::move_bits_down(words_, low_place(before) + code_.low_bits, (before - at.index) * code_.low_bits,
                         code_.low_bits);
    bits::write_bits(words_, low_place(at.index), code_.low_bits, number);
    set_count(before + 1);
}

void bin::erase(const place& where) noexcept {
    const std::uint64_t before = count(), end = end_of_uppers();
    bits::move_bits_down(words_, where.position + 1, end - where.position - 1, 1);
    bits::write_bits(words_, end - 1, 1, 0);
    bits::move_bits_up(words_, low_place(before - 1), (before - 1 - where.index) * code_.low_bits, code_.low_bits);
    bits::write_bits(words_, low_place(before - 1), code_.low_bits, 0);
    set_count(before - 1);
}

void bin::change(const place& where, std::uint64_t from, std::uint64_t to) noexcept {
    bits::write_bits(words_, low_place(where.index), code_.low_bits, to);
    // Only 0s lie between the old place of its 1 and the new one.
    const std::uint64_t to_position = where.position + (to >> code_.low_bits) - (from >> code_.low_bits);
    bits::write_bits(words_, where.position, 1, 0);
    bits::write_bits(words_, to_position, 1, 1);
}

void bin::read(std::span<std::uint64_t> out) const noexcept {
    const std::uint64_t all = count();
    std::uint64_t word_index = 0, ones = words_[0] & ~bits::low_mask(first_upper);
    for (std::uint64_t index = 0; index < all; ++index) {
        while (ones == 0) ones = words_[++word_index];
        const std::uint64_t position =
            bits::word_bits * word_index + static_cast<std::uint64_t>(std::countr_zero(ones));
        ones &= ones - 1;
        out[index] = (position - first_upper - index) << code_.low_bits | low(index);
    }
}

void bin::write(std::span<const std::uint64_t> numbers) noexcept {
    assert(numbers.size() <= most_in_bin && words_for(code_, numbers.size()) <= words_.size());
    for (std::size_t index = 0; index < numbers.size(); ++index) {
        const std::uint64_t position = first_upper + index + (numbers[index] >> code_.low_bits);
        words_[position / bits::word_bits] |= std::uint64_t{1} << position % bits::word_bits;
        bits::write_bits(words_, low_place(index), code_.low_bits, numbers[index]);
    }
    set_count(numbers.size());
}

void bin::copy(const bin& other) noexcept {
    const std::uint64_t end = other.end_of_uppers(), lows = std::uint64_t{other.count()} * code_.low_bits;
    assert(words_for(code_, other.count()) <= words_.size());
    words_[0] |=
        other.words_[0] & ~bits::low_mask(count_place) & bits::low_mask(std::min<std::uint64_t>(end, bits::word_bits));
    const std::uint64_t whole = end / bits::word_bits;
    for (std::uint64_t i = 1; i < whole; ++i) words_[i] = other.words_[i];
    if (whole > 0 && end % bits::word_bits != 0)
        words_[whole] |= other.words_[whole] & bits::low_mask(end % bits::word_bits);
    // Lows end at the end of either block: the same bits of the words, counted from the end.
    const std::uint64_t whole_lows = lows / bits::word_bits, rest = lows % bits::word_bits;
    const std::uint64_t to = words_.size(), from = other.words_.size();
    for (std::uint64_t i = 1; i <= whole_lows; ++i) words_[to - i] = other.words_[from - i];
    if (rest != 0)
        words_[to - whole_lows - 1] |= other.words_[from - whole_lows - 1] & ~bits::low_mask(bits::word_bits - rest);
}

bool bin::is_sound(std::uint64_t limit) const noexcept {
    const std::uint64_t all = count();
    if (all == 0 || all > most_in_bin || words_for(code_, all) != words_.size()) return false;
    // The checks: as many 1s as numbers before the last 0, and zeros between uppers and lows.
    const std::uint64_t end = end_of_uppers();
    std::uint64_t ones = 0;
    for (std::uint64_t position = first_upper; position < end; position += bits::word_bits) {
        const std::uint64_t part = std::min<std::uint64_t>(bits::word_bits, end - position);
        ones += static_cast<std::uint64_t>(std::popcount(bits::read_bits(words_, position, part)));
    }
    if (ones != all || upper_bit(end - 1)) return false;
    for (std::uint64_t position = end; position < low_place(all - 1);) {
        const std::uint64_t part = std::min<std::uint64_t>(bits::word_bits, low_place(all - 1) - position);
        if (bits::read_bits(words_, position, part) != 0) return false;
        position += part;
    }
    std::uint64_t index = 0, least = 0;
    for (std::uint64_t position = first_upper; position < end; ++position) {
        if (!upper_bit(position)) continue;
        const std::uint64_t number = (position - first_upper - index) << code_.low_bits | low(index);
        if (number < least || number >= limit) return false;
        least = number + 1;
        ++index;
    }
    return true;
}

}  // namespace genista::succinct
