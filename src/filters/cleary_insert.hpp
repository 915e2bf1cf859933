// The writing half of cleary_filter's table: a value is inserted at its place in the order, and all
// cells from there to the next free one move up by one.
#pragma once

#include <limits>

#include "filters/cleary_table.hpp"

namespace genista::cleary {

inline std::uint64_t load_word(const cleary_state& s, std::uint64_t index) noexcept {
    std::uint64_t word;
    std::memcpy(&word, s.remainders + 8 * index, sizeof word);
    return word;
}
inline void store_word(const cleary_state& s, std::uint64_t index, std::uint64_t word) noexcept {
    std::memcpy(s.remainders + 8 * index, &word, sizeof word);
}

inline void set_remainder(const cleary_state& s, std::uint64_t number, std::uint64_t remainder) noexcept {
    const std::uint64_t bit = number * s.bits;
    std::uint64_t word;
    std::memcpy(&word, s.remainders + bit / 8, sizeof word);
    word = (word & ~(bits::low_mask(s.bits) << bit % 8)) | remainder << bit % 8;
    std::memcpy(s.remainders + bit / 8, &word, sizeof word);
}

// Moves the remainders of [first, last) up by one cell, and overwrites the one at `last`. REQUIRES:
// the range does not go round the end.
inline void move_up(const cleary_state& s, std::uint64_t first, std::uint64_t last) noexcept {
    if (first == last) return;
    if (s.bits % 8 == 0) {
        const std::uint64_t bytes = s.bits / 8;
        std::memmove(s.remainders + (first + 1) * bytes, s.remainders + first * bytes, (last - first) * bytes);
        return;
    }
    // A word at a time, from the last to the first; only bits [from, to) of the result change.
    const std::uint64_t from = (first + 1) * s.bits, to = (last + 1) * s.bits;
    for (std::uint64_t w = (to - 1) / bits::word_bits + 1; w-- > from / bits::word_bits;) {
        const std::uint64_t old = load_word(s, w);
        const std::uint64_t below = w == 0 ? 0 : load_word(s, w - 1) >> (bits::word_bits - s.bits);
        std::uint64_t changed = ~std::uint64_t{0};
        if (w == from / bits::word_bits) changed &= ~bits::low_mask(from % bits::word_bits);
        if (w == (to - 1) / bits::word_bits) changed &= bits::low_mask((to - 1) % bits::word_bits + 1);
        store_word(s, w, (old & ~changed) | ((old << s.bits | below) & changed));
    }
}

// The same round the end: `length` cells, fewer than all.
inline void move_up_round(const cleary_state& s, std::uint64_t first, std::uint64_t length) noexcept {
    const std::uint64_t cells = cell_count(s);
    if (first + length < cells) return move_up(s, first, first + length);
    move_up(s, 0, first + length - cells);
    set_remainder(s, 0, remainder_at(s, cells - 1));
    move_up(s, first, cells - 1);
}

// Moves the ends of [first, last) up by one cell; the end of `first` is left to the caller.
inline void move_ends_up(const cleary_state& s, cell first, cell last) noexcept {
    for (std::uint64_t block = last.block;; --block) {
        cleary_block& here = block_at(s, block);
        std::uint64_t moved = here.ends << 1;
        std::uint64_t changed = all_cells;
        if (block == last.block) changed &= bits::low_mask(last.index + 1);
        if (block == first.block) {
            changed &= ~bits::low_mask(first.index);
        } else {
            moved |= block_at(s, block - 1).ends >> (block_cells - 1) & 1;
        }
        here.ends = (here.ends & ~changed) | (moved & changed);
        if (block == first.block) return;
    }
}

inline void set_end(const cleary_state& s, cell at, bool value) noexcept {
    std::uint64_t& ends = block_at(s, at.block).ends;
    const std::uint64_t mask = std::uint64_t{1} << at.index;
    ends = value ? ends | mask : ends & ~mask;
}

// One more value lies before the end of home's block and reaches up to `last`: every block that
// begins in between counts one cell more.
inline void raise_offsets(const cleary_state& s, cell home, cell last) noexcept {
    for (std::uint64_t block = home.block + 1; block <= last.block; ++block) {
        cleary_block& here = block_at(s, block);
        const std::uint64_t offset = std::min(offset_of(here) + 1, most_offset);
        here.occupied = occupied_of(here) | offset << block_cells;
        here.ends = ends_of(here) | offset >> 4 << block_cells;
    }
}

inline cell cell_of(std::uint64_t number) noexcept {
    return {number / block_cells, number % block_cells};
}

template <class Words>
insert_outcome insert(cleary_state& s, const target& t,
                      std::uint64_t most_cells = std::numeric_limits<std::uint64_t>::max()) noexcept {
    const auto place = runs<Words>::find(s, t.block, t.index);
    const bool has_run = is_occupied(s, t);
    cell at = place.start(), behind = place.before;
    bool is_last = true;  // of its run
    if (has_run) {
        behind = runs<Words>::behind_ends(s, at, 1);
        const std::uint64_t length = behind.number() - at.number();
        const std::uint64_t first = wrapped(s, at.number()), up_to_end = cell_count(s) - first;
        std::uint64_t smaller = count_smaller(s, first, std::min(length, up_to_end), t.remainder);
        if (smaller == up_to_end) smaller += count_smaller(s, 0, length - up_to_end, t.remainder);
        is_last = smaller == length;
        at = cell_of(at.number() + smaller);
        if (!is_last && remainder_at(s, wrapped(s, at.number())) == t.remainder) return insert_outcome::already_present;
    }
    if (s.used == cell_count(s)) return insert_outcome::full;
    const cell gap = runs<Words>::first_free(s, place.home, behind, most_cells);
    if (gap.number() - place.home.number() > most_cells) return insert_outcome::full;
    move_ends_up(s, at, gap);
    move_up_round(s, wrapped(s, at.number()), gap.number() - at.number());
    set_remainder(s, wrapped(s, at.number()), t.remainder);
    if (has_run && is_last) {
        const cell old_last = cell_of(at.number() - 1);
        set_end(s, old_last, false);
    }
    set_end(s, at, is_last);
    s.blocks[t.block].occupied |= std::uint64_t{1} << t.index;
    raise_offsets(s, place.home, gap);
    ++s.used;
    return insert_outcome::inserted;
}

}  // namespace genista::cleary
