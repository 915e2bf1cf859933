// genista compare on small sets: every promised field, counts that can be worked out by hand, and
// whatever can be wrong with the options. Files and stores are in compare_files_cli_test.cpp. No
// test looks at how large a time is.
#include <gtest/gtest.h>

#include <cmath>

#include "compare_cli.hpp"

namespace genista::test::compare_cli_test {
namespace {

arguments small_compare(const arguments& more = {}) {
    return joined(
        {"compare", "--number-of-keys", "3000", "--number-of-queries", "1500", "--value-bytes", "50", "--json", "-"},
        more);
}

TEST(compare_cli, json_has_every_promised_field_for_every_filter) {
    const tool_run run = run_tool(small_compare());
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.err, "") << "no progress bar where stderr is no terminal";
    const json document = run.json();
    ASSERT_EQ(document.at("phases").size(), 3u);
    const char* names[] = {"zipf", "uniform", "half present"};
    for (std::size_t p = 0; p < 3; ++p) {
        const json& phase = document["phases"][p];
        EXPECT_EQ(phase.at("name"), names[p]);
        ASSERT_EQ(phase.at("rows").size(), 5u);
        const char* filters[] = {"none", "rocksdb_bloom", "rocksdb_ribbon", "bloom", "broom"};
        for (std::size_t r = 0; r < 5; ++r) {
            const json& row = phase["rows"][r];
            EXPECT_EQ(row.at("filter"), filters[r]);
            for (const char* count : {"queries", "absent", "wasted_reads", "repeated_wasted_reads", "false_negatives"})
                EXPECT_TRUE(row.at(count).is_number_unsigned()) << count;
            for (const char* number : {"bits_per_key", "queries_per_second", "p50_us", "p99_us", "p999_us"})
                EXPECT_TRUE(row.at(number).is_number()) << number;
            EXPECT_EQ(row["queries"], 1500);
            EXPECT_EQ(row["false_negatives"], 0);
            EXPECT_LE(row["p50_us"], row["p99_us"]);
            EXPECT_LE(row["p99_us"], row["p999_us"]);
            EXPECT_EQ(row.at("timeline").at("queries").back(), 1500);
            EXPECT_EQ(row["timeline"].at("wasted_reads").back(), row["wasted_reads"]);
        }
        EXPECT_EQ(row_of(phase, "none").at("wasted_reads"), row_of(phase, "none").at("absent"));
        EXPECT_EQ(row_of(phase, "broom").at("guard_wasted_reads"), row_of(phase, "broom").at("wasted_reads"));
    }
    EXPECT_EQ(row_of(phase_of(document, "uniform"), "none").at("absent"), 1500);
    EXPECT_EQ(document.at("run").at("keys"), 3000);
}

TEST(compare_cli, all_filters_get_the_same_memory) {
    for (const arguments& size : {arguments{"--error-rate", "1e-4"}, arguments{"--bits-per-key", "30"}}) {
        for (const char* layout : {"clustered", "indexed"}) {
            const tool_run run = run_tool(joined({"compare", "--number-of-keys", "30000", "--number-of-queries", "100",
                                                  "--value-bytes", "8", "--layout", layout, "--json", "-"},
                                                 size));
            ASSERT_EQ(run.status, 0) << run.err;
            const json document = run.json();
            const double wanted = document.at("run").at("bits_per_key");
            if (size[0] == "--bits-per-key") {
                EXPECT_EQ(wanted, 30);
            }
            const json& phase = document["phases"][0];
            EXPECT_EQ(row_of(phase, "none").at("bits_per_key"), 0);
            for (const char* filter : {"rocksdb_bloom", "rocksdb_ribbon", "bloom"})
                EXPECT_NEAR(row_of(phase, filter).at("bits_per_key").get<double>(), wanted, wanted * 0.03) << filter;
            // The broom filter has one size for each bit of its rate, so it may stay below what it
            // is given.
            const double broom = row_of(phase, "broom").at("bits_per_key");
            EXPECT_LE(broom, wanted * 1.02) << layout << " " << size[0];
            EXPECT_GE(broom, wanted - 3) << layout << " " << size[0];
        }
    }
}

TEST(compare_cli, a_file_of_queries_is_replayed_and_counted_exactly) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", lines("in", 0, 500));
    // 500 stored keys, 300 absent ones three times over, and one absent key ten times.
    std::string queries = lines("in", 0, 500);
    for (int i = 0; i < 3; ++i) queries += lines("out", 0, 300);
    for (int i = 0; i < 10; ++i) queries += "lonely\n";
    put_contents(scratch / "queries", queries);
    for (const char* layout : {"clustered", "indexed"}) {
        for (const char* threads : {"1", "3"}) {
            const json document =
                json_of({"compare", "--keys", scratch / "keys", "--queries", scratch / "queries", "--filters",
                         "none,bloom,broom,broom_static", "--layout", layout, "--threads", threads, "--json", "-"});
            ASSERT_EQ(document.at("phases").size(), 1u);
            const json& phase = phase_of(document, "replay");
            for (const json& row : phase.at("rows")) {
                EXPECT_EQ(row.at("queries"), 1410);
                EXPECT_EQ(row.at("absent"), 910);
                EXPECT_EQ(row.at("distinct_absent"), 301);
                EXPECT_EQ(row.at("false_negatives"), 0);
            }
            EXPECT_EQ(row_of(phase, "none").at("wasted_reads"), 910);
            EXPECT_EQ(row_of(phase, "none").at("repeated_wasted_reads"), 609);
        }
    }
}

