// A command of the tool: its options for the parser and its work; and the program around all
// commands.
//
// Each xyz_command.cpp defines one add_xyz_command(). It declares the options on its own CLI::App
// and returns the work as a function, which is called only if the whole command line was
// understood.
//
// There are two programs, genista (tools/genista) and genista-lab (tools/genista_lab), which
// genista calls for `genista lab`. Both call themselves genista in their help and their errors.
#pragma once

#include <functional>
#include <vector>

#include "exit_status.hpp"

// CLI11, which takes seconds to read. NOLINTNEXTLINE(readability-identifier-naming): its own name
namespace CLI {
class App;
}

namespace genista::tool {

// In the help of both programs.
inline constexpr const char *lab_command_name = "lab", *lab_command_help = "the papers' promises as experiments";

struct command {
    CLI::App* app = nullptr;
    std::function<exit_status()> run;
};

// Parses, calls one command, and returns main's status. A line without a command prints the help on
// stderr. --help prints on stdout.
[[nodiscard]] int run_program(int argument_count, char** arguments,
                              const std::function<std::vector<command>(CLI::App& root)>& add_commands,
                              const char* example);

}  // namespace genista::tool
