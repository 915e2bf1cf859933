// The attack in rounds, on which the lower bound for local filters rests [broom18 §6.1].
//
// S, n keys uniformly from the universe, are stored. Q, as many absent keys uniformly from the
// rest, are queried in lexicographic order. Each further round queries the false positives of the
// round before, in the same order, until there are none or O(n) queries are used up. A mistake that
// a filter cannot fix returns in every round: FP_i, the false positives of round i, are the keys
// that a filter must remember something about, or be wrong again.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/games/arena.hpp"

namespace genista::lab {

struct rounds_plan {
    std::uint64_t absent_keys = 0;   // |Q|; 0: as many as stored keys
    std::uint64_t most_queries = 0;  // of all rounds; one that would exceed it is not begun. 0: 8 |Q|
    std::uint64_t seed = 1;
    unsigned universe_bits = 64;  // keys are drawn below 2^this; from 64 on, from all integers
};

struct rounds_played {
    std::uint64_t absent_keys = 0;
    std::vector<std::uint64_t> through{};  // |FP_1|, |FP_2|, …; the last is 0 if the attack ended by itself

    [[nodiscard]] bool ended() const noexcept { return !through.empty() && through.back() == 0; }
    // Queries of the rounds after the first, and those of them that were false positives:
    // "sustained" is about these.
    [[nodiscard]] std::uint64_t repeated() const noexcept;
    [[nodiscard]] std::uint64_t repeated_through() const noexcept;
};

// Inserts n distinct keys, uniformly from the universe, in lexicographic order.
void insert_uniformly(arena& at, std::uint64_t keys, std::uint64_t seed, unsigned universe_bits = 64);

// Later rounds are guesses; the first is not.
[[nodiscard]] rounds_played attack_in_rounds(arena& at, const rounds_plan& plan);

}  // namespace genista::lab
