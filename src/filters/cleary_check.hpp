// Are these bytes, which may be anything, a table of cleary_filter?
#pragma once

#include "genista/base/result.hpp"
#include "genista/filters/cleary.hpp"

namespace genista::cleary {

// The error names the place where the table contradicts itself: I1 to I3 of
// genista/filters/cleary.hpp, and `used`.
[[nodiscard]] result<void> check(const cleary_state& s) noexcept;

}  // namespace genista::cleary
