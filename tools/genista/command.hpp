// A command of the tool: how it enters the parser and what it does afterwards.
//
// Each xyz_command.cpp defines one add_xyz_command(). It declares the options on its own CLI::App and returns the work
// as a function, called only when the whole command line was understood: nothing runs on a half-understood line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

#include "exit_status.hpp"

namespace genista::tool {

struct command {
    CLI::App* app = nullptr;
    std::function<exit_status()> run;
};

[[nodiscard]] command add_bench_command(CLI::App& root);
[[nodiscard]] std::vector<command> add_daisy_commands(CLI::App& root);
[[nodiscard]] command add_guard_command(CLI::App& root);
[[nodiscard]] command add_inspect_command(CLI::App& root);
[[nodiscard]] std::vector<command> add_lab_commands(CLI::App& root);

}  // namespace genista::tool
