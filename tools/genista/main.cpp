// genista: the command line of the library.
//
//     guard     the main job: filters before a store on disk, and what absent keys cost
//     bench     how fast, how small and how wrong each filter is, measured in one interleaved run
//     inspect   what a snapshot file holds
//     store     a guarded store that is closed: audit, reindex, unguard
//     daisy     oracles for the daisy filters: trained from logs, and what filters over them take
//     lab       the papers' promises as experiments: a program of its own (lab_call.hpp)
//
// Start at command.hpp to add a command; bench/subject.hpp to add a filter to the bench.
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "lab_call.hpp"

int main(int argument_count, char** arguments) {
    using namespace genista::tool;
    // Before anything is parsed: only the other program knows the options of its commands.
    if (argument_count > 1 && std::string_view{arguments[1]} == lab_command_name) return call_lab(arguments);
    const auto add_commands = [](CLI::App& root) {
        std::vector<command> commands{add_guard_command(root), add_bench_command(root), add_inspect_command(root)};
        for (command& each : add_daisy_commands(root)) commands.push_back(std::move(each));
        for (command& each : add_store_commands(root)) commands.push_back(std::move(each));
        announce_lab(root);
        return commands;
    };
    return run_program(argument_count, arguments, add_commands,
                       "genista guard --keys users.txt.gz --queries access.txt.gz --attack --report guard.html");
}
