// What the experiments about [ppr] allow alike.
#pragma once

#include <cstdint>

namespace genista::lab {

inline constexpr std::uint64_t ppr_judged_from = 100'000;  // keys: each of fewer bears too much of the fixed costs
inline constexpr double ppr_may_rise_by = 0.25;            // bits a key, from one n to a larger one
inline constexpr double ppr_most_peak = 1.25;              // of the bits at the end, while it grows

}  // namespace genista::lab
