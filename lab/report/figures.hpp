// Charts, tables and heat maps as HTML: what page.cpp puts into a section, and page.js finds there
// and draws.
//
//     <figure class="chart"> title, caption, an empty <div class="plot"><canvas>, the numbers as
//     JSON </figure> <div class="table-box"><table> ... </table></div> <figure class="heat"> title,
//     caption, legend, a table in its box, a line for the details of a cell </figure>
#pragma once

#include <cstddef>
#include <string>

#include "lab/report/page.hpp"

namespace genista::lab::report {

// Counts as it goes: every chart and table of a page has a number, and its parts are tied together
// by it.
class figure_writer {
  public:
    void append(std::string& out, const figure& content);

  private:
    std::size_t count_ = 0;
};

}  // namespace genista::lab::report
