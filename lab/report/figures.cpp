// Tables, heat maps and code are plain HTML and need no script. A chart leaves its numbers as JSON
// in its figure: page.js reads them back.
#include "lab/report/figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "lab/report/escape.hpp"

namespace genista::lab::report {
namespace {

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

}  // namespace genista::lab::report
