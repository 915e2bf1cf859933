// The control of broom-replay: a broom filter that repairs nothing (law L4 dropped).
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/workloads/replay_run.hpp"

namespace genista::lab {

[[nodiscard]] replay_seen find_and_replay_without_adapting(std::uint64_t capacity, double load, std::uint64_t wanted,
                                                           std::size_t rounds, std::uint64_t seed);

}  // namespace genista::lab
