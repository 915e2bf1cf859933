// The measurements of local-lower-bound, and their figures.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/adversaries/rounds.hpp"
#include "lab/games/remembering_bloom.hpp"
#include "lab/report/page.hpp"

namespace genista::lab {

inline constexpr std::array lower_bound_rates{0.25, 0.125, 0.0625, 0x1p-8};

// The number of keys, the size of the universe, the sizes of the filters.
struct bound_setting {
    std::uint64_t keys = 10'000;
    unsigned universe_bits = 64;
    std::uint64_t games = 4;
    double bits_from = 2, bits_to = 20, bits_step = 0.5;  // a key

    [[nodiscard]] bool universe_is_large() const noexcept;  // u > n^4, as the theorem asks
    [[nodiscard]] double log_log_u() const noexcept;
    [[nodiscard]] double log_n() const noexcept;
    [[nodiscard]] double bound_bits_per_key() const noexcept;  // min(log n, log log u)
};

// One filter under the attack, over all its games.
struct rounds_sample {
    double bits_per_key = 0;  // when the attack was over
    std::uint64_t first = 0, first_through = 0;
    std::uint64_t repeated = 0, repeated_through = 0;  // in the rounds after the first
    std::uint64_t false_negatives = 0;
    std::vector<std::uint64_t> through{};  // |FP_i| of the first game

    void add(const rounds_played& game);
    [[nodiscard]] double first_rate() const noexcept;
    [[nodiscard]] double sustained_rate() const noexcept;
    [[nodiscard]] bool keeps(double rate) const noexcept;  // by the rule for rates, first round and later ones
};

// A Bloom filter with a cache, and its result.
struct remembering_point {
    double asked_bits = 0;  // a key
    double bloom_share = 1;
    replacement replaces = replacement::oldest;
    unsigned kept_bits = 0;  // of a key remembered; 0: all
    rounds_sample seen{};
};

// Others under the same attack.
struct rival_point {
    std::string filter;
    double rate = 0;
    rounds_sample seen{};
};

struct bound_data {
    bound_setting setting{};
    std::vector<remembering_point> remembering{};
    std::vector<rival_point> rivals{};

    // The best of all with this many bits: one that keeps the rate, else the one with the least
    // rate.
    [[nodiscard]] const remembering_point* best(double asked_bits, double rate) const noexcept;
    // The least number of bits a key from which on the best one keeps the rate; none if even the
    // largest does not.
    [[nodiscard]] std::optional<double> threshold(double rate) const noexcept;
    [[nodiscard]] std::vector<double> sizes() const;
    [[nodiscard]] std::string name() const;
};

[[nodiscard]] std::vector<report::section> draw_bounds(const std::vector<bound_data>& all);

}  // namespace genista::lab
