// train_model: from two logs to an oracle_model, whichever oracle was asked for.
//
//     score          n-grams, 8-bit weights (score_training.hpp): knows absent keys by their looks
//     exact          a table of every key that came, and how often (exact_oracle.hpp)
//     count_min,     two sketches, one of each log, half of the bytes each, five rows
//                    (sketch_oracle.hpp)
//     count_sketch
//
// A profile must be of draws that the oracle was not made from, or it promises what absent keys do
// not keep. The score model holds out about every fifth *key*: it shall know keys that never came.
// The others know keys that came before, and hold out about every fifth *draw*: the share of draws
// they know nothing of is then the one that a filter will meet. Logs of fewer than 160 draws are
// used whole, and the model says so.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "genista/detail/oracles/score_training.hpp"
#include "genista/oracles/oracle_model.hpp"

namespace genista {

enum class oracle_kind : std::uint8_t { score, exact, count_min, count_sketch };
inline constexpr std::array all_oracle_kinds = {oracle_kind::score, oracle_kind::exact, oracle_kind::count_min,
                                                oracle_kind::count_sketch};

[[nodiscard]] std::string_view to_string(oracle_kind kind) noexcept;

struct training_options {
    static constexpr std::uint64_t min_bytes = score_oracle::min_weights, max_bytes = score_oracle::max_weights;

    oracle_kind kind = oracle_kind::score;
    // Of the score model's weights, or of both sketches' counters; the exact table takes what it
    // takes. chosen_bytes, for the score model alone: the size that makes model and filter smallest
    // together (score_training.hpp).
    static constexpr std::uint64_t chosen_bytes = score_options::chosen_weights;
    std::uint64_t bytes = 16'384;
    std::uint64_t keys = 0;              // of the filter that bytes are chosen for; 0: as many as there are inserts
    double universe = unknown_universe;  // keys that there might be
    // All randomness, the hash key of tables and sketches too: a caller that has it can make keys
    // collide there, which costs rate or bits but never a false negative. Take a secret one against
    // people who would.
    std::uint64_t seed = 1;
    std::function<void(double)> progress = [](double) {};  // called with the share done, 0..1
    // Called with how a score model was trained.
    std::function<void(const score_choice&)> chose = [](const score_choice&) {};
};

// Draws of the input, draws of the queries, repetitions included. Neither may be empty.
[[nodiscard]] result<oracle_model> train_model(const training_options& options, std::span<const key_view> inserts,
                                               std::span<const key_view> queries) noexcept;

// An exact table of known probabilities: two lists of the same keys, each of which
// sums to about one. The profile is drawn from them.
[[nodiscard]] result<oracle_model> model_of_odds(std::span<const weighted_key> stored,
                                                 std::span<const weighted_key> asked, std::uint64_t seed) noexcept;

}  // namespace genista