TEST(compare_cli, broom_wastes_no_more_than_the_rate_allows_however_often_a_key_is_queried) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", lines("in", 0, 20'000));
    std::string queries;
    for (int i = 0; i < 4; ++i) queries += lines("out", 0, 30'000);
    put_contents(scratch / "queries", queries);
    const json document = json_of({"compare", "--keys", scratch / "keys", "--queries", scratch / "queries", "--filters",
                                   "broom,broom_static", "--value-bytes", "8", "--seed", "5", "--json", "-"});
    const json& broom = row_of(phase_of(document, "replay"), "broom");
    const json& idle = row_of(phase_of(document, "replay"), "broom_static");
    // D distinct absent keys: εD expected, and five standard deviations. A fixed seed: it happens
    // or it does not.
    const double expected = 30'000.0 / 256;
    EXPECT_LE(broom.at("wasted_reads").get<double>(), expected + 5 * std::sqrt(expected));
    EXPECT_GT(broom.at("wasted_reads"), 0);
    EXPECT_GT(broom.at("adapts"), 0);
    // The control must fail: what it wastes once, it wastes four times.
    EXPECT_EQ(idle.at("wasted_reads").get<int>() % 4, 0);
    EXPECT_EQ(idle.at("repeated_wasted_reads").get<int>(), idle.at("wasted_reads").get<int>() / 4 * 3);
    EXPECT_LT(broom.at("repeated_wasted_reads").get<int>(), idle.at("repeated_wasted_reads").get<int>() / 20);
}

TEST(compare_cli, a_replay_attack_costs_a_read_every_time_unless_a_filter_learns) {
    for (const char* layout : {"clustered", "indexed"}) {
        const json document = json_of({"compare", "--number-of-keys", "20000", "--number-of-queries", "600", "--pool",
                                       "200", "--attack", "--value-bytes", "8", "--filters",
                                       "none,bloom,broom,broom_static", "--layout", layout, "--json", "-"});
        const json& phase = phase_of(document, "replay attack");
        for (const json& row : phase.at("rows")) {
            EXPECT_EQ(row.at("pool"), 200);
            EXPECT_EQ(row.at("queries"), 600);
            EXPECT_EQ(row.at("absent"), 600);
            EXPECT_EQ(row.at("distinct_absent"), 200);
        }
        for (const char* filter : {"none", "bloom", "broom_static"}) {
            EXPECT_EQ(row_of(phase, filter).at("wasted_reads"), 600) << filter;
            EXPECT_EQ(row_of(phase, filter).at("repeated_wasted_reads"), 600) << filter;
        }
        EXPECT_LT(row_of(phase, "broom").at("wasted_reads"), 30);
    }
}

