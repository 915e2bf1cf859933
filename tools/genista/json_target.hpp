// Where --json goes: stdout or a file. Checked before the work, written after it, never half-way in between.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "genista/base/result.hpp"

namespace genista::tool {

// Can `path` be written? Creates and changes nothing.
[[nodiscard]] result<void> check_json_target(const std::string& path);

// "-" is stdout. An existing file is replaced.
[[nodiscard]] result<void> write_json(const std::string& path, const nlohmann::json& document);
[[nodiscard]] result<void> write_json(const std::string& path, const nlohmann::ordered_json& document);

// "Report: /where/it/is\n"
[[nodiscard]] std::string where_the_report_is(const std::string& path);

// True if the tables for people must keep quiet because stdout belongs to the JSON.
[[nodiscard]] inline bool owns_stdout(const std::string& path) noexcept {
    return path == "-";
}

}  // namespace genista::tool
