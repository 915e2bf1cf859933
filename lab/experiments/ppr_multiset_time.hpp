// What Theorem 1.1 of [ppr05] says about time, counted in instructions. ppr_multiset.cpp judges it
// with the rest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace genista::lab {

struct multiset_time_at {
    std::uint64_t keys = 0;
    double look_up = 0, dearest_look_up = 0;  // mean and dearest of the sample, half of it numbers that are there
    double insert = 0, erase = 0;             // mean, over the second half of the growth and the first of the way back
    double dearest_insert = 0, dearest_erase = 0;
};

struct multiset_time_seen {
    std::vector<multiset_time_at> sizes;
    struct count_at {
        std::uint64_t count = 0;
        double taken = 0, allowed = 0;
    };
    std::vector<count_at> counts;
    // Rivals, run and counted alike.
    count_at control_count{};        // std::multiset::count
    double control_look_up[2] = {};  // std::map::find at the smallest and the largest n
    double control_dearest = 0;      // of std::unordered_map
    [[nodiscard]] double growth(double multiset_time_at::*value) const;
    [[nodiscard]] double dearest() const;
    [[nodiscard]] bool kept() const;
    [[nodiscard]] bool controls_failed() const;
    [[nodiscard]] std::string told() const;
    [[nodiscard]] nlohmann::json rows() const;
    [[nodiscard]] nlohmann::json control() const;
};

// The limits. They were written when similar figures of optimal_filter were known. The dearest
// update is judged by its size alone: which updates are dear is found by their times, so that
// another run finds others.
inline constexpr double multiset_flat_look_up = 1.25;    // mean, from any n to a larger one
inline constexpr double multiset_most_look_up = 2'000;   // the dearest of the sample
inline constexpr double multiset_flat_update = 1.5;      // mean, from any n to a larger one
inline constexpr double multiset_most_update = 100'000;  // the dearest, at any n

// Throws workload_error where instructions cannot be counted.
[[nodiscard]] multiset_time_seen measure_multiset_time(bool quick, std::uint64_t seed);

}  // namespace genista::lab
