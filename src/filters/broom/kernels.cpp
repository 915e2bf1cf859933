// Compiles the look-up kernels for every instruction set and chooses one at run time.
#include "base/cpu.hpp"
#include "bits/move_bits.hpp"
#include "filters/broom/core.hpp"
#include "filters/broom/mix.hpp"
#include "filters/broom/side_block.hpp"
#include "filters/broom/writers.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/broom/kernels.inl"
#include "base/foreach_isa.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

const broom_kernel_set<broom_lookup_state>* pick_kernels(shape s) noexcept {
    return s.tail_bits == 0 ? GENISTA_PICK(broom_kernels<broom_lookup_state>)
                            : GENISTA_PICK(broom_kernels_with_tails<broom_lookup_state>);
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
