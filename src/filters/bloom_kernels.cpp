// Instantiates the Bloom kernels for every instruction set and hands out the right table.
#include "filters/bloom_kernels.hpp"

#include "filters/pick_kernels.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/bloom_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {

const bloom_kernels* bloom_kernels_now() noexcept {
    return GENISTA_PICK(bloom_table);
}

}  // namespace genista
