// Instantiates the look-ups of `hashed` for every instruction set and chooses the right table. See
// hashed.hpp.
#include "filters/succinct/hashed.hpp"

#include "base/cpu.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/succinct/hashed_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista::succinct {

const hashed_kernels* hashed_kernels_now() noexcept {
    return GENISTA_PICK(succinct_hashed_kernels);
}

}  // namespace genista::succinct
