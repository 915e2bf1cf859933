// Runs random operations on an adaptive Bloom filter and an exact model, in small tables, where
// levels fill up; then with a store that fails and gives wrong answers.
// tests/support/adaptive_bloom_world.hpp checks every single step.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/adaptive_bloom_world.hpp"
#include "tests/support/scale.hpp"

namespace genista::adaptive_bloom_model_test {
namespace {

using world = test::adaptive_bloom_world;

void one_step(world& w) {
    const std::uint64_t kind = w.chance.below(1'000);
    if (kind < 300) {
        (void)w.insert(w.any_key());
    } else if (kind < 400) {
        w.erase(w.any_key());
    } else if (kind < 550) {
        w.adapt(w.any_key());  // a stored key, an erased one, or an absent key
    } else if (kind < 997) {
        if (const auto absent_key = w.find_false_positive(3'000)) w.adapt(*absent_key);
    } else if (kind < 998) {
        w.rebuild();
    } else if (kind < 999) {
        w.save_and_load();
    } else {
        for (std::uint64_t i = 0; i < w.filter.stats().capacity; ++i) (void)w.filter.may_contain(i);
    }
}

TEST(adaptive_bloom_model, every_step_agrees_with_the_truth) {
    std::uint64_t fixed = 0, refused = 0, most_level = 0, renewals = 0;
    for (const double rate : {0.5, 0.25, 0.15, 0x1p-4, 0x1p-8}) {
        for (const std::uint64_t capacity : {1u, 20u, 300u}) {
            world w{{.capacity = capacity, .rate = rate, .seed = capacity}};
            const auto steps = test::scaled<std::uint64_t>(1'200, 20'000);
            for (std::uint64_t step = 0; step < steps; ++step) {
                one_step(w);
                w.scan();
                if (capacity < 50 || step % 32 == 0) w.audit();
                ASSERT_TRUE(w.wrong.empty()) << w.text() << "step " << step << ", rate " << rate << ", " << capacity;
                if (step % 64 != 63) continue;
                for (const std::uint64_t key : w.members())
                    most_level = std::max<std::uint64_t>(most_level, w.filter.path_of(w.where(key)).level);
            }
            fixed += w.fixed;
            refused += w.refused;
            renewals += w.filter.stats().renewals;
        }
    }
    EXPECT_GT(fixed, 3'000u);
    EXPECT_GT(refused, 50u);
    EXPECT_GE(most_level, 3u);
    EXPECT_GT(renewals, 50u);
}

TEST(adaptive_bloom_model, with_faults_and_wrong_answers_no_key_is_lost_and_nothing_stays_broken) {
    std::uint64_t failures = 0, struck = 0, fixed = 0;
    for (const double rate : {0.5, 0.25, 0x1p-4}) {
        for (const double share : {0.005, 0.1}) {
            world w{{.capacity = 60, .rate = rate, .seed = 77}};
            // Stored keys have their records at all times, and without faults whatever comes next
            // must succeed.
            const auto step = [&w](std::uint64_t) { one_step(w); };
            const auto steps = test::scaled<std::uint64_t>(120, 2'000);
            ASSERT_TRUE(w.survives_faults(share, 8, steps, step,
                                          [&w] {
                                              for (int i = 0; i < 20; ++i) one_step(w);
                                          }))
                << w.text() << "rate " << rate;
            failures += w.failures;
            struck += w.struck;
            fixed += w.fixed;
        }
    }
    EXPECT_GT(failures, 300u);
    EXPECT_GT(struck, 300u);
    EXPECT_GT(fixed, 1'000u);
}

// Every call of an operation fails once, in each way it can. The random tests might miss one.
TEST(adaptive_bloom_model, every_call_of_an_operation_may_fail_in_every_way) {
    std::uint64_t struck = 0;
    for (const bool in_index : {false, true}) {
        for (const fault_kind kind : all_fault_kinds) {
            if (kind == fault_kind::stale) continue;
            for (std::uint64_t number = 0;; ++number) {
                world w{{.capacity = 12, .rate = 0.5, .seed = 11, .universe = 100}};
                for (std::uint64_t key = 0; key < 9; ++key) (void)w.insert(key);
                for (int i = 0; i < 3; ++i) w.adapt(*w.find_false_positive());
                const auto absent_key = w.find_false_positive();
                ASSERT_TRUE(absent_key.has_value());
                w.set_faults(1e-300);  // faults are expected from now on; nothing happens by chance
                auto& half = in_index ? w.faulty_index : w.faulty;
                ASSERT_TRUE(half.set_plan({.rules = {fault_rule::once(kind, number)}}));
                w.adapt(*absent_key);
                (void)w.insert(10);
                w.erase(3);
                w.adapt(3);
                w.scan();
                w.rebuild();
                w.scan();
                (void)w.insert(11);
                const bool happened = half.counts().calls > number;
                struck += half.counts().injected();
                w.set_faults(0);
                w.adapt(*absent_key);
                (void)w.insert(12);
                w.scan();
                w.audit();
                ASSERT_TRUE(w.wrong.empty())
                    << w.text() << to_string(kind) << " in call " << number << (in_index ? " of the index" : "");
                if (!happened) break;
            }
        }
    }
    EXPECT_GT(struck, 100u);
}

}  // namespace
}  // namespace genista::adaptive_bloom_model_test
