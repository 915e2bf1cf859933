// The halves of the broom experiments that measure broom_paper, the structure of the text: `--filter broom_paper`.
//
// Each in a file of its own, broom_paper_X.cpp beside broom_X.cpp. They judge by what the text promises, not by what our own layout
// reaches. All take rates for which the design is the same for every n they look at.
#pragma once

#include "lab/experiment.hpp"

namespace genista::lab {

[[nodiscard]] outcome measure_paper_invariant(const run_options& options);
[[nodiscard]] outcome measure_paper_property10(const run_options& options);

}  // namespace genista::lab
