// design: the number and the sizes of the levels of a cascade, from n and ε alone [broom17 §5,
// "Extending to other AMQs"].
//
//     rates      ε_0 = ε,  ε_1 = ε^(1/√ε),  ε_i = ε^(1/ε_(i-1)) from i = 2 on: a tower, so that
//                                           O(log* n) levels are enough
//     keys       n_0 = n,  n_i = ε_(i-1) n_(i-1) (1 + 1/log n): the keys that reach level i within
//                          n queries, with high probability
//     values     at least n_i / ε_i: the range of h_i. The last level is the one where that is
//                beyond 2^59: about as many bits as a hash has, and a false positive there makes
//                the filter rebuild
//
// Where n_i is small the paper's factor 1 + 1/log n is less than the random fluctuation of a sum:
// we add four standard deviations and 16 keys, which is o(1) of n_i where it is large.
//
// A level is a quotient table: 2^bits values a quotient, and what a slot costs is bits + 2.25. A
// dead value takes two slots (quotient_set.hpp), so in the end a table has to hold the distinct
// values of n_i keys and its dead values once more. The dead values of level 0 are those that n
// queries hit: d (1 - e^(-n/V)) with d = V (1 - e^(-n/V)) and V values; n_(i+1) for the other
// levels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "genista/filters/cascade.hpp"

namespace genista::cascade {

inline constexpr double least_rate = 0x1p-26;
inline constexpr std::uint64_t most_keys = std::uint64_t{1} << 34;
inline constexpr unsigned most_levels = 16;  // ε = 1/2, the slowest tower, has 5
inline constexpr double most_values = 0x1p59;
// The maximal load of a table: O(1) expected steps, which is what Thm 20 asks of its filter, and 6
// % of the space.
inline constexpr double most_load = 0.94;
// The maximal distance of a slot from its quotient. At this load the probability that a gap is
// farther away than t is about e^(-0.0019 t).
inline constexpr unsigned window = 16'384;

struct level_plan {
    double rate = 0;         // ε_i
    std::uint64_t keys = 0;  // n_i: with more keys the filter rebuilds
    std::uint64_t quotients = 1;
    unsigned bits = 1;  // of a remainder

    [[nodiscard]] std::uint64_t values() const noexcept { return quotients << bits; }
    friend bool operator==(const level_plan&, const level_plan&) = default;
};

struct design {
    std::uint64_t capacity = 0;
    unsigned count = 0;
    std::array<level_plan, most_levels> levels{};

    friend bool operator==(const design&, const design&) = default;
};

// The table with the fewest bits for `keys` at this rate, with `dead` dead values beside them;
// negative: as many as n queries kill.
[[nodiscard]] inline level_plan plan_level(double keys, double rate, double dead, double slack) noexcept {
    const double wanted = std::min(keys / rate, most_values);
    level_plan best{.rate = rate, .keys = static_cast<std::uint64_t>(std::ceil(keys)), .quotients = 0, .bits = 0};
    double best_cost = 0;
    for (unsigned bits = 1; bits <= 58; ++bits) {
        const double each = std::ldexp(1.0, static_cast<int>(bits));
        double quotients = std::max(1.0, std::ceil(wanted / each));
        for (int step = 0; step < 64; ++step) {  // more quotients mean more values, of which a few more are distinct
            const double values = quotients * each, hit = -std::expm1(-keys / values), distinct = values * hit;
            const double entries = distinct + (dead >= 0 ? dead : distinct * hit * slack);
            const double enough = std::ceil(entries / most_load);
            if (enough <= quotients) break;
            quotients = enough;
        }
        const double cost = quotients * (bits + 2.25);
        if (quotients * each > 2 * most_values || (best.bits != 0 && cost >= best_cost)) continue;
        best.quotients = static_cast<std::uint64_t>(quotients);
        best.bits = bits;
        best_cost = cost;
    }
    return best;
}

[[nodiscard]] inline design design_for(std::uint64_t capacity, double rate, cascade_rates falling) noexcept {
    design made;
    made.capacity = capacity;
    const double slack = 1 + 1 / std::log2(std::max(static_cast<double>(capacity), 16.0));
    double keys = static_cast<double>(capacity), here = rate, left = keys;
    for (bool last = false; !last; ++made.count) {
        const bool first = made.count == 0;
        last = keys / here >= most_values || made.count + 1 == most_levels;
        const double mean = here * keys, next = std::min(keys, mean * slack + 4 * std::sqrt(mean) + 16);
        made.levels[made.count] = plan_level(keys, here, first ? -1 : (last ? 0 : next), slack);
        keys = next;
        if (falling == cascade_rates::tower) here = std::pow(rate, first ? 1 / std::sqrt(rate) : 1 / here);
        left *= made.levels[made.count].rate;
        if (left < 1) here = 0;  // without a tower: no collision is expected beyond this level
        here = std::max(here, 0x1p-100);
    }
    return made;
}

}  // namespace genista::cascade
