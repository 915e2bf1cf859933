// What the experiments about [ppr] share with each other and with their tests.
//
// Limits; the refilling game of ppr-lossy (insert until full, erase the keys that were omitted,
// insert again: in the end a filter holds as many keys as it can, and must still have a rate of at
// most ε [ppr05 §6.3]); and a filter that counts, beside the exact counts.
#pragma once

#include <cstdint>
#include <vector>

#include "genista/filters/filter.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {

inline constexpr std::uint64_t ppr_judged_from =
    100'000;                                     // keys: with fewer, each has too large a share of the fixed costs
inline constexpr double ppr_may_rise_by = 0.25;  // bits a key, from one n to a larger one
inline constexpr double ppr_most_peak = 1.25;    // of the bits at the end, while it grows

inline constexpr double lossy_rate = 0x1p-8;

struct refill_seen {
    std::uint64_t rounds = 0, stored = 0, queries = 0, hits = 0, denied = 0;
    [[nodiscard]] bool kept() const;  // the rule for rates at ε, and no stored key denied
};

// lossy_filter for n keys, γ = share.
[[nodiscard]] refill_seen refill_lossy(std::uint64_t n, double share, std::uint64_t seed);

// The same game against a filter with the same range of values that takes `excess` times (1 - γ) n
// stored keys.
[[nodiscard]] refill_seen refill_overfull(std::uint64_t n, double share, double excess, std::uint64_t seed);

struct model_seen {
    std::uint64_t operations = 0;
    std::uint64_t too_small = 0;  // a count below the exact one, or a stored key denied
    std::uint64_t refused = 0;    // an insert, or an erase of a key that is there
};

// Keys 0 .. exact.size() - 1, drawn by draw(). The number of keys rises and falls between a quarter
// of `most` and `most`.
template <class Filter, class Draw>
model_seen play_mixed(Filter& filter, std::vector<std::uint64_t>& exact, std::uint64_t operations, std::uint64_t most,
                      std::uint64_t seed, Draw draw) {
    model_seen seen{.operations = operations};
    random_stream chance{seed};
    std::uint64_t size = 0;
    for (const std::uint64_t each : exact) size += each;
    bool grows = true;
    for (std::uint64_t i = 0; i < operations; ++i) {
        const std::uint64_t key = draw();
        grows = size >= most ? false : size <= most / 4 ? true : grows;
        const bool up = size < most && (size == 0 || (chance() % 8 < 5) == grows);
        if (up) {
            if (filter.insert(key) != insert_outcome::inserted) {
                ++seen.refused;
                continue;
            }
            ++exact[key], ++size;
        } else if (exact[key] > 0) {
            if (filter.erase(key) != erase_outcome::erased) ++seen.refused;
            --exact[key], --size;
        }
        if (filter.count(key) < exact[key] || (exact[key] > 0 && !filter.may_contain(key))) ++seen.too_small;
    }
    return seen;
}

}  // namespace genista::lab
