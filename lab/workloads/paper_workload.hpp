// paper_workload: the operations that experiments are made of (broom_workload.hpp), for the broom
// filter of the paper.
#pragma once

#include "lab/workloads/broom_workload.hpp"
#include "papers/broom_paper.hpp"

namespace genista::lab {

using paper_workload = broom_workload<broom_paper_filter, index_in_memory>;

[[nodiscard]] inline broom_paper_options seeded_paper(std::uint64_t capacity, double rate, std::uint64_t seed) {
    return seeded<broom_paper_options>(capacity, rate, seed);
}

}  // namespace genista::lab
