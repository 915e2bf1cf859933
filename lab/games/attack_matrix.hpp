// attack_matrix: every adversary of the lab against every filter that can be attacked, in the same
// game (arena.hpp).
//
//     for (const matrix_cell& each : *play_matrix({.quick = true, ...})) ...
//
// A row is an adversary, a column a filter.
//
// Each plays on the stage where it is strongest (adversary.hpp), in several games with hash keys of
// their own. All filters promise ε = 2^-8, or as little below it as their fingerprints allow. A
// cell is judged by the rule for rates (docs/papers.md): all queries of absent keys, and separately
// those on which the adversary staked its claim. It is a survey and no proof: a cell that holds has
// not lost to this adversary within this effort.
//
// The adversary chooses the size of its stage. A filter that is full before the attack is over gets
// twice the room, and twice again; one that promises its rate beyond its capacity (the broom
// filter) does not need it.
//
// I1  Outcomes depend on seed, mode and the two names alone: not on the other cells, the number of
//     processors or the time.
// I2  Every cell ends: an adversary that exceeds its effort several times is stopped, and
//     judged by what it has.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "lab/experiment.hpp"
#include "lab/games/arena.hpp"
#include "lab/statistics/binomial.hpp"

namespace genista::lab {

inline constexpr double matrix_rate = 0x1p-8;
inline constexpr double matrix_confidence = 0.95;
inline constexpr estimate matrix_row_estimate{3.5, 1.25, false};  // of one adversary against all filters

struct matrix_options {
    bool quick = false;
    std::uint64_t seed = 1;
    std::vector<std::string> adversaries{};  // empty: all
    std::vector<std::string> filters{};      // empty: all
    bool on_all_processors = true;
    std::function<void(double)> progress = [](double) {};
};

enum class verdict : std::uint8_t {
    holds,
    loses,        // more false positives than the promised rate explains
    denies,       // a stored key was denied: worse than any loss, and a bug
    cannot_play,  // the filter lacks an operation that the adversary needs, and had not lost before
};
[[nodiscard]] std::string_view to_string(verdict said) noexcept;

struct matrix_cell {
    std::string adversary;
    std::string filter;
    std::uint64_t keys = 0;      // of each game, at its beginning
    std::uint64_t capacity = 0;  // what the filter was made for
    std::uint64_t games = 0;
    double promised = 0;  // ε of this filter on this stage
    score seen{};
    verdict said = verdict::cannot_play;
    std::string why{};  // of cannot_play

    // The verdict is about the guesses; about all queries of absent keys where there were no
    // guesses, or where only the queries lost.
    [[nodiscard]] bool is_about_guesses() const noexcept;
    [[nodiscard]] std::uint64_t trials() const noexcept { return is_about_guesses() ? seen.guesses : seen.negatives; }
    [[nodiscard]] std::uint64_t hits() const noexcept {
        return is_about_guesses() ? seen.right_guesses : seen.false_positives;
    }
    [[nodiscard]] double rate() const noexcept;  // NaN without trials
    [[nodiscard]] interval within() const noexcept { return exact_interval(hits(), trials(), matrix_confidence); }
};

// Row by row, in the order of the options. An error for an unknown name.
[[nodiscard]] result<std::vector<matrix_cell>> play_matrix(const matrix_options& options);

[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<matrix_cell>& cells);
// What to_json made. Throws nlohmann::json::exception or std::out_of_range if it did not.
[[nodiscard]] std::vector<matrix_cell> matrix_from_json(const nlohmann::ordered_json& rows);

}  // namespace genista::lab
