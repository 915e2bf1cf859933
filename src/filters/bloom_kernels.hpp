// The kernels of bloom_filter for the active instruction set.
#pragma once

#include "genista/filters/bloom.hpp"

namespace genista {

[[nodiscard]] const bloom_kernels* bloom_kernels_now() noexcept;

}  // namespace genista
