// The texts that every report contains, compiled in by lab/report/report.cmake: no file is read at
// run time. Apart from page.hpp, because the generated files include nothing else.
#pragma once

#include <string_view>

namespace genista::lab::report {

// Chart.js 3, minified, from Debian's libjs-chart.js. MIT licence: the notice goes into every page
// (chart_notice).
[[nodiscard]] std::string_view chart_library() noexcept;

// page.css and page.js beside this file.
[[nodiscard]] std::string_view page_style() noexcept;
[[nodiscard]] std::string_view page_script() noexcept;

}  // namespace genista::lab::report
