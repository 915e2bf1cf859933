// Binomial tails through the regularised incomplete beta function: P(X ≥ k) = I_p(k, n - k + 1) for
// X ~ Binomial(n, p). It rises with p and falls with k, so every bound here is the root of a
// monotone function; bisection always converges.
#include "lab/statistics/binomial.hpp"

#include <cmath>

namespace genista::lab {
namespace {

// The continued fraction of the incomplete beta function, evaluated from the front by Lentz's
// method. It converges in about sqrt(max(a, b)) steps for x below the mean a / (a + b), to which
// the caller keeps it.
double beta_fraction(double a, double b, double x) noexcept {
    constexpr double tiny = 1e-300, enough = 1e-14;
    constexpr int limit = 1'000'000;
    const auto away_from_zero = [](double value) { return std::fabs(value) < tiny ? tiny : value; };
    double c = 1;
    double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
    double value = d;
    for (int m = 1; m <= limit; ++m) {
        const double at = a + 2.0 * m;
        const double even = m * (b - m) * x / ((at - 1) * at);
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        value *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / (at * (at + 1));
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        value *= d * c;
        if (std::fabs(d * c - 1) < enough) break;
    }
    return value;
}

double regularised_beta(double a, double b, double x) noexcept {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const double front =
        std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// The p at which I_p(a, b) = target.
double beta_quantile(double a, double b, double target) noexcept {
    double low = 0, high = 1;
    while (true) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high || high - low < 1e-12 * high) return middle;
        (regularised_beta(a, b, middle) < target ? low : high) = middle;
    }
}

}  // namespace

std::uint64_t most_plausible_hits(std::uint64_t trials, double rate) noexcept {
    if (trials == 0 || rate <= 0) return 0;
    if (rate >= 1) return trials;
    const auto n = static_cast<double>(trials);
    // P(X > k) = I_rate(k + 1, n - k).
    const auto plausible = [&](std::uint64_t k) {
        return k >= trials || regularised_beta(static_cast<double>(k) + 1, n - static_cast<double>(k), rate) <= 1e-9;
    };
    if (plausible(0)) return 0;
    std::uint64_t low = 0;
    std::uint64_t high = trials;
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (plausible(middle) ? high : low) = middle;
    }
    return high;
}

std::uint64_t trials_for(double rate) noexcept {
    return static_cast<std::uint64_t>(std::ceil(1e4 / rate));
}

interval exact_interval(std::uint64_t hits, std::uint64_t trials, double confidence) noexcept {
    if (trials == 0) return {};
    const auto k = static_cast<double>(hits), n = static_cast<double>(trials);
    const double tail = (1 - confidence) / 2;
    return {hits == 0 ? 0 : beta_quantile(k, n - k + 1, tail),
            hits == trials ? 1 : beta_quantile(k + 1, n - k, 1 - tail)};
}

}  // namespace genista::lab
