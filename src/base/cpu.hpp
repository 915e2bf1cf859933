// isa: which instruction set the kernels use, decided once at run time.
//
// Release binaries run on any x86-64 (and, through the portable kernels, anywhere). Every kernel
// exists once for each `isa` and gives the same bytes in each; a filter calls active_isa() when it
// is made.
#pragma once

#include <string_view>

namespace genista {

enum class isa : unsigned char {
    portable,  // plain C++
    avx2,      // AVX2, BMI1/2, LZCNT, POPCNT, AES-NI: Haswell, Zen and later
    avx512,    // and AVX-512 F/BW/DQ/VL with VAES: Ice Lake, Zen 4 and later
};

inline constexpr isa all_isas[] = {isa::portable, isa::avx2, isa::avx512};

[[nodiscard]] std::string_view to_string(isa level) noexcept;

// The highest level of this processor and operating system.
[[nodiscard]] isa best_isa() noexcept;

// The level that filters made from now on use: best_isa(), unless the environment variable
// GENISTA_ISA (portable, avx2, avx512) or override_isa() asks for a lower one. A level above
// best_isa() becomes best_isa().
[[nodiscard]] isa active_isa() noexcept;

// For tests and benchmarks that compare levels in one process.
void override_isa(isa level) noexcept;

}  // namespace genista

// Chooses among kernels of one structure by active_isa(). Kernels that this architecture lacks do
// not exist, hence a macro: GENISTA_PICK(octet_kernels) is the address of portable::, avx2:: or
// avx512::octet_kernels.
#if defined(__x86_64__)
#define GENISTA_PICK(table)                                             \
    (::genista::active_isa() == ::genista::isa::avx512 ? &avx512::table \
     : ::genista::active_isa() == ::genista::isa::avx2 ? &avx2::table   \
                                                       : &portable::table)
#else
#define GENISTA_PICK(table) (&portable::table)
#endif
