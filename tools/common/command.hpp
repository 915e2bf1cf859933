// A command of the tool: its options for the parser, its work and its exit status; and the program
// around all commands.
//
// Each xyz_command.cpp defines one add_xyz_command(). It declares the options on its own CLI::App
// and returns the work as a function, which is called only if the whole command line was
// understood.
//
// There are two programs, genista (tools/genista) and genista-lab (tools/genista_lab), which
// genista calls for `genista lab`. Both call themselves genista in their help and their errors.
#pragma once

#include <cstdio>
#include <functional>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"

// CLI11, which takes seconds to read. NOLINTNEXTLINE(readability-identifier-naming): its own name
namespace CLI {
class App;
}

namespace genista::tool {

// Scripts rely on the statuses: 0 the work was done, 1 the result is bad (a broken promise, a false
// negative) or the work failed, 2 the input was bad and nothing was written. A message is one line
// on stderr with the value and what is allowed.
enum class exit_status : int { ok = 0, failed = 1, bad_input = 2 };

// Prints "genista: message" on stderr and returns the status, so that a command can end with
// `return complain(...)`.
inline exit_status complain(exit_status status, std::string_view message) noexcept {
    std::fprintf(stderr, "genista: %.*s\n", static_cast<int>(message.size()), message.data());
    return status;
}

// The status for an error of the library. Errors in what the user gave (parameters, files, sizes
// beyond this machine's memory) are bad input; a store that fails or does not answer is failed
// work.
[[nodiscard]] constexpr exit_status status_of(error_code code) noexcept {
    switch (code) {
        case error_code::invalid_argument:
        case error_code::out_of_memory:
        case error_code::corrupt:
        case error_code::unsupported:
        case error_code::mismatch:
            return exit_status::bad_input;
        case error_code::io:
        case error_code::timeout:
            return exit_status::failed;
    }
    return exit_status::failed;
}

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
