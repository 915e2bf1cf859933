// The experiment broom-words, quick, keeps its promise and its controls fail.
#include <gtest/gtest.h>

#include <vector>

#include "lab/experiment.hpp"

namespace genista::lab::broom_words_test {
namespace {

TEST(broom_words, the_quick_experiment_keeps_the_promise_and_its_controls_fail) {
    run_options options;
    options.quick = true;
    std::vector<double> progress;
    options.progress = [&](double share) { progress.push_back(share); };
    const experiment* const words = find_experiment("broom-words");
    ASSERT_NE(words, nullptr);
    const auto ran = words->run(options);
    ASSERT_TRUE(ran);
    EXPECT_TRUE(ran->kept) << ran->measured << "\n" << ran->control.dump(2);
    EXPECT_EQ(ran->control["failed_as_they_must"], true);
    EXPECT_GT(ran->control["extract_forgets_the_last_bit"]["mismatches"].get<std::uint64_t>(), 0u);
    ASSERT_FALSE(ran->series.empty());
    for (const auto& row : ran->series) {
        EXPECT_TRUE(row.is_object());
        EXPECT_EQ(row["prefix_match"], ran->series[0]["prefix_match"]);
    }
    ASSERT_FALSE(progress.empty());
    EXPECT_EQ(progress.back(), 1.0);
}

}  // namespace
}  // namespace genista::lab::broom_words_test
