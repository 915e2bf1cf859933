// foreach_isa (no include guard: every kernel file includes it again) includes the file named by
// GENISTA_KERNELS once for each instruction set.
//
// Inside, GENISTA_ISA names the namespace of the pass (portable, avx2, avx512) and
// GENISTA_ISA_LEVEL is 0, 1 or 2. The compiler's target is switched by pragma around the kernels
// alone, never by a flag for a whole file: a flag would also compile inline functions of the
// standard library for the larger set, and the linker may keep that copy for the whole program. For
// the same reason every header is included *before* this file, and kernels use no lambdas.

#define GENISTA_ISA portable
#define GENISTA_ISA_LEVEL 0
#include GENISTA_KERNELS
#undef GENISTA_ISA
#undef GENISTA_ISA_LEVEL

#if defined(__x86_64__)

#define GENISTA_ISA avx2
#define GENISTA_ISA_LEVEL 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt,aes,pclmul"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,aes,pclmul")
#endif
#include GENISTA_KERNELS
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#undef GENISTA_ISA
#undef GENISTA_ISA_LEVEL

#define GENISTA_ISA avx512
#define GENISTA_ISA_LEVEL 2
#if defined(__clang__)
#pragma clang attribute push(                                                                           \
    __attribute__((target("avx2,bmi,bmi2,popcnt,aes,pclmul,avx512f,avx512bw,avx512dq,avx512vl,vaes"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,aes,pclmul,avx512f,avx512bw,avx512dq,avx512vl,vaes")
#endif
#include GENISTA_KERNELS
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#undef GENISTA_ISA
#undef GENISTA_ISA_LEVEL

#endif  // __x86_64__
#undef GENISTA_KERNELS
