// genista daisy: a model from two logs or two tables, its size figures, and every kind of bad
// input: status 2, one line, nothing written.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/fix_checksums.hpp"
#include "trained_hosts.hpp"

namespace genista::test::daisy_cli_test {
namespace {

TEST(daisy_cli, trains_a_model_and_sizes_filters_by_it) {
    const scratch_folder scratch;
    write_logs(scratch, 4'000);
    const tool_run trained = run_tool(train_line(scratch, {"--bytes", "2^12", "--json", "-"}));
    ASSERT_EQ(trained.status, 0) << trained.err;
    const auto facts = trained.json();
    EXPECT_EQ(facts["oracle"], "score_oracle");
    EXPECT_GE(facts["oracle_bytes"], 4096);
    EXPECT_LE(facts["oracle_bytes"], 6000);
    EXPECT_EQ(facts["insert_draws"], 4'000);
    EXPECT_EQ(facts["held_out"], true);
    EXPECT_EQ(facts["file_bytes"], std::filesystem::file_size(scratch / "hosts.model"));
    ASSERT_EQ(facts["plans"].size(), 3u);
    for (const auto& plan : facts["plans"]) {
        EXPECT_LT(plan["lower_bound_bits_a_key"], plan["plain_bits_a_key"]);
        EXPECT_EQ(plan["keeps_condition"], true);
    }

    const tool_run sized = run_tool(
        {"daisy", "size", "--model", scratch / "hosts.model", "--keys", "1e5", "--fpr", "1/256", "--json", "-"});
    ASSERT_EQ(sized.status, 0) << sized.err;
    const auto sizes = sized.json();
    EXPECT_EQ(sizes["keys"], 100'000);
    EXPECT_EQ(sizes["plan"]["classes"].size(), 9u);
    double stored = 0;
    for (const auto& each : sizes["plan"]["classes"]) stored += each["stored_share"].get<double>();
    EXPECT_NEAR(stored, 1, 1e-6);
    EXPECT_LE(sizes["tuned"]["expected_rate"], 1.0 / 256);
    ASSERT_EQ(sizes["filters"].size(), 7u);  // two tuned, two as proved, three plain
    EXPECT_EQ(sizes["filters"][0]["filter"], "daisy_bloom");
    EXPECT_EQ(sizes["filters"][4]["filter"], "bloom");
    EXPECT_LT(sizes["filters"][0]["bits"], sizes["filters"][4]["bits"]);
    EXPECT_LE(sizes["plan"]["lower_bound_bits"], sizes["filters"][2]["bits"]);

    const tool_run page = run_tool({"daisy", "size", "--model", scratch / "hosts.model"});
    EXPECT_EQ(page.status, 0) << page.err;
    expect_words(page.out, {"LB", "n+", "tuned parameter", "daisy_fingerprint", "broom"});
}

TEST(daisy_cli, chooses_a_size_and_prints_the_settings) {
    const scratch_folder scratch;
    write_logs(scratch, 4'000);
    const auto sized = [&](const std::vector<std::string>& more) {
        std::vector<std::string> line = {"--bytes", "auto", "--json", "-"};
        line.insert(line.end(), more.begin(), more.end());
        const tool_run trained = run_tool(train_line(scratch, line));
        EXPECT_EQ(trained.status, 0) << trained.err;
        return trained.json()["score"];
    };
    const auto usual = sized({}), many = sized({"--keys", "1e9"});
    EXPECT_EQ(usual["weights"], 1024) << "4,000 keys do not pay for more";
    EXPECT_GT(many["weights"], 1024);
    EXPECT_EQ(usual["chosen_by_held_out_keys"], true);
    for (const char* name : {"longest_ngram", "step", "epochs"}) EXPECT_GT(usual[name], 0) << name;
    const tool_run page = run_tool(train_line(scratch, {"--bytes", "auto"}));
    EXPECT_NE(page.out.find("settings: 1'024 weights"), std::string::npos) << page.out;
}

// The bytes of one plan's bands beside their slots must not reduce the memory of the next plan: the
// row uses all of its memory.
TEST(daisy_cli, a_guard_gives_daisy_broom_all_of_its_memory) {
    const scratch_folder scratch;
    write_logs(scratch, 8'000);
    ASSERT_EQ(run_tool(train_line(scratch, {"--bytes", "1024"})).status, 0);
    const tool_run guarded =
        run_tool({"compare", "--keys", scratch / "inserts.txt", "--queries", scratch / "queries.txt", "--oracle",
                  scratch / "hosts.model", "--filters", "bloom,daisy_broom", "--bits-per-key", "90", "--json", "-"});
    ASSERT_EQ(guarded.status, 0) << guarded.err;
    const auto row = guarded.json()["phases"][0]["rows"][1];
    EXPECT_EQ(row["filter"], "daisy_broom");
    EXPECT_EQ(row["false_negatives"], 0);
    EXPECT_LE(row["bits_per_key"], 91);
    EXPECT_GT(row["bits_per_key"], 80);
}

TEST(daisy_cli, trains_every_oracle_and_gives_the_same_file_twice) {
    const scratch_folder scratch;
    write_logs(scratch, 600);
    for (const std::string oracle : {"score", "exact", "count_min", "count_sketch"}) {
        const tool_run trained = run_tool(train_line(scratch, {"--oracle", oracle}));
        ASSERT_EQ(trained.status, 0) << trained.err;
        EXPECT_NE(trained.out.find(oracle + "_oracle"), std::string::npos) << trained.out;
        const std::string once = contents(scratch / "hosts.model");
        ASSERT_EQ(run_tool(train_line(scratch, {"--oracle", oracle})).status, 0);
        EXPECT_EQ(contents(scratch / "hosts.model"), once);
        EXPECT_EQ(run_tool({"daisy", "size", "--model", scratch / "hosts.model"}).status, 0);
        const tool_run inspected = run_tool({"inspect", scratch / "hosts.model", "--json"});
        ASSERT_EQ(inspected.status, 0) << inspected.err;
        EXPECT_EQ(inspected.json()["kind"], "oracle_model");
        EXPECT_EQ(inspected.json()["oracle"]["name"], oracle + "_oracle");
        EXPECT_EQ(inspected.json()["model"]["insert_draws"], 600);
        const tool_run table = run_tool({"inspect", scratch / "hosts.model"});
        EXPECT_NE(table.out.find("oracle.memory_bytes"), std::string::npos) << table.out;
        EXPECT_EQ(table.out.find("does not know"), std::string::npos) << table.out;
    }
}

// If one filter cannot have the rate, the others are still printed.
TEST(daisy_cli, sizes_what_can_be_made_at_every_rate_and_names_what_cannot) {
    const scratch_folder scratch;
    write_logs(scratch, 1'000);
    ASSERT_EQ(run_tool(train_line(scratch, {})).status, 0);
    for (const auto& [rate, without] : std::vector<std::pair<std::string, std::string>>{
             {"0.05", "broom"}, {"0.0001", "cuckoo_partial"}, {"2^-50", "daisy_fingerprint"}}) {
        const std::vector<std::string> line = {"daisy", "size", "--model", scratch / "hosts.model", "--fpr", rate};
        const tool_run page = run_tool(line);
        ASSERT_EQ(page.status, 0) << page.err;
        EXPECT_NE(page.out.find("-: " + without), std::string::npos) << page.out;
        std::vector<std::string> as_json = line;
        as_json.insert(as_json.end(), {"--json", "-"});
        bool said = false;
        const tool_run run = run_tool(as_json);
        const nlohmann::json document = run.json();
        for (const auto& row : document["filters"]) {
            EXPECT_EQ(row["bits"].is_null(), row.contains("why_not"));
            said = said || (row["filter"] == without && row.contains("why_not"));
        }
        EXPECT_TRUE(said) << run.out;
    }
}

TEST(daisy_cli, reports_queries_for_inserted_keys_for_every_oracle) {
    const scratch_folder scratch;
    write_logs(scratch, 1'000);
    const tool_run apart = run_tool(train_line(scratch, {}));
    EXPECT_EQ(apart.out.find("of the insert log"), std::string::npos) << apart.out;
    std::filesystem::copy_file(scratch / "inserts.txt", scratch / "queries.txt",
                               std::filesystem::copy_options::overwrite_existing);
    for (const char* oracle : {"score", "count_min"}) {
        const tool_run same = run_tool(train_line(scratch, {"--oracle", oracle}));
        ASSERT_EQ(same.status, 0) << same.err;
        EXPECT_NE(same.out.find("100 % of the queries are for keys of the insert log"), std::string::npos) << same.out;
    }
}

TEST(daisy_cli, an_exact_table_takes_no_size_and_probabilities_need_a_number_of_keys) {
    const scratch_folder scratch;
    write_logs(scratch, 600);
    expect_refused(train_line(scratch, {"--oracle", "exact", "--bytes", "4096"}), "--bytes", "leave the option out");
    expect_refused(train_line(scratch, {"--keys", "1000"}), "--keys", "--bytes auto");
    put_contents(scratch / "p", "a\t0.5\nb\t0.5\nc\t1e-400\n");
    put_contents(scratch / "q", "a\t1e-320\nb\t0\nc\t1\n");
    std::vector<std::string> line = {"daisy",        "train",       "--stored-odds", scratch / "p",
                                     "--asked-odds", scratch / "q", "--out",         scratch / "m"};
    const tool_run unsaid = run_tool(line);
    ASSERT_EQ(unsaid.status, 0) << unsaid.err;
    EXPECT_NE(unsaid.out.find("--keys N"), std::string::npos) << unsaid.out;
    line.insert(line.end(), {"--keys", "1000"});
    const tool_run said = run_tool(line);
    ASSERT_EQ(said.status, 0) << said.err;
    EXPECT_NE(said.out.find("filters of 1'000 keys"), std::string::npos) << said.out;
}

TEST(daisy_cli, reports_stored_keys_that_are_queried_too_often) {
    const scratch_folder scratch;
    std::string log;
    for (int i = 0; i < 1'000; ++i) log += "key" + std::to_string(i % 20) + "\n";
    put_contents(scratch / "inserts.txt", log);
    put_contents(scratch / "queries.txt", log);
    const tool_run trained = run_tool(train_line(scratch, {"--oracle", "exact"}));
    ASSERT_EQ(trained.status, 0) << trained.err;
    EXPECT_NE(trained.out.find("is larger than the rate"), std::string::npos) << trained.out;
    const tool_run sized = run_tool({"daisy", "size", "--model", scratch / "hosts.model", "--keys", "1000"});
    EXPECT_EQ(sized.status, 0) << sized.err;
    EXPECT_NE(sized.out.find("LARGER"), std::string::npos) << sized.out;
}

TEST(daisy_cli, takes_probabilities_and_refuses_those_that_are_none) {
    const scratch_folder scratch;
    const std::string p = scratch / "p.tsv", q = scratch / "q.tsv", out = scratch / "m";
    const std::vector<std::string> line = {"daisy", "train", "--stored-odds", p, "--asked-odds", q, "--out", out};
    put_contents(p, "a\t0.75\nb\t0.25\n");
    put_contents(q, "b\t0.5\na\t0.5\n");
    const tool_run taken = run_tool(line);
    ASSERT_EQ(taken.status, 0) << taken.err;
    EXPECT_NE(taken.out.find("probabilities of 2 keys"), std::string::npos) << taken.out;
    put_contents(p, "a\t0.75\r\nb\t0.25\r\n");
    EXPECT_EQ(run_tool(line).out, taken.out) << "\\r\\n ends a line too";
    std::filesystem::remove(out);
    for (const auto& [text, value, allowed] :
         std::vector<std::array<std::string, 3>>{{"b\t0.5\nc\t0.5\n", "c", ""},
                                                 {"b\t-0.5\na\t0.5\n", "'-0.5'", "0..1"},
                                                 {"b\tnan\na\t0.5\n", "line 1: the probability 'nan'", "0..1"},
                                                 {"b\t0.5\na\tinf\n", "line 2: the probability 'inf'", "0..1"},
                                                 {"b\t1e999\na\t0.5\n", "'1e999'", "0..1"},
                                                 {"b\t50%\na\t0.5\n", "'50%'", "0..1"},
                                                 {"b\t0.5\nb\t0.5\n", "'b'", "twice"},
                                                 {"\t1\n", "line 1", "TAB"},
                                                 {"b\t0.5\na\t0.1\n", "0.6", "one"},
                                                 {"b 0.5\n", "'b 0.5'", "TAB"},
                                                 {"\n", "no key", "TAB"}}) {
        put_contents(q, text);
        expect_refused(line, value, allowed);
        EXPECT_FALSE(std::filesystem::exists(out)) << text;
    }
}

TEST(daisy_cli, bad_lines_are_refused_with_the_value_and_what_is_allowed) {
    const scratch_folder scratch;
    write_logs(scratch, 200);
    const std::string model = scratch / "hosts.model";
    expect_refused({"daisy", "train", "--out", model}, "--inserts", "--queries");
    expect_refused({"daisy", "train", "--inserts", scratch / "inserts.txt", "--out", model}, "--inserts", "--queries");
    expect_refused(
        {"daisy", "train", "--inserts", scratch / "none.txt", "--queries", scratch / "queries.txt", "--out", model},
        "none.txt", "No such file");
    expect_refused(train_line(scratch, {"--bytes", "12"}), "12", "64");
    expect_refused(train_line(scratch, {"--bytes", "0"}), "0", "64");
    expect_refused(train_line(scratch, {"--bytes", "automatic"}), "automatic", "auto");
    expect_refused(train_line(scratch, {"--bytes", "auto", "--oracle", "count_min"}), "'auto'", "score");
    expect_refused(train_line(scratch, {"--bytes", "auto", "--keys", "0"}), "0", "1");
    expect_refused(train_line(scratch, {"--bytes", "4096", "--keys", "9"}), "--keys", "--bytes auto");
    expect_refused(train_line(scratch, {"--keys", "9"}), "--keys", "--bytes");
    expect_refused(train_line(scratch, {"--oracle", "psychic"}), "'psychic'", "score, exact, count_min, count_sketch");
    expect_refused(train_line(scratch, {"--seed", "x"}), "x", "digits");
    expect_refused({"daisy", "train", "--inserts", "-", "--queries", "-", "--out", model}, "'-'", "stdin");
    expect_refused({"daisy", "train", "--inserts", scratch / "inserts.txt", "--queries", scratch / "queries.txt",
                    "--out", scratch / "no/folder/m"},
                   "no/folder/m", "cannot be written");
    put_contents(scratch / "queries.txt", "\n\n");
    expect_refused(train_line(scratch), "queries.txt", "one a line");
    EXPECT_FALSE(std::filesystem::exists(model));
}

TEST(daisy_cli, files_that_are_not_models_are_refused_by_name) {
    const scratch_folder scratch;
    write_logs(scratch, 300);
    const std::string model = scratch / "hosts.model";
    ASSERT_EQ(run_tool(train_line(scratch, {"--bytes", "64"})).status, 0);
    const std::string file = contents(model);
    const std::vector<std::string> line = {"daisy", "size", "--model", model};
    const auto put = [&](std::size_t at, unsigned char value) {
        std::string changed = file;
        changed[at] = static_cast<char>(value);
        fix_checksums(std::as_writable_bytes(std::span{changed}));
        put_contents(model, changed);
    };
    put(12, 2);
    expect_refused(line, "kind version 2", "versions 1 to 1");
    put(10, 1);
    expect_refused(line, "kind 1 (bloom)", "oracle_model");
    put_contents(model, file.substr(0, file.size() - 1));
    expect_refused(line, "hosts.model", "truncated");
    put_contents(model, "a model, honestly");
    expect_refused(line, "hosts.model", "not a Genista snapshot");
    expect_refused({"daisy", "size", "--model", scratch / "none"}, "none", "No such file");
    put_contents(model, file);
    expect_refused({"daisy", "size", "--model", model, "--keys", "0"}, "0", "1");
    expect_refused({"daisy", "size", "--model", model, "--fpr", "2"}, "2", "1/2");
    expect_refused({"daisy", "size"}, "--model", "required");
}

TEST(daisy_cli, help_is_there_and_without_a_command_the_commands_are_named) {
    for (const std::vector<std::string>& line :
         {std::vector<std::string>{"daisy", "--help"}, {"daisy", "train", "--help"}, {"daisy", "size", "--help"}}) {
        const tool_run run = run_tool(line);
        EXPECT_EQ(run.status, 0);
        EXPECT_NE(run.out.find("Example"), std::string::npos);
    }
    EXPECT_EQ(run_tool({"daisy"}).status, 2);
    expect_refused({"daisy", "grow"}, "grow", "train, size");
}

}  // namespace
}  // namespace genista::test::daisy_cli_test
