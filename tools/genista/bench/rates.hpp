// Rates: how often an absent key is answered "maybe", and that no stored key is ever answered
// "absent".
#pragma once

#include <cstdint>

#include "bench/figures.hpp"
#include "bench/keys.hpp"
#include "bench/subject.hpp"

namespace genista::tool::bench {

// Queries `queries` keys that were never stored and never queried before; fills in the rate and its
// interval.
void measure_rate(const reader& of, const key_source& keys, std::uint64_t queries, figures& into);

// Queries every stored key, and adds those answered "absent" to into.lost_keys.
void count_lost_keys(const reader& of, const key_source& keys, std::uint64_t stored, figures& into);

}  // namespace genista::tool::bench
