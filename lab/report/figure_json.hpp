// Sections of a page as JSON and back: how an experiment's figures wait in a file until the page is
// made.
//
// What comes back draws the same bytes. A number that is not finite is null.
#pragma once

#include <nlohmann/json.hpp>

#include "lab/report/page.hpp"

namespace genista::lab::report {

[[nodiscard]] nlohmann::ordered_json to_json(const section& content);

// What to_json made. Throws nlohmann::json::exception for anything else.
[[nodiscard]] section section_from_json(const nlohmann::ordered_json& from);

}  // namespace genista::lab::report
