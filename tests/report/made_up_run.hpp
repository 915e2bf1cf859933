// A made-up run of `genista guard`: three phases and five filters, with numbers of a realistic size
// and timelines.
//
// Nothing here was measured. Rates follow the textbook (a Bloom filter errs at a fixed rate, a
// broom filter once for each false positive), times are invented, and a fixed seed adds a little
// noise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/splitmix.hpp"

namespace genista::test {

struct made_up_phase {
    const char* name;
    double absent_share;
    double fresh_share;   // of the absent queries: those about a new key
    bool replays_errors;  // the others are false positives that an adversary repeats
};

struct made_up_filter {
    const char* name;
    double bits_per_key;
    double error_rate;
    bool adapts;
};

inline constexpr made_up_phase made_up_phases[] = {
    {"zipf", 0.9, 0.2, false}, {"half_present", 0.5, 1.0, false}, {"replay_attack", 1.0, 0.01, true}};
inline constexpr made_up_filter made_up_filters[] = {{"none", 0, 1, false},
                                                     {"rocksdb_bloom", 12.03, 0.0042, false},
                                                     {"rocksdb_ribbon", 12.01, 0.0009, false},
                                                     {"bloom", 12, 0.0039, false},
                                                     {"broom", 12.38, 0.0039, true}};

// Wasted reads after `queries` queries.
[[nodiscard]] inline double made_up_wasted(const made_up_phase& phase, const made_up_filter& filter, double queries) {
    const double absent = queries * phase.absent_share;
    const double fresh = absent * phase.fresh_share;
    if (filter.error_rate >= 1) return absent;
    if (filter.adapts)
        return std::floor(fresh * filter.error_rate + (phase.replays_errors ? 60 : 0) * (queries > 0 ? 1 : 0));
    if (phase.replays_errors) return std::floor((absent - fresh) + fresh * filter.error_rate);
    return std::floor(absent * filter.error_rate);
}

[[nodiscard]] inline nlohmann::ordered_json made_up_row(const made_up_phase& phase, const made_up_filter& filter,
                                                        splitmix& random, double queries, int samples) {
    const double absent = std::floor(queries * phase.absent_share);
    const double wasted = made_up_wasted(phase, filter, queries);
    const double first = std::min(wasted, std::floor(absent * phase.fresh_share * filter.error_rate));
    const double noise = 1 + 0.01 * static_cast<double>(random() % 10);
    const double reads = (queries - absent + wasted) / queries;
    const double seconds = queries * (0.6e-6 + reads * 18e-6) * noise;
    nlohmann::ordered_json row;
    row["filter"] = filter.name;
    row["bits_per_key"] = filter.bits_per_key;
    row["queries"] = static_cast<std::uint64_t>(queries);
    row["absent"] = static_cast<std::uint64_t>(absent);
    row["wasted_reads"] = static_cast<std::uint64_t>(wasted);
    row["repeated_wasted_reads"] = static_cast<std::uint64_t>(wasted - first);
    row["queries_per_second"] = queries / seconds;
    row["p50_us"] = (reads > 0.5 ? 16.2 : 0.41) * noise;
    row["p99_us"] = (reads > 0.01 ? 58.3 : 1.9) * noise;
    row["p999_us"] = (reads > 0.001 ? 131.7 : 24.5) * noise;
    row["false_negatives"] = 0;
    nlohmann::ordered_json& timeline = row["timeline"];
    for (int i = 0; i <= samples; ++i) {
        const double at = std::floor(queries * i / samples);
        timeline["queries"].push_back(static_cast<std::uint64_t>(at));
        timeline["wasted_reads"].push_back(static_cast<std::uint64_t>(made_up_wasted(phase, filter, at)));
    }
    return row;
}

[[nodiscard]] inline nlohmann::ordered_json made_up_run(double queries = 2e6, int samples = 200) {
    splitmix random{20240607};
    nlohmann::ordered_json document;
    document["run"] = {{"keys", 1000000},      {"value_bytes", 400},   {"cache_mb", 16}, {"layout", "clustered"},
                       {"error_rate", 0.0039}, {"direct_reads", true}, {"threads", 1},   {"seed", 1}};
    for (const made_up_phase& phase : made_up_phases) {
        nlohmann::ordered_json made{{"name", phase.name},
                                    {"about", "made up, to see what a report looks like"},
                                    {"rows", nlohmann::ordered_json::array()}};
        for (const made_up_filter& filter : made_up_filters)
            made["rows"].push_back(made_up_row(phase, filter, random, queries, samples));
        document["phases"].push_back(std::move(made));
    }
    return document;
}

}  // namespace genista::test
