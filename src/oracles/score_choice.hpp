// score_choice: the first step of training a score model: its settings and its size, chosen by keys
// that are used neither to fit nor to calibrate.
//
//     settings   one after the other, n-grams, step, shrinkage, the best of each kept: 12 fits.
//                Each is judged after 2, 4, 8 and 16 epochs, as long as more epochs help, and with
//                and without clipping
//     judged by  bits_a_key() (score_bins.hpp), its mean over the rates 2^-6, 2^-8, 2^-10
//     size       1 KB to 1 MB of weights, each four times the one before: the size for which model
//                and filter together take the fewest bytes
//
// One setting at a time and not all combinations: 12 fits instead of 100. Believed: the settings
// hardly depend on each other.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "genista/detail/oracles/score_training.hpp"
#include "oracles/score_fit.hpp"

namespace genista {

struct score_choice_terms {
    std::uint64_t weights = 0;  // 0: chosen as well
    double keys = 0;            // of the future filter, if the size is to be chosen
    std::size_t bins = score_oracle::max_bins;
    std::uint64_t seed = 1;
    std::function<void(double)> progress = [](double) {};
};

// REQUIRES: both spans have stored and queried draws.
[[nodiscard]] score_choice choose_score(const score_choice_terms& terms, std::span<const score_draw> fitted,
                                        std::span<const score_draw> judged);

// The bytes of a filter over such a model plus the model: daisy_bloom_filter's LB log e [daisy Thm
// 12] and the weights.
[[nodiscard]] double bytes_in_all(double keys, const score_choice& of) noexcept;

}  // namespace genista
