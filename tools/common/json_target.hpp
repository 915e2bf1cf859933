// Where results go: --json, --report, --html, --out. Files are checked before the work, and written
// after it, whole or not at all.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "genista/base/result.hpp"

namespace genista::tool {

// Can `path` be written, as a file that appears whole (genista/format/sink.hpp)? Creates and
// changes nothing.
[[nodiscard]] result<void> check_file_target(const std::string& path);
// The same, or "-" for stdout, or a pipe or device, which is written directly.
[[nodiscard]] result<void> check_json_target(const std::string& path);

struct named_path {
    const char* option;
    std::string path;
};

// Refuses an output that would replace an input or another output, in whatever way the two are
// written. Empty paths, "-", and files that are not regular are ignored.
[[nodiscard]] result<void> check_apart(const std::vector<named_path>& inputs, const std::vector<named_path>& outputs);

// "-" is stdout. An existing file is replaced, and kept if the new one cannot be written.
[[nodiscard]] result<void> write_json(const std::string& path, const nlohmann::json& document);
[[nodiscard]] result<void> write_json(const std::string& path, const nlohmann::ordered_json& document);

// The end of a command: prints `text`, unless stdout is for the JSON, and then writes the document
// if `path` is not empty.
[[nodiscard]] exit_status publish(const std::string& path, const std::string& text,
                                  const nlohmann::ordered_json& document);

// "Report: /where/it/is\n"
[[nodiscard]] std::string where_the_report_is(const std::string& path);

// True if no tables may be printed, because stdout has the JSON.
[[nodiscard]] inline bool owns_stdout(const std::string& path) noexcept {
    return path == "-";
}

}  // namespace genista::tool
