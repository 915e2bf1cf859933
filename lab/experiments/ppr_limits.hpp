// Limits shared by the experiments about [ppr].
#pragma once

#include <cstdint>

namespace genista::lab {

inline constexpr std::uint64_t ppr_judged_from =
    100'000;                                     // keys: with fewer, each has too large a share of the fixed costs
inline constexpr double ppr_may_rise_by = 0.25;  // bits a key, from one n to a larger one
inline constexpr double ppr_most_peak = 1.25;    // of the bits at the end, while it grows

}  // namespace genista::lab
