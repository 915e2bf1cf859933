// genista: the command line of the library.
//
//     compare   the main job: filters before a store on disk, and what absent keys cost
//     bench     how fast, how small and how accurate each filter is, in one interleaved run
//     inspect   what a snapshot file holds
//     daisy     oracles for the daisy filters: training, and the size of filters that use them
//     lab       the papers' promises as experiments: a program of its own (call_lab)
//     store     work on a guarded store that is closed: audit, reindex, unguard
//
// Start at command.hpp to add a command; bench/subject.hpp to add a filter to the bench.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.hpp"

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

// The program genista-lab, in the folder of this one, takes over this process. There are two
// programs because the experiments are half of what there is to compile, and the other commands do
// not need them. Returns only if it cannot be started, with main's status.
int call_lab(char** arguments) {
    std::error_code failure;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
    const std::string program = (self.parent_path() / "genista-lab").string();
    if (!failure) ::execv(program.c_str(), arguments);
    const std::string why = failure           ? "this program cannot find itself: " + failure.message()
                            : errno == ENOENT ? program + " does not exist; ./run lab builds it"
                                              : program + " cannot be run: " + std::strerror(errno);
    return static_cast<int>(complain(exit_status::failed, "lab: " + why));
}

// `lab` and `help` are never parsed here. The parser lists them in --help, and in the error about
// an unknown command.
void announce_help(CLI::App& root) {
    CLI::App& app = *root.add_subcommand("help", "print the help of a command");
    app.add_option("COMMAND", "the command, for example store audit")->expected(-1);
    app.footer("`genista help COMMAND` is `genista COMMAND --help`.\nExample:\n  genista help store audit");
}

std::vector<command> add_commands(CLI::App& root) {
    std::vector<command> commands{add_compare_command(root), add_bench_command(root), add_inspect_command(root)};
    for (command& each : add_daisy_commands(root)) commands.push_back(std::move(each));
    root.add_subcommand(lab_command_name, lab_command_help);
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
