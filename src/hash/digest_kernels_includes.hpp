// The includes of hash/digest_kernels.inl, in a file of their own because they must come before
// base/foreach_isa.hpp switches the compiler's target.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "genista/hash/hasher.hpp"
#include "genista/hash/key.hpp"
#include "hash/aes_soft.hpp"
#include "hash/siphash.hpp"
