// Runs random operations on each filter of the cuckoo family and an exact model, in small tables,
// where new hash functions are often needed; then with a store that fails and gives wrong answers.
// tests/support/cuckoo_world.hpp checks every single step.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "filters/cuckoo_family_filters.hpp"
#include "tests/support/cuckoo_world.hpp"
#include "tests/support/scale.hpp"

namespace genista::cuckoo_family_model_test {
namespace {

template <class F>
class cuckoo_family_model : public testing::Test {};
TYPED_TEST_SUITE(cuckoo_family_model, test::cuckoo_family, test::cuckoo_names);

template <class World>
void one_step(World& w) {
    const std::uint64_t kind = w.chance.below(100);
    if (kind < 50) {
        (void)w.insert(w.any_key());
    } else if (kind < 62) {
        w.erase(w.any_key());
    } else if (kind < 70) {
        w.forget(w.any_key());
    } else if (kind < 75) {
        w.adapt(w.any_key());
    } else if (kind < 98) {
        if (const auto absent_key = w.find_false_positive(50'000)) w.adapt(*absent_key);
    } else if (kind < 99) {
        (void)w.rebuild();
    } else if constexpr (requires { w.save_and_load(); }) {
        w.save_and_load();
    }
}

TYPED_TEST(cuckoo_family_model, every_step_agrees_with_the_truth) {
    std::uint64_t rehashes = 0, fixed = 0, most_keys = 0;
    for (const test::cuckoo_form& form : test::cuckoo_forms<TypeParam>()) {
        for (const std::uint64_t capacity : {3u, 20u, 90u}) {
            const std::uint64_t seed = capacity * 100 + form.tables * 10 + form.bin_slots;
            // With four bits keys collide all the time.
            test::cuckoo_world<TypeParam> w{test::cuckoo_made(form, capacity, 4, seed)};
            const auto steps = test::scaled<std::uint64_t>(1'000, 20'000);
            for (std::uint64_t step = 0; step < steps; ++step) {
                const std::uint64_t before = w.filter.rehashes();
                one_step(w);
                rehashes += w.filter.rehashes() > before ? 1u : 0u;
                most_keys = std::max(most_keys, w.filter.stats().keys);
                w.scan();
                if (capacity < 50 || step % 8 == 0) w.audit();
                ASSERT_TRUE(w.wrong.empty()) << w.text() << "step " << step << ", " << form.tables << " tables of "
                                             << form.bin_slots << " slots for " << capacity;
            }
            EXPECT_EQ(w.failures, 0u);
            fixed += w.fixed;
        }
    }
    EXPECT_GE(most_keys, 90u) << "the filter was never full";
    EXPECT_GT(rehashes, 50u);
    if (TypeParam::name != cuckoo_filter::name) {
        EXPECT_GT(fixed, 500u);
    }
}

// With fingerprints of 14 bits a wrong key in R is accepted as the right one once in 10^5 faults.
TYPED_TEST(cuckoo_family_model, with_faults_and_wrong_answers_no_key_is_lost_and_nothing_stays_broken) {
    std::uint64_t failures = 0, struck = 0, audits = 0;
    for (const test::cuckoo_form& form : test::cuckoo_forms<TypeParam>()) {
        for (const double share : {0.02, 0.3}) {
            const std::uint64_t capacity = 40;
            const std::uint64_t seed = 7'000 + form.tables * 10 + form.bin_slots;
            test::cuckoo_world<TypeParam> w{test::cuckoo_made(form, capacity, 14, seed)};
            const auto steps = test::scaled<std::uint64_t>(100, 2'000);
            ASSERT_TRUE(w.survives_faults(
                share, 6, steps, [&w](std::uint64_t) { one_step(w); }, [&w] { w.adapt(w.any_key()); }))
                << w.text() << form.tables << " tables of " << form.bin_slots << " slots";
            failures += w.failures;
            struck += w.struck;
            audits += w.audits;
        }
    }
    EXPECT_GT(failures, 300u);
    EXPECT_GT(struck, 300u) << "faults of the index";
    EXPECT_GT(audits, 300u);
}

// Every call of an operation fails once, in each way it can. The random tests might miss one.
TYPED_TEST(cuckoo_family_model, every_call_of_an_operation_may_fail_in_every_way) {
    std::vector<fault_kind> kinds{test::index_faults.begin(), test::index_faults.end()};
    kinds.insert(kinds.end(), {fault_kind::wrong_seed, fault_kind::out_of_range, fault_kind::duplicate});
    std::uint64_t struck = 0;
    for (const test::cuckoo_form& form : test::cuckoo_forms<TypeParam>()) {
        for (const fault_kind fault : kinds) {
            for (std::uint64_t number = 0;; ++number) {
                test::cuckoo_world<TypeParam> w{test::cuckoo_made(form, 30, 14, 11), 1'000};
                for (std::uint64_t key = 0; key < 25; ++key) (void)w.insert(key);
                const auto absent_key = w.find_false_positive();
                ASSERT_TRUE(absent_key.has_value());
                // This makes cuckoo_world expect faults; no fault happens by chance.
                w.set_faults(1e-300);
                ASSERT_TRUE(w.faulty_index.set_plan(
                    {.rules = {fault_rule::once(fault, number, fault_scope::every_call, number % 4)}}));
                w.adapt(*absent_key);
                for (std::uint64_t key = 25; key < 30; ++key) (void)w.insert(key);
                (void)w.rebuild();
                w.erase(3);
                w.forget(4);
                w.scan();
                const fault_counts seen = w.faulty_index.counts();
                struck += seen.injected();
                w.set_faults(0);
                (void)w.insert(100);
                w.scan();
                w.audit();
                ASSERT_TRUE(w.wrong.empty()) << w.text() << to_string(fault) << " in call " << number;
                if (seen.calls <= number) break;
            }
        }
    }
    EXPECT_GT(struck, 80u);
}

}  // namespace
}  // namespace genista::cuckoo_family_model_test
