// Figures as HTML, and sections as JSON and back. See figures.hpp.
#include "lab/report/figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/report/text.hpp"

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

namespace {

using json = nlohmann::ordered_json;

json write(double value) {
    return std::isfinite(value) ? json(value) : json(nullptr);
}
json write(const std::vector<double>& values) {
    json out = json::array();
    for (const double each : values) out.push_back(write(each));
    return out;
}
double read_number(const json& from) {
    return from.is_null() ? std::numeric_limits<double>::quiet_NaN() : from.get<double>();
}
std::vector<double> read_numbers(const json& from) {
    std::vector<double> out;
    for (const json& each : from) out.push_back(read_number(each));
    return out;
}
std::string read_text(const json& from, const char* name) {
    return from.at(name).get<std::string>();
}

template <class T, class Write>
json write_all(const std::vector<T>& all, Write write_one) {
    json out = json::array();
    for (const T& each : all) out.push_back(write_one(each));
    return out;
}
template <class T, class Read>
std::vector<T> read_all(const json& from, Read read_one) {
    std::vector<T> out;
    for (const json& each : from) out.push_back(read_one(each));
    return out;
}

json write_axis(const axis& content) {
    return {{"title", content.title}, {"log", content.logarithmic}, {"unit", static_cast<int>(content.in)}};
}
axis read_axis(const json& from) {
    const int in = from.at("unit").get<int>();
    return {read_text(from, "title"), from.at("log").get<bool>(),
            in >= 0 && in <= static_cast<int>(unit::microseconds) ? static_cast<unit>(in) : unit::number};
}

json write_series(const series& content) {
    return {
        {"name", content.name}, {"y", write(content.y)}, {"low", write(content.low)}, {"high", write(content.high)}};
}
series read_series(const json& from) {
    return {read_text(from, "name"), read_numbers(from.at("y")), read_numbers(from.at("low")),
            read_numbers(from.at("high"))};
}

json write(const line_chart& chart) {
    return {{"kind", "line"},
            {"title", chart.title},
            {"caption", chart.caption},
            {"x", write_axis(chart.x)},
            {"y", write_axis(chart.y)},
            {"at", write(chart.at)},
            {"lines", write_all(chart.lines, write_series)}};
}
line_chart read_line(const json& from) {
    return {read_text(from, "title"), read_text(from, "caption"),  read_axis(from.at("x")),
            read_axis(from.at("y")),  read_numbers(from.at("at")), read_all<series>(from.at("lines"), read_series)};
}

json write(const scatter_chart& chart) {
    const auto write_point = [](const point& each) {
        return json{{"label", each.label}, {"x", write(each.x)}, {"y", write(each.y)}};
    };
    const auto write_cloud = [&](const point_series& each) {
        return json{{"name", each.name}, {"points", write_all(each.points, write_point)}};
    };
    return {{"kind", "scatter"},        {"title", chart.title},     {"caption", chart.caption},
            {"x", write_axis(chart.x)}, {"y", write_axis(chart.y)}, {"clouds", write_all(chart.clouds, write_cloud)}};
}
scatter_chart read_scatter(const json& from) {
    const auto read_point = [](const json& each) {
        return point{read_text(each, "label"), read_number(each.at("x")), read_number(each.at("y"))};
    };
    const auto read_cloud = [&](const json& each) {
        return point_series{read_text(each, "name"), read_all<point>(each.at("points"), read_point)};
    };
    return {read_text(from, "title"), read_text(from, "caption"), read_axis(from.at("x")), read_axis(from.at("y")),
            read_all<point_series>(from.at("clouds"), read_cloud)};
}

json write(const bar_chart& chart) {
    return {{"kind", "bar"},
            {"title", chart.title},
            {"caption", chart.caption},
            {"value", write_axis(chart.value)},
            {"categories", chart.categories},
            {"bars", write_all(chart.bars, write_series)},
            {"graded", chart.graded}};
}
bar_chart read_bar(const json& from) {
    return {read_text(from, "title"),
            read_text(from, "caption"),
            read_axis(from.at("value")),
            from.at("categories").get<std::vector<std::string>>(),
            read_all<series>(from.at("bars"), read_series),
            from.at("graded").get<bool>()};
}

json write(const table& content) {
    const auto write_column = [](const column& each) {
        return json{{"title", each.title}, {"right", each.right}, {"wraps", each.wraps}};
    };
    return {{"kind", "table"},
            {"title", content.title},
            {"columns", write_all(content.columns, write_column)},
            {"rows", content.rows}};
}
table read_table(const json& from) {
    const auto read_column = [](const json& each) {
        return column{read_text(each, "title"), each.at("right").get<bool>(), each.at("wraps").get<bool>()};
    };
    return {read_text(from, "title"), read_all<column>(from.at("columns"), read_column),
            from.at("rows").get<std::vector<std::vector<std::string>>>()};
}

json write(const heat_map& content) {
    const auto write_cell = [](const heat_cell& each) {
        return json{{"text", each.text},
                    {"note", each.note},
                    {"detail", each.detail},
                    {"heat", write(each.heat)},
                    {"alarming", each.alarming}};
    };
    const auto write_row = [&](const heat_row& each) {
        return json{{"name", each.name}, {"about", each.about}, {"cells", write_all(each.cells, write_cell)}};
    };
    const auto write_mark = [](const heat_mark& each) { return json{{"heat", write(each.heat)}, {"text", each.text}}; };
    return {{"kind", "heat"},
            {"title", content.title},
            {"caption", content.caption},
            {"corner", content.corner},
            {"columns", content.columns},
            {"rows", write_all(content.rows, write_row)},
            {"legend", write_all(content.legend, write_mark)}};
}
heat_map read_heat(const json& from) {
    const auto read_cell = [](const json& each) {
        return heat_cell{read_text(each, "text"), read_text(each, "note"), read_text(each, "detail"),
                         read_number(each.at("heat")), each.at("alarming").get<bool>()};
    };
    const auto read_row = [&](const json& each) {
        return heat_row{read_text(each, "name"), read_text(each, "about"),
                        read_all<heat_cell>(each.at("cells"), read_cell)};
    };
    const auto read_mark = [](const json& each) {
        return heat_mark{read_number(each.at("heat")), read_text(each, "text")};
    };
    return {read_text(from, "title"),
            read_text(from, "caption"),
            read_text(from, "corner"),
            from.at("columns").get<std::vector<std::string>>(),
            read_all<heat_row>(from.at("rows"), read_row),
            read_all<heat_mark>(from.at("legend"), read_mark)};
}

json write(const code_block& content) {
    return {{"kind", "code"}, {"title", content.title}, {"text", content.text}};
}

figure read_figure(const json& from) {
    const std::string kind = read_text(from, "kind");
    if (kind == "line") return read_line(from);
    if (kind == "scatter") return read_scatter(from);
    if (kind == "bar") return read_bar(from);
    if (kind == "heat") return read_heat(from);
    if (kind == "code") return code_block{read_text(from, "title"), read_text(from, "text")};
    return read_table(from);
}

}  // namespace

json to_json(const section& content) {
    const auto write_figure = [](const figure& each) {
        return std::visit([](const auto& any) { return write(any); }, each);
    };
    return {
        {"heading", content.heading}, {"text", content.text}, {"figures", write_all(content.figures, write_figure)}};
}

section section_from_json(const json& from) {
    return {read_text(from, "heading"), read_text(from, "text"), read_all<figure>(from.at("figures"), read_figure)};
}

}  // namespace genista::lab::report
