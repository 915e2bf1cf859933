// The experiments, one function each, defined in the file of the same name; registry.cpp lists them.
#pragma once

#include "lab/experiment.hpp"

namespace genista::lab {

result<outcome> run_broom_words(const run_options& options);
result<outcome> run_ppr_reduction(const run_options& options);

}  // namespace genista::lab
