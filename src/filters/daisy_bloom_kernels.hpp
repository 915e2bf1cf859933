// The kernels of daisy_bloom_filter for blocked layouts and the active instruction set. Those for
// scattered probes are compiled in daisy_bloom.cpp.
#pragma once

#include "genista/filters/daisy_bloom.hpp"

namespace genista {

[[nodiscard]] const daisy_bloom_kernels* daisy_blocked_kernels_for(daisy_layout layout) noexcept;

}  // namespace genista
