// genista bench with several sizes, several numbers of threads, mixes of look-ups and updates, and
// churned filters. Small sets, and no test asserts a time: only which filters have one.
#include <gtest/gtest.h>

#include "run_tool.hpp"

namespace genista::test::bench_lists_cli_test {
namespace {

using nlohmann::json;

std::vector<std::string> bench_line(std::vector<std::string> more) {
    std::vector<std::string> line{"bench", "--rounds", "2", "--lookups", "3000", "--rate-queries", "1000"};
    line.insert(line.end(), more.begin(), more.end());
    return line;
}

json bench_json(std::vector<std::string> more) {
    more.insert(more.end(), {"--json", "-"});
    const tool_run run = run_tool(bench_line(std::move(more)));
    EXPECT_EQ(run.status, 0) << run.err;
    return run.status == 0 ? run.json() : json{};
}

// The figures of one filter by name; of the only size by default.
json filter_of(const json& document, const std::string& name, std::size_t size = 0) {
    for (const json& filter : document.at("sizes").at(size).at("filters")) {
        if (filter.at("name") == name) return filter;
    }
    ADD_FAILURE() << name << " is missing";
    return {};
}

TEST(bench_lists_cli, each_size_is_reported_by_itself) {
    const json document = bench_json({"--filters", "bloom,broom", "--sizes", "1e3,2^12"});
    ASSERT_EQ(document.at("sizes").size(), 2u);
    const std::uint64_t keys[] = {1000, 4096};
    for (std::size_t s = 0; s < 2; ++s) {
        const json& size = document["sizes"][s];
        EXPECT_EQ(size.at("keys"), keys[s]);
        ASSERT_EQ(size.at("filters").size(), 2u);
        std::uint64_t smallest = UINT64_MAX;
        for (const json& filter : size["filters"]) {
            EXPECT_EQ(filter.at("keys"), keys[s]);
            EXPECT_TRUE(filter.at("negative_ns").is_number_float());
            smallest = std::min(smallest, filter.at("size_bytes").get<std::uint64_t>());
        }
        EXPECT_EQ(size.at("floor").at("size_bytes"), smallest) << "a floor of its own";
    }
}

TEST(bench_lists_cli, rates_of_a_size_do_not_depend_on_the_others) {
    const json both = bench_json({"--filters", "bloom", "--sizes", "5000,6000", "--error-rate", "10%"});
    const json alone = bench_json({"--filters", "bloom", "--keys", "6000", "--error-rate", "10%"});
    EXPECT_EQ(filter_of(both, "bloom", 1).at("false_positives"), filter_of(alone, "bloom").at("false_positives"));
}

TEST(bench_lists_cli, each_number_of_threads_has_figures_and_a_speedup_over_the_first) {
    const json document = bench_json({"--filters", "blocked_bloom,broom", "--keys", "2000", "--threads", "1,3,2"});
    EXPECT_EQ(document.at("machine").at("run").at("threads"), json({1, 3, 2}));
    EXPECT_EQ(document.at("sizes").at(0).at("lookups_per_round"), json({3000, 9000, 6000}));
    for (const char* name : {"blocked_bloom", "broom"}) {
        const json filter = filter_of(document, name);
        const json& teams = filter.at("threads");
        ASSERT_EQ(teams.size(), 3u);
        for (std::size_t t = 0; t < 3; ++t) {
            const json& team = teams[t];
            EXPECT_EQ(team.at("threads"), document["machine"]["run"]["threads"][t]);
            for (const std::string lookup : {"negative", "positive", "negative_batch", "positive_batch"}) {
                ASSERT_TRUE(team.at(lookup + "_ns_median").is_number_float()) << name << " " << lookup;
                EXPECT_LE(team.at(lookup + "_ns").get<double>(), team.at(lookup + "_ns_median").get<double>());
                ASSERT_EQ(team.contains(lookup + "_speedup"), t > 0);
                if (t == 0) {
                    EXPECT_EQ(team.at(lookup + "_ns"), filter.at(lookup + "_ns")) << "the first one's, as before";
                    continue;
                }
                const double first = teams[0].at(lookup + "_ns_median"), here = team.at(lookup + "_ns_median");
                EXPECT_NEAR(team.at(lookup + "_speedup").get<double>(), team["threads"].get<double>() * first / here,
                            1e-9);
            }
        }
    }
    const json& floors = document["sizes"][0].at("floor").at("threads");
    ASSERT_EQ(floors.size(), 3u);
    for (const json& floor : floors) {
        EXPECT_TRUE(floor.at("floor_ns_median").is_number_float());
        EXPECT_TRUE(floor.at("floor_batch_ns_median").is_number_float());
    }
}

TEST(bench_lists_cli, a_mix_is_timed_where_a_filter_can_erase_and_take_so_many_writers) {
    const json document = bench_json({"--keys", "3000", "--threads", "1,2", "--mix", "90/10"});
    EXPECT_EQ(document.at("machine").at("run").at("mix"), "90/10");
    const std::tuple<const char*, bool, bool> expected[] = {
        {"bloom", false, false},         {"blocked_bloom", false, false}, {"bloomier", false, false},
        {"cuckoo_partial", true, false}, {"cuckooing", true, true},       {"broom", true, true},
        {"broom_paper", true, false}};
    for (const auto& [name, alone, together] : expected) {
        const json filter = filter_of(document, name);
        EXPECT_EQ(filter.at("mix_ns").is_number_float(), alone) << name;
        EXPECT_EQ(filter.at("threads").at(0).at("mix_ns").is_number_float(), alone) << name;
        EXPECT_EQ(filter.at("threads").at(1).at("mix_ns").is_number_float(), together) << name;
        EXPECT_EQ(filter.at("threads").at(1).at("mix_speedup").is_number_float(), together) << name;
    }
}

// At its end every run queries all stored keys: status 0 means that none was lost.
TEST(bench_lists_cli, mixes_of_all_shares_and_on_the_smallest_sets_lose_no_key) {
    for (const char* shares : {"99/1", "50/50", "0/100", "67/33"}) {
        bench_json({"--filters", "cuckoo_partial,cuckoo,cuckooing,cyclic2,swapping,broom,broom_paper", "--keys", "700",
                    "--threads", "1,3", "--mix", shares});
    }
    const json tiny = bench_json({"--filters", "broom,cuckooing,swapping,broom_paper", "--sizes", "1,3,4,7,8,20",
                                  "--threads", "1,2", "--mix", "50/50"});
    EXPECT_TRUE(filter_of(tiny, "broom", 1).at("mix_ns").is_null()) << "3 keys are too few";
    EXPECT_TRUE(filter_of(tiny, "broom", 2).at("mix_ns").is_number()) << "4 are enough";
    EXPECT_TRUE(filter_of(tiny, "broom", 3).at("threads").at(1).at("mix_ns").is_null()) << "for one thread";
    EXPECT_TRUE(filter_of(tiny, "broom", 4).at("threads").at(1).at("mix_ns").is_number());
}

TEST(bench_lists_cli, churned_filters_stand_beside_those_that_erase) {
    const json document = bench_json({"--keys", "3000", "--churn", "1.5", "--threads", "1,2"});
    EXPECT_EQ(document.at("machine").at("run").at("churn"), 1.5);
    ASSERT_EQ(document.at("sizes").at(0).at("filters").size(), 16u + 12u);
    for (const char* name : {"cuckoo_partial+churn", "cuckooing+churn", "broom+churn"}) {
        const json churned = filter_of(document, name);
        for (const char* updates : {"insert_ns", "erase_ns", "adapt_ns", "mix_ns"})
            EXPECT_TRUE(churned.at(updates).is_null());
        for (const json& team : churned.at("threads")) {
            for (const char* lookup : {"negative_ns", "positive_ns", "negative_batch_ns", "positive_batch_ns"}) {
                EXPECT_TRUE(team.at(lookup).is_number_float()) << name << " " << lookup;
            }
        }
        EXPECT_TRUE(churned.at("fpr").is_number_float());
    }
    EXPECT_TRUE(filter_of(document, "cuckoo_partial+churn").at("range_reads_per_update").is_null());
    EXPECT_TRUE(filter_of(document, "broom").at("range_reads_per_update").is_null());
    const double reads = filter_of(document, "broom+churn").at("range_reads_per_update");
    EXPECT_GT(reads, 0.0);
    EXPECT_LE(reads, 4.0) << "an erase reads one range, an insert seldom one";
    EXPECT_TRUE(filter_of(document, "broom+churn").at("slot_reads_per_update").is_null()) << "it has no slots";
    for (const char* name : {"cuckoo+churn", "cuckooing+churn", "cyclic3+churn", "swapping+churn"}) {
        const double slots = filter_of(document, name).at("slot_reads_per_update");
        EXPECT_GE(slots, 0.5) << "an erase reads its slot";
        EXPECT_LE(slots, 40.0) << "and an insert at 95 % load about a dozen";
    }
}

TEST(bench_lists_cli, the_tables_have_all_figures_and_fit_a_page) {
    const tool_run run =
        run_tool(bench_line({"--sizes", "1000,2000", "--threads", "1,2", "--mix", "80/20", "--churn", "1"}));
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.err, "");
    expect_words(run.out, {"1'000 keys", "2'000 keys", "1 and 2 threads", "mix 80/20", "broom+churn", "over floor",
                           "over cuckoo_partial", "over blocked_bloom", "range reads of R an update",
                           "slot reads of R an update", "x  "});
    expect_page_width(run.out);
}

TEST(bench_lists_cli, senseless_lists_mixes_and_churns_are_refused) {
    expect_refused({"bench", "--keys", "10", "--sizes", "10,20"}, "--sizes", "--keys");
    expect_refused({"bench", "--sizes", "10,x"}, "'x'", "from 1 to 1099511627776");
    expect_refused({"bench", "--sizes", "10,,20"}, "''", "from 1 to 1099511627776");
    expect_refused({"bench", "--sizes", "10,20,"}, "''", "from 1 to 1099511627776");
    expect_refused({"bench", "--sizes", ""}, "--sizes", "genista bench --help");
    expect_refused({"bench", "--sizes", "1e3,2,1000"}, "1000 twice", "once");
    expect_refused({"bench", "--sizes", "100,1e12", "--filters", "bloom"}, "1000000000000", "bytes");
    expect_refused({"bench", "--threads", "1,0"}, "'0'", "from 1 to 256");
    expect_refused({"bench", "--threads", "1;2"}, "'1;2'", "from 1 to 256");
    expect_refused({"bench", "--threads", "2,1,2"}, "2 twice", "once");
    for (const char* mix : {"90", "90/20", "100/0", "90/10/0", "-90/190", "a/b", "/100", "9e1/"}) {
        expect_refused({"bench", "--mix", mix}, std::string{"'"}.append(mix).append("'"), "from 99/1 to 0/100");
    }
    for (const char* churn : {"-1", "1001", "nan", "inf", "1x", "x"}) {
        expect_refused({"bench", "--churn", churn}, std::string{"'"}.append(churn).append("'"), "from 0 to 1000");
    }
}

}  // namespace
}  // namespace genista::test::bench_lists_cli_test
