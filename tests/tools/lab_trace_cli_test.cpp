// genista lab trace, and the options by which genista lab run takes traces.
#include <gtest/gtest.h>

#include "compare_cli.hpp"

namespace genista::test::lab_trace_cli_test {
namespace {

TEST(lab_trace_cli, a_trace_is_described_in_a_table_and_in_json) {
    const scratch_folder scratch;
    put_contents(scratch / "net-a.csv", "time,src,dst\n1,x,y\n2,z,y\n3,x,y\n4,x,q\n");
    const arguments line{"lab", "trace", scratch / "net-a.csv", "--columns", "src,dst"};
    const tool_run table = run_tool(line);
    ASSERT_EQ(table.status, 0) << table.err;
    expect_words(table.out, {"net-a", "accesses", "seen once", "66.7 %", "25.0 %", "x,y | z,y | x,q"});
    const tool_run run = run_tool(joined(line, {"--json", "-"}));
    ASSERT_EQ(run.status, 0) << run.err;
    const json traces = run.json().at("traces");
    ASSERT_EQ(traces.size(), 1u);
    EXPECT_EQ(traces[0].at("name"), "net-a");
    EXPECT_EQ(traces[0].at("is_network"), true);
    EXPECT_EQ(traces[0].at("accesses"), 4);
    EXPECT_EQ(traces[0].at("keys"), 3);
    EXPECT_DOUBLE_EQ(traces[0].at("repeat_share").get<double>(), 0.25);
    EXPECT_DOUBLE_EQ(traces[0].at("top_percent_share").get<double>(), 0.5);
    EXPECT_EQ(traces[0].at("first_keys"), (json{"x,y", "z,y", "x,q"}));
}

TEST(lab_trace_cli, several_files_gzip_and_standard_input_are_read) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", "a\nb\na\n");
    ASSERT_EQ(shell("gzip -k " + (scratch / "keys")), 0);
    ASSERT_EQ(shell("$GENISTA lab trace " + (scratch / "keys") + " " + (scratch / "keys.gz") + " - --json - <" +
                    (scratch / "keys.gz") + " >" + (scratch / "out.json")),
              0);
    const json traces = json::parse(contents(scratch / "out.json")).at("traces");
    ASSERT_EQ(traces.size(), 3u);
    for (const json& each : traces) EXPECT_EQ(each.at("accesses"), 3) << each;
    EXPECT_EQ(traces[2].at("name"), "standard input");
}

TEST(lab_trace_cli, bytes_that_would_disturb_a_terminal_or_json_are_escaped) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", "\x1b[31mred\n\xff\xfe\n");
    const tool_run table = run_tool({"lab", "trace", scratch / "keys"});
    ASSERT_EQ(table.status, 0) << table.err;
    EXPECT_EQ(table.out.find('\x1b'), std::string::npos);
    EXPECT_EQ(run_tool({"lab", "trace", scratch / "keys", "--json", "-"}).json().at("traces")[0].at("keys"), 2);
}

TEST(lab_trace_cli, incomplete_traces_are_refused) {
    const scratch_folder scratch;
    put_contents(scratch / "bad", "a,b\nc\n");
    put_contents(scratch / "empty", "");
    expect_refused({"lab", "trace", scratch / "bad", "--columns", "2"}, "line 2: 1 column", "column 2");
    expect_refused({"lab", "trace", scratch / "bad", "--columns", "dst"}, "'dst'", "a, b");
    expect_refused({"lab", "trace", scratch / "bad", scratch / "empty"}, scratch / "empty", "holds no key");
    expect_refused({"lab", "trace", scratch / "missing"}, scratch / "missing", "No such file");
    expect_refused({"lab", "trace", scratch / "bad", "--columns", "0"}, "column 0", "from 1");
    expect_refused({"lab", "trace", scratch / "bad", "--columns", "1", "--separator", "|"}, "'|'", "tab");
    expect_refused({"lab", "trace", scratch / "bad", "--separator", ";"}, "--separator", "--columns");
    expect_refused({"lab", "trace"}, "FILE", "required");
    put_contents(scratch / "many", lines("key", 0, 5000));
    ASSERT_EQ(shell("gzip " + (scratch / "many")), 0);
    const std::string whole = contents(scratch / "many.gz");
    put_contents(scratch / "cut.gz", whole.substr(0, whole.size() - 4));
    expect_refused({"lab", "trace", scratch / "cut.gz"}, scratch / "cut.gz", "end in the middle");
}

TEST(lab_trace_cli, every_experiment_that_replays_traces_refuses_a_bad_one) {
    const scratch_folder scratch;
    put_contents(scratch / "empty", "");
    for (const char* id : {"daisy-bloom", "acf-figures"}) {
        expect_refused({"lab", "run", id, "--quick", "--trace", scratch / "nowhere"}, "nowhere", "No such file");
        expect_refused({"lab", "run", id, "--quick", "--trace", scratch / "empty"}, "empty", "one");
        expect_refused({"lab", "run", id, "--quick", "--data", scratch / "nowhere"}, "nowhere", "");
    }
}

TEST(lab_trace_cli, an_experiment_that_replays_no_trace_takes_none) {
    const scratch_folder scratch;
    put_contents(scratch / "own", "a\n");
    const arguments run{"lab", "run", "broom-words", "--quick"};
    expect_refused(joined(run, {"--trace", scratch / "own"}), scratch / "own", "broom-words replays no trace");
    expect_refused(joined(run, {"--data", scratch.folder().string()}), scratch.folder().string(), "replays no trace");
    expect_refused(joined(run, {"--trace", scratch / "own", "--columns", "1"}), scratch / "own", "replays no trace");
}

TEST(lab_trace_cli, options_that_do_not_belong_together_are_refused) {
    const arguments run{"lab", "run", "broom-words"};
    expect_refused(joined(run, {"--columns", "1"}), "--columns", "--trace");
    expect_refused(joined(run, {"--trace", "x", "--data", "y"}), "--trace", "--data");
    expect_refused(joined(run, {"--trace", "x", "--separator", ";"}), "--separator", "--columns");
    expect_refused(joined(run, {"--trace", "x", "--columns", "0"}), "column 0", "from 1");
}

TEST(lab_trace_cli, help_has_an_example) {
    const tool_run help = run_tool({"lab", "trace", "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("Example:"), std::string::npos);
    EXPECT_NE(help.out.find("--columns"), std::string::npos);
}

}  // namespace
}  // namespace genista::test::lab_trace_cli_test
