// The commands of genista, but for `lab`.
#pragma once

#include <vector>

#include "command.hpp"

namespace genista::tool {

[[nodiscard]] command add_bench_command(CLI::App& root);
[[nodiscard]] std::vector<command> add_daisy_commands(CLI::App& root);
[[nodiscard]] command add_compare_command(CLI::App& root);
[[nodiscard]] command add_inspect_command(CLI::App& root);
[[nodiscard]] std::vector<command> add_store_commands(CLI::App& root);

}  // namespace genista::tool
