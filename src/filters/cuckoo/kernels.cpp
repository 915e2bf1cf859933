// Instantiates the family's kernels for every instruction set and hands out the right table.
#include "filters/cuckoo/kernels.hpp"

#include <thread>

#include "filters/cuckoo/hashes.hpp"
#include "filters/cuckoo/slots.hpp"
#include "filters/pick_kernels.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/cuckoo/kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista::cuckoo {

const cuckoo_kernels& kernels_for(const cuckoo_shape& shape) noexcept {
    const bool four_tables = shape.tables == 4 && shape.bin_slots == 1;
    switch (shape.rule) {
        case cuckoo_rule::plain:
            return four_tables ? *GENISTA_PICK(plain_of_4) : *GENISTA_PICK(plain_of_any);
        case cuckoo_rule::cuckooing:
            return four_tables ? *GENISTA_PICK(cuckooing_of_4) : *GENISTA_PICK(cuckooing_of_any);
        case cuckoo_rule::cyclic:
            return four_tables ? *GENISTA_PICK(cyclic_of_4) : *GENISTA_PICK(cyclic_of_any);
        case cuckoo_rule::swapping:
            break;
    }
    return shape.tables == 2 && shape.bin_slots == 4 ? *GENISTA_PICK(swapping_of_2) : *GENISTA_PICK(swapping_of_any);
}

}  // namespace genista::cuckoo
