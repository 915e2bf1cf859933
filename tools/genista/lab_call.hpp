// `genista lab`: the program genista-lab, which lies beside this one, takes over this process.
//
// Two programs, because the experiments are half of what there is to compile, and whoever wants to
// guard a store should not have to wait for them. `./run lab` builds both.
#pragma once

#include "command.hpp"

namespace genista::tool {

// Comes back only if there is no such program, with main's status.
[[nodiscard]] int call_lab(char** arguments);
// For --help, and for the list of commands when a name is wrong.
void announce_lab(CLI::App& root);

}  // namespace genista::tool
