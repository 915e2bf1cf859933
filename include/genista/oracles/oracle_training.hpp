// train_model: from two logs to an oracle_model, whichever oracle was asked for.
//
//     score    n-grams, 8-bit weights (score_training.hpp): knows strangers by their looks; profile of the keys it held out
//
// The tables that remember keys count draws. Their profile is of draws, too: every fourth draw of each log is kept from the
// counting, so that the share of keys that the oracle does not know is the one that a filter will meet.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "genista/oracles/oracle_model.hpp"

namespace genista {

enum class oracle_kind : std::uint8_t { score };
inline constexpr std::array all_oracle_kinds = {oracle_kind::score};

[[nodiscard]] std::string_view to_string(oracle_kind kind) noexcept;

struct training_options {
    oracle_kind kind = oracle_kind::score;
    // Of the score model's weights, or of a sketch's counters: the oracle's bytes without a few hundred for what surrounds them.
    std::uint64_t bytes = 16'384;
    double universe = 0x1p60;  // keys that there might be
    std::uint64_t seed = 1;
    std::function<void(double)> progress = [](double) {};  // called with the share done, 0..1
};

// Draws of the input, draws of the queries, repetitions included. Neither may be empty.
[[nodiscard]] result<oracle_model> train_model(const training_options& options, std::span<const key_view> inserts,
                                               std::span<const key_view> queries) noexcept;

}  // namespace genista
