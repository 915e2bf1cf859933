// genista lab: the list, and the shape of what a run prints. Whether promises are kept is tested in
// the lab.
#include <gtest/gtest.h>

#include <set>

#include "run_tool.hpp"

namespace genista::test::lab_cli_test {
namespace {

TEST(lab_cli, list_names_every_promise_once) {
    const tool_run list = run_tool({"lab", "list", "--json"});
    ASSERT_EQ(list.status, 0) << list.err;
    std::set<std::string> ids;
    const tool_run table = run_tool({"lab", "list"});
    ASSERT_EQ(table.status, 0);
    const nlohmann::json document = list.json();
    for (const nlohmann::json& row : document.at("experiments")) {
        const std::string id = row.at("id");
        EXPECT_TRUE(ids.insert(id).second) << id;
        EXPECT_FALSE(row.at("promise").get<std::string>().empty()) << id;
        EXPECT_FALSE(row.at("where").get<std::string>().empty()) << id;
        const std::string state = row.at("state");
        EXPECT_TRUE(state == "available" || state == "not built yet") << state;
        EXPECT_NE(table.out.find("\n" + id + " "), std::string::npos) << table.out;
    }
    EXPECT_GT(ids.size(), 40u);
    EXPECT_TRUE(ids.contains("broom-words"));
    EXPECT_TRUE(ids.contains("ppr-reduction"));
}

// genista lab is a program beside genista (tools/genista/main.cpp): wherever genista is called
// from, and by whatever name.
TEST(lab_cli, the_program_behind_it_is_found_through_a_link_and_named_if_missing) {
    const scratch_folder folder;
    std::filesystem::create_symlink(built_tool, folder.folder() / "g");
    const tool_run linked = run_tool({"lab", "run", "--help"}, folder / "g");
    EXPECT_EQ(linked.status, 0) << linked.err;
    EXPECT_NE(linked.out.find("Usage: genista lab run"), std::string::npos) << linked.out;

    std::filesystem::copy_file(built_tool, folder.folder() / "genista");
    const tool_run alone = run_tool({"lab", "list"}, folder / "genista");
    EXPECT_EQ(alone.status, 1);
    EXPECT_EQ(alone.out, "");
    EXPECT_NE(alone.err.find(folder / "genista-lab" + " does not exist; ./run lab builds it"), std::string::npos)
        << alone.err;

    put_contents(folder / "genista-lab", "no program");
    const tool_run broken = run_tool({"lab", "list"}, folder / "genista");
    EXPECT_EQ(broken.status, 1);
    EXPECT_NE(broken.err.find("genista-lab cannot be run: Permission denied"), std::string::npos) << broken.err;
}

TEST(lab_cli, run_prints_json_of_the_promised_shape_and_the_same_for_the_same_seed) {
    const tool_run run =
        run_tool({"lab", "run", "broom-words", "broom-words", "--quick", "--seed", "3", "--json", "-"});
    ASSERT_EQ(run.status, 0) << run.err << run.out;
    EXPECT_EQ(run.err, "");
    const nlohmann::json experiments = run.json().at("experiments");
    ASSERT_EQ(experiments.size(), 2u);
    EXPECT_EQ(experiments[0], experiments[1]);
    EXPECT_EQ(experiments[0].at("id"), "broom-words");
    for (const nlohmann::json& each : experiments) {
        EXPECT_EQ(each.size(), 7u);
        EXPECT_TRUE(each.at("promised").is_string());
        EXPECT_TRUE(each.at("measured").is_string());
        EXPECT_EQ(each.at("kept"), true);
        EXPECT_TRUE(each.at("control").is_object());
        EXPECT_FALSE(each.at("control").empty()) << "every promise has something that must fail it";
        EXPECT_TRUE(each.at("parameters").is_object());
        EXPECT_TRUE(each.at("series").is_array());
    }
}

TEST(lab_cli, run_prints_measured_beside_promised_and_writes_the_file) {
    const scratch_folder scratch;
    const tool_run run = run_tool({"lab", "run", "broom-words", "--quick", "--json", scratch / "lab.json"});
    ASSERT_EQ(run.status, 0) << run.err;
    expect_words(run.out, {"broom-words: kept", "promised", "measured", "control"});
    EXPECT_EQ(nlohmann::json::parse(contents(scratch / "lab.json")).at("experiments").size(), 1u);
}

TEST(lab_cli, what_is_not_an_experiment_is_refused_with_the_known_ones) {
    expect_refused({"lab", "run", "daisy-chain", "--json", "-"}, "'daisy-chain' is not a known experiment", "daisy-lb");
}

TEST(lab_cli, a_filter_that_the_experiment_does_not_support_is_refused) {
    expect_refused({"lab", "run", "ppr-reduction", "--filter", "sieve", "--json", "-"}, "sieve", "ppr-reduction");
}

}  // namespace
}  // namespace genista::test::lab_cli_test
