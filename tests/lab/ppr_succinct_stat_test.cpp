// The experiments on succinct multisets and the filters made of them, on their quick sizes:
// promises are kept, controls are not.
#include <gtest/gtest.h>

#include <string_view>

#include "lab/experiment.hpp"

namespace genista::lab::ppr_succinct_stat_test {
namespace {

void expect_kept(std::string_view id, std::size_t least_rows) {
    double progress = 0;
    run_options options{.filter = {}, .quick = true};
    options.progress = [&](double share) { progress = share; };
    const auto ran = find_experiment(id)->run(options);
    ASSERT_TRUE(ran) << ran.error().message();
    EXPECT_TRUE(ran->kept) << ran->measured;
    EXPECT_EQ(progress, 1.0);
    EXPECT_EQ(ran->control["failed_as_it_must"], true) << ran->control.dump();
    EXPECT_GE(ran->series.size(), least_rows);
    for (const auto& row : ran->series) EXPECT_EQ(row["kept"], true) << row.dump();
}

TEST(ppr_counter, is_kept_on_its_quick_size) {
    expect_kept("ppr-counter", 8);
}
TEST(ppr_multiset, is_kept_on_its_quick_size) {
    expect_kept("ppr-multiset", 8);
}
TEST(ppr_filter, is_kept_on_its_quick_size) {
    expect_kept("ppr-filter", 4);
}
TEST(ppr_spectral, is_kept_on_its_quick_size) {
    expect_kept("ppr-spectral", 2);
}
TEST(ppr_lossy, is_kept_on_its_quick_size) {
    expect_kept("ppr-lossy", 10);
}

TEST(ppr_filter, takes_no_other_filter) {
    const auto ran = find_experiment("ppr-filter")->run({.filter = "bloom", .quick = true});
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().message(), "filter bloom: ppr-filter is about no filter and takes none");
}

}  // namespace
}  // namespace genista::lab::ppr_succinct_stat_test
