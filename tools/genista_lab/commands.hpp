// The commands below `genista lab`, and what several of them share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command.hpp"
#include "lab/experiment.hpp"
#include "lab/report/report_page.hpp"

namespace CLI {
class Option;
}

namespace genista::tool {

// All of them.
[[nodiscard]] std::vector<command> add_lab_commands(CLI::App& root);

[[nodiscard]] command add_lab_matrix_command(CLI::App& lab_app);
[[nodiscard]] command add_lab_report_command(CLI::App& lab_app);
[[nodiscard]] command add_lab_trace_command(CLI::App& lab_app);

// --columns and --separator: how a table becomes a trace; checked while the line is parsed. Returns
// --columns.
CLI::Option* add_column_choice(CLI::App& app, lab::run_options& into);

// This program on this machine, for the page of a run.
[[nodiscard]] lab::report::run_facts facts_of_this_run(std::string command_line, std::string build, std::uint64_t seed,
                                                       bool quick);

}  // namespace genista::tool
