// score_math: exp and log2 for training score models, from sums, products and quotients alone: the
// same to the last bit on every machine with IEEE arithmetic. Libraries differ in the last bit of
// their functions, and one bit is enough to give another model.
//
// Both err by less than 10^-14 of the value (score_math_test.cpp). CMakeLists.txt keeps the
// compiler from contracting a product and a sum into one rounding in the files that include this.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace genista {

static_assert(FLT_EVAL_METHOD == 0, "training needs arithmetic that rounds to the type it is written in");

// Arguments beyond ±700 count as ±700.
[[nodiscard]] inline double portable_exp(double x) noexcept {
    // ln 2 in two parts: `whole` times the first, which has 21 zero bits at its end, is exact.
    constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33, log2_e = 0x1.71547652b82fep+0;
    x = std::clamp(x, -700.0, 700.0);
    const double whole = std::floor(x * log2_e + 0.5);
    const double rest = (x - whole * ln2_high) - whole * ln2_low;  // within ±0.35
    double sum = 1;
    for (int i = 14; i >= 1; --i) sum = 1 + sum * (rest * (1.0 / i));
    return std::ldexp(sum, static_cast<int>(whole));
}

// REQUIRES: x is positive and not subnormal.
[[nodiscard]] inline double portable_log2(double x) noexcept {
    constexpr double log2_e = 0x1.71547652b82fep+0, half_root = 0x1.6a09e667f3bcdp-1;
    int exponent = 0;
    double part = std::frexp(x, &exponent);
    if (part < half_root) {
        part *= 2;
        --exponent;
    }
    // ln y = 2 artanh((y - 1) / (y + 1)), and the argument is within ±0.18.
    const double s = (part - 1) / (part + 1), square = s * s;
    double sum = 0;
    for (int i = 23; i >= 1; i -= 2) sum = sum * square + 1.0 / i;
    return exponent + 2 * log2_e * s * sum;
}

}  // namespace genista
