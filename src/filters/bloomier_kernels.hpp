// The kernels of bloomier_filter for the active instruction set.
#pragma once

#include "genista/filters/bloomier.hpp"

namespace genista {

[[nodiscard]] const bloomier_kernels* bloomier_kernels_now() noexcept;

}  // namespace genista
