// broom-large: below ε = 2^-8 the broom filter splits a remainder into signature and tail [broom18 §5.4]: the 14 bits in the
// line are the signature, the other bits lie beside it and are read after a signature has matched. ε alone decides; the rate
// is kept at every load.
//
// Control: the full 2^-10 filter judged by 2^-11 must fail.
#include "lab/experiments/experiments.hpp"
#include "lab/workloads/broom_rates.hpp"
#include "lab/workloads/broom_run.hpp"

namespace genista::lab {

result<outcome> run_broom_large(const run_options& options) {
    return run_on_broom("broom-large", options, [&] {
        rate_plan plan{.rates = {0x1p-10, 0x1p-12},
                       .tails = true,
                       .control_rate = 0x1p-10,
                       .control_judged_as = 0x1p-11,
                       .capacity = 100'000};
        if (!options.quick) plan.rates.push_back(0x1p-16);
        return rate_outcome(plan, options, "signatures with tails");
    });
}

}  // namespace genista::lab
