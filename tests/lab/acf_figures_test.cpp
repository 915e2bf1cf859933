// The figures of [acf §4]: replays count what they should, and the judgement can fail. The figures
// themselves are `genista lab run acf-figures`.
#include "lab/experiments/acf_figures.hpp"

#include <gtest/gtest.h>

#include <string>

#include "genista/filters/cuckooing.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/trace.hpp"
#include "papers/cuckoo_family.hpp"

namespace genista::lab::acf_figures_test {
namespace {

// Keys 0..999 once each, then 500..999 three times more.
trace made_up() {
    trace made;
    made.name = "net-made-up";
    made.is_network = true;
    for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(add_access(made, std::to_string(i)));
    for (int i = 0; i < 1'500; ++i) EXPECT_TRUE(add_access(made, std::to_string(500 + i % 500)));
    return made;
}

TEST(trace_replays, ask_for_every_access_that_is_not_stored) {
    const trace of = made_up();
    replay_world world{of, 500, hasher{hash_key::from_seed(1)}};
    const replayed plain = replay_cuckoo<cuckoo_filter>(world, 4, 1);
    EXPECT_EQ(plain.queries, 2'000u);
    EXPECT_EQ(plain.false_positives % 4, 0u);  // a false positive stays one
    EXPECT_GT(plain.false_positives, 0u);
    const replayed learnt = replay_cuckoo<cuckooing_filter>(world, 4, 1);
    EXPECT_EQ(learnt.queries, 2'000u);
    EXPECT_LT(learnt.false_positives, plain.false_positives);
    EXPECT_GE(learnt.remote_reads, learnt.false_positives);
    EXPECT_GT(learnt.bits_per_key, 4.0);
}

replayed with(std::uint64_t false_positives) {
    replayed made;
    made.queries = 1'000;
    made.false_positives = false_positives;
    return made;
}

// Two trials each, so that there is a standard error.
figure_data table_of(std::uint64_t ours, std::uint64_t theirs, std::uint64_t plain) {
    figure_data data;
    for (const unsigned slight : {0u, 2u}) {
        data.add({"net-a", 8, "cuckooing", 1}, with(ours + slight));
        data.add({"net-a", 8, "cyclic1", 1}, with(theirs + slight));
        data.add({"net-a", 8, "cuckoo", 1}, with(plain + slight));
    }
    return data;
}

TEST(figures, are_judged_within_two_standard_errors) {
    EXPECT_TRUE(judge_figures(table_of(50, 100, 200), {"net-a"}).kept);
    EXPECT_TRUE(judge_figures(table_of(101, 100, 200), {"net-a"}).kept);  // by chance
    EXPECT_FALSE(judge_figures(table_of(150, 100, 200), {"net-a"}).kept);
    EXPECT_FALSE(judge_figures(table_of(50, 100, 200), {"net-b"}).kept);  // nothing was compared
    EXPECT_TRUE(judge_figures(table_of(50, 100, 200), {"net-a"}).control_failed);
    EXPECT_FALSE(judge_figures(table_of(50, 100, 40), {"net-a"}).control_failed);
}

TEST(figures, draw_a_chart_for_each_trace_and_size_and_one_for_all) {
    const auto drawn = draw_figures(table_of(50, 100, 200));
    ASSERT_EQ(drawn.size(), 2u);
    EXPECT_EQ(drawn[0].heading, "net-a");
    EXPECT_EQ(drawn[0].figures.size(), 1u);
    const auto& normal = std::get<report::line_chart>(drawn[1].figures.front());
    ASSERT_FALSE(normal.lines.empty());
    EXPECT_NEAR(normal.lines.front().y.front(), 101.0 / 51.0, 1e-9);
}

TEST(figures, need_a_trace_with_enough_keys) {
    run_options options;
    options.quick = true;
    options.trace_path = GENISTA_SOURCE_DIR "/README.md";
    const auto refused = find_experiment("acf-figures")->run(options);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("different keys"), std::string_view::npos) << refused.error().message();
}

}  // namespace
}  // namespace genista::lab::acf_figures_test
