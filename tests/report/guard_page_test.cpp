// The report of `genista guard`: its sentences follow from its numbers, and no document makes it
// fail.
#include "lab/report/guard_page.hpp"

#include <gtest/gtest.h>

#include <variant>

#include "tests/report/made_up.hpp"

namespace genista::lab::report::guard_page_test {
namespace {

using nlohmann::ordered_json;
using test::made_up_run;

template <class Figure>
[[nodiscard]] std::vector<Figure> figures_of(const page& content) {
    std::vector<Figure> out;
    for (const section& each : content.sections) {
        for (const figure& any : each.figures) {
            if (const auto* const found = std::get_if<Figure>(&any)) out.push_back(*found);
        }
    }
    return out;
}

[[nodiscard]] ordered_json row(const std::string& filter, double bits, double per_second, std::uint64_t wasted = 10) {
    return {{"filter", filter},    {"bits_per_key", bits},   {"queries", 1000},
            {"absent", 1000},      {"wasted_reads", wasted}, {"queries_per_second", per_second},
            {"false_negatives", 0}};
}

[[nodiscard]] ordered_json phase(const std::string& name, std::vector<ordered_json> rows) {
    return {{"name", name}, {"rows", std::move(rows)}};
}

TEST(guard_page, says_what_the_attack_did_before_anything_else) {
    const ordered_json document{
        {"phases",
         {phase("fresh", {row("rocksdb_bloom", 10, 1000), row("broom", 10.4, 970)}),
          phase("replay_attack", {row("rocksdb_bloom", 10, 100, 990), row("broom", 10.4, 4130, 7)})}}};
    const page made = guard_page(document);
    EXPECT_EQ(
        made.lead,
        "Under the replay attack the broom filter answered 41 times the queries per second of rocksdb_bloom at the "
        "same memory.\n\nThere broom sent 7 reads for absent keys to the store; rocksdb_bloom sent 990. Elsewhere its "
        "queries per second were 0.97 times (fresh) those of rocksdb_bloom.");
    EXPECT_EQ(made.warning, "");
    EXPECT_EQ(made.highlight, "broom");
    ASSERT_EQ(made.facts.size(), 5u);
    EXPECT_EQ(made.facts[0].value, "41 ×");
    EXPECT_EQ(made.facts[2].value, "0.700 %");
    EXPECT_EQ(made.facts[2].note, "rocksdb_bloom: 99.0 %");
}

TEST(guard_page, calls_only_an_attack_an_attack) {
    ordered_json document{{"phases", {phase("replay", {row("bloom", 10, 10), row("broom", 10, 20)})}}};
    document["phases"][0]["about"] = "the queries of a file";
    document["phases"][0]["rows"][0]["timeline"] = {{"queries", {1}}, {"wasted_reads", {1}}};
    const page made = guard_page(document);
    EXPECT_TRUE(made.lead.starts_with("In the phase “replay” the broom filter answered 2.0 times")) << made.lead;
    EXPECT_EQ(figures_of<line_chart>(made).at(0).caption, "The queries of a file.");
}

TEST(guard_page, does_not_claim_the_same_memory_where_it_differs) {
    const ordered_json document{{"phases", {phase("zipf", {row("bloom", 10, 1000), row("broom", 14.04, 500)})}}};
    EXPECT_TRUE(
        guard_page(document).lead.starts_with("In the phase “zipf” the broom filter answered 0.50 times the queries "
                                              "per second of bloom with 14.0 bits per key "
                                              "against 10.0."))
        << guard_page(document).lead;
}

TEST(guard_page, measures_against_the_fastest_filter_if_the_usual_rivals_are_missing) {
    const ordered_json document{
        {"phases", {phase("p", {row("none", 0, 9000), row("x", 10, 10), row("y", 10, 20), row("broom", 10, 40)})}}};
    EXPECT_NE(guard_page(document).lead.find("2.0 times the queries per second of y at"), std::string::npos)
        << guard_page(document).lead;
}

TEST(guard_page, warns_of_false_negatives_by_name) {
    ordered_json document{{"phases", {phase("zipf", {row("bloom", 10, 1000), row("broom", 10, 500)})}}};
    document["phases"][0]["rows"][0]["false_negatives"] = 3;
    const page made = guard_page(document);
    EXPECT_NE(made.warning.find("bloom 3 (zipf)"), std::string::npos) << made.warning;
    EXPECT_TRUE(made.facts.back().alarming);
    EXPECT_EQ(made.facts.back().value, "3");
}

TEST(guard_page, of_a_whole_run_has_every_chart_and_table) {
    const page made = guard_page(made_up_run());
    EXPECT_EQ(figures_of<line_chart>(made).size(), 3u);
    EXPECT_EQ(figures_of<scatter_chart>(made).size(), 1u);
    EXPECT_EQ(figures_of<bar_chart>(made).size(), 4u);
    EXPECT_EQ(figures_of<table>(made).size(), 4u);
    for (const line_chart& chart : figures_of<line_chart>(made)) {
        EXPECT_EQ(chart.lines.size(), 5u);
        EXPECT_EQ(chart.at.size(), 201u);
    }
    EXPECT_EQ(made.data, made_up_run());
}

TEST(guard_page, leaves_out_charts_whose_numbers_are_missing) {
    ordered_json document = made_up_run();
    document.erase("run");
    for (ordered_json& each : document["phases"]) {
        for (ordered_json& one : each["rows"]) {
            for (const char* name : {"timeline", "p50_us", "p99_us", "p999_us", "bits_per_key"}) one.erase(name);
        }
    }
    const page made = guard_page(document);
    EXPECT_EQ(figures_of<line_chart>(made).size(), 0u);
    EXPECT_EQ(figures_of<scatter_chart>(made).size(), 0u);
    EXPECT_EQ(figures_of<bar_chart>(made).size(), 1u);
    EXPECT_EQ(figures_of<table>(made).size(), 3u);
    EXPECT_EQ(figures_of<table>(made)[0].rows[0][1], "–");
}

TEST(guard_page, takes_the_given_rate_where_counts_are_missing) {
    ordered_json document{{"phases", {phase("p", {row("bloom", 10, 1000)})}}};
    ordered_json& only = document["phases"][0]["rows"][0];
    only["false_positive_rate"] = 0.5;
    EXPECT_EQ(figures_of<scatter_chart>(guard_page(document)).at(0).clouds.at(0).points.at(0).y, 0.01);
    only.erase("absent");
    EXPECT_EQ(figures_of<scatter_chart>(guard_page(document)).at(0).clouds.at(0).points.at(0).y, 0.5);
}

TEST(guard_page, draws_timelines_of_different_moments_in_one_chart) {
    ordered_json document{{"phases", {phase("p", {row("a", 1, 1), row("b", 1, 1), row("c", 1, 1)})}}};
    ordered_json& rows = document["phases"][0]["rows"];
    rows[0]["timeline"] = {{"queries", {0, 10, 20}}, {"wasted_reads", {0, 5, 25}}};
    rows[1]["timeline"] = {{"queries", {10, 15}}, {"wasted_reads", {1, 2, 99}}};  // one total too many
    rows[2]["timeline"] = {{"queries", "soon"}};
    const auto chart = figures_of<line_chart>(guard_page(document)).at(0);
    EXPECT_EQ(chart.at, (std::vector<double>{0, 10, 15, 20}));
    ASSERT_EQ(chart.lines.size(), 2u);
    EXPECT_EQ(chart.lines[0].y, (std::vector<double>{0, 5, 15, 25}));
    EXPECT_TRUE(std::isnan(chart.lines[1].y[0]));
    EXPECT_EQ(chart.lines[1].y[1], 1);
    EXPECT_EQ(chart.lines[1].y[2], 2);
    EXPECT_TRUE(std::isnan(chart.lines[1].y[3]));
}

TEST(guard_page, makes_a_page_of_a_document_without_a_run) {
    for (const char* text :
         {"null", "[]", "3", "{}", R"({"phases":null})", R"({"phases":[]})", R"({"phases":[3,null,{}]})",
          R"({"phases":[{"name":7,"rows":[null,[],{"filter":null,"timeline":[]}]}],"run":[]})"}) {
        const page made = guard_page(ordered_json::parse(text));
        EXPECT_FALSE(made.lead.empty()) << text;
        EXPECT_FALSE(to_html(made).empty()) << text;
    }
    EXPECT_EQ(guard_page({}).lead, "This run has no phases: nothing was measured.");
}

// Replaces each value of a good document, one after the other, by each of a list of bad ones.
TEST(guard_page, accepts_any_single_value_of_another_type) {
    const ordered_json good = made_up_run(1000, 3).flatten();
    const ordered_json bad[] = {
        nullptr, "text", -1, 1e308, std::nan(""), true, ordered_json::array(), ordered_json::object()};
    for (const auto& [place, value] : good.items()) {
        for (const ordered_json& other : bad) {
            ordered_json changed = made_up_run(1000, 3);
            changed[ordered_json::json_pointer{place}] = other;
            EXPECT_FALSE(guard_page(changed).lead.empty()) << place << " = " << other;
        }
    }
}

}  // namespace
}  // namespace genista::lab::report::guard_page_test
