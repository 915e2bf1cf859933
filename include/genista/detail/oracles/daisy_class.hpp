// daisy_class: how many bits a key gets: k_x of [daisy §1.1], from its odds, the number of draws n
// and the rate ε.
//
//   regime          when                       k_x              why
//   hardly_asked    q ≤ ε p                    0                "maybe" costs less than ε of p
//   nearly_certain  p > 1/n                    0                it is stored anyway
//   by_ratio        ε p < q ≤ min(p, ε/n)      log(q / (ε p))   between hardly_asked and in_full
//   in_full         q > p, p ≤ ε/n             log(1/ε)         an ordinary filter's bits
//   by_likelihood   q > ε/n, ε/n < p ≤ 1/n     log(1/(n p))     between in_full and nearly_certain
//
// in the paper's order of U_0 .. U_4 [daisy §2]; every pair of odds is in exactly one of them. A
// key's class is ⌈k_x⌉: 0 means "always maybe", and nothing is kept of such a key. Logarithms are
// to base 2.
#pragma once

#include <cstdint>

#include "genista/oracles/oracle.hpp"

namespace genista {

struct daisy_terms {
    double draws = 1'000'000;  // n: draws of the input, repetitions counted
    double rate = 1.0 / 256;   // ε
};

enum class daisy_regime : std::uint8_t { hardly_asked, nearly_certain, by_ratio, in_full, by_likelihood };

inline constexpr unsigned max_daisy_class = 64;
inline constexpr double min_daisy_rate = 0x1p-64, max_daisy_rate = 0.5;

[[nodiscard]] daisy_regime regime_of(const key_odds& odds, const daisy_terms& terms) noexcept;
// k_x, in 0 .. log(1/ε). Odds that are NaN, which I2 of oracle.hpp excludes, get log(1/ε): safe.
[[nodiscard]] double daisy_bits(const key_odds& odds, const daisy_terms& terms) noexcept;
// ⌈k_x⌉, in 0 .. ⌈log(1/ε)⌉; the same on every machine for the same odds.
[[nodiscard]] unsigned daisy_class(const key_odds& odds, const daisy_terms& terms) noexcept;

}  // namespace genista
