// genista: the command line of the library.
//
//     compare   the main job: filters before a store on disk, and what absent keys cost
//     bench     how fast, how small and how accurate each filter is, in one interleaved run
//     inspect   what a snapshot file holds
//     daisy     oracles for the daisy filters: training, and the size of filters that use them
//     lab       the papers' promises as experiments: a program of its own (lab_call.hpp)
//     store     work on a guarded store that is closed: audit, reindex, unguard
//
// Start at command.hpp to add a command; bench/subject.hpp to add a filter to the bench.
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "lab_call.hpp"

namespace genista::tool {
namespace {

// `help COMMAND...` becomes `COMMAND... --help`, and `guard`, the former name of `compare`, becomes
// `compare`. Ends with a null pointer, as execv wants it.
std::vector<char*> plain_line(int argument_count, char** arguments) {
    static char compare_name[] = "compare", help_option[] = "--help";
    std::vector<char*> line{arguments, arguments + argument_count};
    const bool has_own_option = line.size() > 2 && *line[2] == '-';  // help --help
    if (line.size() > 1 && line[1] == std::string_view{"help"} && !has_own_option) {
        line.erase(line.begin() + 1);
        line.push_back(help_option);
    }
    if (line.size() > 1 && line[1] == std::string_view{"guard"}) line[1] = compare_name;
    line.push_back(nullptr);
    return line;
}

std::vector<command> add_commands(CLI::App& root) {
    std::vector<command> commands{add_compare_command(root), add_bench_command(root), add_inspect_command(root)};
    for (command& each : add_daisy_commands(root)) commands.push_back(std::move(each));
    announce_lab(root);
    for (command& each : add_store_commands(root)) commands.push_back(std::move(each));
    announce_help(root);
    return commands;
}

}  // namespace
}  // namespace genista::tool

int main(int argument_count, char** arguments) {
    using namespace genista::tool;
    std::vector<char*> line = plain_line(argument_count, arguments);
    // Before anything is parsed: only the other program knows the options of its commands.
    if (line[0] != nullptr && line[1] != nullptr && std::string_view{line[1]} == lab_command_name)
        return call_lab(line.data());
    return run_program(static_cast<int>(line.size()) - 1, line.data(), add_commands,
                       "genista compare --keys users.txt.gz --queries access.txt.gz --attack --report compare.html");
}
