// The lab's report as text: heat maps, figures that come back from JSON, and the page's sentences
// about promises and filters.
#include "lab/report/report_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "lab/experiment.hpp"
#include "lab/report/page.hpp"
#include "lab/report/text.hpp"
#include "tests/report/made_up.hpp"

namespace genista::lab::report::report_page_test {
namespace {

using nlohmann::ordered_json;
using test::hostile;
using test::made_up_cells;

[[nodiscard]] std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

[[nodiscard]] std::string html_of(figure content) {
    page made;
    made.sections.push_back({"h", "", {}});
    made.sections.back().figures.push_back(std::move(content));
    const std::string html = to_html(made);
    const std::size_t start = html.find("<section");
    return html.substr(start, html.find("</section>") - start);
}

[[nodiscard]] report_content made_up_content() {
    report_content content;
    experiment_record kept{.id = "broom-words", .seconds = 0.7};
    kept.made.promised = "p";
    kept.made.measured = "55 million cases";
    kept.made.kept = true;
    kept.made.figures.push_back({"Words", "", {code_block{"c", "t"}}});
    content.experiments.push_back(kept);
    content.matrix = made_up_cells();
    content.run = {.command = "genista lab report --quick",
                   .version = "0.1",
                   .build = "0123456789abcdef",
                   .seed = 7,
                   .quick = true,
                   .cpu = "a processor",
                   .cores = 2,
                   .instruction_set = "avx2",
                   .compiler = "g++"};
    return content;
}

TEST(heat_map, cells_have_a_colour_and_a_text) {
    const heat_map map{
        "t",
        "c",
        "rows",
        {"a_b", "c"},
        {{"x-y", "idea", {{"1 %", "low\nhigh", "told", 0.5, true}, {"none", "", "", std::nan(""), false}}},
         {"short", "", {}}},
        {{0, "calm"}, {1, "worst"}}};
    const std::string html = html_of(map);
    EXPECT_EQ(count_of(html,
                       "<td class=\"heat-3 alarming\" title=\"told (x-y: idea)\"><b>1 %</b><span>low</span>"
                       "<span>high</span></td>"),
              1u)
        << html;
    EXPECT_EQ(count_of(html, "<td class=\"unmeasured\"><b>none</b></td>"), 1u);
    EXPECT_EQ(count_of(html, "<td class=\"unmeasured\"><b></b></td>"), 2u) << "missing cells";
    EXPECT_EQ(count_of(html, "a_<wbr>b</th>"), 1u);
    EXPECT_EQ(count_of(html, "<li class=\"heat-0\">calm</li><li class=\"heat-6\">worst</li>"), 1u);
}

TEST(heat_map, heats_beyond_the_ends_are_the_ends) {
    for (const auto& [heat, name] : {std::pair{-3.0, "heat-0"}, {0.0, "heat-0"}, {1.0, "heat-6"}, {1e300, "heat-6"}}) {
        const std::string html = html_of(heat_map{"", "", "", {"a"}, {{"r", "", {{"x", "", "", heat, false}}}}, {}});
        EXPECT_EQ(count_of(html, std::string{"<td class=\""} + name + "\">"), 1u) << heat;
    }
}

TEST(line_chart, error_bars_are_there_only_if_both_ends_are_given) {
    line_chart chart;
    chart.at = {1, 2};
    chart.lines = {{"both", {1, 2}, {0.5, std::nan("")}, {1.5}}, {"one", {1, 2}, {1, 1}, {}}, {"none", {1, 2}}};
    const std::string html = html_of(chart);
    const std::string open = "<script type=\"application/json\">";
    const std::size_t start = html.find(open) + open.size();
    const auto spec = ordered_json::parse(html.substr(start, html.find("</script>", start) - start));
    EXPECT_EQ(spec["series"][0]["low"], (ordered_json{0.5, nullptr}));
    EXPECT_EQ(spec["series"][0]["high"], (ordered_json{1.5, nullptr}));
    EXPECT_FALSE(spec["series"][1].contains("low"));
    EXPECT_FALSE(spec["series"][2].contains("low"));
}

TEST(figure_json, what_comes_back_draws_the_same_bytes) {
    for (page made = test::hostile_page(); section & each : made.sections) {
        const section back = section_from_json(to_json(each));
        ASSERT_EQ(back.figures.size(), each.figures.size());
        for (std::size_t i = 0; i < each.figures.size(); ++i)
            EXPECT_EQ(html_of(back.figures[i]), html_of(each.figures[i])) << i;
        EXPECT_EQ(back.heading, each.heading);
        EXPECT_EQ(back.text, each.text);
    }
}

TEST(figure_json, survives_a_file_and_refuses_what_it_did_not_write) {
    const section content{"h", "t", {matrix_figure(made_up_cells()), record_table(made_up_cells())}};
    const section back = section_from_json(ordered_json::parse(to_json(content).dump()));
    EXPECT_EQ(html_of(back.figures[0]), html_of(content.figures[0]));
    EXPECT_EQ(html_of(back.figures[1]), html_of(content.figures[1]));
    for (const char* const odd : {"{}", "[]", "3", R"({"heading":1,"text":"","figures":[]})",
                                  R"({"heading":"","text":"","figures":[{"kind":"line"}]})"}) {
        EXPECT_THROW((void)section_from_json(ordered_json::parse(odd)), ordered_json::exception) << odd;
    }
}

TEST(matrix_figure, is_cold_where_a_filter_never_loses_and_hotter_with_each_loss) {
    const std::vector<matrix_cell> cells = made_up_cells();
    const heat_map map = matrix_figure(cells);
    ASSERT_EQ(map.rows.size(), 3u);
    ASSERT_EQ(map.columns.size(), 3u);
    EXPECT_EQ(map.rows[1].cells[0].heat, 0);
    EXPECT_NEAR(map.rows[1].cells[1].heat, std::log(0.08 / matrix_rate) / std::log(1 / matrix_rate), 1e-9);
    EXPECT_EQ(map.rows[1].cells[2].heat, 1);
    EXPECT_TRUE(std::isnan(map.rows[2].cells[2].heat));
    EXPECT_EQ(map.rows[2].cells[2].text, "cannot play");
    EXPECT_NE(map.rows[2].cells[2].detail.find("frail does not grow"), std::string::npos);
    EXPECT_NE(map.rows[1].cells[1].note.find("640 of 8,000"), std::string::npos) << map.rows[1].cells[1].note;
    EXPECT_NE(map.rows[0].cells[0].note.find("of all asked"), std::string::npos) << "it made no claim";
    EXPECT_FALSE(map.rows[1].about.empty()) << "the idea of an adversary that the lab knows";
}

TEST(matrix_figure, records_name_the_adversaries_that_beat_a_filter) {
    const std::vector<matrix_cell> cells = made_up_cells();
    const auto records = records_of(cells);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_TRUE(records[0].unbeaten());
    EXPECT_EQ(records[1].lost_to, std::vector<std::string>{"repeat-one"});
    EXPECT_EQ(records[2].could_not, std::vector<std::string>{"growth-replay"});
    EXPECT_EQ(records[2].worst->adversary, "repeat-one");
    const table trust = trust_table(cells);
    ASSERT_EQ(trust.rows.size(), 3u);
    EXPECT_EQ(trust.rows[0][1], "sturdy, middling and frail_and_long_of_name");
    EXPECT_EQ(trust.rows[1][1], "sturdy");
    EXPECT_EQ(trust.rows[2][2], "middling and frail_and_long_of_name");
}

TEST(report_page, names_unbeaten_filters_and_shows_every_promise_with_its_state) {
    const report_content content = made_up_content();
    const page made = report_page(content);
    EXPECT_TRUE(made.lead.starts_with("Of 3 adversaries none beat sturdy. The others lost to some.")) << made.lead;
    EXPECT_EQ(made.warning, "");
    EXPECT_TRUE(all_is_well(content));
    ASSERT_EQ(made.sections[1].figures.size(), 2u);
    const table& measured = std::get<table>(made.sections[1].figures[0]);
    ASSERT_EQ(measured.rows.size(), 1u);
    EXPECT_EQ(measured.rows[0][0], "broom-words");
    EXPECT_EQ(measured.rows[0][1], "kept");
    EXPECT_EQ(measured.rows[0][3], "55 million cases");
    const table& others = std::get<table>(made.sections[1].figures[1]);
    ASSERT_EQ(others.rows.size(), all_experiments().size() - 1);
    for (const auto& row : others.rows) {
        const auto all = all_experiments();
        const auto found = std::ranges::find(all, row[0], &experiment::id);
        ASSERT_NE(found, all.end()) << row[0];
        EXPECT_EQ(row[1], found->is_built() ? "not run" : "not built yet") << row[0];
    }
    const std::string html = to_html(made);
    for (const char* const text : {"55 million cases", "genista lab report --quick", "0123456789abcdef", "a processor"})
        EXPECT_GE(count_of(html, text), 1u) << text;
    EXPECT_EQ(to_html(report_page(content)), html) << "the same content, the same bytes";
}

TEST(report_page, a_broken_promise_a_failure_and_a_denied_key_are_warnings) {
    report_content content = made_up_content();
    content.experiments.front().made.kept = false;
    EXPECT_FALSE(all_is_well(content));
    EXPECT_NE(report_page(content).warning.find("broken"), std::string::npos);

    content = made_up_content();
    content.experiments.push_back({.id = "growth", .failure = "the disk is " + hostile});
    EXPECT_FALSE(all_is_well(content));
    EXPECT_NE(report_page(content).warning.find("failed"), std::string::npos);
    EXPECT_EQ(count_of(to_html(report_page(content)), "<img src"), 0u);

    content = made_up_content();
    content.matrix = made_up_cells(true);
    EXPECT_FALSE(all_is_well(content));
    EXPECT_NE(report_page(content).warning.find("A STORED KEY WAS DENIED, 2 times"), std::string::npos);
    EXPECT_EQ(count_of(to_html(report_page(content)), "alarming\" title="), 1u);
    EXPECT_NE(matrix_page(content).warning.find("DENIED"), std::string::npos);
}

TEST(report_page, without_a_matrix_there_is_none_on_the_page) {
    report_content content = made_up_content();
    content.matrix.clear();
    const page made = report_page(content);
    EXPECT_EQ(count_of(to_html(made), "<figure class=\"heat\""), 0u);
    EXPECT_TRUE(made.lead.starts_with("1 promise was measured and kept.")) << made.lead;
}

TEST(report_page, durations_are_formatted_for_readers) {
    EXPECT_EQ(duration_text(0.71), "0.7\xC2\xA0s");
    EXPECT_EQ(duration_text(41.2), "41\xC2\xA0s");
    EXPECT_EQ(duration_text(720), "12\xC2\xA0min");
    EXPECT_EQ(duration_text(9000), "2.5\xC2\xA0h");
}

}  // namespace
}  // namespace genista::lab::report::report_page_test
