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
// the classes and the bound that follow from the odds (daisy_class.hpp, daisy_plan.hpp).
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

}  // namespace genista
