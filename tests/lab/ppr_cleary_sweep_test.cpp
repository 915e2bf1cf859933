// The experiment ppr-cleary on its quick size: the promise is kept, the controls are not.
#include <gtest/gtest.h>

#include "lab/experiment.hpp"

namespace genista::lab::ppr_cleary_sweep_test {
namespace {

TEST(ppr_cleary, is_kept_at_every_load_and_its_controls_fail) {
    run_options options{.filter = {}, .quick = true};
    const auto ran = find_experiment("ppr-cleary")->run(options);
    ASSERT_TRUE(ran) << ran.error().message();
    EXPECT_TRUE(ran->kept) << ran->measured;
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
    const auto ran = find_experiment("ppr-cleary")->run({.filter = "bloom", .quick = true});
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().message(), "filter bloom: ppr-cleary measures cleary");
}

}  // namespace
}  // namespace genista::lab::ppr_cleary_sweep_test
