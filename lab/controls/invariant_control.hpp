// The control of broom-invariant: a broom filter whose colliding inserts extend instead of renewing
// (law L3 dropped), so that two slots come to share a base.
#pragma once

#include <cstdint>

#include "lab/workloads/invariant_run.hpp"

namespace genista::lab {

[[nodiscard]] invariant_seen drive_and_audit_extending_inserts(double rate, std::uint64_t steps, std::uint64_t seed);

}  // namespace genista::lab
