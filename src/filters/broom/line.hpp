// broom_line: one bin of the broom filter in one cache line: 48 slots with quotients 0..63 and
// 8-bit remainders. The slots of one quotient are a run. Plain C++, the reference for the kernels.
// Any bytes can be read without harm: a reader may see a line while a writer changes it.
//
//     byte 0..13   header, 112 bits, always 64 ones and 48 zeros: a zero is a slot, a one closes a
//                  run
//                    [ half A: runs 0..31, 0*1 each, upward from bit 0 ]
//                    [ free zeros ]
//                    [ half B: runs 32..63, mirrored: 0*1 each, downward from bit 111 ]
//     byte 14      code of the salt (salts.hpp)
//     byte 15      overflow: bit c is set if a key of class c (3 bits of its hash) lies in the
//                  backyard
//     byte 16..63  remainders: half A fills slots 0, 1, 2 …; half B fills slots 47, 46, 45 …; the
//                  gap lies between
//
// Half B is half A in a mirror, so one piece of code does both. Within a half, `rank` counts slots
// in the order in which they fill; slot_of() turns a rank into a slot, the number by which the side
// structure refers to it.
//
//   I1  64 ones, 48 zeros.
//   I2  A half never holds more than 32 slots, so that its marks and zeros lie in one 64-bit word
//       and its remainders in one window of 32 bytes; both halves together never hold more than 48.
//   I3  Slots only join [broom law L2]: a slot keeps its remainder until the bin is rebuilt. It
//       moves when a slot joins before it, so structures that refer to slots (side entries) follow
//       the answer of insert().
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "filters/broom/fits.hpp"
#include "genista/detail/filters/broom/layout.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

// A quotient and the remainder to look for in its run. Quotients 0..31 lie in half A.
struct line_key {
    unsigned quotient;  // 0..63
    std::uint8_t remainder;

    [[nodiscard]] constexpr bool mirrored() const noexcept { return quotient >= quotients_per_half; }
    [[nodiscard]] constexpr unsigned quotient_in_half() const noexcept { return quotient % quotients_per_half; }
};

// Ranks [first, end) of a half.
struct rank_range {
    unsigned first;
    unsigned end;

    [[nodiscard]] constexpr unsigned size() const noexcept { return end - first; }
};

class line {
  public:
    // Words in little-endian order of the bytes drawn above.
    std::array<std::uint64_t, line_layout::words> words;

    [[nodiscard]] static constexpr line empty() noexcept {
        line made{};
        made.words[0] = low(quotients_per_half);
        made.words[1] = low(quotients_per_half) << (line_layout::half_b_in_word_1.end() - quotients_per_half);
        return made;
    }

    [[nodiscard]] constexpr std::uint8_t salt() const noexcept {
        return static_cast<std::uint8_t>(line_layout::salt.number(words[1]));
    }
    constexpr void set_salt(std::uint8_t value) noexcept { words[1] = line_layout::salt.replaced(words[1], value); }
    [[nodiscard]] constexpr std::uint8_t overflow() const noexcept {
        return static_cast<std::uint8_t>(line_layout::overflow.number(words[1]));
    }
    constexpr void set_overflow(std::uint8_t bits) noexcept {
        words[1] = line_layout::overflow.replaced(words[1], bits);
    }

    // Half A as it is; half B reversed, so that both read 0*1 from bit 0. Bits beyond the half's
    // own belong to the other half.
    [[nodiscard]] constexpr std::uint64_t half(bool mirrored) const noexcept {
        return mirrored ? reverse(upright_half_b()) : words[0];
    }

    // Slots in use in a half: they stand below the last of its marks.
    [[nodiscard]] constexpr unsigned used(bool mirrored) const noexcept {
        constexpr unsigned last_mark = quotients_per_half - 1;
        return select(half(mirrored), last_mark) - last_mark;
    }
    [[nodiscard]] constexpr unsigned used() const noexcept { return used(false) + used(true); }
    // Is one of the halves without room?
    [[nodiscard]] constexpr bool is_full() const noexcept { return broom::is_full(used(false), used(true)); }
    [[nodiscard]] constexpr bool has_room(bool mirrored) const noexcept {
        const unsigned here = used(mirrored);
        return half_has_room(here, here + used(!mirrored));
    }

