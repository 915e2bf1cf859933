// The two halves of the experiment adaptive-cascade: the game, and a life of n queries. See
// adaptive_cascade.cpp.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "genista/filters/cascade.hpp"
#include "lab/experiment.hpp"
#include "lab/games/arena.hpp"

namespace genista::lab {

// ---- the game: adaptive_cascade_game.cpp -------------------------------------------------------

struct cascade_game {
    double rate = 0;
    score all{};
    std::string won_by{};      // adversaries that had more hits than ε explains
    std::string control{};     // those that a Bloom filter lost to
    bool control_lost = true;  // to each of the repeaters
    bool kept = false;
};

// Every adversary that a filter without growth can play, at one rate, `effort` queries each.
[[nodiscard]] cascade_game play_cascade_game(double rate, std::uint64_t effort, std::uint64_t seed,
                                             nlohmann::json& series);

// ---- a life of n queries: adaptive_cascade_life.cpp --------------------------------------------

// The reads of R by one kind of operation, new hash functions apart.
struct cascade_reads {
    std::uint64_t operations = 0, range_reads = 0, point_reads = 0, most_reads = 0;

    [[nodiscard]] double each() const noexcept {
        return operations == 0 ? 0 : static_cast<double>(range_reads + point_reads) / static_cast<double>(operations);
    }
};

struct cascade_life {
    double rate = 0;
    std::uint64_t keys = 0;
    double bits_before = 0, bits_after = 0, bits_at_last = 0;  // a key: full, after n queries, after 3 n and churn
    cascade_details after{};                                   // n queries
    std::vector<std::vector<double>> come{};                   // n_i / n after each tenth of the n queries
    std::vector<double> reached{};                             // share of fresh look-ups that reach level i
    std::uint64_t queries = 0, false_positives = 0, false_negatives = 0, rebuilds = 0;
    cascade_reads inserts{}, negatives{}, fixes{}, erases{};

    // [broom17 §5]: E n_1, and for later levels the paper's bound on it, ε_(i-1) n_(i-1).
    [[nodiscard]] double expected(std::size_t level) const noexcept;
    [[nodiscard]] unsigned levels_used() const noexcept;
};

[[nodiscard]] cascade_life live_cascade(std::uint64_t keys, double rate, cascade_rates rates, std::uint64_t seed);

}  // namespace genista::lab
