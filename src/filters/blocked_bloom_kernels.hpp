// The kernels of blocked_bloom_filter for the active instruction set.
#pragma once

#include "genista/filters/blocked_bloom.hpp"

namespace genista {

[[nodiscard]] const blocked_bloom_kernels* blocked_bloom_kernels_for(block_layout layout) noexcept;

}  // namespace genista
