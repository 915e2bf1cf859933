// The commands below `genista store`, and what they share.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "command.hpp"
#include "exit_status.hpp"

namespace genista::tool {

[[nodiscard]] command add_store_audit_command(CLI::App& store);
[[nodiscard]] command add_store_reindex_command(CLI::App& store);
[[nodiscard]] command add_store_unguard_command(CLI::App& store);

struct store_request {
    std::string path;
    std::string wal_dir;
    bool as_json = false;
    bool yes = false;
};
// DIR, --wal-dir and --json.
[[nodiscard]] std::shared_ptr<store_request> add_store_options(CLI::App& app);

// Prints one line for an error of a store, with advice if another process has it open.
exit_status complain_of_store(const error& why);

// A key as a line of text: bytes that are not printable ASCII as \xNN, the rest of a long one as
// its length.
[[nodiscard]] std::string printable(std::string_view key);

}  // namespace genista::tool
