// What the experiments about our own broom filter and about the one of its paper share: a workload
// for each, and which of the two is measured (`--filter broom_paper`).
//
// The paper's filter is judged by the paper's promise, not by what our own layout reaches.
#pragma once

#include "genista/filters/broom.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/broom_workload.hpp"
#include "papers/broom_paper.hpp"

namespace genista::lab {

using our_workload = broom_workload<broom_filter>;
using paper_workload = broom_workload<broom_paper_filter, index_in_memory>;

[[nodiscard]] inline broom_paper_options seeded_paper(std::uint64_t capacity, double rate, std::uint64_t seed) {
    return seeded<broom_paper_options>(capacity, rate, seed);
}

// With these rates the paper's design is the same for every n that is measured.
inline constexpr double paper_small_rate = 0x1p-7;   // r ≤ 2 log log n from n = 2600 on [broom18 §5.3]
inline constexpr double paper_large_rate = 0x1p-10;  // r > 2 log log n below n = 2^32 [§5.4]

// The measurement of the filter that was named: ours, if none was.
template <outcome (*Ours)(const run_options&), outcome (*Papers)(const run_options&)>
[[nodiscard]] outcome either(const run_options& options) {
    return options.filter == "broom_paper" ? Papers(options) : Ours(options);
}

}  // namespace genista::lab
