// Instantiates the bloomier kernels for every instruction set and hands out the right table.
#include "filters/bloomier_kernels.hpp"

#include "filters/pick_kernels.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/bloomier_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {

const bloomier_kernels* bloomier_kernels_now() noexcept {
    return GENISTA_PICK(bloomier_table);
}

}  // namespace genista
