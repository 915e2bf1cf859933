// A run of `genista guard` read back from its JSON: numbers where there are numbers, NaN where
// there are none.
#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace genista::lab::report {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct guard_row {
    std::string filter;
    double bits_per_key = unknown;
    double queries = unknown;
    double absent = unknown;
    double wasted_reads = unknown;
    double repeated_wasted_reads = unknown;
    double queries_per_second = unknown;
    double p50_us = unknown;
    double p99_us = unknown;
    double p999_us = unknown;
    double false_negatives = unknown;
    double wasted_share = unknown;  // of the absent queries: those that cost a read
    std::vector<double> timeline_queries;
    std::vector<double> timeline_wasted_reads;  // running total after so many queries; as long as the line above
};

struct guard_phase {
    std::string name;
    std::string about;  // what was asked in it, in a sentence; may be empty
    std::vector<guard_row> rows;

    // nullptr if there is none of that name.
    [[nodiscard]] const guard_row* row(std::string_view filter) const noexcept;
};

struct guard_run {
    std::vector<guard_phase> phases;
};

[[nodiscard]] guard_run read_guard_run(const nlohmann::ordered_json& document);

}  // namespace genista::lab::report
