// The man pages in tools/man and the help of the commands: the same commands and the same options;
// and pages that the formatter of this machine takes without a warning.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "compare_cli.hpp"
#include "help_texts.hpp"

namespace genista::test::man_pages_cli_test {
namespace {

const std::string folder = GENISTA_SOURCE_DIR "/tools/man/";

using options_by_section = std::map<std::string, std::set<std::string>>;

// The options of a page, by the section that has them: `.It Fl h , Fl -help`.
options_by_section options_of(const std::string& page) {
    options_by_section found;
    std::string section;
    std::istringstream lines{contents(page)};
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(".Sh ") || line.starts_with(".Ss ")) section = line.substr(4);
        if (!line.starts_with(".It Fl ")) continue;
        std::istringstream words{line};
        for (std::string word, before; words >> word; before = word) {
            if (before == "Fl" && word.size() > 2 && word[0] == '-') found[section].insert("-" + word);
        }
    }
    return found;
}

// genista-store.1 for `genista store` and all below it.
std::string page_of(const command_help& command) {
    return folder + (command.words.empty() ? "genista" : "genista-" + command.words.front()) + ".1";
}

TEST(man_pages_cli, a_page_has_the_options_of_the_help_and_no_others) {
    std::map<std::string, std::size_t> sections;  // with options that a command has
    for (const command_help& command : all_help()) {
        if (command.words == std::vector<std::string>{"help"}) continue;  // in genista.1, without options
        const std::string page = page_of(command);
        ASSERT_TRUE(std::filesystem::exists(page)) << page;
        const auto found = options_of(page);
        const bool is_alone = found.contains("OPTIONS");  // a page of one command
        const std::string section = is_alone ? "OPTIONS" : command.name();
        ASSERT_TRUE(found.contains(section)) << page << " has no options of " << command.name();
        EXPECT_EQ(found.at(section), command.options) << page << ", section " << section;
        EXPECT_TRUE(command.options.contains("--help")) << command.name();
        ++sections[page];
    }
    for (const auto& [page, count] : sections) EXPECT_EQ(options_of(page).size(), count) << page;
    std::size_t pages = 0;
    for (const auto& each : std::filesystem::directory_iterator{folder}) {
        EXPECT_TRUE(sections.contains(each.path().string())) << each.path();
        ++pages;
    }
    EXPECT_EQ(pages, sections.size());
}

TEST(man_pages_cli, every_command_is_named_in_the_page_of_the_command_above_it) {
    for (const command_help& command : all_help()) {
        const std::string text = contents(page_of(command));
        for (const std::string& each : command.commands) {
            EXPECT_NE(text.find(".It Cm " + each + "\n"), std::string::npos) << command.name() << " " << each;
        }
    }
}

TEST(man_pages_cli, a_page_is_formatted_without_a_warning) {
    const bool has_mandoc = shell("command -v mandoc >/dev/null") == 0;
    if (!has_mandoc && shell("groff -mdoc -z </dev/null 2>/dev/null") != 0)
        GTEST_SKIP() << "neither mandoc nor groff with mdoc";
    const scratch_folder scratch;
    for (const auto& each : std::filesystem::directory_iterator{folder}) {
        const std::string path = "'" + each.path().string() + "'", out = " >'" + (scratch / "out") + "' 2>&1";
        const std::string lint = has_mandoc ? "mandoc -T lint -W warning " + path : "groff -mdoc -Tutf8 -ww -z " + path;
        EXPECT_EQ(shell(lint + out), 0) << path;
        EXPECT_EQ(contents(scratch / "out"), "") << path;
    }
}

}  // namespace
}  // namespace genista::test::man_pages_cli_test
