// program: what the programs of this folder share with the tool: exit statuses, options, and where
// JSON goes.
//
// Status 0: the work was done. 1: it was done and a promise was broken, or it failed. 2: the input
// was bad. Messages are one line on stderr.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace genista::bench {

// What a run found: figures as text and as JSON, and the promises that were broken.
struct findings {
    std::string text;
    nlohmann::ordered_json json;
    std::vector<std::string> faults;  // sentences; each is printed, and any makes the run fail
};

// Parses, works, prints. Adds --json to the options. `work` may throw; CLI::ValidationError means
// that the input was bad.
[[nodiscard]] int run_program(CLI::App& app, int argument_count, char** arguments,
                              const std::function<findings()>& work);

// Throws CLI::ValidationError for a rate that a broom filter does not support.
void check_broom_rate(double rate);

// A line "name   value   remark".
struct line_of_text {
    std::string name;
    std::string value;
    std::string remark{};
};
[[nodiscard]] std::string lines_text(const std::vector<line_of_text>& lines);

// 850 ns, 1.25 µs, 3.4 ms, 2.1 s
[[nodiscard]] std::string shown_time(double nanoseconds);

// The peak memory of this process since the last forget_peak(), or since it began if the system
// cannot reset it.
[[nodiscard]] std::uint64_t peak_resident_bytes();
[[nodiscard]] std::uint64_t resident_bytes();
void forget_peak();

}  // namespace genista::bench
