// Pages as text: what is escaped, what becomes a gap, and that the same page gives the same bytes.
#include "lab/report/page.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "lab/report/assets.hpp"
#include "lab/report/text.hpp"
#include "tests/report/made_up.hpp"

namespace genista::lab::report::page_test {
namespace {

using nlohmann::ordered_json;
using test::hostile;
using test::hostile_page;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

[[nodiscard]] std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

// The page without the three embedded files that are on every page and have markup of their own.
[[nodiscard]] std::string without_assets(std::string html) {
    for (const std::string_view asset : {chart_library(), page_script(), page_style()}) {
        const std::size_t at = html.find(asset);
        EXPECT_NE(at, std::string::npos);
        if (at != std::string::npos) html.erase(at, asset.size());
    }
    return html;
}

// The JSON of the chart with this number, as page.js will read it.
[[nodiscard]] ordered_json chart_json(const std::string& html, int number) {
    const std::size_t figure = html.find("id=\"chart-" + std::to_string(number) + "\"");
    EXPECT_NE(figure, std::string::npos);
    const std::string open = "<script type=\"application/json\">";
    const std::size_t start = html.find(open, figure) + open.size();
    return ordered_json::parse(html.substr(start, html.find("</script>", start) - start));
}

[[nodiscard]] page page_with(figure content) {
    page made;
    made.title = "t";
    section only{"h", "", {}};
    only.figures.push_back(std::move(content));
    made.sections.push_back(std::move(only));
    return made;
}

TEST(escape, markup_and_quotes_become_entities) {
    EXPECT_EQ(escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
    EXPECT_EQ(escaped("über\n\tε"), "über\n\tε");
    EXPECT_EQ(escaped(""), "");
}

TEST(escape, bytes_that_are_no_utf8_become_replacement_characters) {
    const std::string mark = "\xEF\xBF\xBD";
    EXPECT_EQ(escaped("a\xFFz"), "a" + mark + "z");
    EXPECT_EQ(escaped("\xC3"), mark);                                   // cut short
    EXPECT_EQ(escaped("\xC0\xBC"), mark + mark);                        // an overlong '<'
    EXPECT_EQ(escaped("\xE0\x80\xBC"), mark + mark + mark);             // and a longer one
    EXPECT_EQ(escaped("\xED\xA0\x80"), mark + mark + mark);             // a surrogate
    EXPECT_EQ(escaped("\xF4\x90\x80\x80"), mark + mark + mark + mark);  // above U+10FFFF
    EXPECT_EQ(escaped("\xF0\x9F\x8C\xBC\xE2\x82\xAC"), "\xF0\x9F\x8C\xBC\xE2\x82\xAC");
    EXPECT_EQ(escaped(std::string_view{"a\0\x1b\x7f"
                                       "b",
                                       5}),
              "a" + mark + mark + mark + "b");
}

TEST(escape, every_byte_string_of_length_three_is_harmless) {
    const char alphabet[] = {'<', '>', '&', '"', '\'', '\0', 'a', '\x80', '\xBC', '\xC2', '\xE2', '\xF0', '\xFF'};
    for (const char a : alphabet) {
        for (const char b : alphabet) {
            for (const char c : alphabet) {
                const std::string text{a, b, c};
                EXPECT_EQ(escaped(text).find_first_of("<>\"'"), std::string::npos);
                const std::string json = script_json(text);
                EXPECT_EQ(json.find_first_of("<>&"), std::string::npos);
                EXPECT_TRUE(ordered_json::parse(json).is_string());
            }
        }
    }
}

TEST(escape, json_in_a_script_says_the_same_and_cannot_end_it) {
    const ordered_json value{{"a</script>", "<!-- & -->"}, {"n", {1, 2.5, nan_value}}};
    const std::string text = script_json(value);
    EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
    const ordered_json back = ordered_json::parse(text);
    EXPECT_EQ(back["a</script>"], "<!-- & -->");
    EXPECT_EQ(back["n"], (ordered_json{1, 2.5, nullptr}));
}

TEST(page, the_assets_can_stand_inside_a_script_and_a_style) {
    EXPECT_GT(chart_library().size(), 100'000u);
    for (const std::string_view asset : {chart_library(), page_script(), page_style()}) {
        EXPECT_FALSE(asset.empty());
        EXPECT_EQ(count_of(asset, "</script"), 0u);
        EXPECT_EQ(count_of(asset, "</style"), 0u);
        EXPECT_EQ(count_of(asset, "<!--"), 0u);
    }
}

// Whatever bytes are in a file (every value, quotes, newlines, no newline at the end), they come
// back unchanged: page.css is compared with its source.
TEST(page, an_embedded_file_is_the_file_byte_by_byte) {
    for (const auto& [name, asset] : {std::pair{"page.css", page_style()}, std::pair{"page.js", page_script()}}) {
        std::ifstream file{std::string{GENISTA_SOURCE_DIR "/lab/report/"} + name, std::ios::binary};
        const std::string source{std::istreambuf_iterator<char>{file}, {}};
        EXPECT_EQ(asset, source) << name;
    }
}

TEST(page, the_version_of_the_chart_library_is_named_with_its_licence) {
    EXPECT_TRUE(chart_library_version().starts_with("3."));
    const std::string html = to_html({});
    EXPECT_EQ(count_of(html, "Chart.js " + std::string{chart_library_version()} + " (MIT licence)"), 1u);
    EXPECT_EQ(count_of(html, "The above copyright notice and this permission notice shall be included"), 1u);
}

TEST(page, hostile_strings_are_text_wherever_they_stand) {
    const std::string html = without_assets(to_html(hostile_page()));
    EXPECT_EQ(count_of(html, "<img"), 0u);
    EXPECT_EQ(count_of(html, "</script><"), 0u);
    EXPECT_EQ(count_of(html, "</title><"), 0u);
    EXPECT_EQ(count_of(html, "onerror=\""), 0u);
    EXPECT_EQ(count_of(html, "\xFF"), 0u);
    EXPECT_EQ(html.find('\0'), std::string::npos);
    EXPECT_EQ(count_of(html, "<script"), count_of(html, "</script>"));
    // Three charts, the data, the library and the page's own script.
    EXPECT_EQ(count_of(html, "<script"), 6u);
    // Title twice, highlight, lead, warning, a fact of three, heading, text, three charts (title,
    // caption, label), a table.
    EXPECT_GE(count_of(html, escaped(hostile)), 17u);
}

TEST(page, the_data_of_a_page_comes_back_from_it) {
    page made;
    made.data = {{"x", hostile}, {"y", {1, 2, 3}}, {"big", 18446744073709551615ULL}};
    const std::string html = to_html(made);
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const std::size_t start = html.find(open);
    ASSERT_NE(start, std::string::npos);
    const std::size_t end = html.find("</script>", start);
    const auto back = ordered_json::parse(html.substr(start + open.size(), end - start - open.size()));
    EXPECT_EQ(back["y"], made.data["y"]);
    EXPECT_EQ(back["big"], made.data["big"]);
    EXPECT_NE(back["x"].get<std::string>().find("</script></title>"), std::string::npos);
}

TEST(page, numbers_that_are_not_finite_are_gaps) {
    line_chart chart;
    chart.at = {1, 2, infinity, 4};
    chart.lines = {{"a", {0.5, nan_value, -infinity, 1e-300}}};
    const ordered_json json = chart_json(to_html(page_with(chart)), 1);
    EXPECT_EQ(json["x"], (ordered_json{1.0, 2.0, nullptr, 4.0}));
    EXPECT_EQ(json["series"][0]["y"], (ordered_json{0.5, nullptr, nullptr, 1e-300}));

    const ordered_json cloud =
        chart_json(to_html(page_with(scatter_chart{.title = {},
                                                   .caption = {},
                                                   .x = {},
                                                   .y = {},
                                                   .clouds = {{"c", {{"p", nan_value, 2}, {"q", 1, infinity}}}}})),
                   1);
    EXPECT_EQ(cloud["series"][0]["points"][0]["x"], nullptr);
    EXPECT_EQ(cloud["series"][0]["points"][0]["y"], 2.0);
    EXPECT_EQ(cloud["series"][0]["points"][1]["y"], nullptr);
}

TEST(page, series_of_another_length_are_filled_up_or_cut) {
    line_chart chart;
    chart.at = {1, 2, 3};
    chart.lines = {{"short", {7}}, {"empty", {}}, {"long", {1, 2, 3, 4}}};
    const ordered_json json = chart_json(to_html(page_with(chart)), 1);
    EXPECT_EQ(json["series"][0]["y"], (ordered_json{7.0, nullptr, nullptr}));
    EXPECT_EQ(json["series"][1]["y"], (ordered_json{nullptr, nullptr, nullptr}));
    EXPECT_EQ(json["series"][2]["y"], (ordered_json{1.0, 2.0, 3.0}));
}

TEST(page, numbers_of_a_chart_come_back_bit_by_bit) {
    line_chart chart;
    chart.at = {0.1, 1e-308, 123456789012345680.0, -0.0};
    chart.lines = {{"a", {1.0 / 3, 2e300, 5e-324, 4}}};
    const ordered_json json = chart_json(to_html(page_with(chart)), 1);
    EXPECT_EQ(json["x"].get<std::vector<double>>(), chart.at);
    EXPECT_EQ(json["series"][0]["y"].get<std::vector<double>>(), chart.lines[0].y);
}

TEST(page, rows_of_a_table_have_as_many_cells_as_columns) {
    const std::string html = to_html(page_with(table{"t", {{"a"}, {"b", true}}, {{"1"}, {"1", "2", "surplus"}, {}}}));
    EXPECT_EQ(count_of(html, "<th scope=\"col\">a</th>"), 1u);
    EXPECT_EQ(count_of(html, "<th scope=\"col\" class=\"right\">b</th>"), 1u);
    EXPECT_EQ(count_of(html, "<tr><th scope=\"row\">1</th><td class=\"right\"></td></tr>"), 1u);
    EXPECT_EQ(count_of(html, "<tr><th scope=\"row\">1</th><td class=\"right\">2</td></tr>"), 1u);
    EXPECT_EQ(count_of(html, "surplus"), 0u);
    EXPECT_EQ(count_of(html, "<tr><th scope=\"row\"></th><td class=\"right\"></td></tr>"), 1u);
}

TEST(page, an_empty_page_is_a_complete_document) {
    const std::string html = without_assets(to_html({}));
    EXPECT_TRUE(html.starts_with("<!doctype html>"));
    EXPECT_TRUE(html.ends_with("</html>\n"));
    EXPECT_EQ(count_of(html, "id=\"data\""), 0u);
    EXPECT_EQ(count_of(html, "<section"), 0u);
    EXPECT_EQ(count_of(html, "tiles"), 0u);
}

TEST(page, loads_nothing_and_forbids_it) {
    const std::string html = without_assets(to_html(hostile_page()));
    EXPECT_EQ(count_of(html, "default-src 'none'"), 1u);
    EXPECT_EQ(count_of(html, " src="), count_of(html, " src=x"));  // the hostile text itself, escaped
    EXPECT_EQ(count_of(html, "href=\"data:"), 1u);
    EXPECT_EQ(count_of(html, "href="), 1u);
    EXPECT_EQ(count_of(html, "@import"), 0u);
    EXPECT_EQ(count_of(std::string{page_style()}, "url("), 0u);
    EXPECT_EQ(count_of(html,
                       "on"
                       "click"),
              0u);
}

TEST(page, paragraphs_end_at_empty_lines) {
    page made;
    made.lead = "one\n\ntwo\nstill two\n\n\n\nthree";
    const std::string html = to_html(made);
    EXPECT_EQ(count_of(html, "<p class=\"lead\">one</p>\n<p>two\nstill two</p>\n<p>three</p>"), 1u);
}

TEST(page, the_same_page_gives_the_same_bytes) {
    EXPECT_EQ(to_html(hostile_page()), to_html(hostile_page()));
}

TEST(page, is_written_to_a_file_whole_or_refused_by_name) {
    std::string folder = (std::filesystem::temp_directory_path() / "genista-report-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const std::string path = folder + "/report.html";
    const mode_t mask = ::umask(027);
    ASSERT_TRUE(write_html(path, hostile_page()));
    ::umask(mask);
    struct stat found {};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777u, 0640u) << "as the user's files are";
    std::ifstream file{path, std::ios::binary};
    const std::string written{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_EQ(written, to_html(hostile_page()));
    const result<void> refused = write_html(folder + "/no/such/report.html", {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::io);
    EXPECT_NE(refused.error().message().find("report.html"), std::string_view::npos) << refused.error().message();
    std::filesystem::remove_all(folder);
}

TEST(numbers, are_formatted_for_readers) {
    EXPECT_EQ(count_text(0), "0");
    EXPECT_EQ(count_text(999), "999");
    EXPECT_EQ(count_text(1000), "1,000");
    EXPECT_EQ(count_text(18446744073709551615ULL), "18,446,744,073,709,551,615");
    EXPECT_EQ(rounded_text(-1234567.6), "-1,234,568");
    EXPECT_EQ(rounded_text(-123), "-123");
    EXPECT_EQ(fixed_text(10.4, 2), "10.40");
    EXPECT_EQ(fixed_text(12345.678, 1), "12,345.7");
    EXPECT_EQ(amount_text(0.001234), "0.00123");
    EXPECT_EQ(amount_text(4.0612), "4.06");
    EXPECT_EQ(amount_text(123456), "123,456");
    EXPECT_EQ(amount_text(0), "0");
    EXPECT_EQ(amount_text(1e-20), "1.00e-20");
    EXPECT_EQ(amount_text(1e200), "1.00e+200");
    EXPECT_EQ(share_text(0.01234), "1.23 %");
    EXPECT_EQ(share_text(1), "100 %");
    EXPECT_EQ(ratio_text(41.3), "41");
    EXPECT_EQ(ratio_text(4.13), "4.1");
    EXPECT_EQ(ratio_text(0.966), "0.97");
    for (const double odd : {nan_value, infinity, -infinity}) {
        EXPECT_EQ(rounded_text(odd), not_measured);
        EXPECT_EQ(fixed_text(odd, 2), not_measured);
        EXPECT_EQ(amount_text(odd), not_measured);
        EXPECT_EQ(share_text(odd), not_measured);
    }
}

}  // namespace
}  // namespace genista::lab::report::page_test
