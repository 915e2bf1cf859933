// The experiments, one function each, defined in the file of the same name; registry.cpp lists
// them.
#pragma once

#include "lab/experiment.hpp"

namespace genista::lab {

result<outcome> run_broom_game(const run_options& options);
result<outcome> run_broom_gap(const run_options& options);
result<outcome> run_broom_invariant(const run_options& options);
result<outcome> run_broom_property10(const run_options& options);
result<outcome> run_broom_remote(const run_options& options);
result<outcome> run_broom_space(const run_options& options);
result<outcome> run_broom_time(const run_options& options);
result<outcome> run_broom_rotation(const run_options& options);
result<outcome> run_broom_overflow(const run_options& options);
result<outcome> run_broom_small(const run_options& options);
result<outcome> run_broom_large(const run_options& options);
result<outcome> run_broom_words(const run_options& options);
result<outcome> run_local_lower_bound(const run_options& options);
result<outcome> run_whitelist(const run_options& options);
result<outcome> run_adaptive_cascade(const run_options& options);
result<outcome> run_adaptive_bloom(const run_options& options);
result<outcome> run_ppr_reduction(const run_options& options);
result<outcome> run_ppr_counter(const run_options& options);
result<outcome> run_ppr_multiset(const run_options& options);
result<outcome> run_ppr_filter(const run_options& options);
result<outcome> run_ppr_cleary(const run_options& options);
result<outcome> run_ppr_spectral(const run_options& options);
result<outcome> run_ppr_bloomier(const run_options& options);
result<outcome> run_ppr_lossy(const run_options& options);
result<outcome> run_daisy_k(const run_options& options);
result<outcome> run_daisy_lb(const run_options& options);
result<outcome> run_daisy_bloom(const run_options& options);
result<outcome> run_daisy_fingerprint(const run_options& options);
result<outcome> run_daisy_sampling(const run_options& options);
result<outcome> run_daisy_robust(const run_options& options);
result<outcome> run_daisy_weighted(const run_options& options);
result<outcome> run_one_line(const run_options& options);
result<outcome> run_broom_replay(const run_options& options);
result<outcome> run_sustained_guard(const run_options& options);
result<outcome> run_daisy_broom(const run_options& options);
result<outcome> run_growth(const run_options& options);
result<outcome> run_acf_support(const run_options& options);
result<outcome> run_acf_not_support(const run_options& options);
result<outcome> run_acf_figures(const run_options& options);
result<outcome> run_acf_attack_cyclic(const run_options& options);
result<outcome> run_acf_attack_swapping(const run_options& options);
result<outcome> run_acf_attack_birthday(const run_options& options);

}  // namespace genista::lab
