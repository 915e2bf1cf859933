// The page of `genista lab report`: which filter to trust with what, by the results of every
// experiment and attack.
//
// In this order: the finding in words, the attack matrix, every promise with what was
// measured, the papers' figures, and how all of it was run. The same content gives the same bytes:
// machine and durations are part of it.
//
// And lab_page, the page of `genista lab run --report`: what was promised, what was measured, and
// the figures that an experiment draws.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/games/attack_matrix.hpp"
#include "lab/report/page.hpp"

namespace genista::lab::report {

// Rows and columns in the order in which they first appear.
[[nodiscard]] heat_map matrix_figure(std::span<const matrix_cell> cells);

// One filter over all adversaries.
struct filter_record {
    std::string filter;
    std::size_t holds = 0;
    std::vector<std::string> lost_to;
    std::vector<std::string> could_not;
    std::vector<std::string> denied;     // adversaries against which it denied a stored key
    const matrix_cell* worst = nullptr;  // of those lost, by rate

    [[nodiscard]] bool unbeaten() const noexcept { return lost_to.empty() && denied.empty() && holds > 0; }
};
[[nodiscard]] std::vector<filter_record> records_of(std::span<const matrix_cell> cells);

// A row a filter: how many adversaries it withstands, to which it loses, the worst of them.
[[nodiscard]] table record_table(std::span<const matrix_cell> cells);

// Which filter to trust with what: new keys only, keys that repeat, an attacker. Only what these
// cells show.
[[nodiscard]] table trust_table(std::span<const matrix_cell> cells);

// "a, b and c"
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

struct experiment_record {
    std::string id;
    outcome made{};
    double seconds = 0;
    std::string failure{};  // why there is no outcome
};

// All that is needed to make the same page again.
struct run_facts {
    std::string command;
    std::string version;
    std::string build;  // changes with the program
    std::uint64_t seed = 1;
    bool quick = false;
    std::string cpu;
    unsigned cores = 0;
    std::string instruction_set;
    std::string compiler;
};

struct report_content {
    std::vector<experiment_record> experiments;
    std::vector<matrix_cell> matrix;
    double matrix_seconds = 0;
    run_facts run;
};

// All promises that ran were kept, nothing failed, and no filter denied a stored key.
[[nodiscard]] bool all_is_well(const report_content& content) noexcept;

// The content of the page as JSON.
[[nodiscard]] nlohmann::ordered_json report_json(const report_content& content);

[[nodiscard]] page report_page(const report_content& content);

// The matrix alone: the page of `genista lab matrix`.
[[nodiscard]] page matrix_page(const report_content& content);

// "41 s", "12 min"
[[nodiscard]] std::string duration_text(double seconds);

struct named_outcome {
    std::string id;
    outcome made;
};

// `data` is what --json writes.
[[nodiscard]] page lab_page(std::span<const named_outcome> outcomes, nlohmann::ordered_json data);

}  // namespace genista::lab::report
