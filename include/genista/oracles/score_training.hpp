// Training a score_oracle: from a log of inserts and a log of queries to a few kilobytes that tell them apart.
//
//     split      by key: about a fifth of the keys, whatever their draws, is held out (held_out() below)
//     fit        logistic regression by stochastic gradient descent over the rest, AdaGrad's steps, a little L2; both logs count alike
//     quantise   weights to 8 bits: the largest becomes 127
//     calibrate  the held-out draws, sorted by score, are cut into at most 64 bins of about equal size; neighbours whose ratio
//                q / p does not fall are pooled (isotonic regression). Half a draw of each kind is added to each of the first bins, so
//                that neither share is ever zero
//
// Held out by key and not by draw: a key that is asked a million times would otherwise be known in training, and the bins would promise
// more than strangers keep. Keys that are in both logs are no trouble: they are asked for, and they are stored.
//
// The same options and logs give the same model, with one build on one machine; training adds up floating-point numbers, and another
// compiler may round otherwise. Scoring is exact everywhere (score_oracle.hpp, I1).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "genista/oracles/score_oracle.hpp"

namespace genista {

struct score_options {
    std::uint64_t weights = 16'384;  // one byte each; the bins take up to 1.3 KB beside them
    // 0: 3 below 16 KB of weights, 4 from there on. Measured on held-out host names: longer n-grams only collide in a small table.
    unsigned longest_ngram = 0;
    std::size_t bins = score_oracle::max_bins;
    double universe = score_oracle::usual_universe;
    unsigned epochs = 6;
    // Of each log at most so many draws are looked at, evenly spread.
    std::uint64_t most_draws = std::uint64_t{1} << 20;
    std::uint64_t seed = 1;
    // Called now and then with the share done, 0..1.
    std::function<void(double)> progress = [](double) {};
};

struct trained_score {
    score_oracle oracle;
    std::uint64_t fitted_stored = 0, fitted_asked = 0;          // draws the weights come from
    std::uint64_t calibrated_stored = 0, calibrated_asked = 0;  // draws the bins come from
    // False: there were too few keys to hold any out, and the bins come from the same draws as the weights.
    bool is_held_out = true;
};

// Is this one of the keys that training keeps for the calibration? About every fifth is.
[[nodiscard]] bool held_out(key_view key, std::uint64_t seed) noexcept;

// Draws of the input and draws of the queries, repetitions included. Neither may be empty.
[[nodiscard]] result<trained_score> train_score(const score_options& options, std::span<const key_view> stored,
                                                std::span<const key_view> asked) noexcept;

}  // namespace genista
