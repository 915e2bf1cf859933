// Options with checked values: counts, rates, names and files for results, and what a user writes
// for them. A value is checked while the line is parsed.
//
// Counts are 1000000, 1'000'000, 1_000_000, 1e6 or 2^20; rates 0.01, 1%, 1/256 or 2^-8. Counts are
// exact (no way through a double), and everything else, a sign, a fraction, a stray letter, a
// number outside the range, is an error that names the text and what is allowed. A value that is
// refused becomes a CLI::ValidationError; command.cpp turns every parse error into exit status 2.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"

namespace genista::tool {

inline constexpr std::string_view count_syntax = "digits (with ' or _ between them), 1e6 or 2^20";
inline constexpr std::string_view rate_syntax = "0.01, 1%, 1/256 or 2^-8";

struct count_range {
    std::uint64_t least = 0;
    std::uint64_t most = UINT64_MAX;
};

[[nodiscard]] result<std::uint64_t> parse_count(std::string_view text, count_range allowed);
// A false positive rate: in (0, 1/2].
[[nodiscard]] result<double> parse_rate(std::string_view text);
// A plain decimal number of the range; nothing for any other text.
[[nodiscard]] std::optional<double> parse_number(std::string_view text, double least, double most);

// The known name that takes the fewest changes (a letter more, less, another one, or two
// exchanged), if these are few for a word of this length; empty if none is near. The first of
// several.
[[nodiscard]] std::string nearest_name(std::string_view word, const std::vector<std::string>& known);
// "'blom' is not a known filter; did you mean bloom? Known are bloom, broom": one line for every
// command. A long word is truncated.
[[nodiscard]] std::string unknown_name(std::string_view word, std::string_view kind,
                                       const std::vector<std::string>& known);
// "'broom' is named twice; once is enough"
[[nodiscard]] std::string named_twice(std::string_view name);

// The target keeps its value (the default that --help shows) unless the option is given.
CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& target, count_range allowed,
                       const std::string& help);
CLI::Option* add_rate(CLI::App& app, const std::string& name, double& target, const std::string& help);

// --filters A,B. `take` gets the places of the names in `known`, in the order of the line.
CLI::Option* add_filter_names(CLI::App& app, const std::string& help, const std::vector<std::string>& known,
                              const std::function<void(const std::vector<std::size_t>&)>& take);

// --json FILE|-: the path is checked before the work, which may take minutes.
CLI::Option* add_json_target(CLI::App& app, std::string& target);
// --report FILE.html, checked in the same way.
CLI::Option* add_report_target(CLI::App& app, std::string& target, const std::string& name = "--report");

}  // namespace genista::tool
