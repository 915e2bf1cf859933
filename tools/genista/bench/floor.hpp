// The least time of a look-up: hash the key, fetch one random cache line, test one bit of it.
//
// No filter that leaves the processor's caches can be faster, so times are read as multiples of it.
// Its array is as large as the smallest filter of the run, the strictest floor for all of them, and
// the same loops time it in the same rounds.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/subject.hpp"
#include "genista/base/result.hpp"
#include "genista/hash/hasher.hpp"

namespace genista::tool::bench {

[[nodiscard]] result<std::unique_ptr<reader>> make_floor(std::uint64_t size_bytes, const hasher& hash);

}  // namespace genista::tool::bench
