// page: a report as one HTML file that needs nothing else. No network, no folder of assets,
// readable in ten years.
//
//     page report{.title = "Space", .lead = "...", ...};
//     write_html("space.html", report);
//
// Text, tables, heat maps and three kinds of chart, filled in by the caller (guard_page.hpp; the
// lab's experiments). The page contains Chart.js, its style and its script, follows light and dark,
// fits a phone and prints.
//
// I1  Total: every string is text, whatever is in it. Markup, quotes, control characters and bytes
//     that are no UTF-8 are escaped or replaced, never interpreted.
// I2  A number that is not finite is a gap in its chart; series that are empty or of unequal length
//     are fine.
// I3  The page makes no request, and its content security policy forbids them.
// I4  The same page gives the same bytes: no date, no machine, no addresses.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "genista/base/result.hpp"

namespace genista::lab::report {

// How an axis writes its numbers: 0.012 is "1.2 %", 1500 is "1.5 ms" if it counts microseconds, and
// "1.5 k" otherwise.
enum class unit : std::uint8_t { number, percent, microseconds };

struct axis {
    std::string title;
    bool logarithmic = false;  // a zero is drawn at the foot of the axis and labelled 0, a negative number is a gap
    unit in = unit::number;
};

// A name has one colour, dash and mark on the whole page, in every chart.
struct series {
    std::string name;
    std::vector<double> y;  // beside the chart's x; missing ones are gaps, surplus ones are left out
    // The ends of error bars, of lines only. Where one of the two is missing or a gap there is no
    // bar.
    std::vector<double> low{};
    std::vector<double> high{};
};

struct line_chart {
    std::string title;
    std::string caption;
    axis x;
    axis y;
    std::vector<double> at;  // the x of every series
    std::vector<series> lines;
};

struct point {
    std::string label;  // written beside the point where there is room, and always in its tooltip
    double x = 0;
    double y = 0;
};

struct point_series {
    std::string name;
    std::vector<point> points;
};

struct scatter_chart {
    std::string title;
    std::string caption;
    axis x;
    axis y;
    std::vector<point_series> clouds;
};

// Bars are horizontal, so that the names of categories have room on a phone.
struct bar_chart {
    std::string title;
    std::string caption;
    axis value;
    std::vector<std::string> categories;
    std::vector<series> bars;  // one value a category
    bool graded = false;       // the series are grades of one thing (p50, p99): shades of one colour
};

struct column {
    std::string title;
    bool right = false;  // numbers
    bool wraps = false;  // sentences: broken into lines
};

// The first column names its row. Missing cells are empty, surplus ones are left out.
struct table {
    std::string title;
    std::vector<column> columns;
    std::vector<std::vector<std::string>> rows;
};

// A table whose cells are coloured from good (0) to worst (1). Every cell states in words what its
// colour shows.
struct heat_cell {
    std::string text;
    std::string note{};                                      // smaller, below it; a line ends at \n
    std::string detail{};                                    // shown for the cell that is pointed at or touched
    double heat = std::numeric_limits<double>::quiet_NaN();  // not finite: no colour, nothing was measured
    bool alarming = false;                                   // framed, whatever its heat
};

struct heat_row {
    std::string name;
    std::string about{};  // shown with the details of its cells
    std::vector<heat_cell> cells;
};

struct heat_mark {
    double heat = 0;
    std::string text;
};

// Missing cells are empty, surplus ones are left out.
struct heat_map {
    std::string title;
    std::string caption;
    std::string corner;  // what the rows are
    std::vector<std::string> columns;
    std::vector<heat_row> rows;
    std::vector<heat_mark> legend;
};

// Commands and the like, in the letters of a terminal.
struct code_block {
    std::string title;
    std::string text;
};

using figure = std::variant<line_chart, scatter_chart, bar_chart, table, heat_map, code_block>;

struct section {
    std::string heading;
    std::string text;  // paragraphs, with an empty line between them
    std::vector<figure> figures;
};

// A key figure: "41 ×", "queries under attack", "against rocksdb_bloom".
struct fact {
    std::string value;
    std::string label;
    std::string note;
    bool alarming = false;
};

struct page {
    std::string title;
    std::string lead;       // the finding in words; paragraphs as in a section
    std::string warning;    // what must not be overlooked; empty if there is nothing
    std::string highlight;  // the series that the page is about: drawn in the first colour, and thicker
    std::vector<fact> facts;
    std::vector<section> sections;
    nlohmann::ordered_json data;  // everything, for machines: <script type="application/json" id="data">
};

[[nodiscard]] std::string to_html(const page& content);

// Replaces the file at `path` all at once (format/sink.hpp).
[[nodiscard]] result<void> write_html(std::string_view path, const page& content);

// The version of the embedded library, "3.9.1".
[[nodiscard]] std::string_view chart_library_version() noexcept;

// Sections as JSON and back: an experiment's figures are kept in a file until the page is made. A
// section read back draws the same bytes. A number that is not finite is null.
[[nodiscard]] nlohmann::ordered_json to_json(const section& content);

// REQUIRES: to_json made it; else throws nlohmann::json::exception.
[[nodiscard]] section section_from_json(const nlohmann::ordered_json& from);

}  // namespace genista::lab::report
