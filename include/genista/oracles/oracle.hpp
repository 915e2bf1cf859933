// key_oracle: what is known, or guessed, about the input and the queries: how likely a key is to be
// stored, how likely to be asked for.
//
// The daisy filters spend bits by it [daisy §1]. An oracle may be wrong: then they are larger, or
// their rate is worse, but no stored key is ever denied, as long as it answers the same for the
// same key every time. So
//
//   I1  odds() depends on the key and the oracle's state alone, and that state never changes under
//       a filter that uses it. Training goes on in a copy; a filter changes its oracle by being
//       rebuilt.
//   I2  both probabilities are finite and not negative.
//
// In this room: exact tables, sketches, a score model, a wrapper that makes mistakes on purpose;
// the classes and the bound that follow from the odds (daisy_plan.hpp).
#pragma once

#include <concepts>
#include <cstdint>

#include "genista/hash/key.hpp"

namespace genista {

struct key_odds {
    double stored = 0;  // p_x: that one draw of the input is this key
    double asked = 0;   // q_x: that one query is for this key

    friend bool operator==(const key_odds&, const key_odds&) = default;
};

template <class O>
concept key_oracle = requires(const O& oracle, key_view key) {
    { oracle.odds(key) }
    noexcept->std::same_as<key_odds>;
    // Everything it keeps in RAM, to be counted beside the filter's.
    { oracle.memory_bytes() }
    noexcept->std::same_as<std::uint64_t>;
};

// What oracles learn from: logs of keys, with how often each was drawn.
//
// A log of inserts and a log of queries are lists of keys with counts; a key may be listed several
// times. They are samples of two distributions, so a key that is not listed is not impossible.
// Every oracle here reserves some probability for unseen keys and spreads it over a universe: the
// number of keys that may exist. That number is seldom known, so the default is far larger than any
// log. The odds of one unseen key are then tiny on both sides, which is the safe error (a key with
// too large odds of being stored would always be answered "maybe", [daisy §1.1]), and only their
// ratio decides how many bits it gets: whether queries or inserts have more unseen keys.
struct counted_key {
    key_view key{};
    std::uint64_t count = 1;
};

inline constexpr double unknown_universe = 0x1p64;

}  // namespace genista
