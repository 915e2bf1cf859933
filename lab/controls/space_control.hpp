// A control of broom-space: a broom filter that never uses the memory of a side block again.
#pragma once

#include <cstdint>

#include "lab/workloads/space_run.hpp"

namespace genista::lab {

[[nodiscard]] attack_added attack_leaking_broom(std::uint64_t keys, double adapts_per_key, std::uint64_t seed);

}  // namespace genista::lab
