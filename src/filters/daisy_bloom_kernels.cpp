// Instantiates the scattered daisy Bloom kernels for every instruction set and hands out the right
// table.
#include "filters/daisy_bloom_kernels.hpp"

#include "base/cpu.hpp"
#include "genista/filters/bloom.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/daisy_bloom_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {

const daisy_bloom_kernels* daisy_scattered_kernels_now() noexcept {
    return GENISTA_PICK(daisy_scattered_kernels);
}

}  // namespace genista
