// Instantiates the blocked daisy Bloom kernels for every instruction set and hands out the right
// table.
#include "base/cpu.hpp"
#include "filters/daisy_bloom_kernels.hpp"
#include "genista/filters/blocked_bloom.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/daisy_blocked_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {

const daisy_bloom_kernels* daisy_blocked_kernels_for(daisy_layout layout) noexcept {
    switch (layout) {
        case daisy_layout::octet:
            return GENISTA_PICK(daisy_octet_kernels);
        case daisy_layout::sixteen:
            return GENISTA_PICK(daisy_sixteen_kernels);
        case daisy_layout::scattered:
            break;
    }
    return nullptr;
}

}  // namespace genista
