// The control of broom-property10: a broom filter whose erases leave nothing behind (law L2
// dropped).
#pragma once

#include <cstdint>

#include "lab/workloads/property10_run.hpp"

namespace genista::lab {

[[nodiscard]] property_seen try_to_collide_again_without_history(std::uint64_t steps, std::uint64_t seed);
[[nodiscard]] reinsertion_seen delete_and_reinsert_without_history(std::uint64_t capacity, const reinsertion_plan& plan,
                                                                   std::uint64_t seed);

}  // namespace genista::lab
