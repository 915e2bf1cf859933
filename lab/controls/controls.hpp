// Controls of the ADAPTIVITY-GAME: filters that must lose it. Each lacks something that the broom
// filter has, and the attack named beside it shows why that part is needed. An attack that does not
// win here proves nothing where it loses.
//
// The files of this directory are compiled with GENISTA_BROOM_FAULTS: their broom filter is the
// variant whose rules can be switched off. This header names no filter, so that both variants may
// include it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/games/arena.hpp"

namespace genista::lab {

struct control_outcome {
    std::string name;  // what is missing
    std::string attack;
    double rate = 0;  // what the whole filter promises
    score played{};
    bool must_win = true;  // else it is reported only
    bool won = false;      // by the rule for rates: more right guesses than ε explains
    std::string note{};    // remarks: why it could not be played, what was seen

    [[nodiscard]] double win_rate() const noexcept {
        return played.guesses == 0 ? 0
                                   : static_cast<double>(played.right_guesses) / static_cast<double>(played.guesses);
    }
};

struct control_plan {
    std::uint64_t seed = 1;
    double effort = 1;  // of the budget of each; 1 is enough to win with a wide margin
    std::function<void(double)> progress = [](double) {};
    std::string only;  // if not empty: the control of this name alone
};

// One for each rule of the epoch law; and the soft history, which is reported. dropped_rules.cpp
[[nodiscard]] std::vector<control_outcome> play_dropped_rules(const control_plan& plan);
// Filters that never learn. local_filters.cpp
[[nodiscard]] std::vector<control_outcome> play_local_filters(const control_plan& plan);
// A broom filter whose hash function is public. unkeyed_hash.cpp
[[nodiscard]] std::vector<control_outcome> play_unkeyed_hash(const control_plan& plan);

[[nodiscard]] std::vector<control_outcome> play_controls(const control_plan& plan);  // all of them

// Sets `won`.
void judge(control_outcome& played) noexcept;

}  // namespace genista::lab
