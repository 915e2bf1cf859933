// The page of `genista lab run --report`: what was promised, what was measured, and the figures
// that an experiment draws.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "lab/experiment.hpp"
#include "lab/report/page.hpp"

namespace genista::lab::report {

struct named_outcome {
    std::string id;
    outcome made;
};

// `data` is what --json writes.
[[nodiscard]] page lab_page(std::span<const named_outcome> outcomes, nlohmann::ordered_json data);

}  // namespace genista::lab::report
