// What succinct_set and succinct_multiset share behind their headers.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

#include "filters/common.hpp"
#include "filters/succinct/sets.hpp"
#include "genista/filters/succinct_set.hpp"
#include "hash/key_stream.hpp"

namespace genista::succinct {

[[nodiscard]] inline result<hasher> checked_hash(std::string_view filter, const succinct_options& options) noexcept {
    if (options.universe == 0 || options.universe > sets::most_universe)
        return error::make(error_code::invalid_argument, "%.*s: universe %llu, allowed are 1 to 2^61",
                           static_cast<int>(filter.size()), filter.data(),
                           static_cast<unsigned long long>(options.universe));
    filter_options with;
    with.hash = options.hash;
    return hasher_from(with);
}

[[nodiscard]] inline result<void> check_number(std::string_view filter, std::uint64_t x,
                                               std::uint64_t universe) noexcept {
    if (x < universe) return {};
    return error::make(error_code::invalid_argument, "%.*s: number %llu, allowed are 0 to %llu",
                       static_cast<int>(filter.size()), filter.data(), static_cast<unsigned long long>(x),
                       static_cast<unsigned long long>(universe - 1));
}

// log2 of a binomial coefficient.
[[nodiscard]] inline double log2_choose(double all, double some) noexcept {
    const auto log_factorial = [](double n) { return std::lgamma(n + 1); };
    if (some <= 0 || some >= all) return 0;
    // If they are far apart, the difference of two large logarithms has few digits left: k log(n/k)
    // + … instead.
    if (some < all * 1e-4) {
        const double ratio = some / all;
        return (some * std::log(1 / ratio) - (all - some) * std::log1p(-ratio) -
                0.5 * std::log(2 * std::numbers::pi * some * (1 - ratio))) /
               std::numbers::ln2;
    }
    return (log_factorial(all) - log_factorial(some) - log_factorial(all - some)) / std::numbers::ln2;
}

}  // namespace genista::succinct
