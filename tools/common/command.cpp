// The program around the commands: parsing, help, errors, exit status. See command.hpp.
#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/cpu.hpp"
#include "genista/version.hpp"
#include "options.hpp"

namespace genista::tool {
namespace {

const CLI::App& deepest(const CLI::App& app) {
    const CLI::App* at = &app;
    for (auto chosen = at->get_subcommands(); !chosen.empty(); chosen = at->get_subcommands()) at = chosen.back();
    return *at;
}

std::string full_name(const CLI::App& app) {
    return app.get_parent() == nullptr ? "genista" : full_name(*app.get_parent()) + " " + app.get_name();
}

// bench, inspect, lab; nothing if the command has no commands below it.
std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(below->get_name());
    return names;
}

// "; did you mean --keys?" for the first unexpected word, if a known one is near.
std::string guess(const CLI::App& at) {
    const std::vector<std::string> left = at.remaining();
    if (left.empty()) return {};
    const std::string word = left.front().substr(0, left.front().find('='));
    std::vector<std::string> known = command_names(at);
    if (word.starts_with("-")) {
        known.clear();
        for (const CLI::Option* each : at.get_options())
            for (const std::string& name : each->get_lnames()) known.push_back("--" + name);
    }
    const std::string near = nearest_name(word, known);
    return near.empty() ? near : "; did you mean " + near + "?";
}

// A word that is no command, where only a command can stand.
bool names_no_command(const CLI::App& at) {
    const std::vector<std::string> left = at.remaining();
    return !left.empty() && !left.front().starts_with("-") && !command_names(at).empty();
}

// CLI11 has an exit code for every kind of error; the tool has one for all of them.
exit_status explain(const CLI::App& root, const CLI::ParseError& problem) {
    const CLI::App& at = deepest(root);
    if (problem.get_exit_code() == 0) {
        // `genista polish --help`: there is no such help.
        if (names_no_command(at)) return explain(root, CLI::ExtrasError{std::vector{at.remaining().front()}});
        return root.exit(problem) == 0 ? exit_status::ok : exit_status::failed;
    }
    std::string message = problem.what();
    const std::string guessed = guess(at);
    message += guessed;
    if (const auto names = command_names(at); !names.empty())
        message += fmt::format("{} commands are {}", guessed.empty() ? "; the" : " The", fmt::join(names, ", "));
    message += " (see " + full_name(at) + " --help)";
    for (char& c : message) c = c == '\n' ? ' ' : c;
    return complain(exit_status::bad_input, message);
}

exit_status run(int argument_count, char** arguments,
                const std::function<std::vector<command>(CLI::App& root)>& add_commands, const char* example) {
    CLI::App root{"genista: membership filters that learn from their mistakes", "genista"};
    root.set_version_flag(
        "--version", [] { return fmt::format("genista {} (kernels: {})", library_version(), to_string(active_isa())); },
        "print the version and the CPU kernels in use, and exit");
    root.set_help_flag("-h,--help", "print this help and exit");
    root.require_subcommand(0, 1);
    root.footer(
        fmt::format("Exit status: 0 done, 1 a broken promise or failed work, 2 bad input.\nExample:\n  {}", example));
    const std::vector<command> commands = add_commands(root);
    try {
        root.parse(argument_count, arguments);
    } catch (const CLI::ParseError& problem) {
        return explain(root, problem);
    }
    for (const command& each : commands) {
        if (each.app->parsed()) return each.run();
    }
    std::fputs(root.help().c_str(), stderr);
    return exit_status::bad_input;
}

}  // namespace

int run_program(int argument_count, char** arguments,
                const std::function<std::vector<command>(CLI::App& root)>& add_commands, const char* example) {
    exit_status status = exit_status::failed;
    try {
        status = run(argument_count, arguments, add_commands, example);
    } catch (const std::exception& problem) {
        // No memory for a query array, a full disk under stdout: not the fault of the command line.
        status = complain(exit_status::failed, problem.what());
    }
    // Help is written through std::cout, which flushes by itself and does not report a failure.
    if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && status == exit_status::ok) {
        status = complain(exit_status::failed, "stdout cannot be written");
    }
    return static_cast<int>(status);
}

}  // namespace genista::tool
