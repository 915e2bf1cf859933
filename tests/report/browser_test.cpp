// Reports in a real Chromium, at the width of a phone and of a desktop, in light and dark. Every
// figure is drawn with the numbers of the run, nothing overflows, nothing is fetched, and the
// console is empty.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "chromium.hpp"
#include "lab/report/guard_page.hpp"
#include "lab/report/report_page.hpp"
#include "made_up.hpp"

namespace genista::test::browser_test {
namespace {

using lab::report::guard_page;
using lab::report::to_html;
using nlohmann::ordered_json;

// Nothing on the console, and no requests.
void expect_quiet(const chromium& browser, const ordered_json& seen) {
    EXPECT_EQ(browser.complaints(), std::vector<std::string>{});
    EXPECT_EQ(browser.requests(), std::vector<std::string>{});
    EXPECT_EQ(seen.at("violations"), ordered_json::array());
}

void expect_fits(const ordered_json& seen, browser_view view) {
    EXPECT_EQ(seen.at("width"), view.width);
    EXPECT_EQ(seen.at("dark"), view.dark);
    EXPECT_LE(seen.at("scroll_width").get<int>(), view.width);
    EXPECT_EQ(seen.at("wide"), ordered_json::array());
}

// Enough contrast, targets large enough for a finger, and names for drawn figures.
void expect_readable(const ordered_json& seen) {
    EXPECT_EQ(seen.at("faint"), ordered_json::array());
    EXPECT_EQ(seen.at("small"), ordered_json::array());
    EXPECT_EQ(seen.at("headings")[0], 1);
    for (const ordered_json& chart : seen.at("charts")) {
        EXPECT_EQ(chart.at("role"), "img") << chart.at("id");
        EXPECT_GT(chart.at("label").get<std::string>().size(), 20u) << chart.at("id");
    }
    for (const ordered_json& table : seen.at("tables"))
        EXPECT_TRUE(table.at("scopes").get<bool>()) << table.at("title");
}

// Every chart has a size, and every series has pixels of its own colour.
void expect_drawn(const ordered_json& charts) {
    for (const ordered_json& chart : charts) {
        SCOPED_TRACE(chart.at("id").get<std::string>() + " " + chart.at("title").get<std::string>());
        EXPECT_TRUE(chart.at("drawn").get<bool>());
        EXPECT_GT(chart.at("width").get<double>(), 200);
        EXPECT_GT(chart.at("height").get<double>(), 100);
        EXPECT_GT(chart.at("pixels").at("inked").get<int>(), 2000);
        ASSERT_EQ(chart.at("keys").size(), chart.at("series").size());
        for (std::size_t i = 0; i < chart.at("series").size(); ++i) {
            EXPECT_EQ(chart.at("keys")[i], chart.at("series")[i].at("name"));
            EXPECT_GE(chart.at("pixels").at("series")[i].get<int>(), 8) << chart.at("series")[i].at("name");
        }
    }
}

// "1,234.5 %" as a number.
[[nodiscard]] double number_in(std::string text) {
    std::erase(text, ',');
    return std::strtod(text.c_str(), nullptr);
}

void expect_equal_tables(const ordered_json& tables, const ordered_json& document) {
    // One entry a column: the name in the JSON, the factor that the page applies, and the rounding
    // that it may apply.
    struct shown {
        const char* name;
        double half_step;  // of the last digit shown, absolute
        double relative;   // relative, for three significant digits
    };
    const shown columns[] = {{"bits_per_key", 0.005, 0},
                             {"queries", 0, 0},
                             {"absent", 0, 0},
                             {"wasted_reads", 0, 0},
                             {"repeated_wasted_reads", 0, 0},
                             {nullptr, 0, 0.005},
                             {"queries_per_second", 0.5, 0},
                             {"p50_us", 0, 0.005},
                             {"p99_us", 0, 0.005},
                             {"p999_us", 0, 0.005},
                             {"false_negatives", 0, 0}};
    ASSERT_EQ(tables.size(), document.at("phases").size() + 1);
    for (std::size_t p = 0; p < document.at("phases").size(); ++p) {
        const ordered_json& rows = document.at("phases")[p].at("rows");
        ASSERT_EQ(tables[p].at("rows").size(), rows.size());
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const ordered_json& cells = tables[p].at("rows")[r];
            ASSERT_EQ(cells.size(), std::size(columns) + 1);
            EXPECT_EQ(cells[0], rows[r].at("filter"));
            for (std::size_t c = 0; c < std::size(columns); ++c) {
                const double share =
                    100 * rows[r].at("wasted_reads").get<double>() / rows[r].at("absent").get<double>();
                const double want = columns[c].name == nullptr ? share : rows[r].at(columns[c].name).get<double>();
                const double room = columns[c].half_step + columns[c].relative * want + 1e-9;
                EXPECT_NEAR(number_in(cells[c + 1].get<std::string>()), want, room)
                    << tables[p].at("head")[c + 1] << " of " << cells[0];
            }
        }
    }
}

// The points that Chart.js was given, compared with the timelines. The moment before the first
// query is not on the log axis.
void expect_equal_timelines(const ordered_json& charts, const ordered_json& document) {
    std::size_t lines = 0;
    for (const ordered_json& chart : charts) {
        if (chart.at("type") != "line") continue;
        const ordered_json& rows = document.at("phases")[lines++].at("rows");
        ASSERT_EQ(chart.at("series").size(), rows.size());
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const ordered_json& timeline = rows[r].at("timeline");
            const ordered_json& data = chart.at("series")[r].at("data");
            ASSERT_EQ(data.size() + 1, timeline.at("queries").size());
            for (std::size_t i = 0; i < data.size(); ++i) {
                EXPECT_EQ(data[i][0].get<double>(), timeline.at("queries")[i + 1].get<double>());
                EXPECT_EQ(data[i][1].get<double>(), timeline.at("wasted_reads")[i + 1].get<double>());
            }
        }
    }
    EXPECT_EQ(lines, document.at("phases").size());
}

