// Sections of a page as JSON and back: an experiment's figures are kept in a file until the page is
// made.
//
// A section read back draws the same bytes. A number that is not finite is null.
#pragma once

#include <nlohmann/json.hpp>

#include "lab/report/page.hpp"

namespace genista::lab::report {

[[nodiscard]] nlohmann::ordered_json to_json(const section& content);

// REQUIRES: to_json made it; else throws nlohmann::json::exception.
[[nodiscard]] section section_from_json(const nlohmann::ordered_json& from);

}  // namespace genista::lab::report
