// The experiment ppr-bloomier on its quick size: the promise is kept, the control is not.
#include <gtest/gtest.h>

#include "lab/experiment.hpp"

namespace genista::lab::ppr_bloomier_sweep_test {
namespace {

TEST(ppr_bloomier, is_kept_and_a_shorter_check_breaks_the_rate) {
    double progress = 0;
    run_options options{.filter = {}, .quick = true};
    options.progress = [&](double share) { progress = share; };
    const auto ran = find_experiment("ppr-bloomier")->run(options);
    ASSERT_TRUE(ran) << ran.error().message();
    EXPECT_TRUE(ran->kept) << ran->measured;
    EXPECT_EQ(progress, 1.0);
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
    const auto ran = find_experiment("ppr-bloomier")->run({.filter = "bloom", .quick = true});
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().message(), "filter bloom: ppr-bloomier measures bloomier");
}

}  // namespace
}  // namespace genista::lab::ppr_bloomier_sweep_test
