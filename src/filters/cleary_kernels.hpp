// The kernels of cleary_filter for the active instruction set.
#pragma once

#include "genista/filters/cleary.hpp"

namespace genista {

[[nodiscard]] const cleary_kernels* cleary_kernels_for(unsigned remainder_bits) noexcept;

}  // namespace genista
