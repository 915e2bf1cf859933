// Instantiates the kernels of cleary_filter for every instruction set and hands out the right
// table.
#include "filters/cleary_kernels.hpp"

#include "filters/cleary_insert.hpp"
#include "filters/cleary_table.hpp"
#include "filters/pick_kernels.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/cleary_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {

const cleary_kernels* cleary_kernels_for(unsigned remainder_bits) noexcept {
    switch (remainder_bits) {
        case 8:
            return GENISTA_PICK(cleary8_kernels);
        case 12:
            return GENISTA_PICK(cleary12_kernels);
        case 16:
            return GENISTA_PICK(cleary16_kernels);
        default:
            return GENISTA_PICK(cleary_any_kernels);
    }
}

}  // namespace genista
