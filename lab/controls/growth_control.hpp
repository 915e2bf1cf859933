// The control of growth: a sweep that leaves one bin behind.
#pragma once

#include <cstdint>

#include "lab/workloads/growth_run.hpp"

namespace genista::lab {

[[nodiscard]] growth_seen grow_and_watch_skipping_a_bin(std::uint64_t capacity, std::uint64_t keys, std::uint64_t seed);

}  // namespace genista::lab
