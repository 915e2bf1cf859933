// One pair of functions a struct, field by field in the order of page.hpp. See page.hpp.
#include "lab/report/page.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace genista::lab::report {
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