void expect_equal_bars(const ordered_json& charts, const ordered_json& document) {
    const ordered_json& phases = document.at("phases");
    std::size_t latencies = 0;
    for (const ordered_json& chart : charts) {
        if (chart.at("type") != "bar") continue;
        if (chart.at("series")[0].at("name") !=
            "p50") {  // the speeds: a category for each phase, a series for each filter
            for (std::size_t p = 0; p < phases.size(); ++p) {
                for (std::size_t r = 0; r < phases[p].at("rows").size(); ++r)
                    EXPECT_EQ(chart.at("series")[r].at("data")[p], phases[p].at("rows")[r].at("queries_per_second"));
            }
            continue;
        }
        const ordered_json& rows = phases[latencies++].at("rows");
        const char* const names[] = {"p50_us", "p99_us", "p999_us"};
        for (std::size_t s = 0; s < 3; ++s) {
            for (std::size_t r = 0; r < rows.size(); ++r)
                EXPECT_EQ(chart.at("series")[s].at("data")[r], rows[r].at(names[s]));
        }
    }
    EXPECT_EQ(latencies, phases.size());
}

// A name has one look on the whole page, and no two names share colour, dash or mark.
void expect_consistent_looks(const ordered_json& charts) {
    std::map<std::string, ordered_json> looks;
    for (const ordered_json& chart : charts) {
        if (chart.at("type") != "line") continue;
        for (const ordered_json& each : chart.at("series")) {
            const ordered_json look{each.at("colour"), each.at("dash"), each.at("mark")};
            const auto [known, fresh] = looks.emplace(each.at("name"), look);
            EXPECT_TRUE(fresh || known->second == look) << each.at("name");
        }
    }
    EXPECT_EQ(looks.size(), std::size(made_up_filters));
    for (const auto& [name, look] : looks) {
        for (const auto& [other, its] : looks) {
            for (std::size_t part = 0; part < 3; ++part) {
                EXPECT_TRUE(name == other || look[part] != its[part]) << name << " and " << other;
            }
        }
    }
}

class guard_report : public testing::TestWithParam<browser_view> {};

TEST_P(guard_report, shows_the_run_as_it_was) {
    const ordered_json document = made_up_run();
    const std::string lead = guard_page(document).lead;
    chromium browser;
    ASSERT_TRUE(browser.open(to_html(guard_page(document)), GetParam()));
    const ordered_json seen = browser.evaluate("genistaProbe.look()");
    ASSERT_TRUE(seen.is_object());
    expect_fits(seen, GetParam());
    expect_readable(seen);
    const ordered_json& charts = seen.at("charts");
    ASSERT_EQ(charts.size(), 8u);
    EXPECT_EQ(seen.at("charts_line"), "8/8");
    expect_drawn(charts);
    expect_equal_tables(seen.at("tables"), document);
    expect_equal_timelines(charts, document);
    expect_equal_bars(charts, document);
    expect_consistent_looks(charts);
    EXPECT_EQ(ordered_json::parse(seen.at("data").get<std::string>()), document);
    EXPECT_EQ(seen.at("title"), "Genista guard report");
    EXPECT_EQ(seen.at("lead"), lead.substr(0, lead.find("\n\n")));
    EXPECT_EQ(seen.at("facts").size(), 5u);
    EXPECT_EQ(seen.at("handlers"), 0);
    expect_quiet(browser, seen);
}

