// Instantiates the cuckoo kernels for every instruction set and hands out the right table.
#include "filters/cuckoo_partial_kernels.hpp"

#include "filters/cuckoo_path.hpp"
#include "filters/pick_kernels.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/cuckoo_partial_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {

const cuckoo_partial_kernels* cuckoo_partial_kernels_for(unsigned tag_bits) noexcept {
    return tag_bits == 12 ? GENISTA_PICK(cuckoo12_kernels) : GENISTA_PICK(cuckoo16_kernels);
}

}  // namespace genista
