// Completion in bash: every command and option of the help, the values of an option with a few, and
// nothing that does not exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "compare_cli.hpp"
#include "help_texts.hpp"

namespace genista::test::completion_cli_test {
namespace {

bool has_bash() {
    return shell("command -v bash >/dev/null") == 0;
}

// What bash offers for the last word of a line.
std::set<std::string> offers(const std::string& line) {
    const scratch_folder scratch;
    put_contents(scratch / "ask.bash",
                 "source '" GENISTA_SOURCE_DIR "/tools/completion/genista.bash'\nCOMP_WORDS=('" GENISTA_BINARY_DIR
                 "/bin/genista' " +
                     line + ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_genista\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    EXPECT_EQ(shell("bash --norc '" + (scratch / "ask.bash") + "' >'" + (scratch / "out") + "' 2>'" +
                    (scratch / "err") + "'"),
              0);
    EXPECT_EQ(contents(scratch / "err"), "") << line;
    std::set<std::string> all;
    std::istringstream lines{contents(scratch / "out")};
    for (std::string each; std::getline(lines, each);) {
        if (!each.empty()) all.insert(each);
    }
    return all;
}

TEST(completion_cli, every_command_and_option_of_the_help_is_offered) {
    if (!has_bash()) GTEST_SKIP() << "no bash";
    const auto all = all_help();
    EXPECT_GE(all.size(), 17u);
    for (const command_help& command : all) {
        if (command.words == std::vector<std::string>{"help"}) continue;  // stands before another command
        std::string words;
        for (const std::string& each : command.words) words += each + " ";
        EXPECT_EQ(offers(words + "--"), command.options) << command.name();
        std::set<std::string> any{command.options};
        any.insert(command.commands.begin(), command.commands.end());
        if (command.positional.empty()) {
            EXPECT_EQ(offers(words + "''"), any) << command.name();
        }
    }
}

TEST(completion_cli, a_beginning_narrows_what_is_offered) {
    if (!has_bash()) GTEST_SKIP() << "no bash";
    EXPECT_EQ(offers("co"), std::set<std::string>{"compare"});
    EXPECT_EQ(offers("help st"), std::set<std::string>{"store"});
    EXPECT_EQ(offers("help store re"), std::set<std::string>{"reindex"});
    EXPECT_EQ(offers("compare --att"), std::set<std::string>{"--attack"});
    EXPECT_EQ(offers("compare --keys users.txt --att"), std::set<std::string>{"--attack"});
    EXPECT_TRUE(offers("compare --nothing").empty());
    EXPECT_TRUE(offers("polish --attack").empty());
}

TEST(completion_cli, an_argument_is_a_file_or_an_experiment) {
    if (!has_bash()) GTEST_SKIP() << "no bash";
    for (const char* const files : {"inspect ''", "store audit ''", "lab trace ''"})
        EXPECT_TRUE(offers(files).empty()) << files << ": bash offers files then";
    const std::set<std::string> experiments = offers("lab run broom-w");
    EXPECT_TRUE(experiments.contains("broom-words"));
    for (const std::string& each : experiments) EXPECT_TRUE(each.starts_with("broom-w")) << each;
}

TEST(completion_cli, values_of_options_are_words_files_or_folders) {
    if (!has_bash()) GTEST_SKIP() << "no bash";
    EXPECT_EQ(offers("compare --layout ''"), (std::set<std::string>{"clustered", "indexed"}));
    EXPECT_EQ(offers("bench --hash k"), std::set<std::string>{"keyed"});
    EXPECT_EQ(offers("daisy train --bytes ''"), std::set<std::string>{"auto"});
    for (const char* const number : {"bench --keys ''", "bench --mix ''", "bench --filters ''"})
        EXPECT_TRUE(offers(number).empty()) << number;
    const scratch_folder scratch;
    put_contents(scratch / "keys.txt", "a\n");
    std::filesystem::create_directory(scratch / "kept");
    const std::string beginning = scratch / "ke";
    EXPECT_EQ(offers("compare --keys " + beginning), (std::set<std::string>{scratch / "kept", scratch / "keys.txt"}));
    EXPECT_EQ(offers("compare --store " + beginning), std::set<std::string>{scratch / "kept"});
    EXPECT_EQ(offers("compare --attack --js"), std::set<std::string>{"--json"}) << "a flag has no value";
}

}  // namespace
}  // namespace genista::test::completion_cli_test
