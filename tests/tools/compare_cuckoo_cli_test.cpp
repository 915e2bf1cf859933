// genista compare with the cuckoo family: the same memory as the others, an index beside both
// layouts, lessons counted, and nothing left behind. No test asserts a time.
#include <gtest/gtest.h>

#include <algorithm>

#include "compare_cli.hpp"

namespace genista::test::compare_cuckoo_cli_test {
namespace {

constexpr const char* family[] = {"cuckoo", "cuckooing", "cyclic1", "cyclic2", "cyclic3", "swapping"};
constexpr const char* all_of_family = "cuckoo,cuckooing,cyclic1,cyclic2,cyclic3,swapping";

TEST(compare_cuckoo_cli, every_filter_answers_right_in_both_layouts_with_one_thread_and_with_several) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", lines("in", 0, 2000));
    std::string queries = lines("in", 0, 2000);
    for (int i = 0; i < 3; ++i) queries += lines("out", 0, 3000);
    put_contents(scratch / "queries", queries);
    for (const char* layout : {"clustered", "indexed"}) {
        for (const char* threads : {"1", "3"}) {
            const tool_run run =
                run_tool({"compare", "--keys", scratch / "keys", "--queries", scratch / "queries", "--filters",
                          all_of_family, "--layout", layout, "--threads", threads, "--json", "-"});
            ASSERT_EQ(run.status, 0) << run.err;
            const json document = run.json();
            for (const char* name : family) {
                const json& row = row_of(phase_of(document, "replay"), name);
                EXPECT_EQ(row.at("queries"), 11000);
                EXPECT_EQ(row.at("absent"), 9000);
                EXPECT_EQ(row.at("false_negatives"), 0);
                EXPECT_EQ(row.at("guard_wasted_reads"), row.at("wasted_reads"));
            }
        }
    }
}

TEST(compare_cuckoo_cli, every_filter_gets_the_memory_of_the_others_and_no_more) {
    for (const char* bits : {"22", "30"}) {
        for (const char* layout : {"clustered", "indexed"}) {
            const tool_run run =
                run_tool({"compare", "--number-of-keys", "30000", "--number-of-queries", "100", "--value-bytes", "8",
                          "--filters", all_of_family, "--bits-per-key", bits, "--layout", layout, "--json", "-"});
            ASSERT_EQ(run.status, 0) << run.err;
            const json document = run.json();
            for (const char* name : family) {
                const double taken = row_of(document["phases"][0], name).at("bits_per_key");
                EXPECT_LE(taken, std::stod(bits)) << name << " " << layout;
                // One bit more a slot would not have fitted: 1/0.95 bits a key.
                EXPECT_GT(taken, std::stod(bits) - 1.06) << name << " " << layout;
            }
        }
    }
}

TEST(compare_cuckoo_cli, too_little_memory_is_refused_with_what_is_needed) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", lines("in", 0, 1000));
    for (const std::string name : {"cuckoo", "swapping"}) {
        expect_refused({"compare", "--keys", scratch / "keys", "--filters", name, "--bits-per-key", "3"},
                       "3.00 bits a key are too little for a " + name + " filter of 1000 keys", "which needs");
    }
}

// About ten bits a slot and the same queries four times: the filters that learn waste fewer reads
// than the one that does not, which repeats its wasted reads.
TEST(compare_cuckoo_cli, filters_that_learn_waste_less_and_report_the_cost) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", lines("in", 0, 20'000));
    std::string queries;
    for (int i = 0; i < 4; ++i) queries += lines("out", 0, 10'000);
    put_contents(scratch / "queries", queries);
    for (const char* layout : {"clustered", "indexed"}) {
        const tool_run run = run_tool({"compare", "--keys", scratch / "keys", "--queries", scratch / "queries",
                                       "--filters", all_of_family, "--value-bytes", "8", "--bits-per-key", "24",
                                       "--seed", "5", "--layout", layout, "--json", "-"});
        ASSERT_EQ(run.status, 0) << run.err;
        const json document = run.json();
        const json& phase = phase_of(document, "replay");
        const json& idle = row_of(phase, "cuckoo");
        ASSERT_GT(idle.at("wasted_reads"), 20);
        EXPECT_EQ(idle.at("wasted_reads").get<int>() % 4, 0);
        EXPECT_EQ(idle.at("repeated_wasted_reads").get<int>(), idle.at("wasted_reads").get<int>() / 4 * 3);
        EXPECT_EQ(idle.at("adapts"), 0);
        EXPECT_EQ(idle.at("remote_reads"), 0) << "a filter that does not learn reads nothing";
        for (const std::string name : {"cuckooing", "cyclic1", "cyclic2", "cyclic3", "swapping"}) {
            const json& row = row_of(phase, name);
            EXPECT_LT(row.at("repeated_wasted_reads").get<int>() * 2, row.at("wasted_reads").get<int>()) << name;
            EXPECT_GT(row.at("adapts"), 0) << name;
            EXPECT_LE(row.at("adapts"), row.at("wasted_reads")) << name;
            EXPECT_GE(row.at("remote_reads"), row.at("wasted_reads")) << name << " reads a slot at least";
        }
        EXPECT_GT(row_of(phase, "cuckooing").at("remote_reads"), row_of(phase, "cyclic1").at("remote_reads"));
    }
}

