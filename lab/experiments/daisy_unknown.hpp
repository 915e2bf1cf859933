// The limit of daisy-sampling for a filter of unknown size, judged at every moment; a header of its
// own, so that a test can plant a defect.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace genista::lab {

inline constexpr double unknown_constant = 4, object_bits = 8.0 * 1536;

// Bits a draw beyond j + 2 + 2/15, the bits of a planned cell of class j, over all moments that
// were recorded from 1,000 draws on.
struct unknown_bits {
    unsigned its_class;
    double worst = -1e9, worst_excess = -1e9, worst_share = 0;

    explicit unknown_bits(unsigned of_class) noexcept : its_class{of_class} {}

    [[nodiscard]] static double allowed(double draws) noexcept {
        return 2 * std::log2(std::log2(draws)) + unknown_constant;
    }
    void see(std::uint64_t draws, std::uint64_t bytes) noexcept {
        if (draws < 1'000) return;
        const auto n = static_cast<double>(draws);
        const double needed = its_class + 2 + 2.0 / 15, bits = (8 * static_cast<double>(bytes) - object_bits) / n;
        worst = std::max(worst, bits - needed);
        worst_excess = std::max(worst_excess, bits - needed - allowed(n));
        worst_share = std::max(worst_share, bits / (needed + allowed(n)));
    }
    [[nodiscard]] bool kept() const noexcept { return worst_excess <= 0; }
    // So many percent more bits would break it.
    [[nodiscard]] double sees_percent() const noexcept { return 100 * (1 / worst_share - 1); }
};

}  // namespace genista::lab
