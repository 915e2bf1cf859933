// The tables of docs/benchmarks.md and docs/experiments.md are those of docs/figures/*.json.
//
// A file of that folder is one table that was measured at one time:
//
//     title, date, commit (which recorded it), machine   strings
//     command                                            a list of strings; may be empty
//     columns                                            a list of strings
//     rows                                               a list of rows, which are as long as `columns`
//
// A cell is a string, or {"of": FILE, "row": FIRST CELL, "column": NAME}: a cell of another file,
// up to its first blank, so that "18.2 (20.2)" is cited as "18.2". A page shows a file between the
// lines "<!-- figures: NAME -->" and "<!-- end -->". These blocks are written from the files by
//
//     GENISTA_WRITE_FIGURES=1 build/release/bin/house_tests --gtest_filter='figures.*'
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "source_tree.hpp"

namespace genista::test::figures_test {
namespace {

using nlohmann::json;
using lines = std::vector<std::string>;
using tables = std::map<std::string, json>;  // by the name of the file, without ".json"

constexpr std::string_view how_to_write =
    "; GENISTA_WRITE_FIGURES=1 build/release/bin/house_tests --gtest_filter='figures.*' writes the pages";
constexpr std::string_view opening = "<!-- figures: ", opening_ends = " -->", closing = "<!-- end -->";

[[nodiscard]] bool is_list_of_strings(const json& value) {
    return value.is_array() && std::ranges::all_of(value, [](const json& each) { return each.is_string(); });
}

[[nodiscard]] bool is_cell(const json& value) {
    if (value.is_string()) return true;
    return value.is_object() && value.size() == 3 && value.contains("of") && value.contains("row") &&
           value.contains("column") && std::ranges::all_of(value, [](const json& each) { return each.is_string(); });
}

// What is wrong with the shape of one file. Every other function takes tables of the right shape.
lines complaints_about(const std::string& name, const json& table) {
    const std::string file = "docs/figures/" + name + ".json: ";
    if (!table.is_object()) return {file + "is not a JSON object"};
    for (const char* member : {"title", "date", "commit", "machine"}) {
        if (!table.contains(member) || !table.at(member).is_string()) return {file + member + " is not a string"};
    }
    for (const char* member : {"command", "columns"}) {
        if (!table.contains(member) || !is_list_of_strings(table.at(member))) {
            return {file + member + " is not a list of strings"};
        }
    }
    if (table.size() != 7 || !table.contains("rows") || !table.at("rows").is_array() || table.at("rows").empty() ||
        table.at("columns").empty()) {
        return {file + "has no rows, or a member that is not in the list of tests/house/figures_test.cpp"};
    }
    lines found;
    for (const json& row : table.at("rows")) {
        if (!row.is_array() || row.size() != table.at("columns").size() || !std::ranges::all_of(row, is_cell)) {
            found.push_back(file +
                            "this row is not as long as the columns, or has a cell of another kind: " + row.dump());
        }
    }
    return found;
}

// The cell that a cell of another table names; empty if there is none, or more than one row.
[[nodiscard]] std::string cited(const json& cell, const tables& all) {
    const auto found = all.find(cell.at("of"));
    if (found == all.end()) return {};
    const json &columns = found->second.at("columns"), &rows = found->second.at("rows");
    const auto column = std::ranges::find(columns, cell.at("column"));
    const auto is_named = [&](const json& row) { return row.front() == cell.at("row"); };
    const auto row = std::ranges::find_if(rows, is_named);
    if (column == columns.end() || std::ranges::count_if(rows, is_named) != 1) return {};
    const json& source = row->at(static_cast<std::size_t>(std::distance(columns.begin(), column)));
    if (!source.is_string()) return {};
    const auto text = source.get<std::string>();
    return text.substr(0, text.find(' '));
}

[[nodiscard]] std::string row_of(const json& cells, const tables& all) {
    std::string text = "|";
    for (const json& cell : cells) {
        const std::string shown = cell.is_string() ? cell.get<std::string>() : cited(cell, all);
        text += ' ';
        for (const char letter : shown) text += letter == '|' ? "\\|" : std::string(1, letter);
        text += shown.empty() ? "|" : " |";
    }
    return text;
}

// What stands between the two marks.
lines rendered(const json& table, const tables& all) {
    const auto text = [&](const char* member) { return table.at(member).get<std::string>(); };
    lines block{"**" + text("title") + "** (" + text("date") + ", " + text("commit") + "; " + text("machine") + ")",
                ""};
    for (const json& command : table.at("command")) block.push_back("    " + command.get<std::string>());
    if (!table.at("command").empty()) block.emplace_back();
    block.push_back(row_of(table.at("columns"), all));
    block.emplace_back("|");
    for (std::size_t i = 0; i < table.at("columns").size(); ++i) block.back() += "---|";
    for (const json& row : table.at("rows")) block.push_back(row_of(row, all));
    return block;
}

struct page {
    std::string path;
    lines text;
};

// Complains where a block is not what its file says, and then makes it so.
void check_block(page& checked, std::size_t first, std::size_t end, const lines& block, const std::string& name,
                 lines& complaints) {
    lines& text = checked.text;
    const auto from = text.begin() + static_cast<std::ptrdiff_t>(first);
    const auto to = text.begin() + static_cast<std::ptrdiff_t>(end);
    const auto [is, wanted] = std::mismatch(from, to, block.begin(), block.end());
    if (is == to && wanted == block.end()) return;
    const std::string is_now = is == to ? "the end of the block" : '"' + *is + '"';
    const std::string by_file = wanted == block.end() ? "the end of the block" : '"' + *wanted + '"';
    complaints.push_back(checked.path + ":" + std::to_string(is - text.begin() + 1) + ": is " + is_now +
                         ", and by docs/figures/" + name + ".json " + by_file + std::string{how_to_write});
    text.insert(text.erase(from, to), block.begin(), block.end());
}

// Checks one page, and replaces its blocks by what the files say. `shown` gets their names.
void check_page(page& checked, const tables& all, std::set<std::string>& shown, lines& complaints) {
    const lines& text = checked.text;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto complain = [&](const std::string& what) {
            complaints.push_back(checked.path + ":" + std::to_string(i + 1) + ": " + what);
        };
        if (text[i].starts_with("|")) complain("a table that is not between marks, so that no file has its figures");
        if (!text[i].starts_with(opening) || !text[i].ends_with(opening_ends)) continue;
        const std::string name = text[i].substr(opening.size(), text[i].size() - opening.size() - opening_ends.size());
        std::size_t end = i + 1;
        while (end < text.size() && text[end] != closing && !text[end].starts_with(opening)) ++end;
        if (end == text.size() || text[end] != closing) {
            complain("no line \"" + std::string{closing} + "\" ends these figures");
            continue;
        }
        if (!all.contains(name)) {
            complain("there is no docs/figures/" + name + ".json");
            i = end;
            continue;
        }
        if (!shown.insert(name).second) complain(name + " is shown twice");
        const lines block = rendered(all.at(name), all);
        check_block(checked, i + 1, end, block, name, complaints);
        i += block.size() + 1;
    }
}

// REQUIRES: complaints_about() says nothing about any of `all`.
lines check(std::vector<page>& pages, const tables& all) {
    lines complaints;
    std::set<std::string> shown;
    for (page& each : pages) check_page(each, all, shown, complaints);
    for (const auto& [name, table] : all) {
        const std::string file = "docs/figures/" + name + ".json: ";
        if (!shown.contains(name)) complaints.push_back(file + "no page shows it");
        for (const json& row : table.at("rows")) {
            for (const json& cell : row) {
                if (!cell.is_object() || !cited(cell, all).empty()) continue;
                complaints.push_back(file + "no single cell is " + cell.dump());
            }
        }
    }
    return complaints;
}

json made_up() {
    return json::parse(R"json({"title": "Times", "date": "2026-01-01", "commit": "abc", "machine": "ours",
        "command": ["bench"], "columns": ["filter", "ns"], "rows": [["bloom", "1.5 (1.7)"], ["a|b", ""]]})json");
}

