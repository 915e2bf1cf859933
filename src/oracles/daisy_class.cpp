// daisy_class: regimes and bits of a key. See daisy_class.hpp.
#include "genista/detail/oracles/daisy_class.hpp"

#include <algorithm>
#include <cmath>

namespace genista {
namespace {

// ⌈log2(ratio)⌉, at least 0, without a logarithm: a filter that is loaded on another machine must
// compute the classes in which its keys were stored, and libraries differ in a logarithm's last
// bit, while IEEE products and quotients are the same everywhere. A ratio just above a power of two
// gets that power's value: rounding must not cost a probe.
unsigned whole_log(double ratio) noexcept {
    if (!std::isfinite(ratio)) return max_daisy_class;  // odds so small that a product of them is 0
    constexpr double rounding = 1 - 0x1p-30;
    int exponent = 0;
    const double fraction = std::frexp(ratio * rounding, &exponent);  // in [1/2, 1)
    const int whole = fraction > 0.5 ? exponent : exponent - 1;
    return static_cast<unsigned>(std::clamp(whole, 0, static_cast<int>(max_daisy_class)));
}

}  // namespace

daisy_regime regime_of(const key_odds& odds, const daisy_terms& terms) noexcept {
    const double p = odds.stored, q = odds.asked;
    if (q <= terms.rate * p) return daisy_regime::hardly_asked;
    if (p > 1 / terms.draws) return daisy_regime::nearly_certain;
    if (q <= std::min(p, terms.rate / terms.draws)) return daisy_regime::by_ratio;
    if (p <= terms.rate / terms.draws) return daisy_regime::in_full;
    return daisy_regime::by_likelihood;
}

double daisy_bits(const key_odds& odds, const daisy_terms& terms) noexcept {
    const double most = -std::log2(terms.rate);
    if (!std::isfinite(odds.stored) || !std::isfinite(odds.asked)) return most;
    switch (regime_of(odds, terms)) {
        case daisy_regime::hardly_asked:
        case daisy_regime::nearly_certain:
            return 0;
        case daisy_regime::by_ratio:
            return std::clamp(std::log2(odds.asked / (terms.rate * odds.stored)), 0.0, most);
        case daisy_regime::in_full:
            return most;
        case daisy_regime::by_likelihood:
            return std::clamp(-std::log2(terms.draws * odds.stored), 0.0, most);
    }
    return most;
}

unsigned daisy_class(const key_odds& odds, const daisy_terms& terms) noexcept {
    const unsigned most = whole_log(1 / terms.rate);
    if (!std::isfinite(odds.stored) || !std::isfinite(odds.asked)) return most;
    switch (regime_of(odds, terms)) {
        case daisy_regime::hardly_asked:
        case daisy_regime::nearly_certain:
            return 0;
        case daisy_regime::by_ratio:
            return std::min(most, whole_log(odds.asked / (terms.rate * odds.stored)));
        case daisy_regime::in_full:
            return most;
        case daisy_regime::by_likelihood:
            return std::min(most, whole_log(1 / (terms.draws * odds.stored)));
    }
    return most;
}

}  // namespace genista
