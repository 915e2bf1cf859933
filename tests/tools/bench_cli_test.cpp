// genista bench on small sets: every promised field with its type, figures that fit together, and
// rates that repeat. No test asserts a time. Lists of sizes and threads, mixes and
// churn are in bench_lists_cli_test.cpp, --compare in bench_compare_cli_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "run_tool.hpp"

namespace genista::test::bench_cli_test {
namespace {

constexpr const char* time_names[] = {"insert_ns",         "negative_ns", "positive_ns", "negative_batch_ns",
                                      "positive_batch_ns", "erase_ns",    "adapt_ns",    "mix_ns"};

std::vector<std::string> small_bench(std::vector<std::string> more = {}) {
    std::vector<std::string> line{"bench", "--keys", "20'000", "--rounds", "2", "--lookups", "5000", "--json", "-"};
    line.insert(line.end(), more.begin(), more.end());
    return line;
}

nlohmann::json only_size(const tool_run& run) {
    const nlohmann::json sizes = run.json().at("sizes");
    EXPECT_EQ(sizes.size(), 1u);
    return sizes.at(0);
}

// P(X ≤ hits) for X ~ Binomial(trials, rate), summed term by term: another method than
// the tool's.
double binomial_cdf(std::uint64_t hits, std::uint64_t trials, double rate) {
    const auto n = static_cast<double>(trials);
    double sum = 0;
    for (std::uint64_t i = 0; i <= hits; ++i) {
        const auto k = static_cast<double>(i);
        sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(rate) +
                        (n - k) * std::log1p(-rate));
    }
    return sum;
}

TEST(bench_cli, json_has_every_promised_field) {
    const tool_run run = run_tool(small_bench());
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.err, "") << "no progress bar where stderr is no terminal";
    const nlohmann::json whole = run.json();
    ASSERT_EQ(whole.size(), 4u);
    EXPECT_EQ(whole.at("format"), "genista bench");
    EXPECT_EQ(whole.at("version"), 2);
    ASSERT_EQ(whole.at("sizes").size(), 1u);
    const nlohmann::json& document = whole["sizes"][0];
    EXPECT_EQ(document.at("keys"), 20000);
    EXPECT_EQ(document.at("build_rounds"), 2);
    const char* names[] = {"bloom",   "blocked_bloom",  "cuckoo_partial", "cleary",   "cuckoo", "cuckooing",
                           "cyclic1", "cyclic2",        "cyclic3",        "swapping", "broom",  "broom_paper",
                           "cascade", "optimal_filter", "spectral",       "bloomier"};
    ASSERT_EQ(document.at("filters").size(), std::size(names));
    for (std::size_t f = 0; f < std::size(names); ++f) EXPECT_EQ(document["filters"][f].at("name"), names[f]);
    for (const nlohmann::json& filter : document["filters"]) {
        const std::string which = filter["name"];
        const bool local = which == "bloom" || which == "blocked_bloom" || which == "cuckoo_partial" ||
                           which == "bloomier" || which == "cleary" || which == "optimal_filter" || which == "spectral";
        const bool adapts = !local && which != "cuckoo";
        const bool erases = !local || which == "cuckoo_partial" || which == "optimal_filter" || which == "spectral";
        EXPECT_EQ(filter.at("keys"), 20000);
        EXPECT_EQ(filter.at("error_rate"), 1.0 / 256);
        for (const char* number : {"fpr", "bits_per_key", "bits_over_optimal"}) {
            EXPECT_TRUE(filter.at(number).is_number_float()) << number;
        }
        ASSERT_EQ(filter.at("fpr_interval").size(), 2u);
        for (const std::string name : time_names) {
            const bool lacks = (name == "adapt_ns" && !adapts) || (name == "erase_ns" && !erases) || name == "mix_ns";
            for (const std::string& field : {name, name + "_median"}) {
                EXPECT_EQ(filter.at(field).is_null(), lacks) << filter["name"] << " " << field;
                EXPECT_EQ(filter.at(field).is_number_float(), !lacks) << filter["name"] << " " << field;
            }
            if (!lacks) {
                EXPECT_GT(filter[name].get<double>(), 0.0);
                EXPECT_LE(filter[name].get<double>(), filter[name + "_median"].get<double>());
            }
        }
    }
    for (const char* name : {"floor_ns", "floor_ns_median", "floor_batch_ns", "floor_batch_ns_median"}) {
        EXPECT_TRUE(document.at("floor").at(name).is_number_float()) << name;
    }
    for (const char* name : {"cpu", "isa", "compiler", "huge_pages", "hash"}) {
        EXPECT_TRUE(whole.at("machine").at(name).is_string()) << name;
    }
    EXPECT_GE(whole["machine"].at("cores"), 1);
    EXPECT_TRUE(whole["machine"].at("caches").is_array());
}