json citing() {
    json table = made_up();
    table["command"] = json::array();
    table["rows"] = json::parse(R"json([["bloom", {"of": "times", "row": "bloom", "column": "ns"}]])json");
    return table;
}

const lines made_up_block{"**Times** (2026-01-01, abc; ours)",
                          "",
                          "    bench",
                          "",
                          "| filter | ns |",
                          "|---|---|",
                          "| bloom | 1.5 (1.7) |",
                          "| a\\|b | |"};

lines text_of(const lines& block) {
    lines text{"# Figures", "<!-- figures: times -->"};
    text.insert(text.end(), block.begin(), block.end());
    text.insert(text.end(), {"<!-- end -->", "the rest"});
    return text;
}

lines check_one(lines text, const tables& all) {
    std::vector<page> pages{{"a.md", std::move(text)}};
    return check(pages, all);
}

TEST(figures, a_block_is_what_the_file_says) {
    const tables all{{"times", made_up()}};
    EXPECT_EQ(rendered(made_up(), all), made_up_block);
    EXPECT_TRUE(check_one(text_of(made_up_block), all).empty());
    lines longer = made_up_block;
    longer.emplace_back("more");
    EXPECT_EQ(check_one(text_of(longer), all).size(), 1u);
    lines other = made_up_block;
    other[6] = "| bloom | 1.4 |";
    const lines complaints = check_one(text_of(other), all);
    ASSERT_EQ(complaints.size(), 1u);
    EXPECT_TRUE(complaints.front().starts_with("a.md:9: is \"| bloom | 1.4 |\"")) << complaints.front();
}

