// counted_key: what oracles learn from: logs of keys, with how often each was drawn.
//
// A log of inserts and a log of queries are lists of keys with counts; a key may be listed several
// times. They are samples of two distributions, so a key that is not listed is not impossible.
// Every oracle here reserves some probability for unseen keys and spreads it over a universe: the
// number of keys that may exist. That number is seldom known, so the default is far larger than any
// log. The odds of one unseen key are then tiny on both sides, which is the safe error (a key with
// too large odds of being stored would always be answered "maybe", [daisy §1.1]), and only their
// ratio decides how many bits it gets: whether queries or inserts have more unseen keys.
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