INSTANTIATE_TEST_SUITE_P(views, guard_report,
                         testing::Values(browser_view{360, false}, browser_view{360, true}, browser_view{1280, false},
                                         browser_view{1280, true}),
                         [](const auto& one) {
                             return std::string{one.param.width < 500 ? "phone" : "desk"} +
                                    (one.param.dark ? "_dark" : "_light");
                         });

TEST(browser, series_can_be_hidden_and_scales_changed) {
    chromium browser;
    ASSERT_TRUE(browser.open(to_html(guard_page(made_up_run())), {360, false}));
    const ordered_json seen = browser.evaluate("genistaProbe.touch()");
    EXPECT_EQ(seen.at("hidden_pressed"), "false");
    EXPECT_EQ(seen.at("hidden_visible"), false);
    EXPECT_EQ(seen.at("shown_visible"), true);
    EXPECT_EQ(seen.at("scales_before"), (ordered_json{"category", "logarithmic"}));
    EXPECT_EQ(seen.at("scales_after"), (ordered_json{"category", "linear"}));
    expect_quiet(browser, browser.evaluate("genistaProbe.look()"));
}

// There are six colours, and a bar has neither dash nor mark.
TEST(browser, bars_of_many_filters_differ) {
    ordered_json rows = ordered_json::array();
    for (int i = 0; i < 9; ++i) rows.push_back({{"filter", "f" + std::to_string(i)}, {"queries_per_second", 100 + i}});
    const ordered_json document{{"phases", ordered_json::array({{{"name", "uniform"}, {"rows", rows}}})}};
    chromium browser;
    ASSERT_TRUE(browser.open(to_html(guard_page(document)), {1280, false}));
    const ordered_json looks = browser.evaluate(
        "Chart.getChart(document.querySelector('canvas')).data.datasets.map("
        "set => [set.borderColor, set.backgroundColor, set.borderWidth].join())");
    ASSERT_EQ(looks.size(), 9u);
    EXPECT_EQ(std::set<std::string>(looks.begin(), looks.end()).size(), 9u) << looks;
}

TEST(browser, charts_follow_the_window) {
    chromium browser;
    ASSERT_TRUE(browser.open(to_html(guard_page(made_up_run())), {1280, false}));
    for (const int width : {320, 700, 1100}) {
        browser.set_width(width);
        const std::string reached = "innerWidth === " + std::to_string(width) + " && genistaProbe.settled()";
        EXPECT_EQ(browser.evaluate("genistaProbe.until(() => " + reached + ")"), true) << width;
        const ordered_json seen = browser.evaluate("genistaProbe.look()");
        expect_fits(seen, {width, false});
        expect_drawn(seen.at("charts"));
    }
}

TEST(browser, charts_follow_light_and_dark) {
    chromium browser;
    ASSERT_TRUE(browser.open(to_html(guard_page(made_up_run())), {800, false}));
    const ordered_json light = browser.evaluate("genistaProbe.look()"),
                       colours = browser.evaluate("genistaProbe.colours()");
    browser.set_dark(true);
    EXPECT_EQ(browser.evaluate("genistaProbe.until(() => JSON.stringify(genistaProbe.colours()) !== `" +
                               colours.dump() + "`)"),
              true);
    const ordered_json dark = browser.evaluate("genistaProbe.look()");
    EXPECT_NE(light.at("background"), dark.at("background"));
    for (std::size_t i = 0; i < light.at("charts").size(); ++i)
        EXPECT_NE(light.at("charts")[i].at("series")[0].at("colour"),
                  dark.at("charts")[i].at("series")[0].at("colour"));
    expect_drawn(dark.at("charts"));
    expect_readable(dark);
    browser.set_dark(false);
    EXPECT_EQ(browser.evaluate("genistaProbe.until(() => JSON.stringify(genistaProbe.colours()) === `" +
                               colours.dump() + "`)"),
              true);
    expect_quiet(browser, dark);
}

