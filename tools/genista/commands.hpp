// The commands of genista, but for `lab`, and the calls between them. Each is in the file of its
// name.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "genista/oracles/oracle_model.hpp"

namespace genista::tool {

[[nodiscard]] command add_bench_command(CLI::App& root);
[[nodiscard]] std::vector<command> add_daisy_commands(CLI::App& root);
[[nodiscard]] command add_compare_command(CLI::App& root);
[[nodiscard]] command add_inspect_command(CLI::App& root);
[[nodiscard]] std::vector<command> add_store_commands(CLI::App& root);

// Below `genista daisy`.
[[nodiscard]] command add_daisy_size_command(CLI::App& daisy_app);

// The model in a file; errors name the file. For `daisy size` and `compare --oracle`.
[[nodiscard]] result<oracle_model> load_model(const std::string& path);

}  // namespace genista::tool
