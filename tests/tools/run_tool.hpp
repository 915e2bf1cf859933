// run_tool: runs the built binary with arguments, and returns the exit status and both streams. No
// shell in between.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace genista::test {

[[nodiscard]] inline std::string contents(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

inline void put_contents(const std::string& path, const std::string& bytes) {
    std::ofstream{path, std::ios::binary} << bytes;
}

struct tool_run {
    int status = -1;  // the exit status, or -1 if a signal ended it
    std::string out;
    std::string err;

    // Throws, and so fails the test, if stdout is no JSON document.
    [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

inline constexpr const char* built_tool = GENISTA_BINARY_DIR "/bin/genista";

[[nodiscard]] inline tool_run run_tool(std::vector<std::string> arguments, const std::string& tool = built_tool) {
    const scratch_folder scratch;
    const std::string out = scratch / "out", err = scratch / "err";
    arguments.insert(arguments.begin(), tool);
    std::vector<char*> raw;
    for (std::string& each : arguments) raw.push_back(each.data());
    raw.push_back(nullptr);
    posix_spawn_file_actions_t streams;
    ::posix_spawn_file_actions_init(&streams);
    constexpr int create = O_WRONLY | O_CREAT | O_TRUNC;
    ::posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&streams, STDOUT_FILENO, out.c_str(), create, 0600);
    ::posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, err.c_str(), create, 0600);
    pid_t child = 0;
    const int spawned = ::posix_spawn(&child, raw[0], &streams, nullptr, raw.data(), ::environ);
    ::posix_spawn_file_actions_destroy(&streams);
    tool_run run;
    if (spawned != 0) {
        ADD_FAILURE() << raw[0] << " does not start";
        return run;
    }
    int state = 0;
    ::waitpid(child, &state, 0);
    run.status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    run.out = contents(out);
    run.err = contents(err);
    return run;
}

inline void expect_words(const std::string& text, const std::vector<std::string>& words) {
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
}

// The JSON that a run prints. Throws, and so fails the test, if the run fails.
[[nodiscard]] inline nlohmann::json json_of(const std::vector<std::string>& arguments) {
    const tool_run run = run_tool(arguments);
    if (run.status != 0) throw std::runtime_error{"status " + std::to_string(run.status) + ": " + run.err};
    return run.json();
}

// No line takes more bytes. A path may be longer, so the line of a report is left out.
inline void expect_page_width(const std::string& text, std::size_t widest = 120) {
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        EXPECT_TRUE(line.starts_with("Report: ") || line.size() <= widest) << line;
    }
}

// The contract for bad input: status 2, nothing on stdout, one line on stderr with the value and
// what is allowed.
inline void expect_refused(const std::vector<std::string>& arguments, const std::string& value,
                           const std::string& allowed) {
    const tool_run run = run_tool(arguments);
    std::string line;
    for (const std::string& each : arguments) line += each + " ";
    EXPECT_EQ(run.status, 2) << line;
    EXPECT_EQ(run.out, "") << line;
    SCOPED_TRACE(line);
    expect_words(run.err, {value, allowed});
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

}  // namespace genista::test
