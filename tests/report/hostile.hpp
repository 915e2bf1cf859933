// A page of strings that a browser could take for something else: markup, ends of scripts, control
// characters, broken UTF-8.
#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "lab/report/page.hpp"

namespace genista::test {

using namespace std::string_view_literals;

inline const std::string hostile{
    "</script></title></style><img src=x onerror=alert(1)>\"'><!--<script>"
    "&amp;\\u003c\0\x1b\xFF\xC0\xBC\xE2\x80\xA8${1}`"sv};

// The string is in every place of a page that takes one, and the numbers are extreme.
[[nodiscard]] inline lab::report::page hostile_page() {
    using namespace lab::report;  // NOLINT(google-build-using-namespace): a list of its structs
    constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1, 0};
    const axis any{hostile, true, unit::percent};
    const line_chart line{
        hostile,
        hostile,
        any,
        any,
        {0, 1, 2, odd[1]},
        {{hostile, {odd[0], odd[1], odd[2], odd[3]}, {odd[0], odd[1], -9, 0}, {1, 2, 3, odd[0]}}, {"", {}, {}, {1}}}};
    const scatter_chart cloud{
        hostile, hostile, any, any, {{hostile, {{hostile, odd[0], 1}, {hostile, 2, 3}}}, {"", {}}}};
    const bar_chart bars{hostile, hostile, any, {hostile, ""}, {{hostile, {5, odd[0]}}, {"", {}}}, true};
    const table rows{hostile, {{hostile}, {hostile, true}}, {{hostile, hostile}, {}}};
    const heat_map map{
        hostile,
        hostile,
        hostile,
        {hostile, ""},
        {{hostile, hostile, {{hostile, hostile, hostile, odd[1], true}, {hostile, "\n", hostile, -7, false}}},
         {"", "", {{}, {hostile, hostile, hostile, 7, false}, {"surplus"}}}},
        {{odd[0], hostile}, {0.5, hostile}}};
    const code_block code{hostile, hostile};
    page made;
    made.title = made.lead = made.warning = made.highlight = hostile;
    made.facts = {{hostile, hostile, hostile, true}};
    made.sections = {{hostile, hostile, {line, cloud, bars, rows, map, code}}};
    made.data = {{hostile, hostile}};
    return made;
}

}  // namespace genista::test
