// The parts of daisy-broom: wasted reads at equal bits, wrong oracles under replay, and the
// adversaries of the lab against the bands. See daisy_broom.cpp for their limits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/games/arena.hpp"

namespace genista::lab {

struct equal_bits_seen {
    std::uint64_t keys = 0, queries = 0;
    double broom_bits = 0, daisy_bits = 0;                // a key, all local state, at the end
    std::uint64_t broom_wasted = 0, daisy_wasted = 0;     // reads, by the same fresh queries
    double broom_keys_a_read = 0, daisy_keys_a_read = 0;  // that a range read visited to learn
    double parameter = 0;                                 // ε′
    double expected_rate = 0;                             // by the plan
    double lower_bound_bits = 0;                          // LB(ε′) a key
    std::vector<unsigned> rate_bits{};                    // of the bands
    [[nodiscard]] double gain() const {
        return static_cast<double>(broom_wasted) / static_cast<double>(daisy_wasted == 0 ? 1 : daisy_wasted);
    }
};
struct equal_bits_plan {
    std::uint64_t keys = 100'000, queries = 4'000'000;
    double broom_rate = 0x1p-12;
    bool without_odds = false;  // an oracle with the same odds for every key: the control
    std::uint64_t seed = 1;
};
[[nodiscard]] equal_bits_seen compare_at_equal_bits(const equal_bits_plan& plan,
                                                    const std::function<void(double)>& progress);

struct replayed_oracle {
    std::string oracle;
    std::uint64_t pool = 0, asked = 0;    // mistakes found, and queries that it took
    std::uint64_t of_class_0 = 0;         // of them
    std::vector<std::uint64_t> wasted{};  // by round
    std::uint64_t denied = 0;             // stored keys
    bool sound = false;                   // audit
    double bits_per_key = 0;
    bool drifted = false;
    [[nodiscard]] double share(std::size_t round) const {
        return static_cast<double>(wasted[round]) / static_cast<double>(pool == 0 ? 1 : pool);
    }
};
// Right, wrong by 4× in three ways, constant, shuffled, swapped, and one that calls every key
// nearly certain.
[[nodiscard]] std::vector<replayed_oracle> replay_under_wrong_oracles(std::uint64_t keys, std::uint64_t pool,
                                                                      std::size_t rounds, std::uint64_t seed,
                                                                      const std::function<void(double)>& progress);
// The share of a pool that is a false positive again in a filter that does not learn.
struct replay_controls {
    double bloom = 0, daisy_bloom = 0;
};
[[nodiscard]] replay_controls replay_without_learning(std::uint64_t keys, std::uint64_t pool, std::uint64_t seed);

// An adversary that has the oracle asks for absent keys of class 0, many more than the list of
// exceptions holds, and again in every round.
struct class_0_replay {
    std::string plan;  // made with the oracle that calls every key nearly certain, or with the right one
    std::uint64_t keys = 0, pool = 0;      // distinct absent keys
    std::uint64_t list_holds = 0;          // mistakes
    std::vector<std::uint64_t> wasted{};   // by round
    std::vector<std::uint64_t> control{};  // with a list that may not give way to a band
    std::uint64_t most_range_reads = 0;    // of one adapt
    double most_bits = 0, last_bits = 0;   // for class 0, a key: list and band together, at most and in the end
    std::uint64_t denied = 0;
    bool sound = false;
};
[[nodiscard]] std::vector<class_0_replay> replay_class_0(std::uint64_t keys, std::uint64_t pool, std::size_t rounds,
                                                         std::uint64_t seed,
                                                         const std::function<void(double)>& progress);

struct band_game {
    std::string adversary;
    unsigned rate_bits = 0;
    score seen;
    std::uint64_t most_plausible = 0, most_plausible_guesses = 0;
    [[nodiscard]] bool kept() const noexcept {
        return seen.false_positives <= most_plausible && seen.right_guesses <= most_plausible_guesses;
    }
};
// Each adversary against each of two bands.
[[nodiscard]] std::vector<band_game> play_against_bands(std::uint64_t effort, std::uint64_t seed,
                                                        const std::function<void(double)>& progress);

}  // namespace genista::lab
