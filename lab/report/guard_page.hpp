// The report of `genista guard`, made of its JSON: what the filters cost in reads, bits and time,
// phase by phase.
//
//     {"run": {"keys": 1000000, ...},
//      "phases": [{"name": "replay attack", "about": "what was asked",
//                  "rows": [{"filter": "broom", "bits_per_key", "queries", "absent",
//                            "wasted_reads", "repeated_wasted_reads", "queries_per_second",
//                            "p50_us", "p99_us", "p999_us",
//                            "false_negatives", "false_positive_rate",
//                            "timeline": {"queries": [...], "wasted_reads": [...]}
//                           }]}]}
//
// Optional: run, about, false_positive_rate, timeline (running totals).
//
// In three steps: the run read back from its JSON, numbers where there are numbers, NaN where there
// are none; what it shows, in words: computed sentences, not slogans; and the page.
#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lab/report/page.hpp"

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

// The filter a report is about, and the one it is measured against.
struct guard_pair {
    const guard_phase* phase = nullptr;
    const guard_row* ours = nullptr;
    const guard_row* rival = nullptr;

    // Queries per second of ours for one of the rival's; NaN if not both were measured.
    [[nodiscard]] double speed() const noexcept;
};

// "broom", or the first filter whose name starts with it; empty if there is none.
[[nodiscard]] std::string guarded_by(const guard_run& run);

// One pair for each phase that has both; an attack is first, because a guard is made for attacks.
[[nodiscard]] std::vector<guard_pair> pairs_of(const guard_run& run);

// "rocksdb_bloom" as it is, "replay_attack" as "replay attack".
[[nodiscard]] std::string phase_words(std::string_view name);

// The finding of the first pair in a sentence, then one for each other phase.
[[nodiscard]] std::string headline(const guard_run& run);

// Filters that denied a key they held, by name and count; empty if there was none.
[[nodiscard]] std::string lies_in_words(const guard_run& run);

[[nodiscard]] std::vector<fact> key_figures(const guard_run& run);

// Total: what is missing or of another type is a dash in its table and a gap in its chart, and a
// chart without a single number is left out. The headline is computed: it states what the numbers
// show, also where ours lose.
[[nodiscard]] page guard_page(const nlohmann::ordered_json& document);

}  // namespace genista::lab::report
