// Every experiment, in the order of docs/papers.md. A new one needs a line here and a declaration in experiments.hpp.
#include <algorithm>
#include <array>

#include "lab/experiments/experiments.hpp"

namespace genista::lab {
namespace {

constexpr std::array experiments{
    experiment{"broom-words", run_broom_words},
    experiment{"ppr-reduction", run_ppr_reduction},
};

}  // namespace

result<void> refuse_filter(std::string_view id, const run_options& options) noexcept {
    if (options.filter.empty()) return {};
    return error::make(error_code::invalid_argument, "filter %s: %.*s is about no filter and takes none",
                       options.filter.c_str(), static_cast<int>(id.size()), id.data());
}

std::span<const experiment> all_experiments() noexcept {
    return experiments;
}

const experiment* find_experiment(std::string_view id) noexcept {
    const auto* const found = std::ranges::find(experiments, id, &experiment::id);
    return found == experiments.end() ? nullptr : found;
}

}  // namespace genista::lab
