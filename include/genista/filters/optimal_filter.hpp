// optimal_filter: the replacement of Bloom filters with deletions, in (1 + o(1)) n log(1/ε) + O(n)
// bits [ppr05 Theorem 1.2].
//
// For when R is not at hand: it needs no store, erases keys that the caller guarantees, and counts.
// The text's own structure: a universal hash function into [n/ε], and a succinct dynamic multiset
// of its values. Measured: 4.6 bits a key above log(1/ε) at 10^7 keys
// (docs/filters/optimal_filter.md); cleary.hpp is smaller and faster, and cannot erase; the broom
// filter, with R at hand, keeps its rate against adversaries, which this one does not: a false
// positive that is repeated is one each time.
//
// `capacity` counts all keys, with repetitions.
#pragma once

#include "genista/detail/filters/counting_filter.hpp"

namespace genista {

struct optimal_rules {
    static constexpr std::string_view name = "optimal_filter";
    static constexpr bool by_value = false;
};
using optimal_filter = counting_filter<optimal_rules>;

}  // namespace genista
