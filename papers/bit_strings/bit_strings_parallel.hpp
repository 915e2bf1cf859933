// Operations on many strings of a bit_strings in one call: number (6) of [broom18 App. A, Lemma
// 29]. None of them loops over strings: sets of strings are bitmaps by rank, turned into slots with
// deposit and moved with extract.
//
//     nonempty            which strings have bits
//     drop_front_all      removes x bits from the beginning of all strings, and returns which still
//                         have bits
//     erase_all           deletes a set of strings
//     concatenate_all     joins every string of a set with its successor
//     insert_all          merges the strings of another bit_strings in, each at a rank of its own
//     prefix_match_each   compares every string with a query of its own
//
// The recurring trick: two sets of slots, first bits A and last bits B, one pair a string and A_i
// <= B_i < A_i+1, give the intervals between them as the one subtraction B - A (bits A_i .. B_i - 1
// are set). What the six single operations promise is in bit_strings.hpp; the transposed numbers
// that the last two use are in bit_planes.hpp.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "papers/bit_strings/bit_planes.hpp"
#include "papers/bit_strings/bit_strings.hpp"

namespace genista::bits {

// Bit i: s_i has at least one bit.
template <std::size_t Words, class Kernel>
[[nodiscard]] wide_word<Words, Kernel> nonempty(const bit_strings<Words, Kernel>& strings) noexcept {
    const auto heads = strings.starts();
    return heads.without(strings.ends()).extract(heads);
}

namespace detail {

// Keeps the slots of `keep`, moved together. Removing a terminator joins two strings.
template <std::size_t Words, class Kernel>
void keep_slots(bit_strings<Words, Kernel>& strings, const wide_word<Words, Kernel>& keep) noexcept {
    strings.replace(strings.data().extract(keep), strings.ends().extract(keep));
}

// All slots of the strings in `chosen` (by rank), terminators included.
template <std::size_t Words, class Kernel>
[[nodiscard]] wide_word<Words, Kernel> slots_of(const wide_word<Words, Kernel>& starts,
                                                const wide_word<Words, Kernel>& ends,
                                                const wide_word<Words, Kernel>& chosen) noexcept {
    const auto last = chosen.deposit(ends);
    return (last - chosen.deposit(starts)) | last;
}

}  // namespace detail

// Removes up to x bits from the beginning of every string. Returns which strings still have bits.
template <std::size_t Words, class Kernel>
wide_word<Words, Kernel> drop_front_all(bit_strings<Words, Kernel>& strings, std::size_t x) noexcept {
    using wide = wide_word<Words, Kernel>;
    x = std::min(x, wide::bits);
    if (x != 0) {
        const wide heads = strings.starts(), payload = strings.payload();
        wide runs = payload;  // slots from which x payload slots follow, by doubling
        std::size_t k = 1;
        for (; 2 * k <= x; k *= 2) runs = strings.longer_runs(runs, k, 2 * k);
        runs = strings.longer_runs(runs, k, x);
        // The end of the removal: x slots on in the long strings; in the short ones a carry finds
        // the terminator.
        const wide long_heads = heads & runs;
        const wide short_stops = (payload + heads.without(long_heads)) & strings.ends();
        const wide dropped = ((long_heads << x) | short_stops) - heads;
        detail::keep_slots(strings, ~dropped);
    }
    return nonempty(strings);
}

// Deletes every string whose rank is set in `chosen`; ranks that do not exist are ignored.
template <std::size_t Words, class Kernel>
void erase_all(bit_strings<Words, Kernel>& strings, const wide_word<Words, Kernel>& chosen) noexcept {
    detail::keep_slots(strings, ~detail::slots_of(strings.starts(), strings.ends(), chosen));
}

// Joins s_i with s_i+1 for every i set in `chosen`; neighbours in the set make longer chains. The
// last string has no successor and must not be chosen.
template <std::size_t Words, class Kernel>
void concatenate_all(bit_strings<Words, Kernel>& strings, const wide_word<Words, Kernel>& chosen) noexcept {
    assert(chosen.length() < std::max<std::size_t>(strings.count(), 1));
    detail::keep_slots(strings, ~chosen.deposit(strings.ends()));
}

// Merges `others` in: string t of it gets the rank of set bit number t of `new_ranks`, which are
// ranks after the merge (so new_ranks has others.count() bits, all below the sum of the counts).
//
// For the merged rank r, let a and b be the numbers of slots that both sides have used up to and
// including r: its terminator arrives in slot a + b - 1. The terminators of both sides, by merged
// rank and repeated over the other side's ranks, are a - 1 and b - 1 ("present" is 0 for ranks
// before a side's first string, where a = 0). scatter() takes the distance from r to there: a + b -
// 1 - r = a + b + ~r.
template <std::size_t Words, class Kernel>
[[nodiscard]] edit insert_all(bit_strings<Words, Kernel>& strings, const wide_word<Words, Kernel>& new_ranks,
                              const bit_strings<Words, Kernel>& others) noexcept {
    using wide = wide_word<Words, Kernel>;
    using numbers = bit_planes<Words, Kernel>;
    const std::size_t total = strings.count() + others.count();
    const std::size_t used = strings.used_slots() + others.used_slots();
    assert(new_ranks.count() == others.count() && new_ranks.length() <= total);
    if (used > wide::bits) return edit::full;

    const wide live = wide::low(total);
    const wide old_ranks = live.without(new_ranks);
    // Copies the bits at `own` ranks up over the other side's ranks that follow them: a carry sent
    // into a run of the other side's ranks clears it.
    const auto carry_on = [](const wide& at_own, const wide& other_side) {
        const wide swept = other_side.without(other_side + (at_own << 1 & other_side));
        return at_own | swept;
    };
    const auto spent = [&](const bit_strings<Words, Kernel>& side, const wide& own, const wide& other_side) {
        return numbers::positions_of(side.ends()).map([&](const wide& plane) {
            return carry_on(plane.deposit(own), other_side);
        });
    };
    const numbers a = spent(strings, old_ranks, new_ranks), b = spent(others, new_ranks, old_ranks);
    const wide a_present = carry_on(old_ranks, new_ranks), b_present = carry_on(new_ranks, old_ranks);
    const numbers not_rank = numbers::index().map([](const wide& plane) { return ~plane; });
    const numbers way = numbers::add(numbers::add(a, b, a_present).value, not_rank, b_present).value;

    const auto landed = scatter(way, total, new_ranks);
    const wide starts = ((landed.marks << 1) | wide::of(1)) & wide::low(used);
    const wide theirs = (landed.tagged - new_ranks.deposit(starts)) | landed.tagged;
    const wide ours = wide::low(used).without(theirs);
    strings.replace(strings.data().deposit(ours) | others.data().deposit(theirs), landed.marks);
    return edit::done;
}

// Bit i: s_i is a prefix of string i of `queries` (as many of them as strings).
//
// Both sides keep the first min(|s_i|, |q_i|) bits of each string; extracted, the bits of both
// sides have the same places. The differences are deposited back over s, and carries climb as in
// bit_strings::prefix_match.
template <std::size_t Words, class Kernel>
[[nodiscard]] wide_word<Words, Kernel> prefix_match_each(const bit_strings<Words, Kernel>& strings,
                                                         const bit_strings<Words, Kernel>& queries) noexcept {
    using wide = wide_word<Words, Kernel>;
    using numbers = bit_planes<Words, Kernel>;
    const std::size_t count = strings.count();
    assert(count == queries.count());
    const wide heads = strings.starts(), query_heads = queries.starts();
    const numbers first = numbers::positions_of(heads), query_first = numbers::positions_of(query_heads);
    const numbers shared = numbers::least(numbers::subtract(numbers::positions_of(strings.ends()), first).value,
                                          numbers::subtract(numbers::positions_of(queries.ends()), query_first).value);
    const auto shared_slots = [&](const wide& side_heads, const numbers& side_first) {
        const numbers stop = numbers::add(side_first, shared, wide{}).value;
        const numbers way = numbers::subtract(stop, numbers::index()).value;
        return scatter(way, count, wide{}).marks - side_heads;
    };
    const wide ours = shared_slots(heads, first), theirs = shared_slots(query_heads, query_first);
    const wide differ = strings.data().extract(ours) ^ queries.data().extract(theirs);
    const wide equal = ours.without(differ.deposit(ours));
    return ((equal + heads) & strings.ends()).extract(strings.ends());
}

}  // namespace genista::bits
