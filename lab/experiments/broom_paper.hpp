// The halves of the broom experiments that measure broom_paper, the structure of the paper:
// `--filter broom_paper`.
//
// Each in a file of its own, broom_paper_X.cpp beside broom_X.cpp. They judge by the paper's
// promise, not by what our own layout reaches. All use rates for which the design is the same for
// every n that is measured.
#pragma once

#include "lab/experiment.hpp"

namespace genista::lab {

inline constexpr double paper_small_rate = 0x1p-7;   // r ≤ 2 log log n from n = 2600 on [broom18 §5.3]
inline constexpr double paper_large_rate = 0x1p-10;  // r > 2 log log n below n = 2^32 [§5.4]

// The measurement of the filter that was named: ours, if none was.
template <outcome (*Ours)(const run_options&), outcome (*Papers)(const run_options&)>
[[nodiscard]] outcome either(const run_options& options) {
    return options.filter == "broom_paper" ? Papers(options) : Ours(options);
}

[[nodiscard]] outcome measure_paper_invariant(const run_options& options);
[[nodiscard]] outcome measure_paper_property10(const run_options& options);
[[nodiscard]] outcome measure_paper_remote(const run_options& options);
[[nodiscard]] outcome measure_paper_space(const run_options& options);
[[nodiscard]] outcome measure_paper_time(const run_options& options);
[[nodiscard]] outcome measure_paper_overflow(const run_options& options);

}  // namespace genista::lab
