// Minimum, median and faults. See figures.hpp.
#include "bench/figures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace genista::tool::bench {

std::optional<double> samples::minimum() const {
    if (ns_.empty()) return std::nullopt;
    return *std::min_element(ns_.begin(), ns_.end());
}

std::optional<double> samples::median() const {
    if (ns_.empty()) return std::nullopt;
    std::vector<double> sorted = ns_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::optional<std::string> figures::fault() const {
    if (refused_keys != 0) return fmt::format("{}: {} inserts were refused below capacity", name, refused_keys);
    if (lost_keys != 0) return fmt::format("{}: {} times a stored key was answered absent", name, lost_keys);
    if (disagreements != 0) {
        return fmt::format("{}: in {} rounds batch and single look-ups of the same keys differ", name, disagreements);
    }
    return std::nullopt;
}

}  // namespace genista::tool::bench
