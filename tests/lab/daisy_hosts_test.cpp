// measure_hosts() on synthetic names: no stored host is denied, rates are near the targets, and the
// model saves bytes.
#include "lab/experiments/daisy_hosts.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lab/workloads/scratch_folder.hpp"

namespace genista::lab::daisy_hosts_test {
namespace {

// A data folder with traces (data.hpp), and nothing else.
std::string folder_without_sets(const scratch_folder& scratch) {
    std::filesystem::create_directories(std::filesystem::path{scratch.path()} / "traces");
    std::ofstream{std::filesystem::path{scratch.path()} / "traces" / "t.keys.gz"} << "key\n";
    return scratch.path();
}

TEST(daisy_hosts, synthetic_names_where_there_are_no_lists) {
    const scratch_folder scratch;
    run_options options;
    options.quick = true;
    options.data_directory = folder_without_sets(scratch);
    const auto made = measure_hosts(options);
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_FALSE(made->is_real);
    EXPECT_EQ(made->stored, 10'000u);
    ASSERT_EQ(made->rows.size(), 9u);  // three targets, three filters
    ASSERT_EQ(made->targets.size(), 3u);
    EXPECT_EQ(made->false_negatives(), 0u);
    for (const hosts_row& row : made->rows) {
        EXPECT_LT(row.rate(), 1.5 * row.target) << row.filter << " " << row.target;
        // A daisy_broom has no rate above 2^-8.
        const double least = row.filter == "daisy_broom" ? 0 : 0.3;
        EXPECT_GT(row.rate(), least * row.target) << row.filter << " " << row.target;
        EXPECT_EQ(row.weights, 4096u);
        EXPECT_GE(row.model_bytes, 4096u);
        EXPECT_LE(row.model_bytes, 6'000u);
        for (const hosts_count& rival : row.at_its_rate) {
            EXPECT_EQ(rival.queries, row.queries);
            EXPECT_GT(rival.filter_bytes, 10'000u * 5 / 8) << rival.filter;
            EXPECT_LT(rival.rate(), 1.5 * row.rate() + 1e-4) << rival.filter << " beside " << row.filter;
        }
    }
    for (const hosts_target& target : made->targets) {
        for (const hosts_count& rival : target.rivals) EXPECT_LT(rival.rate(), 1.2 * target.rate) << rival.filter;
        EXPECT_GT(target.rivals[0].rate(), 0.5 * target.rate) << "bloom takes any rate";
    }
    ASSERT_EQ(made->choices.size(), 1u);
    EXPECT_TRUE(made->choices[0].is_judged);
    EXPECT_EQ(made->json()["rows"].size(), 9u);
    EXPECT_EQ(made->json()["models"].size(), 1u);
    EXPECT_EQ(made->target(0.3), nullptr);
    ASSERT_NE(made->smallest(0x1p-8), nullptr);
    EXPECT_EQ(made->smallest(0.3), nullptr);
}

TEST(daisy_hosts, a_list_that_is_not_whole_is_an_error) {
    const scratch_folder scratch;
    run_options options;
    options.quick = true;
    options.data_directory = folder_without_sets(scratch);
    std::filesystem::create_directories(std::filesystem::path{scratch.path()} / "sets");
    const auto path = std::filesystem::path{scratch.path()} / "sets" / "hosts-block-vs-popular.tsv.gz";
    std::ofstream{path} << "a.example\tblock\nb.example\tblock\n";
    EXPECT_FALSE(measure_hosts(options)) << "no key is asked for";
    std::ofstream{path} << "a.example block\n";
    EXPECT_FALSE(measure_hosts(options));
}

}  // namespace
}  // namespace genista::lab::daisy_hosts_test
