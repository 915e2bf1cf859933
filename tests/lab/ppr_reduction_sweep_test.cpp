// The experiment ppr-reduction on its quick size: the promise is kept, the control is not.
#include <gtest/gtest.h>

#include "lab/experiment.hpp"

namespace genista::lab::ppr_reduction_sweep_test {
namespace {

TEST(ppr_reduction, is_kept_with_smaller_ranges_for_4wise_families_and_its_control_fails) {
    double progress = 0;
    run_options options{.filter = {}, .quick = true};
    options.progress = [&](double share) { progress = share; };
    const auto ran = find_experiment("ppr-reduction")->run(options);
    ASSERT_TRUE(ran) << ran.error().message();
    EXPECT_TRUE(ran->kept) << ran->measured;
    EXPECT_EQ(progress, 1.0);
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
    const auto ran = find_experiment("ppr-reduction")->run({.filter = "bloom", .quick = true});
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().message(), "filter bloom: ppr-reduction is about no filter and takes none");
}

}  // namespace
}  // namespace genista::lab::ppr_reduction_sweep_test
