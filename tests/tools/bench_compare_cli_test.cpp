// genista bench --compare: which figures are compared, what is divided by what, and which files are
// not reports.
#include <gtest/gtest.h>

#include "run_tool.hpp"

namespace genista::test::bench_compare_cli_test {
namespace {

using nlohmann::json;

std::vector<std::string> line_of(std::vector<std::string> more) {
    std::vector<std::string> line{"bench",     "--filters", "cuckoo_partial,broom", "--rounds", "1",
                                  "--lookups", "2000",      "--rate-queries",       "1000"};
    line.insert(line.end(), more.begin(), more.end());
    return line;
}

// A report of 1000 keys on one and two threads, as JSON on stdout.
json a_report() {
    const tool_run run = run_tool(line_of({"--keys", "1000", "--threads", "1,2", "--mix", "90/10", "--json", "-"}));
    EXPECT_EQ(run.status, 0) << run.err;
    return run.status == 0 ? run.json() : json{};
}

TEST(bench_compare_cli, divides_what_both_have_and_takes_the_floors_out) {
    const scratch_folder scratch;
    const std::string old_path = scratch / "old.json", new_path = scratch / "new.json";
    json old = a_report();
    // Fixed times, so that the ratios are known: 50 ns everywhere on a floor of 5, which is 10
    // in batches.
    const auto set_times = [](json& object) {
        for (auto& [name, value] : object.items()) {
            if (name.ends_with("_ns_median") && !value.is_null()) value = 50.0;
        }
    };
    json& size = old["sizes"][0];
    for (json& filter : size["filters"]) {
        set_times(filter);
        for (json& team : filter["threads"]) set_times(team);
    }
    for (json& team : size["floor"]["threads"]) {
        team["floor_ns_median"] = 5.0;
        team["floor_batch_ns_median"] = 10.0;
    }
    put_contents(old_path, old.dump());
    const tool_run run = run_tool(line_of(
        {"--sizes", "500,1000", "--threads", "2,3", "--mix", "90/10", "--compare", old_path, "--json", new_path}));
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_NE(run.out.find("This run against " + old_path), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("new/old"), std::string::npos) << run.out;

    const json now = json::parse(contents(new_path));
    const json& floors = now["sizes"][1]["floor"]["threads"];
    // Common: 1000 keys on 2 threads, four look-ups of each filter and the mix of broom; what is
    // done alone: insert and erase of both, insert in batches of both, erase in batches of broom.
    // adapt needs a false positive among 2000 keys or more, and may be missing.
    std::size_t without_adapt = 0;
    for (const json& row : now.at("compared")) {
        EXPECT_EQ(row.at("keys"), 1000);
        const std::string operation = row.at("operation");
        const bool batch = operation.ends_with("_batch");
        const bool in_team = row.at("threads") == 2;
        EXPECT_EQ(in_team,
                  operation.starts_with("negative") || operation.starts_with("positive") || operation == "mix 90/10");
        EXPECT_EQ(row.at("old_ns_median"), 50.0);
        const double ratio = row.at("new_ns_median").get<double>() / 50;
        const double floor = floors[0].at(batch ? "floor_batch_ns_median" : "floor_ns_median");
        EXPECT_NEAR(row.at("ratio").get<double>(), ratio, 1e-9 * ratio);
        const double over_floor = ratio / (floor / (batch ? 10.0 : 5.0));
        EXPECT_NEAR(row.at("ratio_over_floor").get<double>(), over_floor, 1e-9 * over_floor) << row;
        without_adapt += operation != "adapt" ? 1u : 0u;
    }
    EXPECT_EQ(without_adapt, 4u + 4u + 1u + 2u + 2u + 3u);
}

TEST(bench_compare_cli, filters_of_other_churn_and_mixes_of_other_shares_are_not_compared) {
    const scratch_folder scratch;
    const std::string old_path = scratch / "old.json";
    const auto compared = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--keys", "500", "--compare", old_path, "--json", "-"});
        const tool_run run = run_tool(line_of(std::move(more)));
        EXPECT_EQ(run.status, 0) << run.err;
        std::pair<int, int> counts{};
        const json document = run.json();
        for (const json& row : document.at("compared")) {
            counts.first += row.at("filter").get<std::string>().ends_with("+churn") ? 1 : 0;
            counts.second += row.at("operation").get<std::string>().starts_with("mix") ? 1 : 0;
        }
        return counts;
    };
    ASSERT_EQ(run_tool(line_of({"--keys", "500", "--churn", "1", "--mix", "80/20", "--json", old_path})).status, 0);
    EXPECT_EQ(compared({"--churn", "1", "--mix", "80/20"}), std::pair(8, 2));
    EXPECT_EQ(compared({"--churn", "2", "--mix", "80/20"}), std::pair(0, 2));
    EXPECT_EQ(compared({"--churn", "1", "--mix", "90/10"}), std::pair(8, 0));
}

TEST(bench_compare_cli, nothing_in_common_and_other_conditions_are_reported) {
    const scratch_folder scratch;
    const std::string old_path = scratch / "old.json";
    put_contents(old_path, a_report().dump());
    tool_run run = run_tool(line_of({"--keys", "999", "--compare", old_path}));
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_NE(run.out.find("no figure in common"), std::string::npos) << run.out;
    run = run_tool(line_of({"--keys", "1000", "--hash", "trusted", "--error-rate", "1%", "--compare", old_path}));
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_NE(run.out.find("the old error rate is 0.003906, the new one 0.01"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("the old hash is keyed, the new one trusted"), std::string::npos) << run.out;
}

TEST(bench_compare_cli, the_old_report_is_not_replaced_and_no_filter_is_measured_twice) {
    const scratch_folder scratch;
    put_contents(scratch / "old.json", a_report().dump());
    const std::string before = contents(scratch / "old.json");
    expect_refused(line_of({"--keys", "1000", "--compare", scratch / "old.json", "--json", scratch / "old.json"}),
                   "old.json", "--compare");
    EXPECT_EQ(contents(scratch / "old.json"), before);
    expect_refused({"bench", "--filters", "bloom,broom,bloom"}, "'bloom'", "named twice");
    expect_refused({"lab", "matrix", "--filters", "bloom,broom,bloom"}, "'bloom'", "named twice");
}

TEST(bench_compare_cli, files_that_are_not_reports_are_refused_before_the_work) {
    const scratch_folder scratch;
    const std::string path = scratch / "old.json";
    const json good = a_report();
    const auto refused = [&](const std::string& bytes, const std::string& why) {
        put_contents(path, bytes);
        // A run of this size would take minutes.
        expect_refused({"bench", "--keys", "1e8", "--compare", path}, path, why);
    };
    expect_refused({"bench", "--compare", scratch / "missing.json"}, scratch / "missing.json", "cannot be read");
    expect_refused({"bench", "--compare", scratch.folder().string()}, scratch.folder().string(), "cannot be read");
    refused("", "not JSON");
    refused("{\"format\":", "not JSON");
    refused("[1,2]", "not a JSON object");
    refused("{}", "'format' is missing");
    refused(R"({"filters":[],"floor":{},"machine":{}})", "version 1");
    refused(R"({"format":"genista lab"})", "'format' is not 'genista bench'");

    const auto changed = [&](const json::json_pointer& where, const json& value) {
        json document = good;
        document[where] = value;
        return document.dump();
    };
    using at = json::json_pointer;
    refused(changed(at{"/version"}, 3), "version 3; version 2 is allowed");
    refused(changed(at{"/version"}, "2"), "'version' is not a count");
    refused(changed(at{"/sizes"}, 7), "'sizes' is not a list");
    refused(changed(at{"/sizes/0"}, 7), "'filters' is missing");
    refused(changed(at{"/sizes/0/keys"}, -1), "'keys' is not a count");
    refused(changed(at{"/sizes/0/filters/1/name"}, nullptr), "'name' is not a string");
    refused(changed(at{"/sizes/0/filters/1/threads/0/negative_ns_median"}, "fast"),
            "'negative_ns_median' is not a number");
    refused(changed(at{"/sizes/0/filters/1/threads/0/negative_ns_median"}, 0), "'negative_ns_median' is not above 0");
    refused(changed(at{"/sizes/0/floor/threads"}, json::array()), "'floor' has no times");
    refused(changed(at{"/sizes/0/floor/threads/1/threads"}, 5), "'floor' has no times for 2 threads");
    refused(changed(at{"/machine/run"}, json::object()), "'error_rate' is missing");
}

}  // namespace
}  // namespace genista::test::bench_compare_cli_test
