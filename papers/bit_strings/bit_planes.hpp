// bit_planes: one small number for every string of a bit_strings, stored transposed, so that one
// word operation works on all of them: plane b is a wide word whose bit r is bit b of the number of
// rank r.
//
//     rank        0 1 2 3           numbers 5, 0, 3, 6
//     plane 0     1 0 1 0
//     plane 1     0 0 1 1
//     plane 2     1 0 0 1
//
// Numbers are slot positions, 0 .. bits - 1, so log2(bits) planes hold them (6 to 8 for 1 to 4
// words). Adding, comparing and scattering take O(log bits) to O(log^2 bits) wide operations,
// whatever the numbers are. This makes the parallel inserts and queries of [broom18 App. A, Lemma
// 29 (6)] possible without a loop over strings. Used by bit_strings_parallel.hpp only.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "papers/bit_strings/wide_word.hpp"

namespace genista::bits {

template <std::size_t Words, class Kernel>
struct bit_planes {
    using wide = wide_word<Words, Kernel>;
    static constexpr std::size_t count = static_cast<std::size_t>(std::bit_width(wide::bits - 1));

    std::array<wide, count> planes{};

    // Rank r holds the number r.
    [[nodiscard]] static bit_planes index() noexcept {
        constexpr std::uint64_t inside[] = {0xaaaaaaaaaaaaaaaau, 0xccccccccccccccccu, 0xf0f0f0f0f0f0f0f0u,
                                            0xff00ff00ff00ff00u, 0xffff0000ffff0000u, 0xffffffff00000000u};
        bit_planes made;
        for (std::size_t b = 0; b < count; ++b)
            for (std::size_t w = 0; w < Words; ++w) {
                Kernel::step();
                made.planes[b].words[w] = b < 6 ? inside[b] : (w >> (b - 6) & 1) != 0 ? ~std::uint64_t{0} : 0;
            }
        return made;
    }
    // Rank r holds the position of set bit number r.
    [[nodiscard]] static bit_planes positions_of(const wide& marks) noexcept {
        bit_planes made = index();
        for (wide& plane : made.planes) plane = plane.extract(marks);
        return made;
    }

    // Applies `change` to each plane.
    template <class Change>
    [[nodiscard]] bit_planes map(Change change) const noexcept {
        bit_planes out;
        for (std::size_t b = 0; b < count; ++b) out.planes[b] = change(planes[b]);
        return out;
    }

    // a + b + carry (one carry bit a rank), modulo 2^count; and the carry out of the top plane.
    struct sum;
    [[nodiscard]] static sum add(const bit_planes& a, const bit_planes& b, const wide& carry_in) noexcept {
        sum out{{}, carry_in};
        for (std::size_t p = 0; p < count; ++p) {
            const wide either = a.planes[p] ^ b.planes[p];
            out.value.planes[p] = either ^ out.carry;
            out.carry = (a.planes[p] & b.planes[p]) | (either & out.carry);
        }
        return out;
    }
    // a - b modulo 2^count is a + ~b + 1; the carry out is set if a >= b.
    [[nodiscard]] static sum subtract(const bit_planes& a, const bit_planes& b) noexcept {
        return add(a, b.map([](const wide& plane) { return ~plane; }), ~wide{});
    }
    // The smaller of the two, rank by rank.
    [[nodiscard]] static bit_planes least(const bit_planes& a, const bit_planes& b) noexcept;
};

template <std::size_t Words, class Kernel>
struct bit_planes<Words, Kernel>::sum {
    bit_planes value;
    wide carry;
};

template <std::size_t Words, class Kernel>
bit_planes<Words, Kernel> bit_planes<Words, Kernel>::least(const bit_planes& a, const bit_planes& b) noexcept {
    const wide b_is_least = subtract(a, b).carry;
    bit_planes out;
    for (std::size_t p = 0; p < count; ++p)
        out.planes[p] = (b.planes[p] & b_is_least) | a.planes[p].without(b_is_least);
    return out;
}

template <class Wide>
struct scattered {
    Wide marks;   // bit x is set if x is the destination of a rank below `ranks`
    Wide tagged;  // the same, only for ranks set in `tags`
};

// Moves the marks of ranks 0 .. ranks - 1 up, rank r by the number distance[r], and returns where
// they arrive. REQUIRES: the numbers do not decrease with the rank (so r + distance[r] strictly
// increases). Highest plane first: after each round rank r stands at r + (distance[r] with the
// lower bits cleared), which still strictly increases, so no two marks ever meet. The lower planes
// move with their marks: count * (count + 3) / 2 wide moves in all.
template <std::size_t Words, class Kernel>
[[nodiscard]] scattered<wide_word<Words, Kernel>> scatter(bit_planes<Words, Kernel> distance, std::size_t ranks,
                                                          const wide_word<Words, Kernel>& tags) noexcept {
    using wide = wide_word<Words, Kernel>;
    const wide live = wide::low(ranks);
    for (wide& plane : distance.planes) plane = plane & live;
    scattered<wide> out{live, tags & live};
    for (std::size_t p = bit_planes<Words, Kernel>::count; p-- > 0;) {
        const wide movers = distance.planes[p];
        const auto move = [&](wide& row) { row = row.without(movers) | ((row & movers) << (std::size_t{1} << p)); };
        move(out.marks);
        move(out.tagged);
        for (std::size_t lower = 0; lower < p; ++lower) move(distance.planes[lower]);
    }
    return out;
}

}  // namespace genista::bits
