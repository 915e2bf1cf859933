// The time bounds of Theorem 1.1 of [ppr05], counted in instructions. ppr_multiset.cpp judges them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace genista::lab {

struct multiset_time_at {
    std::uint64_t keys = 0;
    double look_up = 0, costliest_look_up = 0;  // mean and most expensive of the sample, half of it stored numbers
    double insert = 0, erase = 0;  // mean, over the second half of the growth and the first of the way back
    double costliest_insert = 0, costliest_erase = 0;
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
    double control_costliest = 0;    // of std::unordered_map
    [[nodiscard]] double growth(double multiset_time_at::*value) const;
    [[nodiscard]] double costliest() const;
    [[nodiscard]] bool kept() const;
    [[nodiscard]] bool controls_failed() const;
    [[nodiscard]] std::string summary() const;
    [[nodiscard]] nlohmann::json rows() const;
    [[nodiscard]] nlohmann::json control() const;
};

// The limits. They were written when similar figures of optimal_filter were known. The most
// expensive update is judged by its size alone: it is found by time, so that another run may find
// another.
inline constexpr double multiset_flat_look_up = 1.25;    // mean, from any n to a larger one
inline constexpr double multiset_most_look_up = 2'000;   // the most expensive of the sample
inline constexpr double multiset_flat_update = 1.5;      // mean, from any n to a larger one
inline constexpr double multiset_most_update = 100'000;  // the most expensive, at any n

// Throws workload_error where instructions cannot be counted.
[[nodiscard]] multiset_time_seen measure_multiset_time(bool quick, std::uint64_t seed);

}  // namespace genista::lab
