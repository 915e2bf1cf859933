// The call of genista-lab. See lab_call.hpp.
#include "lab_call.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

namespace genista::tool {

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

void announce_lab(CLI::App& root) {
    root.add_subcommand(lab_command_name, lab_command_help);
}

void announce_help(CLI::App& root) {
    CLI::App& app = *root.add_subcommand("help", "print the help of a command");
    app.add_option("COMMAND", "the command, for example store audit")->expected(-1);
    app.footer("`genista help COMMAND` is `genista COMMAND --help`.\nExample:\n  genista help store audit");
}

}  // namespace genista::tool
