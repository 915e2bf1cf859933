// Every experiment, in the order of docs/papers.md. A new one needs a line here and a declaration
// in experiments.hpp.
#include <algorithm>
#include <array>

#include "lab/experiments/experiments.hpp"

namespace genista::lab {
namespace {

constexpr std::array experiments{
    experiment{"broom-game", run_broom_game},
    experiment{"broom-gap", run_broom_gap},
    experiment{"broom-invariant", run_broom_invariant},
    experiment{"broom-property10", run_broom_property10},
    experiment{"broom-remote", run_broom_remote},
    experiment{"broom-space", run_broom_space},
    experiment{"broom-time", run_broom_time},
    experiment{"broom-rotation", run_broom_rotation},
    experiment{"broom-overflow", run_broom_overflow},
    experiment{"broom-small", run_broom_small},
    experiment{"broom-large", run_broom_large},
    experiment{"broom-words", run_broom_words},
    experiment{"local-lower-bound", run_local_lower_bound},
    experiment{"whitelist", run_whitelist},
    experiment{"adaptive-bloom", run_adaptive_bloom},
    experiment{"adaptive-cascade", run_adaptive_cascade},
    experiment{"ppr-reduction", run_ppr_reduction},
    experiment{"ppr-counter", run_ppr_counter},
    experiment{"ppr-multiset", run_ppr_multiset},
    experiment{"ppr-filter", run_ppr_filter},
    experiment{"ppr-cleary", run_ppr_cleary},
    experiment{"ppr-spectral", run_ppr_spectral},
    experiment{"ppr-bloomier", run_ppr_bloomier},
    experiment{"ppr-lossy", run_ppr_lossy},
    experiment{"daisy-k", run_daisy_k},
    experiment{"daisy-lb", run_daisy_lb},
    experiment{"daisy-bloom", run_daisy_bloom, true},
    experiment{"daisy-fingerprint", run_daisy_fingerprint},
    experiment{"daisy-sampling", run_daisy_sampling},
    experiment{"daisy-robust", run_daisy_robust},
    experiment{"daisy-weighted", run_daisy_weighted},
    experiment{"acf-support", run_acf_support},
    experiment{"acf-not-support", run_acf_not_support},
    experiment{"acf-figures", run_acf_figures, true},
    experiment{"acf-attack-cyclic", run_acf_attack_cyclic},
    experiment{"acf-attack-swapping", run_acf_attack_swapping},
    experiment{"acf-attack-birthday", run_acf_attack_birthday},
    experiment{"one-line", run_one_line},
    experiment{"broom-replay", run_broom_replay},
    experiment{"sustained-guard", run_sustained_guard},
    experiment{"daisy-broom", run_daisy_broom},
    experiment{"growth", run_growth},
};

}  // namespace

result<void> refuse_filter(std::string_view id, const run_options& options) noexcept {
    if (options.filter.empty()) return {};
    return error::make(error_code::invalid_argument, "filter %s: %.*s is about no filter and takes none",
                       options.filter.c_str(), static_cast<int>(id.size()), id.data());
}

result<void> refuse_traces(const experiment& asked, const run_options& options) noexcept {
    const auto named = [&]() -> const std::string* {
        for (const std::string* each : {&options.trace_path, &options.data_directory, &options.columns}) {
            if (!each->empty()) return each;
        }
        return nullptr;
    }();
    if (asked.replays_traces || named == nullptr) return {};
    return error::make(error_code::invalid_argument, "'%.120s': %.*s replays no trace and takes none", named->c_str(),
                       static_cast<int>(asked.id.size()), asked.id.data());
}

std::span<const experiment> all_experiments() noexcept {
    return experiments;
}

const experiment* find_experiment(std::string_view id) noexcept {
    const auto* const found = std::ranges::find(experiments, id, &experiment::id);
    return found == experiments.end() ? nullptr : found;
}

}  // namespace genista::lab
