// A page as HTML: charts, tables and heat maps, which page.js draws; and the frame, head, lead,
// tiles, sections, footer.
//
//     <figure class="chart"> title, caption, an empty <div class="plot"><canvas>, the numbers as
//     JSON </figure> <div class="table-box"><table> ... </table></div> <figure class="heat"> title,
//     caption, legend, a table in its box, a line for the details of a cell </figure>
#include "lab/report/page.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <new>
#include <span>

#include "genista/format/sink.hpp"
#include "lab/report/assets.hpp"
#include "lab/report/text.hpp"

namespace genista::lab::report {
namespace {

// Counts: every chart and table of a page has a number, which links its parts.
class figure_writer {
  public:
    void append(std::string& out, const figure& content);

  private:
    std::size_t count_ = 0;
};

using nlohmann::ordered_json;

[[nodiscard]] const char* to_string(unit in) noexcept {
    switch (in) {
        case unit::percent:
            return "percent";
        case unit::microseconds:
            return "microseconds";
        case unit::number:
            break;
    }
    return "number";
}

[[nodiscard]] ordered_json number_or_gap(double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

// Exactly `count` of them, with gaps where there are too few.
[[nodiscard]] ordered_json numbers(std::span<const double> values, std::size_t count) {
    ordered_json out = ordered_json::array();
    for (std::size_t i = 0; i < count; ++i) out.push_back(i < values.size() ? number_or_gap(values[i]) : nullptr);
    return out;
}

[[nodiscard]] ordered_json json_of(const axis& content) {
    return {{"title", content.title}, {"log", content.logarithmic}, {"unit", to_string(content.in)}};
}

[[nodiscard]] ordered_json json_of(const std::vector<series>& all, std::size_t count) {
    ordered_json out = ordered_json::array();
    for (const series& each : all) {
        out.push_back({{"name", each.name}, {"y", numbers(each.y, count)}});
        if (each.low.empty() || each.high.empty()) continue;
        out.back()["low"] = numbers(each.low, count);
        out.back()["high"] = numbers(each.high, count);
    }
    return out;
}

[[nodiscard]] ordered_json json_of(const line_chart& chart) {
    return {{"kind", "line"},
            {"x_axis", json_of(chart.x)},
            {"y_axis", json_of(chart.y)},
            {"x", numbers(chart.at, chart.at.size())},
            {"series", json_of(chart.lines, chart.at.size())}};
}

[[nodiscard]] ordered_json json_of(const scatter_chart& chart) {
    ordered_json clouds = ordered_json::array();
    for (const point_series& cloud : chart.clouds) {
        ordered_json points = ordered_json::array();
        for (const point& each : cloud.points)
            points.push_back({{"label", each.label}, {"x", number_or_gap(each.x)}, {"y", number_or_gap(each.y)}});
        clouds.push_back({{"name", cloud.name}, {"points", std::move(points)}});
    }
    return {
        {"kind", "scatter"}, {"x_axis", json_of(chart.x)}, {"y_axis", json_of(chart.y)}, {"series", std::move(clouds)}};
}

[[nodiscard]] ordered_json json_of(const bar_chart& chart) {
    return {{"kind", "bar"},
            {"value_axis", json_of(chart.value)},
            {"graded", chart.graded},
            {"categories", chart.categories},
            {"series", json_of(chart.bars, chart.categories.size())}};
}

[[nodiscard]] std::string list_of_names(const auto& named) {
    std::string out;
    for (const auto& each : named) out += (out.empty() ? "" : ", ") + each.name;
    return out;
}

// The text for a screen reader.
[[nodiscard]] std::string spoken(const line_chart& chart) {
    return "Line chart: " + chart.title + ". " + chart.y.title + " over " + chart.x.title + " for " +
           list_of_names(chart.lines) + ".";
}
[[nodiscard]] std::string spoken(const scatter_chart& chart) {
    return "Scatter chart: " + chart.title + ". " + chart.y.title + " against " + chart.x.title + " for " +
           list_of_names(chart.clouds) + ".";
}
[[nodiscard]] std::string spoken(const bar_chart& chart) {
    return "Bar chart: " + chart.title + ". " + chart.value.title + ": " + list_of_names(chart.bars) + ".";
}

// Charts of lines and points have one height (page.css); bars need room for each of them.
[[nodiscard]] std::string plot_style(const auto& /*chart*/) {
    return {};
}
[[nodiscard]] std::string plot_style(const bar_chart& chart) {
    const std::size_t bars = chart.categories.size() * (chart.bars.size() * 16 + 14);
    return " style=\"height:" + std::to_string(std::clamp<std::size_t>(bars + 60, 140, 4000)) + "px\"";
}

void append_chart(std::string& out, std::size_t number, const auto& chart) {
    const std::string id = "chart-" + std::to_string(number);
    out += "<figure class=\"chart\" id=\"" + id + "\">\n<figcaption><h3>" + escaped(chart.title) + "</h3>";
    if (!chart.caption.empty()) out += "<p>" + escaped(chart.caption) + "</p>";
    out += "</figcaption>\n<div class=\"tools\"></div>\n<div class=\"plot\"" + plot_style(chart) +
           "><canvas role=\"img\" aria-label=\"" + escaped(spoken(chart)) + "\"></canvas></div>\n";
    out += "<script type=\"application/json\">" + script_json(json_of(chart)) + "</script>\n</figure>\n";
}

void append_cell(std::string& out, std::string_view name, const column& in, std::string_view attributes,
                 std::string_view text) {
    out.append("<").append(name).append(attributes);
    if (in.right) out += " class=\"right\"";
    if (in.wraps && !in.right) out += " class=\"wraps\"";
    out.append(">").append(escaped(text)).append("</").append(name).append(">");
}

void append_table(std::string& out, std::size_t number, const table& content) {
    const std::string id = "table-" + std::to_string(number);
    // A box that scrolls must be reachable by keyboard, and then needs a name.
    out += "<div class=\"table-box\" role=\"region\" tabindex=\"0\" aria-labelledby=\"" + id + "\">\n<table>\n";
    out += "<caption id=\"" + id + "\">" + escaped(content.title) + "</caption>\n<thead><tr>";
    for (const column& each : content.columns) append_cell(out, "th", each, " scope=\"col\"", each.title);
    out += "</tr></thead>\n<tbody>\n";
    for (const auto& row : content.rows) {
        out += "<tr>";
        for (std::size_t i = 0; i < content.columns.size(); ++i) {
            const std::string_view text = i < row.size() ? std::string_view{row[i]} : std::string_view{};
            if (i == 0)
                append_cell(out, "th", content.columns[i], " scope=\"row\"", text);
            else
                append_cell(out, "td", content.columns[i], "", text);
        }
        out += "</tr>\n";
    }
    out += "</tbody>\n</table>\n</div>\n";
}

// The class of page.css for a heat: seven steps, and none for what was not measured.
constexpr int heat_steps = 7;
[[nodiscard]] std::string heat_class(double heat) {
    if (!std::isfinite(heat)) return "unmeasured";
    const double step = std::clamp(heat, 0.0, 1.0) * (heat_steps - 1);
    return "heat-" + std::to_string(static_cast<int>(std::lround(step)));
}

// A name may be broken after each _ and -, so that narrow columns stay narrow.
[[nodiscard]] std::string breakable(std::string_view name) {
    std::string out;
    for (const char c : escaped(name)) {
        out += c;
        if (c == '_' || c == '-') out += "<wbr>";
    }
    return out;
}

void append_heat_cell(std::string& out, const heat_row& row, const heat_cell& cell) {
    out += "<td class=\"" + heat_class(cell.heat) + (cell.alarming ? " alarming" : "") + "\"";
    if (!cell.detail.empty()) {
        const std::string about =
            row.about.empty() ? cell.detail : cell.detail + " (" + row.name + ": " + row.about + ")";
        out += " title=\"" + escaped(about) + "\"";
    }
    out += "><b>" + escaped(cell.text) + "</b>";
    for (std::string_view rest = cell.note; !rest.empty();) {
        const std::size_t end = rest.find('\n');
        out += "<span>" + escaped(rest.substr(0, end)) + "</span>";
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    out += "</td>";
}

void append_heat_map(std::string& out, std::size_t number, const heat_map& content) {
    const std::string id = "heat-" + std::to_string(number);
    out += "<figure class=\"heat\" id=\"" + id + "\">\n<figcaption><h3 id=\"" + id + "-title\">" +
           escaped(content.title) + "</h3>";
    if (!content.caption.empty()) out += "<p>" + escaped(content.caption) + "</p>";
    out += "</figcaption>\n<ul class=\"legend\">";
    for (const heat_mark& each : content.legend)
        out += "<li class=\"" + heat_class(each.heat) + "\">" + escaped(each.text) + "</li>";
    out += "</ul>\n<div class=\"table-box\" role=\"region\" tabindex=\"0\" aria-labelledby=\"" + id + "-title\">\n";
    out += "<table>\n<thead><tr><th scope=\"col\">" + escaped(content.corner) + "</th>";
    for (const std::string& each : content.columns) out += "<th scope=\"col\">" + breakable(each) + "</th>";
    out += "</tr></thead>\n<tbody>\n";
    for (const heat_row& row : content.rows) {
        out += "<tr><th scope=\"row\"" + (row.about.empty() ? std::string{} : " title=\"" + escaped(row.about) + "\"") +
               ">" + breakable(row.name) + "</th>";
        for (std::size_t i = 0; i < content.columns.size(); ++i)
            append_heat_cell(out, row, i < row.cells.size() ? row.cells[i] : heat_cell{});
        out += "</tr>\n";
    }
    out += "</tbody>\n</table>\n</div>\n<p class=\"detail\" aria-live=\"polite\"></p>\n</figure>\n";
}

void append_code(std::string& out, const code_block& content) {
    out += "<div class=\"code\"><h3>" + escaped(content.title) + "</h3>\n<pre tabindex=\"0\"><code>" +
           escaped(content.text) + "</code></pre></div>\n";
}

struct append_any {
    std::string& out;
    std::size_t number;

    void operator()(const table& content) const { append_table(out, number, content); }
    void operator()(const heat_map& content) const { append_heat_map(out, number, content); }
    void operator()(const code_block& content) const { append_code(out, content); }
    void operator()(const auto& chart) const { append_chart(out, number, chart); }
};

}  // namespace

void figure_writer::append(std::string& out, const figure& content) {
    std::visit(append_any{out, ++count_}, content);
}

namespace {

// The library makes its files private, because most of them hold a hash key; a page gets the user's
// usual permissions.
void open_to_all(const std::string& path) noexcept {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    (void)::chmod(path.c_str(), 0666 & ~mask);
}

// Nothing may be fetched. Inline styles and scripts are the page itself; the icon is a data:
// address.
constexpr std::string_view policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'";

// A flower of broom. Without an icon a browser would ask the server for one.
constexpr std::string_view icon =
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='5' r='4' "
    "fill='%23f2c14e'/%3E%3Cpath d='M8 8v8' stroke='%233d7a35' stroke-width='2'/%3E%3C/svg%3E";

// The licence asks that it stays with every copy. Chart.js contains @kurkle/color, of the same
// licence.
constexpr std::string_view chart_notice = R"(<!--
Chart.js, (c) Chart.js Contributors, with @kurkle/color, (c) Jukka Kurkela. The MIT License:

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without
limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the
Software, and to permit persons to whom the Software is furnished to do so, subject to the following
conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions
of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED
TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL
THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
DEALINGS IN THE SOFTWARE.
-->
)";

// An empty line ends a paragraph. The first one may be set apart by a class.
void append_paragraphs(std::string& out, std::string_view text, std::string_view first_class = {}) {
    bool first = true;
    while (!text.empty()) {
        const std::size_t end = text.find("\n\n");
        const std::string_view paragraph = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
        if (paragraph.find_first_not_of(" \n\t") == std::string_view::npos) continue;
        out += "<p";
        if (first && !first_class.empty()) out.append(" class=\"").append(first_class).append("\"");
        out.append(">").append(escaped(paragraph)).append("</p>\n");
        first = false;
    }
}

void append_head(std::string& out, const page& content) {
    out += "<!doctype html>\n<html lang=\"en\" data-highlight=\"" + escaped(content.highlight) + "\">\n<head>\n";
    out += "<meta charset=\"utf-8\">\n";
    out.append("<meta http-equiv=\"Content-Security-Policy\" content=\"").append(policy).append("\">\n");
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n";
    out += "<title>" + escaped(content.title) + "</title>\n";
    out.append("<link rel=\"icon\" href=\"").append(icon).append("\">\n");
    out.append("<style>\n").append(page_style()).append("</style>\n</head>\n");
}

void append_facts(std::string& out, const std::vector<fact>& facts) {
    if (facts.empty()) return;
    out += "<dl class=\"tiles\">\n";
    for (const fact& each : facts) {
        out += each.alarming ? "<div class=\"tile alarming\">" : "<div class=\"tile\">";
        out += "<dt>" + escaped(each.label) + "</dt><dd class=\"value\">" + escaped(each.value) + "</dd>";
        if (!each.note.empty()) out += "<dd class=\"note\">" + escaped(each.note) + "</dd>";
        out += "</div>\n";
    }
    out += "</dl>\n";
}

void append_section(std::string& out, const section& content, figure_writer& figures, std::size_t number) {
    const std::string id = "section-" + std::to_string(number);
    out += "<section aria-labelledby=\"" + id + "\">\n<h2 id=\"" + id + "\">" + escaped(content.heading) + "</h2>\n";
    append_paragraphs(out, content.text);
    if (!content.figures.empty()) {
        out += "<div class=\"figures\">\n";
        for (const figure& each : content.figures) figures.append(out, each);
        out += "</div>\n";
    }
    out += "</section>\n";
}

void append_footer(std::string& out, const page& content) {
    out += "<footer>\n<p>Made by genista. This file is complete: it loads nothing from the network.";
    if (!content.data.is_null())
        out += " Its numbers are inside it as JSON, in the element with the id <code>data</code>.";
    out += "</p>\n<p>Charts are drawn by Chart.js " + escaped(chart_library_version()) +
           " (MIT licence), which is part of this file.</p>\n</footer>\n";
}

}  // namespace

std::string_view chart_library_version() noexcept {
    constexpr std::string_view mark = "Chart.js v";
    const std::string_view banner = chart_library().substr(0, 400);
    const std::size_t start = banner.find(mark);
    if (start == std::string_view::npos) return "3";  // report.cmake found "Chart.js v3." in it
    const std::string_view version = banner.substr(start + mark.size());
    return version.substr(0, version.find_first_not_of("0123456789."));
}

std::string to_html(const page& content) {
    std::string out;
    out.reserve(chart_library().size() + page_script().size() + page_style().size() + (std::size_t{1} << 18U));
    append_head(out, content);
    out += "<body>\n<main>\n<header>\n<h1>" + escaped(content.title) + "</h1>\n";
    append_paragraphs(out, content.lead, "lead");
    out += "</header>\n";
    if (!content.warning.empty()) {
        out += "<div class=\"warning\" role=\"alert\">\n";
        append_paragraphs(out, content.warning);
        out += "</div>\n";
    }
    out += "<noscript><p class=\"warning\">The charts need JavaScript; the tables do not.</p></noscript>\n";
    append_facts(out, content.facts);
    figure_writer figures;
    std::size_t number = 0;
    for (const section& each : content.sections) append_section(out, each, figures, ++number);
    append_footer(out, content);
    out += "</main>\n";
    if (!content.data.is_null())
        out += "<script type=\"application/json\" id=\"data\">" + script_json(content.data) + "</script>\n";
    out.append(chart_notice).append("<script>").append(chart_library()).append("</script>\n");
    out.append("<script>\n").append(page_script()).append("</script>\n</body>\n</html>\n");
    return out;
}

result<void> write_html(std::string_view path, const page& content) {
    try {
        const std::string html = to_html(content);
        auto saved = save_file(path, [&](sink& out) { return out.write(std::as_bytes(std::span{html})); });
        if (saved) open_to_all(std::string{path});
        return saved;
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "no memory for the report %.*s", static_cast<int>(path.size()),
                           path.data());
    }
}

}  // namespace genista::lab::report
