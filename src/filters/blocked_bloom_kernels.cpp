// Instantiates the blocked Bloom kernels for every instruction set and hands out the right table.
#include "filters/blocked_bloom_kernels.hpp"

#include "filters/pick_kernels.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/blocked_bloom_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {

const blocked_bloom_kernels* blocked_bloom_kernels_for(block_layout layout) noexcept {
    switch (layout) {
        case block_layout::quad:
            return GENISTA_PICK(quad_kernels);
        case block_layout::octet:
            return GENISTA_PICK(octet_kernels);
        case block_layout::sixteen:
            return GENISTA_PICK(sixteen_kernels);
    }
    return nullptr;
}

}  // namespace genista
