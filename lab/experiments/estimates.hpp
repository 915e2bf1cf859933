// How long an experiment takes: what `genista lab report` says before it begins, and by which it
// plans what runs beside what.
//
// Estimates and no promises: measured on 2 cores of a virtual Xeon, with other work beside some of
// them.
#pragma once

#include <string_view>

namespace genista::lab {

struct estimate {
    double quick_seconds = 15;
    double full_minutes = 10;
    bool alone = false;  // it judges times: whatever runs beside it would spoil them
};

// What is known of this experiment, else the defaults above.
[[nodiscard]] estimate estimate_of(std::string_view id) noexcept;

// Of one adversary against all filters (games/attack_matrix.hpp).
inline constexpr estimate matrix_row_estimate{3.5, 1.25, false};

}  // namespace genista::lab
