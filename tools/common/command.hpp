// A command of the tool: how it enters the parser and what it does afterwards; and the program
// around all commands.
//
// Each xyz_command.cpp defines one add_xyz_command(). It declares the options on its own CLI::App
// and returns the work as a function, called only when the whole command line was understood:
// nothing runs on a half-understood line.
//
// There are two programs, genista (tools/genista) and genista-lab (tools/genista_lab), which
// genista calls for `genista lab`. To their users they are one: both speak as genista.
#pragma once

#include <functional>
#include <vector>

#include "exit_status.hpp"

namespace CLI {  // CLI11, which takes seconds to read
class App;
}

namespace genista::tool {

// Both programs name it in their help.
inline constexpr const char *lab_command_name = "lab", *lab_command_help = "the papers' promises as experiments";

struct command {
    CLI::App* app = nullptr;
    std::function<exit_status()> run;
};

// Parses, calls one command, and maps whatever happened to main's status. A line that names no
// command gets the help.
[[nodiscard]] int run_program(int argument_count, char** arguments,
                              const std::function<std::vector<command>(CLI::App& root)>& add_commands,
                              const char* example);

}  // namespace genista::tool