TEST(bench_cli, figures_of_a_filter_fit_together) {
    const tool_run run = run_tool(small_bench({"--error-rate", "1%"}));
    ASSERT_EQ(run.status, 0) << run.err;
    const nlohmann::json document = only_size(run);
    std::uint64_t smallest = UINT64_MAX;
    for (const nlohmann::json& filter : document.at("filters")) {
        const double fpr = filter.at("fpr"), bits = filter.at("bits_per_key"), over = filter.at("bits_over_optimal");
        const std::uint64_t hits = filter.at("false_positives"), trials = filter.at("rate_queries");
        const auto size = filter.at("size_bytes").get<std::uint64_t>();
        EXPECT_EQ(filter.at("error_rate"), 0.01);
        EXPECT_EQ(trials, 1'000'000u) << "10^4 / ε";
        EXPECT_DOUBLE_EQ(fpr, static_cast<double>(hits) / static_cast<double>(trials));
        EXPECT_DOUBLE_EQ(bits, static_cast<double>(size) * 8 / 20000);
        EXPECT_NEAR(over, bits - std::log2(1 / fpr), 1e-9);
        // A rate 20 % over ε would be 20 standard deviations off: chance of a false alarm below
        // 1e-80.
        EXPECT_LT(fpr, 0.012) << filter["name"];
        smallest = std::min(smallest, size);
    }
    EXPECT_EQ(document.at("floor").at("size_bytes"), smallest);
}

TEST(bench_cli, fpr_interval_is_the_exact_one) {
    const tool_run run =
        run_tool(small_bench({"--filters", "bloom", "--rate-queries", "3000", "--error-rate", "1/16"}));
    ASSERT_EQ(run.status, 0) << run.err;
    const nlohmann::json filter = only_size(run).at("filters").at(0);
    const std::uint64_t hits = filter.at("false_positives");
    ASSERT_GT(hits, 0u);
    const double low = filter.at("fpr_interval").at(0), high = filter.at("fpr_interval").at(1);
    EXPECT_NEAR(1 - binomial_cdf(hits - 1, 3000, low), 0.0005, 1e-8);
    EXPECT_NEAR(binomial_cdf(hits, 3000, high), 0.0005, 1e-8);
}

TEST(bench_cli, without_a_false_positive_the_rate_is_zero_and_the_optimum_unknown) {
    const tool_run run = run_tool(small_bench({"--filters", "bloom", "--rate-queries", "10", "--error-rate", "2^-20"}));
    ASSERT_EQ(run.status, 0) << run.err;
    const nlohmann::json filter = only_size(run).at("filters").at(0);
    EXPECT_EQ(filter.at("fpr"), 0);
    EXPECT_TRUE(filter.at("bits_over_optimal").is_null());
    EXPECT_EQ(filter.at("fpr_interval").at(0), 0);
    EXPECT_NEAR(filter.at("fpr_interval").at(1), 1 - std::pow(0.0005, 0.1), 1e-9);
}

TEST(bench_cli, a_seed_repeats_the_rates_and_another_seed_changes_them) {
    const auto positives = [](const char* seed, const char* hash) {
        const tool_run run = run_tool(small_bench(
            {"--filters", "bloom,cuckoo_partial", "--seed", seed, "--hash", hash, "--rate-queries", "1e5"}));
        EXPECT_EQ(run.status, 0) << run.err;
        const nlohmann::json document = run.json();
        EXPECT_EQ(document.at("machine").at("hash"), hash);
        const nlohmann::json filters = only_size(run).at("filters");
        return std::pair{filters.at(0).at("false_positives").get<int>(),
                         filters.at(1).at("false_positives").get<int>()};
    };
    const auto first = positives("7", "keyed");
    EXPECT_EQ(first, positives("7", "keyed"));
    EXPECT_NE(first, positives("8", "keyed"));
    EXPECT_NE(first, positives("7", "trusted"));
}

TEST(bench_cli, sizes_from_one_key_up_and_several_threads_work) {
    for (const char* keys : {"1", "2", "3", "65", "1_000", "2^12"}) {
        const tool_run run = run_tool({"bench", "--keys", keys, "--rounds", "2", "--lookups", "300", "--threads", "3",
                                       "--rate-queries", "1000", "--json", "-"});
        ASSERT_EQ(run.status, 0) << keys << ": " << run.err;
        EXPECT_EQ(run.json().at("machine").at("run").at("threads"), nlohmann::json({3}));
        EXPECT_EQ(only_size(run).at("lookups_per_round"), nlohmann::json({900}));
    }
}

TEST(bench_cli, counts_may_be_written_in_several_ways) {
    for (const char* keys : {"2000", "2'000", "2_000", "2e3", "2E+3", "2.0e3", "0.2e4"}) {
        const tool_run run = run_tool({"bench", "--filters", "blocked_bloom", "--keys", keys, "--rounds", "1",
                                       "--lookups", "64", "--rate-queries", "64", "--json", "-"});
        ASSERT_EQ(run.status, 0) << keys << ": " << run.err;
        EXPECT_EQ(only_size(run).at("filters").at(0).at("keys"), 2000) << keys;
    }
}

