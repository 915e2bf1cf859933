// The kernels of daisy_bloom_filter for the active instruction set, for scattered probes and for
// blocked layouts.
#pragma once

#include "genista/filters/daisy_bloom.hpp"

namespace genista {

[[nodiscard]] const daisy_bloom_kernels* daisy_scattered_kernels_now() noexcept;
[[nodiscard]] const daisy_bloom_kernels* daisy_blocked_kernels_for(daisy_layout layout) noexcept;

[[nodiscard]] inline const daisy_bloom_kernels* daisy_bloom_kernels_for(daisy_layout layout) noexcept {
    return layout == daisy_layout::scattered ? daisy_scattered_kernels_now() : daisy_blocked_kernels_for(layout);
}

}  // namespace genista
