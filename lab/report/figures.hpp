// Charts, tables and heat maps as HTML: page.cpp puts them into a section, and page.js draws them.
//
//     <figure class="chart"> title, caption, an empty <div class="plot"><canvas>, the numbers as
//     JSON </figure> <div class="table-box"><table> ... </table></div> <figure class="heat"> title,
//     caption, legend, a table in its box, a line for the details of a cell </figure>
#pragma once

#include <cstddef>
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

}  // namespace genista::lab::report
