// Bounds for a rate from a count of false positives: the one rule for rates (docs/papers.md), and
// exact intervals.
#pragma once

#include <cstdint>

namespace genista::lab {

// The rule: a promised rate is kept iff at most this many of `trials` were false positives. It is
// the 1 - 1e-9 quantile of Binomial(trials, rate), the least k with Pr[more than k] ≤ 1e-9: an
// honest filter fails once in 10^9 times. A binomial dominates the count against adaptive
// adversaries too, if each query errs with probability ≤ rate given the past.
[[nodiscard]] std::uint64_t most_plausible_hits(std::uint64_t trials, double rate) noexcept;

// So many trials that a rate 10 % too high is caught with probability 0.999: 10^4 / rate.
[[nodiscard]] std::uint64_t trials_for(double rate) noexcept;

struct interval {
    double low = 0;
    double high = 1;
};

inline constexpr double interval_confidence = 0.999;

// Clopper and Pearson: each end is the rate at which `hits` of `trials`, or something more extreme,
// has probability (1 - confidence) / 2. Whatever the true rate, at least `confidence` of all runs
// contain it. No trials give [0, 1].
[[nodiscard]] interval exact_interval(std::uint64_t hits, std::uint64_t trials,
                                      double confidence = interval_confidence) noexcept;

}  // namespace genista::lab
