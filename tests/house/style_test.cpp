// The rules of the house style (CONTRIBUTING.md) that a machine can check, over every text file of
// the repository.
//
// Each rule is a function from a file to its complaints, so that it is tested first on made-up
// files that break it. The strings that the rules look for are split in two here, because this file
// must keep its own rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <regex>

#include "source_tree.hpp"

namespace genista::test::style_test {
namespace {

using complaints = std::vector<std::string>;
using rule = complaints (*)(const source_file&);

constexpr std::size_t most_lines = 700;
constexpr std::size_t widest_comment = 100;        // in characters; code may go to 120
constexpr std::size_t lines_without_comment = 40;  // a shorter .cpp needs none; a header always does

[[nodiscard]] std::string at(const source_file& file, std::size_t line) {
    return file.path + ":" + std::to_string(line + 1);
}

complaints complain_where(const source_file& file, const std::string& what,
                          const std::function<bool(const std::string&)>& broken) {
    complaints found;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        if (broken(file.lines[i])) found.push_back(at(file, i) + ": " + what);
    }
    return found;
}

complaints opens_with_a_comment(const source_file& file) {
    if (!file.is_cpp()) return {};
    if (file.extension() == ".cpp" && file.lines.size() < lines_without_comment) return {};
    if (!file.lines.empty() && file.lines.front().starts_with("// ")) return {};
    return {at(file, 0) + ": opens without a comment that says what the file promises"};
}

complaints is_short(const source_file& file) {
    if (file.lines.size() <= most_lines) return {};
    return {file.path + ": " + std::to_string(file.lines.size()) + " lines, at most " + std::to_string(most_lines)};
}

complaints asks_for_no_instruction_set_of_this_machine(const source_file& file) {
    if (file.extension() == ".md") return {};  // prose may mention the flag
    static const std::string flags[] = {
        "-march="
        "native",
        "-mtune="
        "native",
        "-mcpu="
        "native"};
    return complain_where(file, "builds for one machine only", [](const std::string& line) {
        return std::ranges::any_of(flags, [&](const std::string& flag) { return line.find(flag) != line.npos; });
    });
}

complaints names_no_folder_of_one_machine(const source_file& file) {
    static const std::regex home_of_someone{
        "(^|[^A-Za-z0-9_.*}])/(work|farm|"
        "root|home|Users)/"};
    return complain_where(file, "a path of one machine",
                          [](const std::string& line) { return std::regex_search(line, home_of_someone); });
}

complaints has_no_trailing_blanks(const source_file& file) {
    return complain_where(file, "blanks or a carriage return at the end of the line", [](const std::string& line) {
        return !line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r');
    });
}

complaints has_no_tabs(const source_file& file) {
    return complain_where(file, "a tab", [](const std::string& line) { return line.find('\t') != line.npos; });
}

complaints leaves_nothing_open(const source_file& file) {
    static const std::regex marks{
        "\\b(TO"
        "DO|FIX"
        "ME|XX"
        "X|HA"
        "CK)\\b"};
    return complain_where(file, "work left open",
                          [](const std::string& line) { return std::regex_search(line, marks); });
}

// A byte of the form 10xxxxxx continues a character of UTF-8.
[[nodiscard]] std::size_t characters_in(std::string_view line) {
    return static_cast<std::size_t>(
        std::ranges::count_if(line, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u; }));
}

// Whether the line has a box-drawing character (U+2500 to U+257F), an arrow (U+2190 to U+21FF), or
// columns: three blanks in a row behind its first word.
[[nodiscard]] bool is_drawing(std::string_view line) {
    const std::size_t slashes = line.find("//");
    const std::size_t first_word = slashes == line.npos ? line.npos : line.find_first_not_of("/ ", slashes);
    if (first_word != line.npos && line.find("   ", first_word) != line.npos) return true;
    for (std::size_t at = line.find('\xe2'); at != line.npos; at = line.find('\xe2', at + 1)) {
        const std::string_view next = line.substr(at + 1, 1);
        if (next == "\x86" || next == "\x87" || next == "\x94" || next == "\x95") return true;
    }
    return false;
}

