// Honest rates: what broom-small and broom-large share. Filters at 50, 90 and 100 % of their
// capacity are asked for fresh absent keys, nothing is repaired, and the one rule for rates
// (statistics/binomial.hpp) judges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/experiment.hpp"

namespace genista::lab {

struct rate_plan {
    std::vector<double> rates;     // asked for; the design follows from them alone
    bool tails = false;            // the design that each of them must lead to: tails, or the paper's large remainders
    double control_rate = 0;       // a filter of this rate …
    double control_judged_as = 0;  // … must fail when it is judged by this one
    std::uint64_t capacity = 0;
    bool of_paper = false;  // broom_paper's, not ours
};

// The outcome of broom-small or broom-large, from its plan.
[[nodiscard]] outcome rate_outcome(const rate_plan& plan, const run_options& options, const std::string& design);

}  // namespace genista::lab
