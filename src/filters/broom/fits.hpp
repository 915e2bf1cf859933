// fits: the one rule that says what still fits into a bin. The scalar build (epoch.cpp,
// epoch_build.cpp), the usual inserts (table_quick.cpp) and the kernels (join_kernels.inl) ask
// here.
//
// Two questions:
//   - How many slots may a half have, beside those of the other half? [line I2]
//   - Where does a key go that joins without a read of R? [law L3]
//
// A caller may know less than the bin holds. It then says yes where the truth may be no (a kernel
// compares no tails, and takes a long backyard for a taken tag). By the proof at the end of this
// file such a caller never lets a key join where the whole truth would not.
#pragma once

#include "genista/detail/filters/broom/layout.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

// May a half have so many slots, in a bin with so many?
[[nodiscard]] constexpr bool half_fits(unsigned slots_in_half, unsigned slots_in_bin) noexcept {
    return slots_in_half <= slots_per_half && slots_in_bin <= slots_per_bin;
}
[[nodiscard]] constexpr bool halves_fit(unsigned half_a, unsigned half_b) noexcept {
    return half_fits(half_a, half_a + half_b) && half_fits(half_b, half_a + half_b);
}
// Does one more fit? REQUIRES: these fit.
[[nodiscard]] constexpr bool half_has_room(unsigned used_in_half, unsigned used_in_bin) noexcept {
    return used_in_half < slots_per_half && used_in_bin < slots_per_bin;
}
// Some half has no room.
[[nodiscard]] constexpr bool is_full(unsigned used_a, unsigned used_b) noexcept {
    return !half_has_room(used_a, used_a + used_b) || !half_has_room(used_b, used_a + used_b);
}

// Where a key goes that joins without a read of R; none: R has to be read. First by the line alone,
// then beside the entries of the backyard, which are dearer to look at.
//
//     base_is_taken     some slot, a tombstone's included, has the key's base
//     room              the key's half has a free slot
//     entry_is_in_way   some entry has the key's tag, or the backyard is full
enum class place : unsigned char { slot, entry, none };
[[nodiscard]] constexpr place place_by_line(bool base_is_taken, bool room) noexcept {
    return base_is_taken ? place::none : room ? place::slot : place::entry;
}
[[nodiscard]] constexpr place place_beside_entries(place by_line, bool entry_is_in_way) noexcept {
    return entry_is_in_way ? place::none : by_line;
}

namespace fits_proof {

// For all lines that there are.
consteval bool room_is_what_fits_afterwards() {
    for (unsigned a = 0; a <= slots_per_half; ++a) {
        for (unsigned b = 0; b <= slots_per_half; ++b) {
            if (!halves_fit(a, b)) continue;
            const bool room_a = half_has_room(a, a + b), room_b = half_has_room(b, a + b);
            if (room_a != halves_fit(a + 1, b) || room_b != halves_fit(a, b + 1)) return false;
            if (is_full(a, b) != !(room_a && room_b)) return false;
        }
    }
    return true;
}
static_assert(room_is_what_fits_afterwards());

// For all answers of a caller that knows all, and of one that may take what is free for taken. What
// room there is both know.
consteval bool less_knowledge_lets_no_other_key_join() {
    for (const bool room : {false, true}) {
        for (unsigned i = 0; i < 16; ++i) {
            const bool base = (i & 1) != 0, entry = (i & 2) != 0, base_seen = (i & 4) != 0, entry_seen = (i & 8) != 0;
            const place truth = place_beside_entries(place_by_line(base, room), entry);
            if ((truth != place::none) != (!base && !entry)) return false;  // L3
            if (truth == (room ? place::entry : place::slot)) return false;
            if (base_seen < base || entry_seen < entry) continue;
            const place seen = place_beside_entries(place_by_line(base_seen, room), entry_seen);
            if (seen != place::none && seen != truth) return false;
        }
    }
    return true;
}
static_assert(less_knowledge_lets_no_other_key_join());

}  // namespace fits_proof

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