TEST(bench_cli, rates_may_be_written_in_several_ways) {
    for (const char* rate : {"0.0625", "6.25%", "1/16", "2^-4", "6.25e-2"}) {
        const tool_run run = run_tool({"bench", "--filters", "blocked_bloom", "--keys", "64", "--error-rate", rate,
                                       "--rounds", "1", "--lookups", "64", "--rate-queries", "64", "--json", "-"});
        ASSERT_EQ(run.status, 0) << rate << ": " << run.err;
        EXPECT_DOUBLE_EQ(only_size(run).at("filters").at(0).at("error_rate").get<double>(), 0.0625) << rate;
    }
}

TEST(bench_cli, cleary_at_other_loads_is_measured_when_named) {
    const nlohmann::json document =
        only_size(run_tool(small_bench({"--filters", "cleary50,cleary80,cleary,cleary97"})));
    const std::pair<const char*, double> expected[] = {
        {"cleary50", 0.5}, {"cleary80", 0.8}, {"cleary", 0.95}, {"cleary97", 0.97}};
    ASSERT_EQ(document.at("filters").size(), std::size(expected));
    for (std::size_t f = 0; f < std::size(expected); ++f) {
        const nlohmann::json& filter = document["filters"][f];
        EXPECT_EQ(filter.at("name"), expected[f].first);
        const double remainder = expected[f].second == 0.5 ? 7 : 8;
        const double bits = filter.at("bits_per_key"), cells = (remainder + 2 + 2.0 / 15) / expected[f].second;
        EXPECT_GE(bits, cells) << expected[f].first;
        EXPECT_LE(bits, cells + 0.4) << expected[f].first << ": few keys for the fixed costs";
    }
}

TEST(bench_cli, daisy_filters_are_measured_when_named_with_the_time_of_an_oracle) {
    const tool_run run =
        run_tool(small_bench({"--filters", "bloom,daisy_bloom,daisy_bloom_blocked,daisy_fingerprint"}));
    ASSERT_EQ(run.status, 0) << run.err;
    const nlohmann::json filters = only_size(run).at("filters");
    ASSERT_EQ(filters.size(), 4u);
    for (const nlohmann::json& filter : filters) {
        const bool daisy = filter.at("name") != "bloom";
        EXPECT_EQ(filter.at("oracle_ns").is_number_float(), daisy) << filter["name"];
        EXPECT_TRUE(filter.at("erase_ns").is_null()) << filter["name"];
        EXPECT_TRUE(filter.at("positive_batch_ns").is_number_float()) << filter["name"];
        // Tuned to ε = 1/256 over the queries of its groups. 20 % over it would be 20 standard
        // deviations of 2.56 million.
        EXPECT_LT(filter.at("fpr").get<double>(), 1.2 / 256) << filter["name"];
        if (daisy) {
            EXPECT_LT(filter.at("size_bytes"), filters[0].at("size_bytes")) << "keys likely to be stored take few bits";
        }
    }
}

TEST(bench_cli, filters_that_learn_and_do_not_erase_are_measured_when_named) {
    const tool_run run =
        run_tool(small_bench({"--filters", "adaptive_bloom,whitelist", "--mix", "90/10", "--churn", "1"}));
    ASSERT_EQ(run.status, 0) << run.err;
    const nlohmann::json filters = only_size(run).at("filters");
    ASSERT_EQ(filters.size(), 2u) << "no churned filters: a filter without erase cannot be churned";
    EXPECT_EQ(filters[0].at("name"), "adaptive_bloom");
    EXPECT_EQ(filters[1].at("name"), "whitelist");
    for (const nlohmann::json& filter : filters) {
        for (const char* name : {"insert_ns", "negative_ns", "positive_batch_ns", "adapt_ns"}) {
            EXPECT_TRUE(filter.at(name).is_number_float()) << filter["name"] << " " << name;
        }
        for (const char* name : {"erase_ns", "mix_ns"}) EXPECT_TRUE(filter.at(name).is_null()) << filter["name"];
        EXPECT_LT(filter.at("fpr").get<double>(), 1.2 / 256) << filter["name"];
    }
}

TEST(bench_cli, the_table_fits_a_page_and_a_json_file_is_written_beside_it) {
    const scratch_folder scratch;
    const std::string path = scratch / "bench.json";
    const tool_run run = run_tool({"bench", "--keys", "2e4", "--rounds", "1", "--lookups", "5000", "--json", path});
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(nlohmann::json::parse(contents(path)).at("sizes").at(0).at("filters").size(), 16u);
    expect_words(run.out,
                 {"keyed hash", "1 thread,", "1 round", "bits_over_optimal", "negative_batch", "cuckoo_partial",
                  "floor", "blocked_bloom", "over floor", "over cuckoo_partial", "over blocked_bloom"});
    expect_page_width(run.out);
}

}  // namespace
}  // namespace genista::test::bench_cli_test
