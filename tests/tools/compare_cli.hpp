// What the tests of `genista compare` share: lines of keys, rows of the answer, and a shell for
// what needs one.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "run_tool.hpp"

namespace genista::test {

using arguments = std::vector<std::string>;
using nlohmann::json;

inline arguments joined(arguments line, const arguments& more) {
    line.insert(line.end(), more.begin(), more.end());
    return line;
}

// Keys first .. last - 1 of a family, one a line.
inline std::string lines(const std::string& family, int first, int last) {
    std::string text;
    for (int i = first; i < last; ++i) text.append(family).append(std::to_string(i)).append("\n");
    return text;
}

inline const json& phase_of(const json& document, const std::string& name) {
    for (const json& phase : document.at("phases")) {
        if (phase.at("name") == name) return phase;
    }
    throw std::out_of_range{name};
}

inline const json& row_of(const json& phase, const std::string& filter) {
    for (const json& row : phase.at("rows")) {
        if (row.at("filter") == filter) return row;
    }
    throw std::out_of_range{filter};
}

// These counts of every row of every phase, of a run of `genista compare` with --json -.
inline std::vector<std::uint64_t> counts_of(const arguments& line, const std::vector<std::string>& names) {
    std::vector<std::uint64_t> all;
    const json document = json_of(line);
    for (const json& phase : document.at("phases")) {
        for (const json& row : phase.at("rows")) {
            for (const std::string& name : names) all.push_back(row.at(name));
        }
    }
    return all;
}

// Runs a line of the shell, in which $GENISTA is the tool: for pipes, limits and signals. -1 if a
// signal ended the shell.
inline int shell(const std::string& line) {
    const int state = std::system(("GENISTA=" GENISTA_BINARY_DIR "/bin/genista; " + line).c_str());
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

inline bool is_empty(const std::string& folder) {
    return std::filesystem::directory_iterator{folder} == std::filesystem::directory_iterator{};
}

}  // namespace genista::test
