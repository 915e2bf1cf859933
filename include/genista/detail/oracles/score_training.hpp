// train_score: from a log of inserts and a log of queries to a score_oracle, a model of a few
// kilobytes that separates the two.
//
//     split      by key: about a fifth of the keys, whatever their draws, is held out (held_out()
//                below)
//     choose     settings, and optionally the size: fitted to four fifths of the rest and judged by
//                the other fifth (src/oracles/score_steps.hpp has the rule)
//     fit        logistic regression by stochastic gradient descent over all that is not held out,
//                AdaGrad's steps, a little L2; both logs count alike
//     quantise   weights to 8 bits: the largest becomes 127, or one that only four of 1024 exceed
//     calibrate  the held-out draws, sorted by score, are cut into at most 64 bins of about equal
//                size; neighbours whose ratio q / p does not fall are pooled (isotonic regression).
//                Half a draw of each kind is added to each pool, so that neither share is ever zero
//
// Held out by key and not by draw: a key that is queried a million times would otherwise be fitted
// in training, and the bins would promise more than absent keys keep. Keys in both logs are no
// problem: they count as queried and as stored. The choice of settings has its own keys for the
// same reason: the best of many candidates is lucky with the keys that chose it.
//
// The same options and logs give the same model, byte for byte, on every machine with IEEE
// arithmetic and with every instruction set: no bit of training or scoring (score_oracle.hpp, I1)
// depends on a library or on the compiler.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "genista/oracles/score_oracle.hpp"

namespace genista {

// How a model is fitted. The search begins with the defaults, and logs that are too short to choose
// by get them. Believed: the middle of each range.
struct score_settings {
    static constexpr double max_step = 10, max_shrinkage = 1;
    static constexpr unsigned max_epochs = 1000, max_clipped = 512;

    unsigned longest_ngram = 4;  // bytes, 1..8
    double step = 0.1;           // of a weight that has not moved yet, about; above 0
    double shrinkage = 1e-3;     // L2
    unsigned epochs = 8;
    unsigned clipped = 0;  // so many of 1024 weights are larger than the one that becomes 127

    friend bool operator==(const score_settings&, const score_settings&) = default;
};

struct score_choice {
    std::uint64_t weights = 0;
    score_settings settings{};
    // LB on the judging keys, the mean of three rates (score_steps.hpp). 0 if nothing was judged.
    double bits_a_key = 0;
    bool is_judged = false;  // false: given by the caller, or too few keys to judge by
};

struct score_options {
    static constexpr std::uint64_t chosen_weights = 0, fewest_chosen = 1024, most_chosen = std::uint64_t{1} << 20;

    // One byte each; the bins take up to 1.3 KB more. chosen_weights: training chooses, for a
    // filter of `keys` keys, and takes fewest_chosen if the logs are too short to choose by.
    std::uint64_t weights = 16'384;
    std::uint64_t keys = 0;                    // 0: the number of inserts
    std::optional<score_settings> settings{};  // none: chosen
    std::size_t bins = score_oracle::max_bins;
    double universe = score_oracle::usual_universe;
    // At most so many draws of each log are used, evenly spread; settings are chosen by 2^16 of
    // them.
    std::uint64_t most_draws = std::uint64_t{1} << 20;
    std::uint64_t seed = 1;
    // Called now and then with the share done, 0..1.
    std::function<void(double)> progress = [](double) {};
};

struct trained_score {
    score_oracle oracle;
    score_choice choice;
    std::uint64_t fitted_stored = 0, fitted_asked = 0;          // draws that the weights were fitted to
    std::uint64_t calibrated_stored = 0, calibrated_asked = 0;  // draws that made the bins
    // False: there were too few keys to hold any out, and the same draws made weights and bins.
    bool is_held_out = true;
};

// Whether training keeps this key for the calibration. About every fifth is kept.
[[nodiscard]] bool held_out(key_view key, std::uint64_t seed) noexcept;

// Draws of the input and draws of the queries, with repetitions. Neither may be empty.
[[nodiscard]] result<trained_score> train_score(const score_options& options, std::span<const key_view> stored,
                                                std::span<const key_view> asked) noexcept;

}  // namespace genista
