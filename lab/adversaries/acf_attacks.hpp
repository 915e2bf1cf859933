// The attacks of [acf §5.2, §5.3], with the numbers they are proved for as parameters. Each ends
// with a key that the adversary claims to be a false positive; the arena's guess() checks the
// claim.
#pragma once

#include <cstdint>
#include <optional>

#include "lab/adversaries/adversary.hpp"

namespace genista::lab {

// Theorems 9 and 10: query an absent key so often that a filter with few choices has tried all of
// them. A key that is a false positive every time collides under all choices.
struct repeater_plan {
    std::uint64_t candidates = 0;
    unsigned repeats =
        2;  // 2^s for the cyclic filter; a multiple of b for the swapping filter, whose choices are random
    std::uint64_t first_absent_key = std::uint64_t{1} << 40;
};
[[nodiscard]] std::optional<std::uint64_t> find_repeater(arena& at, const repeater_plan& plan);

// Theorem 12: absent keys that together collide with one stored key in each of its k places, so
// that one of them is always a false positive.
struct unfixable_plan {
    unsigned tables = 2;      // k
    std::uint64_t bins = 1;   // N, of each table
    double rate = 1.0 / 256;  // ε = 2^-f
    std::uint64_t keys = 1;   // n
    std::uint64_t most_queries = ~std::uint64_t{0};
    std::uint64_t seed = 1;
    std::uint64_t first_absent_key = std::uint64_t{1} << 40;
};
struct unfixable_found {
    std::optional<std::uint64_t> named;
    std::uint64_t asked_for = 0;      // |Q|
    std::uint64_t suspects = 0;       // |Q_d|
    std::uint64_t suspects_left = 0;  // after more testing rounds with them alone
    std::uint64_t permutations = 0;
};
[[nodiscard]] unfixable_found find_unfixable(arena& at, const unfixable_plan& plan);

}  // namespace genista::lab
