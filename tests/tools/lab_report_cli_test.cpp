// genista lab matrix and genista lab report: help, bad input, and what is kept between
// two calls.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "run_tool.hpp"

namespace genista::test::lab_report_cli_test {
namespace {

using nlohmann::json;

[[nodiscard]] bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// The fastest experiment of the lab.
[[nodiscard]] std::vector<std::string> small_report(const std::string& page, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"lab", "report", "--quick", "--only", "daisy-k", "--html", page};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

TEST(lab_matrix_cli, plays_what_is_named_and_prints_a_table_and_json) {
    const tool_run table =
        run_tool({"lab", "matrix", "--quick", "--filters", "bloom,broom", "--adversaries", "repeat-one"});
    ASSERT_EQ(table.status, 0) << table.err;
    EXPECT_TRUE(has(table.out, "repeat-one")) << table.out;
    EXPECT_TRUE(has(table.out, "100!")) << table.out;
    EXPECT_TRUE(has(table.out, "broom: loses to no adversary")) << table.out;
    EXPECT_TRUE(has(table.out, "bloom: loses to 1 of 1, worst repeat-one (100 %)")) << table.out;

    const scratch_folder scratch;
    const tool_run run = run_tool({"lab", "matrix", "--quick", "--filters", "bloom,broom", "--adversaries",
                                   "growth-replay", "--json", "-", "--html", scratch / "matrix.html"});
    ASSERT_EQ(run.status, 0) << run.err;
    const json cells = run.json().at("matrix");
    ASSERT_EQ(cells.size(), 2u);
    EXPECT_EQ(cells[0].at("verdict"), "cannot play");
    EXPECT_EQ(cells[0].at("why"), "bloom does not grow");
    EXPECT_EQ(cells[1].at("verdict"), "holds");
    EXPECT_TRUE(has(contents(scratch / "matrix.html"), "<figure class=\"heat\""));
}

TEST(lab_matrix_cli, unknown_names_are_refused_with_those_that_exist) {
    expect_refused({"lab", "matrix", "--quick", "--filters", "broom,sieve"}, "'sieve'", "cuckoo_partial");
    expect_refused({"lab", "matrix", "--quick", "--adversaries", "unheard"}, "'unheard'", "repeat-one");
    expect_refused({"lab", "matrix", "--html", "-"}, "--html", "not a file");
}

TEST(lab_report_cli, help_explains_how_to_continue_and_bad_input_is_refused) {
    const tool_run help = run_tool({"lab", "report", "--help"});
    EXPECT_EQ(help.status, 0);
    for (const char* const word : {"--quick", "--html", "--only", "--fresh", "continues where it was", "Example"})
        EXPECT_TRUE(has(help.out, word)) << word << "\n" << help.out;
    const scratch_folder scratch;
    expect_refused(small_report(scratch / "a.html", {"--only", "nothing"}), "'nothing'", "daisy-k");
    expect_refused(small_report(scratch / "no/such/a.html"), "no/such/a.html", "cannot be written");
    expect_refused(small_report(scratch / "a.html", {"--data", scratch / "none"}), scratch / "none", "no such folder");
    EXPECT_FALSE(std::filesystem::exists(scratch / "a.html.parts"));
    put_contents(scratch / "b.html.parts", "a file");
    expect_refused(small_report(scratch / "b.html"), "b.html.parts", "folder");
}

TEST(lab_report_cli, writes_the_page_and_a_second_call_runs_nothing) {
    const scratch_folder scratch;
    const std::string page = scratch / "lab.html";
    const tool_run first = run_tool(small_report(page, {"--json", scratch / "lab.json"}));
    ASSERT_EQ(first.status, 0) << first.err;
    EXPECT_EQ(first.err, "");
    EXPECT_TRUE(has(first.out, "1 to run")) << first.out;
    EXPECT_TRUE(has(first.out, "1/1  daisy-k: kept")) << first.out;
    const std::string html = contents(page);
    EXPECT_TRUE(has(html, "1 promise was measured and kept"));
    const json document = json::parse(contents(scratch / "lab.json"));
    EXPECT_EQ(document.at("experiments").size(), 1u);
    EXPECT_EQ(document.at("experiments")[0].at("kept"), true);
    EXPECT_EQ(document.at("seed"), 1);
    EXPECT_FALSE(document.at("machine").at("cpu").get<std::string>().empty());

    const tool_run second = run_tool(small_report(page));
    ASSERT_EQ(second.status, 0) << second.err;
    EXPECT_TRUE(has(second.out, "1 of 1 parts are finished already")) << second.out;
    EXPECT_FALSE(has(second.out, "to run")) << second.out;
    EXPECT_FALSE(has(second.out, "daisy-k: kept")) << second.out;
    EXPECT_EQ(contents(page), html) << "from the same parts, the same bytes";

    const tool_run fresh = run_tool(small_report(page, {"--fresh"}));
    EXPECT_TRUE(has(fresh.out, "daisy-k: kept")) << fresh.out;
}

TEST(lab_report_cli, json_on_stdout_is_alone_there) {
    const scratch_folder scratch;
    const tool_run run = run_tool(small_report(scratch / "lab.html", {"--json", "-"}));
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.json().at("experiments").size(), 1u);
}

TEST(lab_report_cli, a_damaged_part_is_run_again_and_reported) {
    const scratch_folder scratch;
    const std::string page = scratch / "lab.html", part = scratch / "lab.html.parts/daisy-k.json";
    ASSERT_EQ(run_tool(small_report(page)).status, 0);
    const std::string whole = contents(part);
    std::string edited = whole;
    edited.replace(edited.find("\"kept\":true"), 11, "\"kept\":null");
    for (const std::string& damaged : {whole.substr(0, whole.size() / 2), std::string{"[]"}, std::string{}, edited}) {
        put_contents(part, damaged);
        const tool_run again = run_tool(small_report(page));
        EXPECT_EQ(again.status, 0) << again.err;
        EXPECT_TRUE(has(again.out, "damaged: daisy-k")) << again.out;
        EXPECT_TRUE(has(again.out, "daisy-k: kept")) << again.out;
    }
}

TEST(lab_report_cli, another_seed_and_another_build_are_not_mixed) {
    const scratch_folder scratch;
    const std::string page = scratch / "lab.html", part = scratch / "lab.html.parts/daisy-k.json";
    ASSERT_EQ(run_tool(small_report(page)).status, 0);
    const tool_run other = run_tool(small_report(page, {"--seed", "2"}));
    EXPECT_TRUE(has(other.out, "of another seed (1): daisy-k")) << other.out;
    EXPECT_TRUE(has(other.out, "daisy-k: kept")) << other.out;

    auto changed = nlohmann::ordered_json::parse(contents(part));
    changed["stamp"]["build"] = "0000000000000000";
    put_contents(part, changed.dump());
    const tool_run rebuilt = run_tool(small_report(page, {"--seed", "2"}));
    EXPECT_TRUE(has(rebuilt.out, "of another build")) << rebuilt.out;
    EXPECT_TRUE(has(rebuilt.out, "daisy-k: kept")) << rebuilt.out;
}

// daisy-k is finished at once, broom-time is far from it: interrupted in between, the first is
// kept.
TEST(lab_report_cli, an_interrupt_keeps_what_is_finished_and_the_same_command_continues) {
    const scratch_folder scratch;
    const std::string page = scratch / "lab.html", err = scratch / "err", out = scratch / "out";
    std::vector<std::string> arguments{GENISTA_BINARY_DIR "/bin/genista",
                                       "lab",
                                       "report",
                                       "--quick",
                                       "--jobs",
                                       "2",
                                       "--only",
                                       "daisy-k,broom-time",
                                       "--html",
                                       page};
    std::vector<char*> raw;
    for (std::string& each : arguments) raw.push_back(each.data());
    raw.push_back(nullptr);
    posix_spawn_file_actions_t streams;
    ::posix_spawn_file_actions_init(&streams);
    ::posix_spawn_file_actions_addopen(&streams, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child = 0;
    ASSERT_EQ(::posix_spawn(&child, raw[0], &streams, nullptr, raw.data(), ::environ), 0);
    ::posix_spawn_file_actions_destroy(&streams);
    for (int tries = 0; tries < 3000 && !has(contents(out), "daisy-k: kept"); ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    ::kill(child, SIGINT);
    int state = 0;
    ::waitpid(child, &state, 0);
    EXPECT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGINT) << state;
    EXPECT_TRUE(has(contents(err), "interrupted; 1 of 2 parts are finished")) << contents(err);
    EXPECT_TRUE(has(contents(err), "Continue with: genista lab report --quick --only daisy-k,broom-time"))
        << contents(err);
    EXPECT_FALSE(std::filesystem::exists(page)) << "no page of half a run";

    const tool_run resumed = run_tool(small_report(page));
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_TRUE(has(resumed.out, "1 of 1 parts are finished already")) << resumed.out;
}

}  // namespace
}  // namespace genista::test::lab_report_cli_test
