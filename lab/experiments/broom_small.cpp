// broom-small: for ε of 2^-8 and above the broom filter takes the design for short remainders
// [broom18 §5.3]: 14 bits of base in the bin's line, nothing beside it. ε alone decides; the rate
// is kept at every load.
//
// broom_paper: r ≤ 2 log log n leads to two levels, and every such ε keeps its rate.
//
// Control: the full 2^-8 filter judged by 2^-9 must fail. (Its true rate is about 0.75 · 2^-8: a
// bin is not always full.)
#include "lab/experiment.hpp"
#include "lab/experiments/broom_paper.hpp"
#include "lab/workloads/broom_rates.hpp"

namespace genista::lab {
namespace {

outcome measure_our_small(const run_options& options) {
    const rate_plan plan{.rates = {0.02, 0x1p-7, 0x1p-8},
                         .tails = false,
                         .control_rate = 0x1p-8,
                         .control_judged_as = 0x1p-9,
                         .capacity = options.quick ? 100'000u : 1'000'000u};
    return rate_outcome(plan, options, "the design without tails");
}

outcome measure_paper_small(const run_options& options) {
    const rate_plan plan{.rates = {0.02, 0x1p-7, 0x1p-8},
                         .tails = false,
                         .control_rate = 0x1p-8,
                         .control_judged_as = 0x1p-9,
                         .capacity = options.quick ? 100'000u : 1'000'000u,
                         .of_paper = true};
    return rate_outcome(plan, options, "two levels");
}

const registration broom_small_experiment{{
    .id = "broom-small",
    .order = 110,
    .promise = "Large ε: the design for short remainders.",
    .where = "broom18 §5.3",
    .measure = either<measure_our_small, measure_paper_small>,
    .filters = {"broom", "broom_paper"},
    .takes = {.quick_seconds = 0.4, .full_minutes = 2},
}};

}  // namespace
}  // namespace genista::lab