TEST(compare_cli, an_attack_finds_the_false_positives_of_rocksdbs_own_filters) {
    const json document = json_of({"compare", "--number-of-keys", "20000", "--number-of-queries", "600", "--pool",
                                   "200", "--attack", "--value-bytes", "8", "--bits-per-key", "6", "--filters",
                                   "rocksdb_bloom,rocksdb_ribbon", "--json", "-"});
    for (const json& row : phase_of(document, "replay attack").at("rows")) {
        EXPECT_EQ(row.at("pool"), 200);
        EXPECT_EQ(row.at("wasted_reads"), 600) << row.at("filter");
    }
    const double bloom = row_of(phase_of(document, "uniform"), "rocksdb_bloom").at("false_positive_rate");
    EXPECT_GT(bloom, 0.02);
    EXPECT_LT(bloom, 0.12);
}

TEST(compare_cli, a_seed_repeats_the_counts) {
    const auto counts = [](const char* seed) {
        return counts_of(small_compare({"--seed", seed, "--filters", "bloom,broom"}), {"absent", "wasted_reads"});
    };
    EXPECT_EQ(counts("3"), counts("3"));
    EXPECT_NE(counts("3"), counts("4"));
}

TEST(compare_cli, the_tables_fit_a_page_and_json_and_report_are_written_beside_them) {
    const scratch_folder scratch;
    const tool_run run =
        run_tool({"compare", "--number-of-keys", "3000", "--number-of-queries", "1000", "--value-bytes", "8", "--json",
                  scratch / "compare.json", "--report", scratch / "compare.html"});
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(json::parse(contents(scratch / "compare.json")).at("phases").size(), 3u);
    const std::string page = contents(scratch / "compare.html");
    EXPECT_NE(page.find("<html"), std::string::npos);
    EXPECT_NE(page.find("half present"), std::string::npos);
    expect_words(run.out, {"zipf", "uniform", "half present", "rocksdb_ribbon", "wasted", "denied", "compare.html"});
    expect_page_width(run.out, 126);  // in bytes: µ and quotes take more
}

TEST(compare_cli, help_names_every_option_and_has_an_example) {
    const tool_run run = run_tool({"compare", "--help"});
    EXPECT_EQ(run.status, 0);
    expect_words(run.out, {"--keys", "--queries", "--store", "--layout", "--filters", "--error-rate", "--bits-per-key",
                           "--cache-mb", "--value-bytes", "--attack", "--threads", "--json", "--report",
                           "Example:\n  genista compare"});
}

TEST(compare_cli, options_that_make_no_sense_are_refused) {
    const scratch_folder scratch;
    put_contents(scratch / "keys", "a\n");
    expect_refused({"compare", "--filters", "none,quotient"}, "'quotient'", "none, rocksdb_bloom");
    expect_refused({"compare", "--filters", "broom,broom"}, "'broom'", "once");
    expect_refused({"compare", "--layout", "heap"}, "'heap'", "clustered and indexed");
    expect_refused({"compare", "--bits-per-key", "0.5"}, "'0.5'", "from 1 to 100");
    expect_refused({"compare", "--bits-per-key", "ten"}, "'ten'", "from 1 to 100");
    expect_refused({"compare", "--bits-per-key", "10", "--error-rate", "1%"}, "--error-rate", "--bits-per-key");
    expect_refused({"compare", "--error-rate", "1e-9"}, "1e-09", "range");
    expect_refused({"compare", "--threads", "0"}, "'0'", "from 1 to 256");
    expect_refused({"compare", "--queries", scratch / "keys"}, "--queries", "--keys");
    expect_refused({"compare", "--keys", "-", "--queries", "-"}, "--queries", "standard input");
    expect_refused({"compare", "--keys", scratch / "keys", "--number-of-keys", "5"}, "--number-of-keys", "--keys");
    expect_refused({"compare", "--report", "-"}, "'-'", "HTML");
    expect_refused({"compare", "--report", scratch / "no/such.html"}, "such.html", "cannot be written");
    expect_refused({"compare", "--keys", scratch / "keys", "--bits-per-key", "12"}, "12.00", "which needs");
}

}  // namespace
}  // namespace genista::test::compare_cli_test
