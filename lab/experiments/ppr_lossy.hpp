// The refilling game of ppr-lossy: insert until full, erase the keys that were omitted, insert
// again. In the end a filter holds as many keys as it can, and must still have a rate of at most ε
// [ppr05 §6.3].
#pragma once

#include <cstdint>

namespace genista::lab {

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

}  // namespace genista::lab
