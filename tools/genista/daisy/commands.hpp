// The commands below `genista daisy`, one a file: train.cpp makes a model of two logs, size.cpp
// prints the size of a filter that uses it.
#pragma once

#include "command.hpp"
#include "genista/oracles/oracle_model.hpp"

namespace genista::tool {

[[nodiscard]] command add_daisy_train_command(CLI::App& daisy_app);
[[nodiscard]] command add_daisy_size_command(CLI::App& daisy_app);

// The model in a file; errors name the file. For `compare --oracle` too.
[[nodiscard]] result<oracle_model> load_model(const std::string& path);

}  // namespace genista::tool
