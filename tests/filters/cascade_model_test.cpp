// Runs random operations on a cascade and an exact model; then with a store that fails and gives
// wrong answers, in records and index alike. tests/support/cascade_world.hpp checks every single
// step. Also compares the levels over two different single-hash sets.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "filters/cascade/levels.hpp"
#include "filters/cascade/quotient_set.hpp"
#include "tests/support/cascade_world.hpp"
#include "tests/support/scale.hpp"

namespace genista::cascade_model_test {
namespace {

void one_step(test::cascade_world& w) {
    const std::uint64_t kind = w.chance.below(1000);
    if (kind < 450) {
        (void)w.insert(w.any_key());
    } else if (kind < 600) {
        w.erase(w.any_key());
    } else if (kind < 680) {
        w.forget(w.any_key());
    } else if (kind < 740) {
        w.adapt(w.any_key());
    } else if (kind < 996) {
        if (const auto absent_key = w.find_false_positive(20)) w.adapt(*absent_key);
    } else if (kind < 998) {
        (void)w.rebuild();
    } else {
        w.save_and_load();
    }
}

TEST(cascade_model, every_step_agrees_with_the_truth) {
    std::uint64_t fixed = 0, rebuilds = 0, most_keys = 0, deepest = 0;
    for (const double rate : {0.5, 0.25, 0.07}) {
        for (const std::uint64_t capacity : {1u, 3u, 30u, 300u}) {
            test::cascade_world w{test::cascade_made(capacity, rate, capacity)};
            for (std::uint64_t key = 0; key < capacity; ++key) ASSERT_TRUE(w.insert(key));
            const auto steps = test::scaled<std::uint64_t>(1'500, 20'000);
            for (std::uint64_t step = 0; step < steps; ++step) {
                one_step(w);
                most_keys = std::max(most_keys, w.filter.stats().keys);
                for (const std::uint64_t key : w.members())
                    deepest = std::max<std::uint64_t>(deepest, w.filter.level_of(w.filter.hash()(key)));
                if (capacity < 100 || step % 8 == 0) w.scan();
                if (capacity < 100 || step % 16 == 0) w.audit();
                ASSERT_TRUE(w.wrong.empty())
                    << w.text() << "step " << step << ", capacity " << capacity << ", rate " << rate;
            }
            EXPECT_EQ(w.failures, 0u);
            fixed += w.fixed;
            rebuilds += w.rebuilds;
        }
    }
    EXPECT_GE(most_keys, 300u) << "the filter was never full";
    EXPECT_GT(fixed, 1'000u);
    EXPECT_GT(rebuilds, 500u);
    EXPECT_GE(deepest, 2u);
}

TEST(cascade_model, with_faults_and_wrong_answers_no_key_is_lost_and_nothing_stays_broken) {
    std::uint64_t failures = 0, struck = 0, audits = 0;
    for (const double rate : {0.5, 0.1}) {
        for (const double share : {0.02, 0.3}) {
            // Room for all keys of the universe: a key half inserted when R failed must not make
            // the filter full.
            test::cascade_world w{test::cascade_made(60, rate, 7), 60};
            const auto steps = test::scaled<std::uint64_t>(150, 2'000);
            ASSERT_TRUE(w.survives_faults(
                share, 8, steps, [&w](std::uint64_t) { one_step(w); }, [&w] { w.adapt(w.any_key()); }))
                << w.text() << "rate " << rate;
            failures += w.failures;
            struck += w.struck;
            audits += w.audits;
        }
    }
    EXPECT_GT(failures, 300u);
    EXPECT_GT(struck, 300u);
    EXPECT_GT(audits, 300u);
}

// Every call of an operation fails once, in each way it can. The random tests might miss one.
TEST(cascade_model, every_call_of_an_operation_may_fail_in_every_way) {
    std::uint64_t struck = 0;
    for (const bool in_index : {false, true}) {
        for (const fault_kind kind : all_fault_kinds) {
            if (kind == fault_kind::stale) continue;
            for (const fault_scope scope : {fault_scope::reads, fault_scope::writes}) {
                for (std::uint64_t number = 0;; ++number) {
                    test::cascade_world w{test::cascade_made(40, 0.3, 11), 60};
                    for (std::uint64_t key = 0; key < 30; ++key) (void)w.insert(key);
                    const auto absent_key = w.find_false_positive();
                    ASSERT_TRUE(absent_key.has_value());
                    w.set_faults(1e-300);  // faults are expected; nothing happens by chance
                    auto& half = in_index ? w.faulty_index : w.faulty;
                    ASSERT_TRUE(half.set_plan({.rules = {fault_rule::once(kind, number, scope)}}));
                    w.adapt(*absent_key);
                    (void)w.insert(30);
                    (void)w.insert(3);
                    (void)w.insert(31);
                    w.erase(3);
                    w.forget(4);
                    if (number > 20) (void)w.rebuild();
                    w.scan();
                    const std::uint64_t now = half.counts().injected();
                    struck += now;
                    const bool over = now == 0 && number > 21;
                    w.set_faults(0);
                    (void)w.insert(50);
                    w.scan();
                    w.audit();
                    ASSERT_TRUE(w.wrong.empty()) << w.text() << to_string(kind) << " in call " << number;
                    if (over) break;
                }
            }
        }
    }
    EXPECT_GT(struck, 80u);
}

// ---- the levels over any single-hash set --------------------------------------------------------

// The simplest set that the levels accept.
class map_set {
  public:
    static result<map_set> make(const cascade::level_plan&) noexcept { return map_set{}; }
    [[nodiscard]] cascade::value_state look(std::uint64_t value) const noexcept {
        const auto found = states_.find(value);
        return found == states_.end() ? cascade::value_state::absent : found->second;
    }
    bool insert(std::uint64_t value) { return states_.emplace(value, cascade::value_state::stored).second; }
    bool kill(std::uint64_t value) {
        states_.at(value) = cascade::value_state::dead;
        ++dead_;
        return true;
    }
    void erase(std::uint64_t value) noexcept { states_.erase(value); }
    [[nodiscard]] std::uint64_t stored() const noexcept { return states_.size() - dead_; }
    [[nodiscard]] std::uint64_t dead() const noexcept { return dead_; }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return states_.size(); }

  private:
    std::map<std::uint64_t, cascade::value_state> states_;
    std::uint64_t dead_ = 0;
};
static_assert(cascade::single_hash_set<map_set>);
static_assert(!cascade::single_hash_set<std::map<std::uint64_t, int>>);

TEST(cascade_levels, two_single_hash_sets_behave_alike) {
    for (const double rate : {0.5, 0.25, 0.01}) {
        const hasher hash{hash_key::from_seed(3)};
        const cascade::design sizes = cascade::design_for(200, rate, cascade_rates::tower);
        std::uint64_t salts = 5, same_salts = 5;
        auto plain = cascade::levels<map_set>::make(sizes, hash, salts);
        auto packed = cascade::levels<cascade::quotient_set>::make(sizes, hash, same_salts);
        ASSERT_TRUE(plain && packed);
        test::splitmix chance{9};
        std::map<std::uint64_t, digest> members;
        std::uint64_t killed = 0, refused = 0;
        for (int step = 0; step < 6'000; ++step) {
            const std::uint64_t key = chance.below(1'000);
            const digest d = hash(key);
            const cascade::place at = plain->find(d);
            ASSERT_EQ(at, packed->find(d));
            if (const std::uint64_t kind = chance.below(8); kind < 4 && !members.contains(key)) {
                // A table may be full where a map never is; the capacity is the same for both.
                const bool done = packed->insert(at);
                ASSERT_TRUE(!done || plain->insert(at));
                if (done) members.emplace(key, d);
                refused += done ? 0u : 1u;
            } else if (kind == 4 && members.contains(key)) {
                members.erase(key);
                bool shared = false;
                for (const auto& [other, theirs] : members) shared = shared || plain->find(theirs) == at;
                plain->leave(at, !shared);
                packed->leave(at, !shared);
            } else if (!members.contains(key) && at.state == cascade::value_state::stored) {
                std::vector<digest> there;
                for (const auto& [other, theirs] : members) {
                    if (plain->find(theirs) == at) there.push_back(theirs);
                }
                const bool done = packed->kill(at, there);
                ASSERT_TRUE(!done || plain->kill(at, there));
                ASSERT_TRUE(!done || !packed->contains(d) || packed->find(d).level > at.level);
                killed += done ? 1u : 0u;
            }
            ASSERT_EQ(plain->keys(), members.size());
            for (unsigned i = 0; i < sizes.count; ++i) {
                ASSERT_EQ(plain->all()[i].set.stored(), packed->all()[i].set.stored());
                ASSERT_EQ(plain->all()[i].set.dead(), packed->all()[i].set.dead());
                ASSERT_EQ(plain->come_to(i), packed->come_to(i));
            }
            if (step % 64 == 0) {
                for (const auto& [key_there, theirs] : members) ASSERT_TRUE(packed->contains(theirs)) << key_there;
            }
        }
        EXPECT_GT(killed, rate > 0.1 ? 20u : 1u);
        EXPECT_GT(refused, 0u) << "beyond the capacity";
    }
}

}  // namespace
}  // namespace genista::cascade_model_test
