// run_on_broom, run_on_either: how an experiment about the broom filter, or about it and the one of
// its paper, begins.
#pragma once

#include <string_view>

#include "lab/workloads/experiment_run.hpp"

namespace genista::lab {

// The filter these experiments are about may be named, any other is refused.
[[nodiscard]] inline result<void> refuse_other_filters(std::string_view id, const run_options& options) noexcept {
    if (options.filter.empty() || options.filter == "broom") return {};
    return error::make(error_code::invalid_argument, "filter %s: %.*s is about broom and takes no other",
                       options.filter.c_str(), static_cast<int>(id.size()), id.data());
}

template <class Body>
[[nodiscard]] result<outcome> run_on_broom(std::string_view id, const run_options& options, Body body) {
    if (const auto refused = refuse_other_filters(id, options); !refused) return refused.error();
    return run_experiment(id, options, body);
}

// --filter broom_paper measures the structure of the paper; broom, or none, our own.
template <class Ours, class Papers>
[[nodiscard]] result<outcome> run_on_either(std::string_view id, const run_options& options, Ours ours, Papers papers) {
    if (options.filter.empty() || options.filter == "broom") return run_experiment(id, options, ours);
    if (options.filter == "broom_paper") return run_experiment(id, options, papers);
    return error::make(error_code::invalid_argument, "filter %s: %.*s measures broom and broom_paper",
                       options.filter.c_str(), static_cast<int>(id.size()), id.data());
}

}  // namespace genista::lab
