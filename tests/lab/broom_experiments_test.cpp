// The experiments about the broom filter: their refusals, and that their workloads separate a
// broken filter from a sound one. `genista lab run` has the measurements; here only their smallest
// versions run, and broom-words, quick.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "genista/filters/broom.hpp"
#include "lab/controls/controls.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/instruction_counter.hpp"

namespace genista::lab::broom_experiments_test {
namespace {

TEST(broom_experiments, refuse_every_filter_but_broom) {
    for (const char* id :
         {"broom-invariant", "broom-property10", "broom-remote", "broom-space", "broom-time", "broom-rotation",
          "broom-overflow", "broom-small", "broom-large", "broom-replay", "one-line", "growth"}) {
        const experiment* const found = find_experiment(id);
        ASSERT_NE(found, nullptr) << id;
        run_options options;
        options.filter = "bloom";
        const auto made = found->run(options);
        ASSERT_FALSE(made) << id;
        EXPECT_EQ(made.error().code(), error_code::invalid_argument) << id;
        EXPECT_NE(made.error().message().find("bloom"), std::string_view::npos) << made.error().message();
        EXPECT_NE(made.error().message().find(id), std::string_view::npos) << made.error().message();
    }
}

TEST(broom_experiments, rotation_is_about_the_filter_of_the_paper_alone) {
    run_options options;
    options.filter = "broom";
    const auto made = find_experiment("broom-rotation")->run(options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), error_code::invalid_argument);
}

TEST(broom_experiments, audits_find_two_slots_with_one_base) {
    const auto sound = drive_and_audit<broom_filter>(seeded<broom_options>(180, 0x1p-8, 1), 300, 1);
    EXPECT_TRUE(sound.kept()) << sound.first_complaint;
    const invariant_seen broken = drive_and_audit_extending_inserts(0x1p-8, 10'000, 1);
    EXPECT_EQ(broken.audits_failed, 1u);
    EXPECT_NE(broken.first_complaint.find("two slots have one base"), std::string::npos) << broken.first_complaint;
}

TEST(broom_experiments, a_filter_without_history_loses_to_delete_and_reinsert) {
    const auto sound = try_to_collide_again<broom_filter>(seeded<broom_options>(40, 0x1p-8, 1), 1'000, 1);
    EXPECT_GT(sound.asked, 0u);
    EXPECT_EQ(sound.violations, 0u);
    EXPECT_GT(try_to_collide_again_without_history(1'000, 1).violations, 0u);
    const reinsertion_seen lost = delete_and_reinsert_without_history(90, {.guesses = 500, .rounds = 10}, 1);
    EXPECT_GT(lost.rounds, 0u);
    EXPECT_EQ(lost.rounds_won, lost.rounds);
}

TEST(broom_experiments, a_sweep_that_skips_a_bin_loses_keys) {
    const auto sound =
        grow_and_watch<broom_filter>(seeded<broom_options>(200, 0x1p-8, 1, true), 2'000, 1, [](double) {});
    EXPECT_EQ(sound.false_negatives, 0u);
    EXPECT_TRUE(sound.kept(2));
    EXPECT_GE(sound.doublings, 3u);
    EXPECT_GT(grow_and_watch_skipping_a_bin(200, 2'000, 1).false_negatives, 0u);
}

TEST(broom_experiments, without_repairs_every_replayed_key_is_wrong_again) {
    const replay_seen seen = find_and_replay_without_adapting(2'000, 0.9, 50, 2, 1);
    EXPECT_EQ(seen.wasted, (std::vector<std::uint64_t>{50, 50}));
}

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

// ThreadSanitizer delays signals.
#if !defined(__SANITIZE_THREAD__)
// Not inlined: one piece of code, however often it is called.
[[gnu::noinline]] std::uint64_t steps_of_a_loop(instruction_counter& counter, unsigned count) {
    volatile unsigned sum = 0;
    return counter.of([&] {
        for (unsigned i = 0; i < count; ++i) {
            asm volatile("" : "+r"(i));  // a compiler that cannot count the rounds does not unroll them
            sum = sum + i;
        }
    });
}

TEST(broom_experiments, instructions_are_counted_exactly_and_paused_work_is_left_out) {
    if (!instruction_counter::available()) GTEST_SKIP() << "no single steps here";
    instruction_counter counter;
    EXPECT_EQ(steps_of_a_loop(counter, 50), steps_of_a_loop(counter, 50));
    const std::uint64_t one = steps_of_a_loop(counter, 51) - steps_of_a_loop(counter, 50);
    EXPECT_GE(one, 1u);
    EXPECT_EQ(steps_of_a_loop(counter, 150) - steps_of_a_loop(counter, 50), 100 * one);
    volatile unsigned sum = 0;
    const std::uint64_t aside = counter.of([&] {
        instruction_counter::pause();
        for (unsigned i = 0; i < 1000; ++i) sum = sum + i;
        instruction_counter::resume();
    });
    EXPECT_LT(aside, 30u);
}
#endif

}  // namespace
}  // namespace genista::lab::broom_experiments_test
