// Mean and median of a sample. REQUIRES: at least one value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace genista::lab {

[[nodiscard]] inline double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The lower one of two.
[[nodiscard]] inline double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace genista::lab
