// The kernels of cuckoo_partial_filter for the active instruction set.
#pragma once

#include "genista/filters/cuckoo_partial.hpp"

namespace genista {

[[nodiscard]] const cuckoo_partial_kernels* cuckoo_partial_kernels_for(unsigned tag_bits) noexcept;

}  // namespace genista
