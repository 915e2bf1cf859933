// What `genista lab run` and `genista lab trace` share: the options that say how a table becomes a trace.
#pragma once

#include <CLI/CLI.hpp>

#include "command.hpp"
#include "lab/experiment.hpp"

namespace genista::tool {

// --columns and --separator, checked while the line is parsed. Returns --columns.
CLI::Option* add_column_choice(CLI::App& app, lab::run_options& into);

// genista lab trace FILE...
[[nodiscard]] command add_lab_trace_command(CLI::App& lab_app);

}  // namespace genista::tool
