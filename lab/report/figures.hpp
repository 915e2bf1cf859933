// Charts, tables and heat maps as HTML: page.cpp puts them into a section, and page.js draws them.
//
//     <figure class="chart"> title, caption, an empty <div class="plot"><canvas>, the numbers as
//     JSON </figure> <div class="table-box"><table> ... </table></div> <figure class="heat"> title,
//     caption, legend, a table in its box, a line for the details of a cell </figure>
//
// And sections of a page as JSON and back: an experiment's figures are kept in a file until the
// page is made. A section read back draws the same bytes. A number that is not finite is null.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/report/page.hpp"

namespace genista::lab::report {

// Counts: every chart and table of a page has a number, which links its parts.
class figure_writer {
  public:
    void append(std::string& out, const figure& content);

  private:
    std::size_t count_ = 0;
};

[[nodiscard]] nlohmann::ordered_json to_json(const section& content);

// REQUIRES: to_json made it; else throws nlohmann::json::exception.
[[nodiscard]] section section_from_json(const nlohmann::ordered_json& from);

}  // namespace genista::lab::report