    // Defined for any bytes: a reader may see a line in the middle of a change (and will then look
    // again), so ranks are cut to a half.
    [[nodiscard]] constexpr rank_range ranks(line_key key) const noexcept {
        const unsigned q = key.quotient_in_half();
        const std::uint64_t marks = half(key.mirrored());
        const unsigned end = std::min(select(marks, q) - q, slots_per_half);
        const unsigned first = q == 0 ? 0 : select(marks, q - 1) + 1 - q;
        return {std::min(first, end), end};
    }

    [[nodiscard]] static constexpr unsigned slot_of(bool mirrored, unsigned rank) noexcept {
        return mirrored ? slots_per_bin - 1 - rank : rank;
    }
    [[nodiscard]] constexpr std::uint8_t remainder(unsigned slot) const noexcept {
        return static_cast<std::uint8_t>(words[word_of(slot)] >> shift_of(slot));
    }

    // Bit s is set if slot s has this key's quotient and remainder. At most one bit, unless slots
    // differ only in their tails.
    [[nodiscard]] constexpr std::uint64_t matches(line_key key) const noexcept {
        const rank_range range = ranks(key);
        std::uint64_t found = 0;
        for (unsigned rank = range.first; rank < range.end; ++rank) {
            const unsigned slot = slot_of(key.mirrored(), rank);
            if (remainder(slot) == key.remainder) found |= std::uint64_t{1} << slot;
        }
        return found;
    }

    // Adds a slot at the end of its run and returns its rank; the slots of this half with that
    // rank or more move one rank up. REQUIRES: has_room().
    constexpr unsigned insert(line_key key) noexcept {
        const bool mirrored = key.mirrored();
        assert(has_room(mirrored));
        const unsigned before = used(mirrored);
        const unsigned rank = ranks(key).end;
        const unsigned at = rank + key.quotient_in_half();  // the bit of the run's mark, where the new zero is inserted
        const unsigned end = quotients_per_half + before;   // first bit beyond the half: a free zero
        std::uint64_t marks = half(mirrored);
        const std::uint64_t below = low(at);
        const std::uint64_t moving = low(end) & ~below;
        marks = (marks & ~(moving | (end < word_bits ? std::uint64_t{1} << end : 0))) | (marks & moving) << 1;
        set_half(mirrored, marks);
        shift_up(mirrored, rank, before);
        set_remainder(slot_of(mirrored, rank), key.remainder);
        return rank;
    }