TEST(figures, a_block_that_differs_is_replaced) {
    const tables all{{"times", made_up()}};
    for (const lines& old : {lines{}, lines{"| filter | ns |"}, lines(40, "old")}) {
        std::vector<page> pages{{"a.md", text_of(old)}};
        EXPECT_EQ(check(pages, all).size(), 1u);
        EXPECT_EQ(pages.front().text, text_of(made_up_block));
        EXPECT_TRUE(check(pages, all).empty());
    }
}

TEST(figures, a_cell_may_cite_another_file) {
    const tables all{{"times", made_up()}, {"few", citing()}};
    EXPECT_EQ(rendered(citing(), all)[4], "| bloom | 1.5 |");
    json unknown = citing();
    unknown["rows"][0][1]["row"] = "cuckoo";
    EXPECT_EQ(check_one(text_of(made_up_block), {{"times", made_up()}, {"few", unknown}}).size(), 2u)
        << "no page shows it, and it cites no cell";
}

TEST(figures, marks_and_files_have_to_match) {
    const tables all{{"times", made_up()}};
    EXPECT_EQ(check_one({"# Figures"}, all).size(), 1u) << "the file is not shown";
    EXPECT_EQ(check_one({"| a | b |"}, {}).size(), 1u) << "a table without a file";
    EXPECT_EQ(check_one({"<!-- figures: none -->", "| a |", "<!-- end -->"}, {}).size(), 1u);
    EXPECT_EQ(check_one({"<!-- figures: times -->"}, all).size(), 2u) << "no end, and so not shown";
    std::vector<page> twice{{"a.md", text_of(made_up_block)}, {"b.md", text_of(made_up_block)}};
    EXPECT_EQ(check(twice, all).size(), 1u);
}

TEST(figures, a_file_of_the_wrong_shape_is_found) {
    EXPECT_TRUE(complaints_about("times", made_up()).empty());
    EXPECT_TRUE(complaints_about("few", citing()).empty());
    for (const char* member : {"title", "date", "commit", "machine", "command", "columns", "rows"}) {
        json table = made_up();
        table.erase(member);
        EXPECT_EQ(complaints_about("times", table).size(), 1u) << member;
    }
    json table = made_up();
    table["rows"][0] = {"bloom"};
    table["rows"][1] = {"cuckoo", 1.5};
    EXPECT_EQ(complaints_about("times", table).size(), 2u);
    table["more"] = "";
    EXPECT_EQ(complaints_about("times", table).size(), 1u);
    EXPECT_EQ(complaints_about("times", json::array()).size(), 1u);
}

TEST(figures, the_pages_show_them) {
    const files::path root = GENISTA_SOURCE_DIR;
    tables all;
    for (const auto& entry : files::directory_iterator{root / "docs/figures"}) {
        const std::string name = entry.path().stem().string();
        ASSERT_EQ(entry.path().extension(), ".json") << entry.path();
        std::ifstream stream{entry.path()};
        all[name] = json::parse(stream, nullptr, false);
        for (const std::string& complaint : complaints_about(name, all[name])) FAIL() << complaint;
    }
    EXPECT_GT(all.size(), 20u) << "the walk found almost no files: does it look at the right folder?";
    std::vector<page> pages;
    for (const char* path : {"docs/benchmarks.md", "docs/experiments.md"}) {
        pages.push_back({path, lines_of(root / path)});
    }
    lines complaints = check(pages, all);
    if (std::getenv("GENISTA_WRITE_FIGURES") != nullptr) {
        for (const page& each : pages) {
            std::ostringstream text;
            for (const std::string& line : each.text) text << line << '\n';
            std::ofstream{root / each.path, std::ios::binary} << text.str();
        }
        complaints = check(pages, all);
    }
    for (const std::string& complaint : complaints) ADD_FAILURE() << complaint;
}

}  // namespace
}  // namespace genista::test::figures_test
