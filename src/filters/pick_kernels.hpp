// Chooses among kernels of one structure by active_isa(). Kernels that this architecture lacks do
// not exist, hence a macro: GENISTA_PICK(octet_kernels) is the address of portable::, avx2:: or
// avx512::octet_kernels.
#pragma once

#include "base/cpu.hpp"

#if defined(__x86_64__)
#define GENISTA_PICK(table)                                             \
    (::genista::active_isa() == ::genista::isa::avx512 ? &avx512::table \
     : ::genista::active_isa() == ::genista::isa::avx2 ? &avx2::table   \
                                                       : &portable::table)
#else
#define GENISTA_PICK(table) (&portable::table)
#endif