// A drawing may be wider, and so may a line of NOLINT, which cannot be wrapped.
complaints wraps_its_comments(const source_file& file) {
    if (file.extension() != ".hpp" && file.extension() != ".cpp" && file.extension() != ".inl") return {};
    return complain_where(
        file, "a comment of more than " + std::to_string(widest_comment) + " columns", [](const std::string& line) {
            const std::size_t text = line.find_first_not_of(' ');
            return text != line.npos && line.compare(text, 2, "//") == 0 && characters_in(line) > widest_comment &&
                   !is_drawing(line) && line.find("NOLINT") == line.npos;
        });
}

// A header without an include guard says so in its first line.
complaints guards_with_pragma_once(const source_file& file) {
    if (file.extension() != ".hpp") return {};
    if (!file.lines.empty() && file.lines.front().find("no include guard") != std::string::npos) return {};
    if (std::ranges::find(file.lines, "#pragma once") != file.lines.end()) return {};
    return {file.path + ": no #pragma once"};
}

// Several test files are compiled as one, so names such as `world` or `usual` need a namespace of
// the file's own.
complaints keeps_its_names_to_itself(const source_file& file) {
    const std::string stem = files::path{file.path}.stem().string();
    if (!file.path.starts_with("tests/") || file.extension() != ".cpp" || !stem.ends_with("_test")) return {};
    const bool kept = std::ranges::any_of(file.lines, [&](const std::string& line) {
        return line.starts_with("namespace genista::") && line.ends_with("::" + stem + " {");
    });
    if (kept) return {};
    return {file.path + ": no namespace genista::...::" + stem + ", which keeps its names apart in a unity build"};
}

void expect_kept(rule check) {
    std::size_t count = 0;
    for (const source_file& file : source_tree(GENISTA_SOURCE_DIR)) {
        ++count;
        for (const std::string& complaint : check(file)) ADD_FAILURE() << complaint;
    }
    EXPECT_GT(count, 20u) << "the walk found almost no files: does it look at the right folders?";
}

source_file made_up(std::string path, std::vector<std::string> lines) {
    return {std::move(path), std::move(lines)};
}

TEST(style, every_cpp_file_opens_with_a_comment) {
    std::vector<std::string> bare(60, "int x;");
    EXPECT_EQ(opens_with_a_comment(made_up("a.hpp", {"#pragma once"})).size(), 1u);
    EXPECT_EQ(opens_with_a_comment(made_up("a.hpp", {})).size(), 1u);
    EXPECT_EQ(opens_with_a_comment(made_up("a.cpp", bare)).size(), 1u);
    EXPECT_TRUE(opens_with_a_comment(made_up("a.cpp", {"int x;"})).empty());
    EXPECT_TRUE(opens_with_a_comment(made_up("a.hpp", {"// What it promises."})).empty());
    expect_kept(opens_with_a_comment);
}

TEST(style, no_file_is_longer_than_700_lines) {
    EXPECT_EQ(is_short(made_up("a.cpp", std::vector<std::string>(701))).size(), 1u);
    EXPECT_TRUE(is_short(made_up("a.cpp", std::vector<std::string>(700))).empty());
    expect_kept(is_short);
}

TEST(style, no_build_file_asks_for_the_instruction_set_of_one_machine) {
    const std::string flag = std::string{"-march="} + "native";
    EXPECT_EQ(asks_for_no_instruction_set_of_this_machine(made_up("a.cmake", {"", "x(" + flag + ")"})).size(), 1u);
    EXPECT_TRUE(asks_for_no_instruction_set_of_this_machine(made_up("a.cmake", {"-march=x86-64"})).empty());
    expect_kept(asks_for_no_instruction_set_of_this_machine);
}

TEST(style, no_file_names_a_folder_of_one_machine) {
    const std::string folder = std::string{"/ho"} + "me/me/x";
    EXPECT_EQ(names_no_folder_of_one_machine(made_up("a.md", {"see " + folder})).size(), 1u);
    EXPECT_EQ(names_no_folder_of_one_machine(made_up("a.md", {folder})).size(), 1u);
    EXPECT_TRUE(names_no_folder_of_one_machine(made_up("a.md", {"/usr/share, net" + folder})).empty());
    expect_kept(names_no_folder_of_one_machine);
}

