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
#pragma once

#include <nlohmann/json.hpp>

#include "lab/report/page.hpp"

namespace genista::lab::report {

// Total: what is missing or of another type is a dash in its table and a gap in its chart, and a
// chart without a single number is left out. The headline is computed: it states what the numbers
// show, also where ours lose.
[[nodiscard]] page guard_page(const nlohmann::ordered_json& document);

}  // namespace genista::lab::report
