// Two runs side by side: what became faster or slower, with the machine taken out.
//
// Figures are matched by size, filter, threads and operation, and divided: new / old, medians both.
// A second ratio divides each by the floor of its own run first: a machine that is slower today
// slows the floor too, and the rest is due to the filter.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "genista/base/result.hpp"

namespace genista::tool::bench {

// One median of a report, with the floor of its run.
struct recorded_figure {
    std::uint64_t keys = 0;
    std::string filter;
    std::uint64_t threads = 1;
    std::string operation;  // a mix with its shares: "mix 90/10"
    double churn = 0;       // of a churned filter: different churn makes different filters
    double ns = 0;
    double floor_ns = 0;

    [[nodiscard]] bool same_thing(const recorded_figure& other) const;
};

struct recorded_run {
    double error_rate = 0;
    std::string hash;
    std::vector<recorded_figure> figures;
};

// From the document that report.hpp writes; the error names the field that is wrong.
[[nodiscard]] result<recorded_run> read_run(const nlohmann::ordered_json& document);
[[nodiscard]] result<recorded_run> load_run(const std::string& path);

struct comparison {
    recorded_figure before;
    recorded_figure now;

    [[nodiscard]] double ratio() const { return now.ns / before.ns; }
    [[nodiscard]] double ratio_over_floor() const { return ratio() / (now.floor_ns / before.floor_ns); }
};

// All that both have, in the order of the new run.
[[nodiscard]] std::vector<comparison> compare(const recorded_run& before, const recorded_run& now);

[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<comparison>& compared);
// `name` is that of the old run.
[[nodiscard]] std::string to_text(const std::string& name, const recorded_run& before, const recorded_run& now);

}  // namespace genista::tool::bench