TEST(compare_cuckoo_cli, a_replay_attack_costs_only_the_filter_that_does_not_learn_every_time) {
    const tool_run run =
        run_tool({"compare", "--number-of-keys", "20000", "--number-of-queries", "600", "--pool", "200", "--attack",
                  "--value-bytes", "8", "--filters", "cuckoo,cuckooing,cyclic3,broom", "--json", "-"});
    ASSERT_EQ(run.status, 0) << run.err;
    const json document = run.json();
    const json& phase = phase_of(document, "replay attack");
    EXPECT_EQ(row_of(phase, "cuckoo").at("wasted_reads"), 600);
    for (const char* name : {"cuckooing", "cyclic3", "broom"}) {
        EXPECT_EQ(row_of(phase, name).at("pool"), 200) << name;
        EXPECT_LT(row_of(phase, name).at("wasted_reads"), 200) << name;
    }
}

TEST(compare_cuckoo_cli, a_seed_repeats_the_counts) {
    const auto counts = [](const char* seed) {
        return counts_of({"compare", "--number-of-keys", "8000", "--number-of-queries", "20000", "--value-bytes", "8",
                          "--filters", all_of_family, "--bits-per-key", "42", "--seed", seed, "--json", "-"},
                         {"wasted_reads", "remote_reads"});
    };
    const auto first = counts("3");
    EXPECT_EQ(first, counts("3"));
    EXPECT_NE(first, counts("4"));
}

TEST(compare_cuckoo_cli, a_store_that_was_given_is_only_read_and_no_slots_stay_behind) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", lines("in", 0, 1500));
    const std::string temporary = scratch / "tmp";
    std::filesystem::create_directory(temporary);
    const std::string compare = "TMPDIR='" + temporary + "' $GENISTA compare --store '" + (scratch / "store") + "' ";
    ASSERT_EQ(shell(compare + "--keys '" + (scratch / "keys") + "' --filters none --number-of-queries 10 > /dev/null"),
              0);
    const auto files = [&] {
        std::vector<std::pair<std::string, std::string>> found;
        for (const auto& each : std::filesystem::directory_iterator{scratch / "store"}) {
            const std::string name = each.path().filename().string();
            if (each.is_regular_file() && !name.starts_with("LOG") && name != "LOCK")
                found.emplace_back(name, contents(each.path().string()));
        }
        std::sort(found.begin(), found.end());
        return found;
    };
    const auto before = files();
    ASSERT_EQ(shell(compare + "--filters cuckooing,swapping --number-of-queries 500 > '" + (scratch / "out") + "'"), 0);
    EXPECT_EQ(files(), before);
    EXPECT_TRUE(is_empty(temporary));
}

TEST(compare_cuckoo_cli, the_tables_fit_a_page_and_report_what_was_learnt) {
    const tool_run run =
        run_tool({"compare", "--number-of-keys", "3000", "--number-of-queries", "20000", "--value-bytes", "8",
                  "--filters", "none,rocksdb_ribbon,cuckoo,cuckooing,cyclic1,cyclic2,cyclic3,swapping,broom"});
    ASSERT_EQ(run.status, 0) << run.err;
    expect_words(run.out,
                 {"cuckooing", "cyclic3", "swapping", "Repaired false positives, and the reads of R to learn: "});
    expect_page_width(run.out, 126);  // in bytes: µ and quotes take more
    const std::string help = run_tool({"compare", "--help"}).out;
    for (const char* name : family) EXPECT_NE(help.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace genista::test::compare_cuckoo_cli_test
