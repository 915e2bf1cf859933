// The command line as such: help everywhere, exit statuses, refusals that name the value. What the
// commands compute is in compare_cli_test.cpp, bench_cli_test.cpp, lab_cli_test.cpp and
// inspect_cli_test.cpp.
#include <gtest/gtest.h>

#include "base/cpu.hpp"
#include "genista/version.hpp"
#include "run_tool.hpp"

namespace genista::test::cli_test {
namespace {

using arguments = std::vector<std::string>;

std::string quoted(const char* text) {
    return std::string{"'"}.append(text).append("'");
}

TEST(cli, every_command_has_help_with_an_example) {
    const arguments commands[] = {{},
                                  {"compare"},
                                  {"bench"},
                                  {"inspect"},
                                  {"lab"},
                                  {"lab", "list"},
                                  {"lab", "run"},
                                  {"lab", "trace"},
                                  {"lab", "matrix"},
                                  {"lab", "report"},
                                  {"daisy"},
                                  {"daisy", "train"},
                                  {"daisy", "size"},
                                  {"help"},
                                  {"store"},
                                  {"store", "audit"},
                                  {"store", "reindex"},
                                  {"store", "unguard"}};
    for (arguments command : commands) {
        std::string name = "genista";
        for (const std::string& word : command) name += " " + word;
        command.emplace_back("--help");
        const tool_run run = run_tool(command);
        EXPECT_EQ(run.status, 0) << name;
        EXPECT_EQ(run.err, "") << name;
        EXPECT_NE(run.out.find("Usage: " + name), std::string::npos) << run.out;
        EXPECT_NE(run.out.find("Example:\n  genista"), std::string::npos) << run.out;
    }
}

TEST(cli, help_wins_over_options_that_are_given_too) {
    const tool_run run = run_tool({"bench", "--keys", "1e6", "--help"});
    EXPECT_EQ(run.status, 0);
    EXPECT_NE(run.out.find("--error-rate"), std::string::npos);
}

TEST(cli, version_is_one_line_with_the_kernels_in_use) {
    const tool_run run = run_tool({"--version"});
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.err, "");
    const std::string line{to_string(active_isa())};
    EXPECT_EQ(run.out, "genista " GENISTA_VERSION " (kernels: " + line + ")\n");
}

TEST(cli, help_of_a_command_is_what_its_option_prints) {
    const arguments commands[] = {{}, {"compare"}, {"bench"}, {"lab"}, {"lab", "run"}, {"store", "audit"}, {"help"}};
    for (const arguments& command : commands) {
        arguments asked = command, with_option = command;
        asked.insert(asked.begin(), "help");
        with_option.emplace_back("--help");
        const tool_run run = run_tool(asked), expected = run_tool(with_option);
        EXPECT_EQ(run.status, 0);
        EXPECT_EQ(run.err, "");
        EXPECT_EQ(run.out, expected.out);
        EXPECT_NE(run.out, "");
    }
}

TEST(cli, there_is_no_help_for_a_command_that_does_not_exist) {
    expect_refused({"help", "polish"}, "polish", "compare, bench, inspect");
    expect_refused({"polish", "--help"}, "polish", "compare, bench, inspect");
    expect_refused({"help", "store", "polish"}, "polish", "audit, reindex, unguard");
    expect_refused({"help", "lab", "polish"}, "polish", "list, run");
}

TEST(cli, guard_is_an_unlisted_name_of_compare) {
    EXPECT_EQ(run_tool({"guard", "--help"}).out, run_tool({"compare", "--help"}).out);
    EXPECT_EQ(run_tool({"help", "guard"}).out, run_tool({"compare", "--help"}).out);
    EXPECT_EQ(run_tool({"--help"}).out.find("guard  "), std::string::npos);
    const auto counts = [](const char* name) {
        const tool_run run = run_tool({name, "--number-of-keys", "2000", "--number-of-queries", "3000", "--filters",
                                       "none,broom", "--value-bytes", "8", "--json", "-"});
        EXPECT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(run.err, "");
        std::vector<int> all;
        const nlohmann::json document = run.json();
        for (const auto& phase : document.at("phases"))
            for (const auto& row : phase.at("rows")) all.push_back(row.at("wasted_reads").get<int>());
        return all;
    };
    EXPECT_EQ(counts("guard"), counts("compare"));
    EXPECT_EQ(run_tool({"guard", "--pool", "0"}).err, run_tool({"compare", "--pool", "0"}).err);
}

TEST(cli, without_a_command_help_goes_to_stderr) {
    for (const arguments& line : {arguments{}, arguments{"lab"}}) {
        const tool_run run = run_tool(line);
        EXPECT_EQ(run.status, 2);
        EXPECT_EQ(run.out, "");
        EXPECT_NE(run.err.find("Usage: genista"), std::string::npos) << run.err;
    }
}

TEST(cli, unknown_commands_and_options_are_refused) {
    expect_refused({"polish"}, "polish", "compare, bench, inspect, daisy, lab, store, help");
    expect_refused({"lab", "polish"}, "polish", "list, run");
    expect_refused({"bench", "--polish"}, "--polish", "genista bench --help");
    expect_refused({"bench", "polish"}, "polish", "genista bench --help");
    expect_refused({"bench", "--filters", "bloom", "blocked_bloom"}, "blocked_bloom", "genista bench --help");
    expect_refused({"lab", "run"}, "ID", "genista lab run --help");
    expect_refused({"inspect"}, "SNAPSHOT", "genista inspect --help");
    expect_refused({"bench", "--keys"}, "--keys", "genista bench --help");
    expect_refused({"bench", "--keys", "10", "--keys", "20"}, "--keys", "genista bench --help");
}

TEST(cli, texts_that_are_not_counts_are_refused) {
    for (const char* text : {"",   "-5", "+5",   "1.5", "10M", "ten",   "1e", "e6", "1e-3", "1.25e1", "0x10",
                             " 7", "7 ", "1''0", "_1",  "1_",  "1e6e6", "2^", "^2", "2^-3", "1,000",  "nan"}) {
        expect_refused({"bench", "--keys", text}, quoted(text), "from 1 to 1099511627776");
    }
}

TEST(cli, counts_outside_their_range_are_refused) {
    for (const char* text : {"0", "1099511627777", "2^41", "1e13", "1e300", "99999999999999999999999", "2^64", "0e5"}) {
        expect_refused({"bench", "--keys", text}, quoted(text), "from 1 to 1099511627776");
    }
    expect_refused({"bench", "--threads", "0"}, "'0'", "from 1 to 256");
    expect_refused({"bench", "--threads", "257"}, "'257'", "from 1 to 256");
    expect_refused({"bench", "--rounds", "0"}, "'0'", "from 1 to 1000");
    expect_refused({"bench", "--seed", "18446744073709551616"}, "'18446744073709551616'", "18446744073709551615");
    expect_refused({"lab", "run", "broom-words", "--seed", "one"}, "'one'", "18446744073709551615");
}

TEST(cli, rates_outside_zero_to_a_half_are_refused) {
    for (const char* text :
         {"0",   "0.0", "0.51", "51%",  "1", "2/3", "2^-0.5", "2^8", "1e-400", "-0.1",   "-1%", "nan",
          "inf", "1/0", "0/5",  "1//4", "%", "",    "2^",     "abc", "0.1x",   "1/256 ", "+0.1"}) {
        expect_refused({"bench", "--error-rate", text}, quoted(text), "(0, 1/2]");
    }
}

TEST(cli, a_rate_that_a_filter_does_not_reach_is_refused_with_its_limit) {
    expect_refused({"bench", "--filters", "blocked_bloom", "--keys", "100", "--error-rate", "1e-12"}, "1e-12", "1e-07");
}

TEST(cli, more_keys_than_memory_are_refused) {
    expect_refused({"bench", "--keys", "1e12", "--error-rate", "1e-6"}, "1000000000000", "bytes");
}

TEST(cli, unknown_names_are_refused_with_the_known_ones) {
    expect_refused({"bench", "--filters", "bloom,blom"}, "'blom'", "bloom, blocked_bloom, cuckoo_partial");
    expect_refused({"bench", "--filters", ""}, "--filters", "genista bench --help");
    expect_refused({"bench", "--hash", "murmur"}, "'murmur'", "keyed and trusted");
    expect_refused({"lab", "run", "broom-wrds"}, "'broom-wrds'", "broom-words");
    expect_refused({"lab", "run", "broom-words", "broom-wrds"}, "'broom-wrds'", "broom-words");
}

TEST(cli, the_nearest_known_name_is_suggested) {
    expect_refused({"bench", "--filters", "bloom,blom"}, "'blom'", "did you mean bloom?");
    expect_refused({"bench", "--filters", "cukoo_partail"}, "'cukoo_partail'", "did you mean cuckoo_partial?");
    expect_refused({"compare", "--filters", "borom"}, "'borom'", "did you mean broom?");
    expect_refused({"lab", "run", "broom-wrds"}, "'broom-wrds'", "did you mean broom-words?");
    expect_refused({"lab", "report", "--only", "matrx"}, "'matrx'", "did you mean matrix?");
    expect_refused({"lab", "matrix", "--adversaries", "repeat_one"}, "'repeat_one'", "did you mean repeat-one?");
    expect_refused({"daisy", "train", "--inserts", "a", "--queries", "b", "--out", "c", "--oracle", "scores"},
                   "'scores'", "did you mean score?");
    expect_refused({"comapre"}, "comapre", "did you mean compare?");
    expect_refused({"lab", "lst"}, "lst", "did you mean list?");
    expect_refused({"bench", "--kyes", "10"}, "--kyes", "did you mean --keys?");
    expect_refused({"bench", "--error-rat=1%"}, "--error-rat", "did you mean --error-rate?");
    for (const arguments& far : {arguments{"bench", "--filters", "elephant"}, {"polish"}, {"bench", "--xyz"}})
        EXPECT_EQ(run_tool(far).err.find("did you mean"), std::string::npos) << far.back();
}

TEST(cli, a_json_file_that_cannot_be_written_is_refused_before_the_work) {
    const scratch_folder scratch;
    expect_refused({"bench", "--json", scratch / "missing/x.json"}, scratch / "missing/x.json", "cannot be written");
    expect_refused({"bench", "--json", scratch.folder().string()}, scratch.folder().string(), "folder");
    expect_refused({"bench", "--json", ""}, "''", "- for stdout");
    expect_refused({"lab", "run", "broom-words", "--json", scratch / "a/b"}, scratch / "a/b", "cannot be written");
}

TEST(cli, output_that_cannot_be_written_is_failed_work) {
    for (const char* line : {"lab list", "lab list --json", "compare --help", "--version"}) {
        const std::string all = std::string{GENISTA_BINARY_DIR "/bin/genista "} + line + " >/dev/full 2>/dev/null";
        const int state = std::system(all.c_str());
        EXPECT_EQ(WIFEXITED(state) ? WEXITSTATUS(state) : -1, 1) << line;
    }
}

TEST(cli, bad_input_leaves_an_existing_json_file_as_it_was) {
    const scratch_folder scratch;
    const std::string path = scratch / "kept.json";
    put_contents(path, "old");
    expect_refused({"bench", "--json", path, "--keys", "0"}, "'0'", "from 1 to");
    expect_refused({"lab", "run", "nothing", "--json", path}, "'nothing'", "broom-words");
    EXPECT_EQ(contents(path), "old");
    expect_refused({"bench", "--json", scratch / "new.json", "--keys", "0"}, "'0'", "from 1 to");
    EXPECT_FALSE(std::filesystem::exists(scratch / "new.json"));
}

}  // namespace
}  // namespace genista::test::cli_test
