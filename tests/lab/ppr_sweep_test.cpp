// Experiments about [ppr] on their quick sizes: the promise is kept, the controls are not. Each
// runs for seconds.
#include <gtest/gtest.h>

#include <string_view>

#include "lab/experiment.hpp"

namespace genista::lab::ppr_sweep_test {
namespace {

result<outcome> run_quickly(std::string_view id) {
    double progress = 0;
    run_options options{.filter = {}, .quick = true};
    options.progress = [&](double share) { progress = share; };
    auto ran = find_experiment(id)->run(options);
    if (ran) {
        EXPECT_TRUE(ran->kept) << ran->measured;
        EXPECT_EQ(progress, 1.0);
    }
    return ran;
}

void expect_refusal(std::string_view id, std::string_view complaint) {
    const auto ran = find_experiment(id)->run({.filter = "bloom", .quick = true});
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().message(), complaint);
}

TEST(ppr_reduction, is_kept_with_smaller_ranges_for_4wise_families_and_its_control_fails) {
    const auto ran = run_quickly("ppr-reduction");
    ASSERT_TRUE(ran) << ran.error().message();
    EXPECT_EQ(ran->control["failed"], true);
    EXPECT_EQ(ran->control["exact"]["worst_rate"], 1.0);  // keys m apart collide under every shift
    EXPECT_EQ(ran->control["sampled"]["measured"], 1.0);
    int smaller_ranges = 0;
    for (const auto& row : ran->series) {
        EXPECT_EQ(row["kept"], true) << row.dump();
        if (!row.contains("range_if_universal")) continue;
        ++smaller_ranges;
        EXPECT_LT(row["range"], row["range_if_universal"]);
        if (row["universe"] == 11 && row["keys"] == 3) {
            // Three keys: inclusion and exclusion is an equation, 3/11 - 3/11² + 1/11³ of all 11^4
            // functions.
            EXPECT_EQ(row["worst"], "3641/14641");
        }
    }
    EXPECT_EQ(smaller_ranges, 5);
}

TEST(ppr_reduction, takes_no_filter) {
    expect_refusal("ppr-reduction", "filter bloom: ppr-reduction is about no filter and takes none");
}

TEST(ppr_cleary, is_kept_at_every_load_and_its_controls_fail) {
    const auto ran = run_quickly("ppr-cleary");
    ASSERT_TRUE(ran) << ran.error().message();
    EXPECT_EQ(ran->control["failed_as_they_must"], true);
    EXPECT_EQ(ran->series.size(), 15u);
    for (const auto& row : ran->series) {
        EXPECT_EQ(row["kept"], true) << row.dump();
        // Linear probing costs what Knuth computes. Tables of 10^4 cells are hardly longer than
        // their clusters, and cost less.
        const double of_knuth = row["insert_cells"].get<double>() / row["insert_cells_knuth"].get<double>();
        EXPECT_LE(of_knuth, 1.25) << row.dump();
        EXPECT_GE(of_knuth, row["keys"] == 10'000 ? 0.5 : 0.75) << row.dump();
    }
}

TEST(ppr_cleary, takes_no_other_filter) {
    expect_refusal("ppr-cleary", "filter bloom: ppr-cleary measures cleary");
}

TEST(ppr_bloomier, is_kept_and_a_shorter_check_breaks_the_rate) {
    const auto ran = run_quickly("ppr-bloomier");
    ASSERT_TRUE(ran) << ran.error().message();
    EXPECT_EQ(ran->control["failed_as_they_must"], true);
    EXPECT_EQ(ran->control["runs"].size(), 3u);
    std::uint64_t filters = 0;
    for (const auto& row : ran->series) {
        if (row["what"] != "filter") continue;
        ++filters;
        EXPECT_EQ(row["wrong_values"], 0) << row.dump();
        EXPECT_EQ(row["wrong_values_after_updates"], 0) << row.dump();
        EXPECT_LE(row["perfect_hash_bits_per_key"], 3) << row.dump();
    }
    EXPECT_EQ(filters, 3u * 3u * 4u);
    EXPECT_EQ(ran->figures.size(), 1u);
}

TEST(ppr_bloomier, takes_no_other_filter) {
    expect_refusal("ppr-bloomier", "filter bloom: ppr-bloomier measures bloomier");
}

}  // namespace
}  // namespace genista::lab::ppr_sweep_test