// Dark on the screen, light on paper, and dark again afterwards.
TEST(browser, a_dark_page_is_printed_in_light) {
    chromium browser;
    ASSERT_TRUE(browser.open(to_html(guard_page(made_up_run())), {800, true}));
    const ordered_json dark = browser.evaluate("genistaProbe.colours()");
    ASSERT_TRUE(
        browser
            .evaluate("addEventListener('beforeprint', () => { globalThis.printed = genistaProbe.colours(); }), true")
            .is_boolean());
    const ordered_json paper = browser.call("Page.printToPDF");
    EXPECT_GT(paper.value("data", std::string{}).size(), 50'000u);
    const ordered_json printed = browser.evaluate("globalThis.printed");
    EXPECT_EQ(printed.size(), dark.size());
    EXPECT_NE(printed, dark);
    EXPECT_EQ(browser.evaluate("genistaProbe.colours()"), dark);
    expect_quiet(browser, browser.evaluate("genistaProbe.look()"));
}

TEST(browser, hostile_strings_stay_text) {
    chromium browser;
    ASSERT_TRUE(browser.open(to_html(hostile_page()), {360, false}));
    const ordered_json seen = browser.evaluate("genistaProbe.look()");
    ASSERT_TRUE(seen.is_object());
    expect_fits(seen, {360, false});
    EXPECT_EQ(seen.at("elements"), 0) << "an element that a string brought in";
    EXPECT_EQ(seen.at("handlers"), 0);
    ASSERT_EQ(seen.at("charts").size(), 3u);
    EXPECT_NE(seen.at("title").get<std::string>().find("<img src=x onerror=alert(1)>"), std::string::npos);
    for (const ordered_json& chart : seen.at("charts")) {
        EXPECT_TRUE(chart.at("drawn").get<bool>());
        EXPECT_NE(chart.at("keys")[0].get<std::string>().find("</script></title>"), std::string::npos);
    }
    expect_quiet(browser, seen);
}

TEST(browser, charts_without_numbers_are_drawn_too) {
    using namespace lab::report;  // NOLINT(google-build-using-namespace): a list of its structs
    const double nothing = std::nan("");
    line_chart zero_line;
    zero_line.x.logarithmic = zero_line.y.logarithmic = true;
    zero_line.at = {0, 1};
    zero_line.lines = {{"a", {0, 0}}, {"b", {nothing, -1}}};
    scatter_chart zero_cloud;
    zero_cloud.x.logarithmic = zero_cloud.y.logarithmic = true;
    zero_cloud.clouds = {{"a", {{"", 0, 0}, {"", nothing, 1}}}};
    bar_chart zero_bars;
    zero_bars.value.logarithmic = true;
    zero_bars.categories = {"x"};
    zero_bars.bars = {{"a", {0}}, {"b", {nothing}}};
    line_chart one_point;
    one_point.y.logarithmic = true;
    one_point.at = {5};
    one_point.lines = {{"a", {5}}};

    section all{"odd", "", {}};
    for (const figure& each : {figure{line_chart{}}, figure{scatter_chart{}}, figure{bar_chart{}}, figure{zero_line},
                               figure{zero_cloud}, figure{zero_bars}, figure{one_point}, figure{table{}}})
        all.figures.push_back(each);
    page made;
    made.title = "empty";
    made.sections.push_back(all);
    chromium browser;
    ASSERT_TRUE(browser.open(to_html(made), {360, true}));
    const ordered_json seen = browser.evaluate("genistaProbe.look()");
    ASSERT_TRUE(seen.is_object());
    expect_fits(seen, {360, true});
    EXPECT_EQ(seen.at("charts_line"), "7/7");
    expect_quiet(browser, seen);
}

[[nodiscard]] lab::report::page lab_report_with_a_chart() {
    using namespace lab::report;  // NOLINT(google-build-using-namespace): a list of its structs
    report_content content;
    content.matrix = made_up_cells(true);
    content.run.command = "genista lab report --quick --html a_name_that_is_long_enough_to_leave_a_phone_by_far.html";
    experiment_record drawn{.id = "acf-figures", .seconds = 3};
    drawn.made.measured = std::string(400, 'm') + " and more words than fit into one line of a table on a phone";
    line_chart chart;
    chart.title = "rates";
    chart.x = {"x", false, unit::number};
    chart.y = {"rate", true, unit::percent};
    chart.at = {1, 2, 3};
    const double nothing = std::nan("");
    chart.lines = {{"with", {0.01, 0.02, 0.04}, {0.005, 0, 0.03}, {0.02, 0.03, nothing}}, {"without", {0.1, 0.1, 0.1}}};
    drawn.made.figures.push_back({"Rates", "", {chart}});
    content.experiments.push_back(drawn);
    return report_page(content);
}

class lab_report : public testing::TestWithParam<browser_view> {};

TEST_P(lab_report, shows_the_matrix_and_draws_error_bars) {
    chromium browser;
    ASSERT_TRUE(browser.open(to_html(lab_report_with_a_chart()), GetParam()));
    const ordered_json seen = browser.evaluate("genistaProbe.look()");
    ASSERT_TRUE(seen.is_object());
    expect_fits(seen, GetParam());
    expect_readable(seen);
    expect_drawn(seen.at("charts"));
    ASSERT_EQ(seen.at("charts").size(), 1u);
    EXPECT_EQ(seen.at("charts")[0].at("error_bars"), 2) << "the third has no upper end, the other line none at all";
    ASSERT_EQ(seen.at("heats").size(), 1u);
    const ordered_json& map = seen.at("heats")[0];
    EXPECT_EQ(map.at("table").at("rows").size(), 3u);
    EXPECT_EQ(map.at("legend").size(), 8u);
    const ordered_json &colours = map.at("colours"), &classes = map.at("classes"), &details = map.at("details");
    ASSERT_EQ(colours.size(), 9u);
    EXPECT_EQ(classes[3], "heat-0");
    EXPECT_EQ(classes[5], "heat-6");
    EXPECT_EQ(classes[2], "heat-6 alarming") << "it denied a stored key";
    EXPECT_EQ(classes[8], "unmeasured");
    EXPECT_NE(colours[3], colours[4]);
    EXPECT_NE(colours[4], colours[5]);
    EXPECT_NE(colours[3], colours[8]);
    for (const ordered_json& each : details) EXPECT_NE(each.get<std::string>().find(" against "), std::string::npos);
    EXPECT_NE(seen.at("warning").get<std::string>().find("A STORED KEY WAS DENIED"), std::string::npos);
    expect_quiet(browser, seen);
}

INSTANTIATE_TEST_SUITE_P(views, lab_report,
                         testing::Values(browser_view{360, false}, browser_view{360, true}, browser_view{1280, false},
                                         browser_view{1280, true}),
                         [](const auto& one) {
                             return std::string{one.param.width < 500 ? "phone" : "desk"} +
                                    (one.param.dark ? "_dark" : "_light");
                         });

// The controls: the probe must detect what the tests above expect to be absent.
TEST(browser, the_probe_detects_a_load_an_error_and_an_overflow) {
    std::string html = to_html(guard_page(made_up_run()));
    html.insert(
        html.find("</main>"),
        "<img src=\"http://127.0.0.1:1/x.png\"><script>throw new Error('planted')</script>"
        "<div style=\"width:2000px\" class=\"planted\">wide</div><p style=\"color:#999;background:#aaa\">faint</p>");
    chromium browser;
    ASSERT_TRUE(browser.open(html, {360, false}));
    const ordered_json seen = browser.evaluate("genistaProbe.look()");
    ASSERT_TRUE(seen.is_object());
    EXPECT_NE(ordered_json(browser.complaints()).dump().find("planted"), std::string::npos);
    EXPECT_NE(seen.at("violations").dump().find("x.png"), std::string::npos);
    EXPECT_GT(seen.at("scroll_width").get<int>(), 360);
    EXPECT_NE(seen.at("wide").dump().find("planted"), std::string::npos);
    EXPECT_NE(seen.at("faint").dump().find("faint"), std::string::npos);

    // Without the policy the same image is a request, and is recorded as one.
    html.erase(html.find("<meta http-equiv"),
               html.find('\n', html.find("<meta http-equiv")) - html.find("<meta http-equiv"));
    chromium careless;
    ASSERT_TRUE(careless.open(html, {360, false}));
    EXPECT_EQ(careless.requests(), std::vector<std::string>{"http://127.0.0.1:1/x.png"});
}

}  // namespace
}  // namespace genista::test::browser_test