TEST(style, no_line_ends_in_blanks) {
    EXPECT_EQ(has_no_trailing_blanks(made_up("a.md", {"x ", "y\t", "z\r", "w"})).size(), 3u);
    expect_kept(has_no_trailing_blanks);
}

TEST(style, no_line_holds_a_tab) {
    EXPECT_EQ(has_no_tabs(made_up("a.md", {"\tx", "y"})).size(), 1u);
    expect_kept(has_no_tabs);
}

TEST(style, nothing_is_left_open) {
    EXPECT_EQ(leaves_nothing_open(made_up("a.cpp", {std::string{"// TO"} + "DO: later"})).size(), 1u);
    EXPECT_TRUE(leaves_nothing_open(made_up("a.cpp", {"int todo_list; HACKNEY"})).empty());
    expect_kept(leaves_nothing_open);
}

TEST(style, no_comment_line_is_wider_than_100_columns) {
    const std::string widest = "    // " + std::string(93, 'x');
    EXPECT_EQ(wraps_its_comments(made_up("a.hpp", {widest + "x"})).size(), 1u);
    EXPECT_EQ(wraps_its_comments(made_up("a.cpp", {widest + "x", "//" + widest})).size(), 2u);
    EXPECT_EQ(wraps_its_comments(made_up("a.inl", {widest + "\u00e4"})).size(), 1u);
    EXPECT_TRUE(wraps_its_comments(made_up("a.hpp", {widest, "", "    "})).empty());
    EXPECT_TRUE(wraps_its_comments(made_up("a.hpp", {"// " + std::string(96, 'x') + "\u00e4"})).empty())
        << "100 characters in 101 bytes";
    EXPECT_TRUE(wraps_its_comments(made_up("a.hpp", {"int x;" + widest, "// NOLINTNEXTLINE(x)" + widest})).empty());
    EXPECT_TRUE(wraps_its_comments(made_up("a.hpp", {widest + "\u2500", widest + "\u2192"})).empty());
    EXPECT_EQ(wraps_its_comments(made_up("a.hpp", {widest + "\u2026"})).size(), 1u) << "neither a line nor an arrow";
    EXPECT_TRUE(wraps_its_comments(made_up("a.hpp", {"//     word   " + std::string(100, 'x')})).empty()) << "columns";
    EXPECT_EQ(wraps_its_comments(made_up("a.hpp", {"//     word  " + std::string(100, 'x')})).size(), 1u);
    EXPECT_TRUE(wraps_its_comments(made_up("a.md", {widest + widest})).empty());
    expect_kept(wraps_its_comments);
}

TEST(style, every_header_guards_itself_or_says_that_it_does_not) {
    EXPECT_EQ(guards_with_pragma_once(made_up("a.hpp", {"// What it promises."})).size(), 1u);
    EXPECT_TRUE(guards_with_pragma_once(made_up("a.hpp", {"// Kernels (no include guard: why)."})).empty());
    expect_kept(guards_with_pragma_once);
}

TEST(style, every_test_file_has_a_namespace_of_its_own) {
    EXPECT_EQ(keeps_its_names_to_itself(made_up("tests/a/b_test.cpp", {"namespace genista::test {"})).size(), 1u);
    EXPECT_TRUE(keeps_its_names_to_itself(made_up("tests/a/b_test.cpp", {"namespace genista::b_test {"})).empty());
    EXPECT_TRUE(keeps_its_names_to_itself(made_up("src/a/b_test.cpp", {})).empty());
    expect_kept(keeps_its_names_to_itself);
}

// Text files are found by extension or by "#!". All other files are skipped.
TEST(source_tree, distinguishes_text_from_data) {
    EXPECT_TRUE(made_up("run", {"#!/usr/bin/env bash"}).is_text());
    EXPECT_TRUE(made_up("a/b.cmake", {}).is_text());
    EXPECT_FALSE(made_up("tests/golden/bloom.snapshot", {"#!"}).is_text());
    EXPECT_FALSE(made_up("LICENSE", {"Apache"}).is_text());
}

}  // namespace
}  // namespace genista::test::style_test
