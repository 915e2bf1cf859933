// broom-large: below ε = 2^-8 the broom filter splits a remainder into signature and tail [broom18
// §5.4]: the 14 bits in the line are the signature, the other bits lie beside it and are read after
// a signature has matched. ε alone decides; the rate is kept at every load.
//
// broom_paper: r > 2 log log n leads to signatures of 2 log log n bits and a backyard of whole
// hashes.
//
// Control: a full filter judged by half its rate must fail.
#include "lab/experiment.hpp"
#include "lab/experiments/broom_paper.hpp"
#include "lab/workloads/broom_rates.hpp"

namespace genista::lab {
namespace {

outcome measure_our_large(const run_options& options) {
    rate_plan plan{.rates = {0x1p-10, 0x1p-12},
                   .tails = true,
                   .control_rate = 0x1p-10,
                   .control_judged_as = 0x1p-11,
                   .capacity = 100'000};
    if (!options.quick) plan.rates.push_back(0x1p-16);
    return rate_outcome(plan, options, "signatures with tails");
}

outcome measure_paper_large(const run_options& options) {
    rate_plan plan{.rates = {0x1p-9, 0x1p-10},
                   .tails = true,
                   .control_rate = 0x1p-9,
                   .control_judged_as = 0x1p-10,
                   .capacity = 100'000,
                   .of_paper = true};
    if (!options.quick) plan.rates.insert(plan.rates.end(), {0x1p-12, 0x1p-16});
    return rate_outcome(plan, options, "signatures and a backyard");
}

const registration broom_large_experiment{{
    .id = "broom-large",
    .order = 111,
    .promise = "Small ε: the design that splits a remainder into signature and tail.",
    .where = "broom18 §5.4",
    .measure = either<measure_our_large, measure_paper_large>,
    .filters = {"broom", "broom_paper"},
    .takes = {.quick_seconds = 1.7, .full_minutes = 3},
}};

}  // namespace
}  // namespace genista::lab
