// Runs, offsets and shifts of quotient_table. See quotient_table.hpp.
#include "filters/quotient_table.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "bits/move_bits.hpp"

namespace genista {
namespace {

constexpr unsigned most_window = 60'000;
constexpr std::uint64_t most_quotients = std::uint64_t{1} << 42;

std::uint64_t whole_words(std::uint64_t bits) noexcept {
    return (bits + bits::word_bits - 1) / bits::word_bits * bits::word_bits;
}

// Slots behind the last quotient, for runs that extend there: more in larger tables, whose
// fluctuations are larger.
std::uint64_t spill(const quotient_shape& shape) noexcept {
    constexpr std::uint64_t quotients_for_a_step = 1u << 14, step = 64, most = 1024;
    return std::min<std::uint64_t>({shape.window, step * (2 + shape.quotients / quotients_for_a_step), most});
}

}  // namespace

quotient_table::layout quotient_table::layout_of(const quotient_shape& shape) noexcept {
    layout made;
    made.slots = whole_words(shape.quotients + spill(shape));
    made.ends = made.slots;
    made.offsets = made.ends + made.slots;
    made.entries = made.offsets + whole_words(made.slots / bits::word_bits * offset_bits);
    made.more = made.entries + whole_words(made.slots * shape.bits);
    made.all = made.more + whole_words(made.slots * shape.more_bits);
    return made;
}

std::uint64_t quotient_table::bytes_for(const quotient_shape& shape) noexcept {
    return buffer::bytes_for(layout_of(shape).all / 8);
}

result<void> quotient_table::check_shape(const quotient_shape& shape) noexcept {
    if (shape.quotients >= 1 && shape.quotients <= most_quotients && shape.bits >= 1 && shape.bits <= bits::word_bits &&
        shape.more_bits <= bits::word_bits && shape.window >= 1 && shape.window <= most_window)
        return {};
    return error::make(
        error_code::invalid_argument,
        "quotient table: %llu quotients, entries of %u and %u bits, window %u; allowed are 1 to 2^42, 1 to "
        "64, 0 to 64, 1 to %u",
        static_cast<unsigned long long>(shape.quotients), shape.bits, shape.more_bits, shape.window, most_window);
}

result<quotient_table> quotient_table::make(const quotient_shape& shape) noexcept {
    if (const auto checked = check_shape(shape); !checked) return checked.error();
    auto memory = buffer::zeroed(layout_of(shape).all / 8);
    if (!memory) return memory.error();
    return quotient_table{shape, *std::move(memory)};
}

result<quotient_table> quotient_table::from_bytes(const quotient_shape& shape,
                                                  std::span<const std::byte> bytes) noexcept {
    if (const auto checked = check_shape(shape); !checked) return checked.error();
    if (bytes.size() != layout_of(shape).all / 8)
        return error::make(error_code::corrupt, "quotient table: %zu bytes, this shape has %llu", bytes.size(),
                           static_cast<unsigned long long>(layout_of(shape).all / 8));
    auto made = make(shape);
    if (!made) return made;
    std::memcpy(made->memory_.data(), bytes.data(), bytes.size());
    if (const auto checked = made->check(); !checked) return checked.error();
    for (std::uint64_t q = made->next_occupied(0); q < shape.quotients; q = made->next_occupied(q + 1))
        made->size_ += made->run_of(q).size();
    return made;
}

std::uint64_t quotient_table::free_from(std::uint64_t quotient) const noexcept {
    const std::uint64_t block = quotient / bits::word_bits, begin = block * bits::word_bits + offset(block);
    auto runs = static_cast<std::uint64_t>(
        std::popcount(word(layout_.occupied, block) & bits::low_mask(quotient % bits::word_bits + 1)));
    if (runs == 0) return begin;
    // The end of run number `runs`, counted from `begin` on.
    std::uint64_t index = begin / bits::word_bits;
    std::uint64_t ends = word(layout_.ends, index) & ~bits::low_mask(begin % bits::word_bits);
    for (std::uint64_t here; (here = static_cast<std::uint64_t>(std::popcount(ends))) < runs;) {
        runs -= here;
        if (++index >= layout_.slots / bits::word_bits) return layout_.slots;  // never in a table whose check() is good
        ends = word(layout_.ends, index);
    }
    return index * bits::word_bits + bits::portable_words::select(ends, runs - 1) + 1;
}

quotient_table::run quotient_table::run_of(std::uint64_t quotient) const noexcept {
    assert(quotient < shape_.quotients);
    if (!bit(layout_.occupied, quotient)) return {};
    return {std::max(quotient, quotient == 0 ? 0 : free_from(quotient - 1)), free_from(quotient)};
}

std::uint64_t quotient_table::next_occupied(std::uint64_t quotient) const noexcept {
    while (quotient < shape_.quotients) {
        const std::uint64_t rest = word(layout_.occupied, quotient / bits::word_bits) >> quotient % bits::word_bits;
        if (rest != 0) return quotient + static_cast<std::uint64_t>(std::countr_zero(rest));
        quotient = (quotient / bits::word_bits + 1) * bits::word_bits;
    }
    return shape_.quotients;
}

// All slots between a taken slot and the end of the runs up to its own number are taken: skip from
// end to end. Beyond the window the end of the run of taken slots does not matter.
std::uint64_t quotient_table::first_gap(std::uint64_t quotient) const noexcept {
    std::uint64_t slot = quotient;
    for (std::uint64_t end; slot < layout_.slots && slot - quotient <= shape_.window && (end = free_from(slot)) > slot;)
        slot = end;
    return slot;
}

bool quotient_table::has_room(std::uint64_t quotient) const noexcept {
    const std::uint64_t gap = first_gap(quotient);
    return gap < layout_.slots && gap - quotient <= shape_.window;
}

template <class Move>
void quotient_table::shift(std::uint64_t first, std::uint64_t last, Move move) noexcept {
    move(layout_.ends + first, last - first, 1);
    move(layout_.entries + first * shape_.bits, (last - first) * shape_.bits, shape_.bits);
    if (shape_.more_bits != 0)
        move(layout_.more + first * shape_.more_bits, (last - first) * shape_.more_bits, shape_.more_bits);
}

void quotient_table::shift_up(std::uint64_t first, std::uint64_t last) noexcept {
    shift(first, last, [all = words()](std::uint64_t bit, std::uint64_t count, unsigned by) {
        bits::move_bits_up(all, bit, count, by);
    });
}

void quotient_table::shift_down(std::uint64_t first, std::uint64_t last) noexcept {
    shift(first, last, [all = words()](std::uint64_t bit, std::uint64_t count, unsigned by) {
        bits::move_bits_down(all, bit, count, by);
    });
}

// Blocks that begin behind `after`, up to and including one that begins at `last`.
void quotient_table::add_to_offsets(std::uint64_t after, std::uint64_t last, int by) noexcept {
    for (std::uint64_t block = after / bits::word_bits + 1; block * bits::word_bits <= last; ++block) {
        const std::uint64_t place = layout_.offsets + block * offset_bits;
        bits::write_bits(words(), place, offset_bits, offset(block) + static_cast<std::uint64_t>(by));
    }
}

std::optional<std::uint64_t> quotient_table::insert(std::uint64_t quotient, std::uint64_t entry,
                                                    std::uint64_t more) noexcept {
    assert(quotient < shape_.quotients);
    const std::uint64_t gap = first_gap(quotient);
    if (gap >= layout_.slots || gap - quotient > shape_.window) return std::nullopt;
    const bool has_run = bit(layout_.occupied, quotient);
    const std::uint64_t slot = std::max(quotient, free_from(quotient));
    shift_up(slot, gap);
    if (has_run) set_bit(layout_.ends, slot - 1, false);
    set_bit(layout_.ends, slot, true);
    set_bit(layout_.occupied, quotient, true);
    set(slot, entry);
    if (shape_.more_bits != 0)
        bits::write_bits(words(), layout_.more + slot * shape_.more_bits, shape_.more_bits, more);
    add_to_offsets(quotient, gap, 1);
    ++size_;
    return slot;
}

void quotient_table::erase(std::uint64_t quotient, std::uint64_t slot) noexcept {
    const run mine = run_of(quotient);
    assert(slot >= mine.first && slot < mine.last);
    // All entries behind it that had moved follow, up to a gap or a run that begins at its own
    // slot.
    std::uint64_t end = mine.last;
    for (std::uint64_t next; end < layout_.slots && (next = free_from(end - 1)) > end;) end = next;
    if (mine.size() == 1) {
        set_bit(layout_.occupied, quotient, false);
    } else if (slot + 1 == mine.last) {
        set_bit(layout_.ends, slot - 1, true);
    }
    shift_down(slot + 1, end);
    set_bit(layout_.ends, end - 1, false);
    set(end - 1, 0);
    if (shape_.more_bits != 0)
        bits::write_bits(words(), layout_.more + (end - 1) * shape_.more_bits, shape_.more_bits, 0);
    add_to_offsets(quotient, end - 1, -1);
    --size_;
}

result<void> quotient_table::check() const noexcept {
    const auto bad = [](const char* what, std::uint64_t where) {
        return error::make(error_code::corrupt, "quotient table: %s at %llu", what,
                           static_cast<unsigned long long>(where));
    };
    // Recomputed from the two bits alone: the offsets must agree, and slots outside all runs must
    // be zero.
    std::uint64_t free = 0, covered = 0;
    for (std::uint64_t quotient = 0; quotient < layout_.slots; ++quotient) {
        if (quotient % bits::word_bits == 0) {
            const std::uint64_t over = free > quotient ? free - quotient : 0;
            if (offset(quotient / bits::word_bits) != over) return bad("an offset that does not fit", quotient);
        }
        if (!bit(layout_.occupied, quotient)) continue;
        if (quotient >= shape_.quotients) return bad("a quotient that there is not", quotient);
        const std::uint64_t first = std::max(free, quotient);
        for (; covered < first; ++covered) {
            if (bit(layout_.ends, covered) || (*this)[covered] != 0 || more(covered) != 0)
                return bad("something in an empty slot", covered);
        }
        std::uint64_t last = first;
        while (last < layout_.slots && !bit(layout_.ends, last)) ++last;
        if (last >= layout_.slots) return bad("a run without end", quotient);
        if (last - quotient > shape_.window) return bad("an entry too far from its quotient", last);
        free = covered = last + 1;
    }
    for (; covered < layout_.slots; ++covered) {
        if (bit(layout_.ends, covered) || (*this)[covered] != 0 || more(covered) != 0)
            return bad("something in an empty slot", covered);
    }
    return {};
}

}  // namespace genista
