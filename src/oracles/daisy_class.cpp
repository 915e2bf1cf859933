// Regimes and bits of a key. See daisy_class.hpp.
#include "genista/oracles/daisy_class.hpp"

#include <algorithm>
#include <cmath>

namespace genista {

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
    // Logarithms of powers of two may be off by their last bit, and ⌈8.000000000000002⌉ would be a ninth probe.
    constexpr double rounding = 1e-9;
    const double bits = std::ceil(daisy_bits(odds, terms) - rounding);
    return bits <= 0 ? 0 : static_cast<unsigned>(bits);
}

}  // namespace genista
