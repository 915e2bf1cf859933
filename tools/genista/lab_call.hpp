// `genista lab`: the program genista-lab, in the folder of this one, takes over this process.
//
// There are two programs because the experiments are half of what there is to compile, and the
// other commands do not need them. `./run lab` builds both.
#pragma once

#include "command.hpp"

namespace genista::tool {

// Returns only if the program cannot be started, with main's status.
[[nodiscard]] int call_lab(char** arguments);
// `lab` and `help` are never parsed here (main.cpp). The parser lists them in --help, and in the
// error about an unknown command.
void announce_lab(CLI::App& root);
void announce_help(CLI::App& root);

}  // namespace genista::tool
