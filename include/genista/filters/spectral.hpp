// spectral_filter: how often is it there? A filter for multisets: count(x) is never too small, and
// too large with probability ≤ ε [ppr05 §6.1, after Cohen and Matias].
//
// The optimal filter (optimal_filter.hpp), sized by *different* keys: `capacity` of them, each as
// often as you like. A key that is there c times costs O(log c) digits. Reporting a count of c
// takes O(1 + log c).
#pragma once

#include "genista/detail/filters/counting_filter.hpp"

namespace genista {

struct spectral_rules {
    static constexpr std::string_view name = "spectral";
    static constexpr bool by_value = true;
};
using spectral_filter = counting_filter<spectral_rules>;

}  // namespace genista
