// The glue between CLI11 and numbers.hpp: options whose values are counts or rates, checked while
// the line is parsed.
//
// A value that is refused becomes a CLI::ValidationError; main.cpp turns every parse error into
// exit status 2.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "numbers.hpp"

namespace genista::tool {

// The target keeps its value (the default that --help shows) unless the option is given.
CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& target, count_range allowed,
                       const std::string& help);
CLI::Option* add_rate(CLI::App& app, const std::string& name, double& target, const std::string& help);

// --json FILE|-: the path is checked before the work, which may take minutes.
CLI::Option* add_json_target(CLI::App& app, std::string& target);
// --report FILE.html, checked in the same way.
CLI::Option* add_report_target(CLI::App& app, std::string& target, const std::string& name = "--report");

}  // namespace genista::tool
