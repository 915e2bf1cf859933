// reduction: from approximate to exact membership: how large a range h needs so that storing h(S)
// errs with probability ≤ ε.
//
// [ppr05 §2]: keep the exact set h(S) and answer "maybe" iff h(x) ∈ h(S). For every x ∉ S, over the
// draw of h,
//
//     h universal            Pr[h(x) ∈ h(S)] ≤ Σ_{y∈S} Pr[h(x) = h(y)] ≤ n/m     ≤ ε if m ≥ n/ε
//     h 2-universal          the same with 2/m per pair                            ≤ ε if m ≥ 2n/ε
//     h 4-wise independent   less than the union bound, because keys of S share values:
//
//         Pr[h(x) ∈ h(S)] ≤ n q - C(n,2) q² + C(n,3) q³,   q = the largest probability of one value
//
// The paper states the last possibility without a formula; this one is ours. It is the Bonferroni
// inequality of order three on the events "h(y) = h(x)", y ∈ S, given h(x) = v: an event of three
// keys of S and x involves four values, hence 4-wise independence makes the three sums exact with
// q_v = Pr[h = v]. The polynomial grows with q (its derivative has no sign change for n ≥ 3, and
// for n ≤ 2 it grows on [0, 1]), so the largest q_v bounds them all. The gain: m = 1.475 n instead
// of 2 n at ε = 1/2, 3.48 n instead of 4 n at 1/4, about n/ε - n/2 for small ε.
//
// Checked exactly: `genista lab run ppr-reduction` tries every function over small universes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "genista/base/result.hpp"
#include "genista/detail/hash/field.hpp"
#include "genista/hash/key.hpp"

namespace genista {

namespace reduction_detail {

[[nodiscard]] inline result<void> check(std::uint64_t keys, double rate) noexcept {
    if (keys == 0) return error::make(error_code::invalid_argument, "range of a hash for 0 keys: at least 1 is needed");
    if (!(rate > 0 && rate < 1))  // also refuses NaN
        return error::make(error_code::invalid_argument, "false-positive rate %g: allowed is more than 0, less than 1",
                           rate);
    return {};
}

[[nodiscard]] inline error too_large(std::uint64_t keys, double rate) noexcept {
    return error::make(error_code::invalid_argument,
                       "%llu keys at a false-positive rate of %g need a range beyond 64 bits or the field",
                       static_cast<unsigned long long>(keys), rate);
}

// ⌈factor · keys / rate⌉, exact for the value of the double: rate = mantissa / 2^shift.
[[nodiscard]] inline result<std::uint64_t> divide_up(std::uint64_t factor, std::uint64_t keys, double rate) noexcept {
    if (auto checked = check(keys, rate); !checked) return checked.error();
    int exponent = 0;
    const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(rate, &exponent), 53));
    const auto shift = static_cast<unsigned>(53 - exponent);  // rate < 1: exponent ≤ 0, shift ≥ 53
    const uint128 product = static_cast<uint128>(factor) * keys;
    if (product >> 64 != 0 || shift > 126 ||
        static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(product))) + shift > 127)
        return too_large(keys, rate);  // the quotient would exceed 2^64 anyway: mantissa < 2^53
    const uint128 quotient = ((product << shift) + (mantissa - 1)) / mantissa;
    if (quotient > std::numeric_limits<std::uint64_t>::max()) return too_large(keys, rate);
    return static_cast<std::uint64_t>(quotient);
}

}  // namespace reduction_detail

// The least m with n/m ≤ ε: for universal_hash.
[[nodiscard]] inline result<std::uint64_t> range_for_universal(std::uint64_t keys, double rate) noexcept {
    return reduction_detail::divide_up(1, keys, rate);
}

// The least m with 2n/m ≤ ε. multiply_shift needs a power of two: use std::bit_width(m - 1) bits.
[[nodiscard]] inline result<std::uint64_t> range_for_2universal(std::uint64_t keys, double rate) noexcept {
    return reduction_detail::divide_up(2, keys, rate);
}

// n q - C(n,2) q² + C(n,3) q³, or 1 if that is more: the bound on a false positive above.
[[nodiscard]] inline double false_positive_bound_4wise(std::uint64_t keys, double largest_probability) noexcept {
    const double n = static_cast<double>(keys);
    const double u = n * largest_probability;
    const double pairs = std::max(0.0, 1 - 1 / n), triples = pairs * std::max(0.0, 1 - 2 / n);
    return std::min(1.0, u - pairs * u * u / 2 + triples * u * u * u / 6);
}

// The least m for which polynomial_hash<Field, 4> into [m] keeps the rate, unequal cells (⌈p/m⌉
// values of p) included; "least" up to the rounding of doubles, for which there is a margin of
// 2^-40 on the safe side.
template <prime_field_type Field>
[[nodiscard]] result<std::uint64_t> range_for_4wise(std::uint64_t keys, double rate) noexcept {
    if (auto checked = reduction_detail::check(keys, rate); !checked) return checked.error();
    const uint128 p = Field::modulus();
    const auto keeps = [&](std::uint64_t range) {
        const uint128 largest_cell = (p + (range - 1)) / range;
        const double q = static_cast<double>(largest_cell) / static_cast<double>(p);
        return false_positive_bound_4wise(keys, q) * (1 + 0x1p-40) <= rate;
    };
    std::uint64_t high = std::numeric_limits<std::uint64_t>::max();
    if (p <= high) high = static_cast<std::uint64_t>(p);
    if (!keeps(high)) return reduction_detail::too_large(keys, rate);
    std::uint64_t low = 0;  // `high` keeps the rate, `low` does not: cells shrink as m grows
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (keeps(middle) ? high : low) = middle;
    }
    return high;
}

}  // namespace genista
