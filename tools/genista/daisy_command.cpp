// genista daisy: oracles for the daisy filters. `train` makes a model of a log of inserts and a log
// of queries, `size` prints the size of filters that use it. docs/daisy.md has examples.
#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "daisy/commands.hpp"

namespace genista::tool {

std::vector<command> add_daisy_commands(CLI::App& root) {
    CLI::App& app = *root.add_subcommand("daisy", "train oracles for the daisy filters, and print the size of filters");
    app.require_subcommand(0, 1);
    app.footer(
        "Example:\n  genista daisy train --inserts blocked.txt.gz --queries asked.txt.gz --out hosts.model\n"
        "  genista daisy size --model hosts.model --keys 1e6 --fpr 1/256");
    return {add_daisy_train_command(app), add_daisy_size_command(app)};
}

}  // namespace genista::tool
