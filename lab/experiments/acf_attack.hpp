// What the three experiments about attacks on the cuckoo family share: games of one attack against
// one filter, counted and judged.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/games/contenders.hpp"

namespace genista::lab {

inline constexpr double least_win_share = 0.5;         // of the games, where a theorem says that the attack wins
inline constexpr double attacked_broom_rate = 0x1p-8;  // of the broom filter beside the others

struct attack_games {
    std::string filter;
    contender_plan made;
    unsigned games = 0;
    std::uint64_t wins = 0;   // the named key was a false positive
    std::uint64_t named = 0;  // games in which the adversary named one
    score seen{};
    double rate = 0;  // what the filter promises, for one query
    [[nodiscard]] double win_share() const noexcept { return games == 0 ? 0 : static_cast<double>(wins) / games; }
    // No more false positives, and no more right claims, than ε explains: what only the broom
    // filter promises.
    [[nodiscard]] bool stays_at_rate() const noexcept;
    [[nodiscard]] nlohmann::json row() const;
};

// The key that the adversary names in this game, if it does.
using attack = std::function<std::optional<std::uint64_t>(arena& at, std::uint64_t seed)>;

// Each game with a filter and a seed of its own.
[[nodiscard]] attack_games play_games(const std::string& filter, contender_plan plan, unsigned games, const attack& by,
                                      const std::function<void(double)>& progress);

// An error if a filter was named that no arena knows.
[[nodiscard]] result<void> check_contender(std::string_view id, const run_options& options);

}  // namespace genista::lab
