// Content that was made up for the tests of pages: an attack matrix with every kind of cell; a run
// of `genista guard`, three phases and five filters, with numbers of a realistic size and
// timelines; and a page of strings that a browser could take for something else: markup, ends of
// scripts, control characters, broken UTF-8.
//
// Nothing here was measured. In the run, rates follow the textbook (a Bloom filter errs at a fixed
// rate, a broom filter once for each false positive), times are invented, and a fixed seed adds a
// little noise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lab/games/attack_matrix.hpp"
#include "lab/report/page.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

[[nodiscard]] inline nlohmann::ordered_json made_up_cell(const std::string& adversary, const std::string& filter,
                                                         std::uint64_t right, std::uint64_t guesses) {
    return {{"adversary", adversary},       {"filter", filter},     {"why", ""},
            {"promised", lab::matrix_rate}, {"keys", 45},           {"games", 2},
            {"guesses", guesses},           {"right", right},       {"negatives", 400'000},
            {"false_positives", 1'200},     {"false_negatives", 0}, {"operations", 400'100},
            {"range_reads", 1'200},         {"capacity", 45}};
}

// Three adversaries and three filters: sturdy never loses, middling loses some, frail loses, and
// denies a stored key if asked to.
[[nodiscard]] inline std::vector<lab::matrix_cell> made_up_cells(bool with_denied_key = false) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const char* const adversary : {"fresh", "repeat-one", "growth-replay"}) {
        const std::string by = adversary;
        rows.push_back(made_up_cell(by, "sturdy", 31, 9'000));
        rows.push_back(made_up_cell(by, "middling", by == "repeat-one" ? 640 : 20, 8'000));
        rows.push_back(made_up_cell(by, "frail_and_long_of_name", by == "fresh" ? 10 : 5'000, 5'000));
        if (by == "growth-replay") {  // frail cannot grow
            rows.back()["guesses"] = rows.back()["right"] = rows.back()["negatives"] = rows.back()["false_positives"] =
                0;
            rows.back()["why"] = "frail does not grow";
        }
        if (by == "fresh" && with_denied_key) rows.back()["false_negatives"] = 2;
    }
    rows[0]["guesses"] = rows[0]["right"] = 0;  // no claims
    return lab::matrix_from_json(rows);
}

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

using namespace std::string_view_literals;

inline const std::string hostile{
    "</script></title></style><img src=x onerror=alert(1)>\"'><!--<script>"
    "&amp;\\u003c\0\x1b\xFF\xC0\xBC\xE2\x80\xA8${1}`"sv};

// The string is in every place of a page that takes one, and the numbers are extreme.
[[nodiscard]] inline lab::report::page hostile_page() {
    using namespace lab::report;  // NOLINT(google-build-using-namespace): a list of its structs
    constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1, 0};
    const axis any{hostile, true, unit::percent};
    const line_chart line{
        hostile,
        hostile,
        any,
        any,
        {0, 1, 2, odd[1]},
        {{hostile, {odd[0], odd[1], odd[2], odd[3]}, {odd[0], odd[1], -9, 0}, {1, 2, 3, odd[0]}}, {"", {}, {}, {1}}}};
    const scatter_chart cloud{
        hostile, hostile, any, any, {{hostile, {{hostile, odd[0], 1}, {hostile, 2, 3}}}, {"", {}}}};
    const bar_chart bars{hostile, hostile, any, {hostile, ""}, {{hostile, {5, odd[0]}}, {"", {}}}, true};
    const table rows{hostile, {{hostile}, {hostile, true}}, {{hostile, hostile}, {}}};
    const heat_map map{
        hostile,
        hostile,
        hostile,
        {hostile, ""},
        {{hostile, hostile, {{hostile, hostile, hostile, odd[1], true}, {hostile, "\n", hostile, -7, false}}},
         {"", "", {{}, {hostile, hostile, hostile, 7, false}, {"surplus"}}}},
        {{odd[0], hostile}, {0.5, hostile}}};
    const code_block code{hostile, hostile};
    page made;
    made.title = made.lead = made.warning = made.highlight = hostile;
    made.facts = {{hostile, hostile, hostile, true}};
    made.sections = {{hostile, hostile, {line, cloud, bars, rows, map, code}}};
    made.data = {{hostile, hostile}};
    return made;
}

}  // namespace genista::test
