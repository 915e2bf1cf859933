// The hash functions of the cuckoo family, all derived from a key's digest: `tables` places and as
// many fingerprints as a rule needs. New salts are new functions, so a filter can draw new
// functions without the bytes of its keys.
//
//     digest ─ fold with salts 0, 1 ─→ where ─ mix(where + number) ─→ bin in table `number`
//            └ fold with salts 2, 3 ─→ what ── mix(what + number) ──→ fingerprint `number`
//
// The bins are hl_0 .. hl_{k-1} of [acf §2.1], the fingerprints hf(x, 0), hf(x, 1), ….
//
// The digest is 128 keyed bits that are secret: through any public function of it, places and
// fingerprints are pseudo-random to an adversary. Two keys share all of them if `where` or `what`
// agree, one pair in 2^64. A fingerprint is never 0, which marks an empty slot: 2^bits - 1 values.
#pragma once

#include <array>
#include <cstdint>

#include "genista/detail/filters/cuckoo/lookup_state.hpp"
#include "genista/hash/key.hpp"

namespace genista::cuckoo {

using salts = std::array<std::uint64_t, 4>;

[[nodiscard, gnu::always_inline]] inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
    const uint128 product = static_cast<uint128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// A bijection in which every output bit depends on every input bit.
[[nodiscard, gnu::always_inline]] inline std::uint64_t mix(std::uint64_t word) noexcept {
    word = (word ^ (word >> 32)) * 0xd6e8feb86659fd93u;
    word = (word ^ (word >> 32)) * 0xd6e8feb86659fd93u;
    return word ^ (word >> 32);
}
inline constexpr std::uint64_t step =
    0x9e3779b97f4a7c15u;  // 2^64 divided by the golden ratio: spreads consecutive numbers

// What a filter needs of a key.
struct essence {
    std::uint64_t where = 0;
    std::uint64_t what = 0;

    essence() = default;
    [[gnu::always_inline]] essence(const digest& d, const salts& under) noexcept
        : where{fold(d.position ^ under[0], d.seed ^ under[1])}, what{fold(d.position ^ under[2], d.seed ^ under[3])} {}

    [[nodiscard, gnu::always_inline]] std::uint64_t bin(unsigned table, std::uint64_t bins) const noexcept {
        return scale(mix(where + (table + 1) * step), bins);
    }
    [[nodiscard, gnu::always_inline]] std::uint64_t fingerprint(unsigned number, unsigned bits) const noexcept {
        return 1 + scale(mix(what + (number + 1) * step), (std::uint64_t{1} << bits) - 1);
    }
};

// The number of the fingerprint that a key has in a slot.
[[nodiscard]] constexpr unsigned fingerprint_number(cuckoo_rule rule, unsigned table, unsigned slot_in_bin,
                                                    unsigned selector) noexcept {
    switch (rule) {
        case cuckoo_rule::plain:
            return 0;
        case cuckoo_rule::cuckooing:  // hf(x, i): the independent functions of [acf Def. 11]
            return table;
        case cuckoo_rule::cyclic:
            return selector;
        case cuckoo_rule::swapping:
            return slot_in_bin;
    }
    return 0;
}

// A fast stream of random words for choices that need no secrecy: which slot to try, which key to
// move.
class chance {
  public:
    explicit chance(std::uint64_t seed) noexcept : state_{seed} {}

    std::uint64_t word() noexcept { return mix(state_ += step); }
    // Uniform below `end`, as nearly as 64 bits allow.
    std::uint64_t below(std::uint64_t end) noexcept { return scale(word(), end); }

  private:
    std::uint64_t state_;
};

}  // namespace genista::cuckoo
