// Ranges, and the two sequences that need more than a line. See queries.hpp.
#include "lab/workloads/queries.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>

namespace genista::lab {
namespace {

constexpr double largest_exponent = 20;
constexpr std::uint64_t most_ranks = std::uint64_t{1} << 48;
constexpr double nearly_one = 1e-9;  // closer to exponent 1 the general formula has lost its digits

result<void> check(key_range over) noexcept {
    if (over.keys == 0) return error::make(error_code::invalid_argument, "queries over 0 keys: at least 1 is needed");
    if (over.keys - 1 > ~std::uint64_t{0} - over.first) {
        return error::make(error_code::invalid_argument,
                           "queries over %" PRIu64 " keys from %" PRIu64 " on: the last key must be below 2^64",
                           over.keys, over.first);
    }
    return {};
}

}  // namespace

result<uniform_queries> uniform_queries::make(key_range over, std::uint64_t seed) noexcept {
    if (const auto good = check(over); !good) return good.error();
    return uniform_queries{over, seed};
}

result<scan_queries> scan_queries::make(key_range over) noexcept {
    if (const auto good = check(over); !good) return good.error();
    return scan_queries{over};
}

result<zipf_queries> zipf_queries::make(const zipf_options& options) noexcept {
    if (const auto good = check(options.over); !good) return good.error();
    if (!(options.exponent >= 0 && options.exponent <= largest_exponent)) {
        return error::make(error_code::invalid_argument, "Zipf exponent %g is not in 0..%g", options.exponent,
                           largest_exponent);
    }
    if (options.over.keys > most_ranks) {
        return error::make(error_code::invalid_argument, "Zipf's law over %" PRIu64 " keys: at most %" PRIu64,
                           options.over.keys, most_ranks);
    }
    return zipf_queries{options};
}

zipf_queries::zipf_queries(const zipf_options& options) noexcept : options_{options}, chance_{options.seed} {
    // Rank 1 needs the mass 1 only, not the integral from 1/2 on: nothing is ever rejected there.
    lowest_ = integral(1.5) - 1;
    highest_ = integral(static_cast<double>(options.over.keys) + 0.5);
    always_kept_ = 2 - inverse(integral(2.5) - weight(2));
}

double zipf_queries::integral(double x) const noexcept {
    const double one_minus = 1 - options_.exponent;
    if (std::abs(one_minus) < nearly_one) return std::log(x);
    return std::expm1(one_minus * std::log(x)) / one_minus;
}

double zipf_queries::inverse(double y) const noexcept {
    const double one_minus = 1 - options_.exponent;
    if (std::abs(one_minus) < nearly_one) return std::exp(y);
    return std::exp(std::log1p(y * one_minus) / one_minus);
}

double zipf_queries::weight(double rank) const noexcept {
    return std::pow(rank, -options_.exponent);
}

std::uint64_t zipf_queries::operator()() noexcept {
    const auto last = static_cast<double>(options_.over.keys);
    while (true) {
        const double drawn = highest_ + chance_.unit() * (lowest_ - highest_);
        const double x = inverse(drawn);
        const double rank = std::clamp(std::round(x), 1.0, last);
        // The mass k^-s of a rank is the upper end of its interval of the integral.
        if (rank - x <= always_kept_ || drawn >= integral(rank + 0.5) - weight(rank)) {
            return options_.over.first + static_cast<std::uint64_t>(rank) - 1;
        }
    }
}

result<drifting_queries> drifting_queries::make(const drift_options& options) noexcept {
    if (options.window == 0 || options.window > most_ranks) {
        return error::make(error_code::invalid_argument, "a working set of %" PRIu64 " keys is not in 1..%" PRIu64,
                           options.window, most_ranks);
    }
    if (!(options.changed_share > 0 && options.changed_share <= 1)) {
        return error::make(error_code::invalid_argument, "a changed share of %g is not in (0, 1]",
                           options.changed_share);
    }
    if (options.period == 0) {
        return error::make(error_code::invalid_argument, "a period of 0 queries: at least 1 is needed");
    }
    return drifting_queries{options};
}

std::uint64_t drifting_queries::operator()() noexcept {
    if (until_change_ == 0) {
        ++changes_;
        const double replaced =
            static_cast<double>(changes_) * options_.changed_share * static_cast<double>(options_.window);
        oldest_ = options_.first + static_cast<std::uint64_t>(replaced);
        until_change_ = options_.period;
    }
    --until_change_;
    return oldest_ + chance_.below(options_.window);
}

}  // namespace genista::lab