    // Fills an empty line at once, as insert() of these keys one by one would; slots[i] is the slot
    // of keys[i]. REQUIRES: there is room for all.
    constexpr void fill(std::span<const line_key> keys, std::span<std::uint8_t> slots) noexcept {
        std::array<std::uint8_t, quotients_per_bin>
            next{};  // of a quotient: first its number of slots, then the rank of its next slot
        for (const line_key& key : keys) ++next[key.quotient];
        for (const bool mirrored : {false, true}) {
            std::uint64_t marks = 0;
            unsigned rank = 0;
            for (unsigned q = 0; q < quotients_per_half; ++q) {
                std::uint8_t& own = next[q + (mirrored ? quotients_per_half : 0)];
                const unsigned size = own;
                own = static_cast<std::uint8_t>(rank);
                rank += size;
                marks |= std::uint64_t{1} << (rank + q);
            }
            set_half(mirrored, marks | (half(mirrored) & ~low(quotients_per_half + rank)));
        }
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const unsigned slot = slot_of(keys[i].mirrored(), next[keys[i].quotient]++);
            set_remainder(slot, keys[i].remainder);
            slots[i] = static_cast<std::uint8_t>(slot);
        }
    }

    // Removes the slot at `rank` of this half: the soft history only [law L2].
    constexpr void erase(bool mirrored, unsigned rank) noexcept {
        const unsigned before = used(mirrored);
        assert(rank < before);
        std::uint64_t marks = half(mirrored);
        unsigned at = 0;  // the bit of the zero with `rank` zeros before it
        for (unsigned zeros = 0;; ++at) {
            if ((marks >> at & 1) == 0 && zeros++ == rank) break;
        }
        const std::uint64_t own = low(quotients_per_half + before);
        marks = (marks & ~own) | (marks & low(at)) | (marks & own & ~low(at + 1)) >> 1;
        set_half(mirrored, marks);
        for (unsigned r = rank; r + 1 < before; ++r)
            set_remainder(slot_of(mirrored, r), remainder(slot_of(mirrored, r + 1)));
        set_remainder(slot_of(mirrored, before - 1), 0);
    }

    // For any bytes: is this a line that insert() could have made?
    [[nodiscard]] constexpr bool is_valid() const noexcept {
        const auto ones = [](std::uint64_t word) { return static_cast<unsigned>(std::popcount(word)); };
        if (ones(words[0]) + ones(words[1] & line_layout::half_b_in_word_1.mask()) != quotients_per_bin) return false;
        if (ones(words[0]) < quotients_per_half || ones(half(true)) < quotients_per_half) return false;
        return halves_fit(used(false), used(true));
    }

    friend constexpr bool operator==(const line&, const line&) noexcept = default;

  private:
    [[nodiscard]] constexpr std::uint64_t upright_half_b() const noexcept {
        return line_layout::half_b_in_word_0.of(words[0]) | words[1] << line_layout::half_b_in_word_0.width;
    }
    // Where a slot's remainder lies.
    static constexpr unsigned bytes_in_word = sizeof(std::uint64_t);
    static_assert(line_layout::remainders_byte % bytes_in_word == 0);
    static constexpr unsigned word_of(unsigned slot) noexcept {
        return line_layout::remainders_byte / bytes_in_word + slot / bytes_in_word;
    }
    static constexpr unsigned shift_of(unsigned slot) noexcept { return 8 * (slot % bytes_in_word); }
    static constexpr std::uint64_t low(unsigned bits) noexcept {
        return bits >= word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    }
    static constexpr std::uint64_t reverse(std::uint64_t x) noexcept {
        x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
        x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
        x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
        return __builtin_bswap64(x);
    }
    // Position of the set bit with `rank` set bits below it; word_bits if there is none (a line
    // torn by a writer). Counts of set bits up to and including each byte find the byte in one
    // subtraction.
    static constexpr unsigned select(std::uint64_t x, unsigned rank) noexcept {
        constexpr std::uint64_t each = 0x0101010101010101;
        constexpr std::uint64_t tops = each << 7;
        std::uint64_t sums = x - (x >> 1 & 0x5555555555555555);
        sums = (sums & 0x3333333333333333) + (sums >> 2 & 0x3333333333333333);
        sums = ((sums + (sums >> 4)) & 0x0f0f0f0f0f0f0f0f) * each;
        const std::uint64_t reached = ((sums | tops) - each * (std::uint64_t{rank} + 1)) & tops;
        if (reached == 0) return word_bits;
        const auto byte = static_cast<unsigned>(std::countr_zero(reached)) & ~7u;
        std::uint64_t left = x >> byte;
        for (auto skip = rank - static_cast<unsigned>((sums << 8) >> byte & 255); skip > 0; --skip) left &= left - 1;
        return byte + static_cast<unsigned>(std::countr_zero(left));
    }
    // Remainders of ranks [from, end) of a half move to the next rank.
    constexpr void shift_up(bool mirrored, unsigned from, unsigned end) noexcept {
        if (!std::is_constant_evaluated() && std::endian::native == std::endian::little) {
            auto* const slots = reinterpret_cast<std::uint8_t*>(words.data()) + line_layout::remainders_byte;
            if (!mirrored) {
                std::memmove(slots + from + 1, slots + from, end - from);
            } else {
                std::memmove(slots + slots_per_bin - 1 - end, slots + slots_per_bin - end, end - from);
            }
            return;
        }
        for (unsigned r = end; r > from; --r) set_remainder(slot_of(mirrored, r), remainder(slot_of(mirrored, r - 1)));
    }
    constexpr void set_half(bool mirrored, std::uint64_t marks) noexcept {
        if (!mirrored) {
            words[0] = marks;
            return;
        }
        const std::uint64_t upright = reverse(marks);
        words[0] = (words[0] & low(line_layout::half_b_in_word_0.at)) | upright << line_layout::half_b_in_word_0.at;
        words[1] = (words[1] & ~line_layout::half_b_in_word_1.mask()) | upright >> line_layout::half_b_in_word_0.width;
    }
    constexpr void set_remainder(unsigned slot, std::uint8_t value) noexcept {
        std::uint64_t& word = words[word_of(slot)];
        const unsigned shift = shift_of(slot);
        word = (word & ~(std::uint64_t{0xff} << shift)) | std::uint64_t{value} << shift;
    }
};

static_assert(sizeof(line) == line_layout::bytes);

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
