// Controls of the ADAPTIVITY-GAME: filters that must lose it. Each lacks something that the broom
// filter has, and the attack named beside it shows why that part is needed. An attack that does not
// win here proves nothing where it loses. And controls of experiments: the same measurement of a
// broom filter that lacks a rule.
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
#include "lab/workloads/broom_runs.hpp"

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
// Filters that never learn. controls.cpp
[[nodiscard]] std::vector<control_outcome> play_local_filters(const control_plan& plan);
// A broom filter whose hash function is public. unkeyed_hash.cpp
[[nodiscard]] std::vector<control_outcome> play_unkeyed_hash(const control_plan& plan);

[[nodiscard]] std::vector<control_outcome> play_controls(const control_plan& plan);  // all of them

// Sets `won`.
void judge(control_outcome& played) noexcept;

// The controls of experiments. dropped_rules.cpp
// broom-invariant: colliding inserts extend instead of renewing (law L3), so that two slots come to
// share a base.
[[nodiscard]] invariant_seen drive_and_audit_extending_inserts(double rate, std::uint64_t steps, std::uint64_t seed);
// broom-property10: erases leave nothing behind (law L2).
[[nodiscard]] property_seen try_to_collide_again_without_history(std::uint64_t steps, std::uint64_t seed);
[[nodiscard]] reinsertion_seen delete_and_reinsert_without_history(std::uint64_t capacity, const reinsertion_plan& plan,
                                                                   std::uint64_t seed);
// broom-replay: nothing is repaired (law L4).
[[nodiscard]] replay_seen find_and_replay_without_adapting(std::uint64_t capacity, double load, std::uint64_t wanted,
                                                           std::size_t rounds, std::uint64_t seed);
// broom-space: the memory of a side block is never used again.
[[nodiscard]] attack_added attack_leaking_broom(std::uint64_t keys, double adapts_per_key, std::uint64_t seed);
// growth: the sweep leaves one bin behind.
[[nodiscard]] growth_seen grow_and_watch_skipping_a_bin(std::uint64_t capacity, std::uint64_t keys, std::uint64_t seed);

}  // namespace genista::lab
