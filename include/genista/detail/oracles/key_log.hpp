// What oracles learn from: logs of keys, and the hash function under which they remember them.
//
// A log of inserts and a log of queries are lists of keys with how often each came; a key may come
// several times. They are samples of the two distributions, so what never came is not impossible.
// Every oracle here keeps back some probability for the unseen, and spreads it over a universe: so
// many keys that there might be. That number is seldom known, so the default is far beyond any log:
// the odds of one unseen key are then tiny on both sides, which is the safe way to be wrong (a key
// thought to be likely stored would be waved through, [daisy §1.1]), and only their ratio decides
// how many bits it gets: whether queries are more often for something new than inserts are.
#pragma once

#include <cstdint>

#include "genista/hash/key.hpp"
#include "genista/oracles/oracle.hpp"

namespace genista {

struct counted_key {
    key_view key{};
    std::uint64_t count = 1;
};

inline constexpr double unknown_universe = 0x1p64;

}  // namespace genista
