// The look-ups for a shape and this processor.
#pragma once

#include "genista/detail/filters/cuckoo/lookup_state.hpp"

namespace genista::cuckoo {

[[nodiscard]] const cuckoo_kernels& kernels_for(const cuckoo_shape& shape) noexcept;

}  // namespace genista::cuckoo
