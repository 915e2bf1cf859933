// genista store: work on a guarded store that no program has open. `audit` compares data and index,
// `reindex` rebuilds the index, `unguard` removes the guard. docs/guard.md explains when.
#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "store/commands.hpp"

namespace genista::tool {

std::vector<command> add_store_commands(CLI::App& root) {
    CLI::App& app = *root.add_subcommand("store", "audit, reindex or unguard a guarded RocksDB database");
    app.require_subcommand(0, 1);
    app.footer(
        "Example:\n  genista store audit /data/users --json\n"
        "  genista store reindex /data/users\n"
        "  genista store unguard /data/users --yes");
    return {add_store_audit_command(app), add_store_reindex_command(app), add_store_unguard_command(app)};
}

}  // namespace genista::tool
