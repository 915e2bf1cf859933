// The measurements of broom-rotation and their limits. See broom_rotation.cpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace genista::lab {

// The bits of a repair do not depend on ε, and at this rate false positives are found soon.
inline constexpr double rotation_rate = 0x1p-5;
inline constexpr double over_the_law = 1.15;  // adaptivity bits
inline constexpr double most_of_log = 6;      // of log n: the fullest group
inline constexpr std::uint64_t phases_played = 4;

struct rotation_seen {
    std::uint64_t keys = 0;
    unsigned rehashed_by_adapt = 3;
    bool replaces = false;
    std::uint64_t longest_phase = 0, least_moved = 0;  // calls of ADAPT; keys
    std::uint64_t adapts = 0, most_ghosts = 0, phases = 0, rebuilds = 0;
    double bits_per_key = 0;  // the most at any checkpoint
    std::uint64_t fullest = 0;
    std::vector<std::uint64_t> histogram{};  // of groups, by their bits / bar_width

    [[nodiscard]] double log() const { return std::log2(static_cast<double>(keys)); }
    [[nodiscard]] double share_of_log() const { return static_cast<double>(fullest) / log(); }
    // Keys are inserted and erased at random: a twentieth more.
    [[nodiscard]] std::uint64_t most_calls() const {
        return 21 * (keys + 2 * most_ghosts) / (20 * rehashed_by_adapt) + 1;
    }
    // (2): L is the number of repairs that a phase may take, not the number that it took.
    [[nodiscard]] double lawful_bits() const {
        const double phase = static_cast<double>(replaces ? most_calls() : keys / rehashed_by_adapt + 1);
        const double added = 2 + 4 * rotation_rate * (rehashed_by_adapt + (replaces ? 1.0 : 0.0));
        return phase / static_cast<double>(keys) * added / 2;
    }
    [[nodiscard]] bool bits_kept() const { return bits_per_key <= over_the_law * lawful_bits(); }
    [[nodiscard]] bool groups_kept() const { return share_of_log() <= most_of_log && rebuilds == 0; }  // (3)
    [[nodiscard]] bool kept() const {
        const bool rotates = replaces ? longest_phase <= most_calls()
                                      : longest_phase == keys / rehashed_by_adapt + 1 && least_moved == keys;
        return rotates && bits_kept() && groups_kept() && phases == phases_played;
    }
    [[nodiscard]] nlohmann::json row() const {
        return {{"what", replaces ? "attack with replacements" : "attack"},
                {"keys", keys},
                {"rehashed_by_adapt", rehashed_by_adapt},
                {"repairs", adapts},
                {"phases", phases},
                {"longest_phase", longest_phase},
                {"longest_phase_allowed", most_calls()},
                {"least_keys_moved", least_moved},
                {"ghosts", most_ghosts},
                {"adaptivity_bits_per_key", bits_per_key},
                {"adaptivity_bits_allowed", over_the_law * lawful_bits()},
                {"fullest_group_bits", fullest},
                {"fullest_group_over_log_n", share_of_log()},
                {"histogram", histogram},
                {"rebuilds", rebuilds},
                {"kept", kept()}};
    }
};

}  // namespace genista::lab
