// Games of one attack against one filter, counted and judged, for the three experiments about
// attacks on the cuckoo family.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/games/contenders.hpp"

namespace genista::lab {

inline constexpr double least_win_share = 0.5;         // of the games, where the attack wins by a theorem
inline constexpr double attacked_broom_rate = 0x1p-8;  // of the broom filter beside the others

struct attack_games {
    std::string filter;
    contender_plan made;
    unsigned games = 0;
    std::uint64_t wins = 0;   // the named key was a false positive
    std::uint64_t named = 0;  // games in which the adversary named a key
    score seen{};
    double rate = 0;  // promised by the filter, for one query
    [[nodiscard]] double win_share() const noexcept { return games == 0 ? 0 : static_cast<double>(wins) / games; }
    // No more false positives, and no more right claims, than ε explains. Only the broom filter
    // promises this.
    [[nodiscard]] bool stays_at_rate() const noexcept;
    [[nodiscard]] nlohmann::json row() const;
};

// The key that the adversary names in this game, if any.
using attack = std::function<std::optional<std::uint64_t>(arena& at, std::uint64_t seed)>;

// Each game with a filter and a seed of its own.
[[nodiscard]] attack_games play_games(const std::string& filter, contender_plan plan, unsigned games, const attack& by,
                                      const std::function<void(double)>& progress);

}  // namespace genista::lab
