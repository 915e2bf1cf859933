// genista lab matrix and genista lab report, and what they share: the facts of a run for its page.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "command.hpp"
#include "lab/report/report_page.hpp"

namespace genista::tool {

[[nodiscard]] command add_lab_matrix_command(CLI::App& lab_app);
[[nodiscard]] command add_lab_report_command(CLI::App& lab_app);

// This program on this machine.
[[nodiscard]] lab::report::run_facts facts_of_this_run(std::string command_line, std::string build, std::uint64_t seed,
                                                       bool quick);

}  // namespace genista::tool
