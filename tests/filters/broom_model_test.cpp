// Random operations on the broom filter and on an exact set, in small filters that are audited
// after every step. broom_sweep_test.cpp has more and larger ones.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "filters/broom/core.hpp"
#include "genista/detail/filters/broom/range_source.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/counting_map.hpp"
#include "tests/support/broom_model.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::broom_model_test {
namespace {

// ---- every rate class and history ---------------------------------------------------------------

// With and without growth, and with a store that fails now and then.

class broom_model : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(broom_model, every_step_keeps_every_key_and_the_law) {
    const auto [rate_bits, history] = GetParam();
    test::findings wrong;
    const std::uint64_t runs = test::effort(6, 3, 60);
    const std::uint64_t steps = test::effort(600, 250, 3'000);
    const auto counts = test::drive_small_filters<broom_filter>(1.0 / static_cast<double>(1u << rate_bits), history,
                                                                rate_bits * 1000, runs, steps, wrong);
    EXPECT_TRUE(wrong.none()) << wrong.text();
    EXPECT_GT(counts.store_failures, 0u);
    test::record_figure("model_operations", counts.operations());
    test::record_figure("model_audits", counts.audits);
}

std::string name_of(const testing::TestParamInfo<std::tuple<unsigned, unsigned>>& tried) {
    return test::name_of_setting(std::get<0>(tried.param), std::get<1>(tried.param));
}

INSTANTIATE_TEST_SUITE_P(all, broom_model,
                         testing::Combine(testing::Values(8u, 10u, 13u, 20u, 24u), testing::Values(0u, 1u, 2u)),
                         name_of);

}  // namespace
}  // namespace genista::broom_model_test

namespace genista::broom::broom_model_test {
namespace {

// ---- the parts of the core ----------------------------------------------------------------------

// The broom filter's operations compared with an exact set; small filters are audited after every
// step.

// A filter, its R and the truth.
struct world {
    hasher hash;
    memory_map remote;
    counting_map<memory_map> counted{remote};
    std::unique_ptr<core> made;
    core& filter;
    std::set<std::uint64_t> truth;
    std::uint64_t erased = 0;
    std::uint64_t answered_after_erase = 0;

    world(std::uint64_t bins, double rate, std::uint64_t seed)
        : hash{hash_key::from_seed(seed)},
          made{*core::make({.grows = false, .random = repeatable(seed)}, hash, shape::for_rate(rate), bins)},
          filter{*made} {}

    remote_source<counting_map<memory_map>> source(const std::uint64_t& key) {
        return {counted, hash, hash(key), key_view{reinterpret_cast<const std::byte*>(&key), sizeof key}};
    }
    void insert(std::uint64_t key) {
        EXPECT_TRUE(remote.put(hash(key), key_view{reinterpret_cast<const std::byte*>(&key), sizeof key}));
        auto from = source(key);
        const auto outcome = filter.insert(hash(key), from);
        EXPECT_TRUE(outcome) << outcome.error().message();
        EXPECT_NE(*outcome, insert_outcome::full);
        EXPECT_EQ(*outcome == insert_outcome::inserted, truth.insert(key).second);
    }
    void erase(std::uint64_t key) {
        auto from = source(key);
        const auto outcome = filter.erase(hash(key), from);
        ASSERT_TRUE(outcome) << outcome.error().message();
        const bool was_member = truth.erase(key) == 1;
        EXPECT_EQ(*outcome == erase_outcome::erased, was_member);
        erased += was_member ? 1u : 0u;
        answered_after_erase += was_member && filter.contains(hash(key)) ? 1u : 0u;
    }
    // Queries, and adapts after a false positive, as a guard would. True if it was one.
    bool query(std::uint64_t key) {
        const bool maybe = filter.contains(hash(key));
        if (truth.contains(key)) {
            EXPECT_TRUE(maybe) << "false negative";
            return false;
        }
        if (!maybe) return false;
        auto from = source(key);
        const auto outcome = filter.adapt(hash(key), from);
        EXPECT_TRUE(outcome) << outcome.error().message();
        EXPECT_EQ(*outcome, adapt_outcome::fixed);
        EXPECT_FALSE(filter.contains(hash(key))) << "adapted, and still a false positive";
        return true;
    }
    void audit() {
        const std::uint64_t nobody = 0;
        auto from = source(nobody);
        const auto sound = filter.audit(from);
        ASSERT_TRUE(sound) << sound.error().message();
        ASSERT_EQ(filter.keys(), truth.size());
    }
};

class broom_core_model : public testing::TestWithParam<double> {};

TEST_P(broom_core_model, every_step_on_a_small_filter_keeps_every_key_and_the_law) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        world w{1 + 3 * seed, GetParam(), seed};
        test::splitmix chance{seed};
        const std::uint64_t universe = w.filter.bins().bins() * 60;  // up to a full line and a backyard on average
        const std::uint64_t steps = test::effort(3000, 1000, 100'000);
        for (std::uint64_t step = 0; step < steps; ++step) {
            const std::uint64_t key = chance.below(universe);
            // Phases that grow, keep and shrink the number of keys.
            const std::uint64_t grow = step * 3 / steps == 0 ? 6 : step * 3 / steps == 1 ? 3 : 1;
            const std::uint64_t dice = chance.below(10);
            if (dice < grow) {
                w.insert(key);
            } else if (dice < 7) {
                w.erase(key);
            } else {
                (void)w.query(universe + chance.below(100'000));
            }
            w.audit();
            if (testing::Test::HasFailure()) return;
        }
        // A tombstone matches nothing; only a key whose bin was renewed may match again, with
        // probability ε.
        EXPECT_LE(w.answered_after_erase, 3 + w.erased / 50);
    }
}

TEST_P(broom_core_model, repeated_queries_of_found_false_positives_stay_negative) {
    world w{64, GetParam(), 1};
    for (std::uint64_t key = 0; key < 64 * 43; ++key) w.insert(key);
    test::splitmix chance{3};
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; i < 400'000; ++i) {
        const std::uint64_t key = (std::uint64_t{1} << 40) + i;
        if (w.query(key)) found.push_back(key);
    }
    // Queries all of them once more: those whose bins were renewed may come back with probability ε
    // each, the others must not.
    std::uint64_t again = 0;
    for (const std::uint64_t key : found) again += w.query(key) ? 1u : 0u;
    EXPECT_LE(again, 10 + found.size() / 50);
    w.audit();
}

INSTANTIATE_TEST_SUITE_P(rates, broom_core_model, testing::Values(0x1p-8, 0x1p-10, 0x1p-13, 0x1p-20),
                         [](const auto& tried) {
                             return "tail_bits_" + std::to_string(shape::for_rate(tried.param).tail_bits);
                         });

TEST(broom_core, a_negative_costs_no_remote_read_and_an_adapt_one) {
    world w{16, 0x1p-8, 5};
    for (std::uint64_t key = 0; key < 16 * 40; ++key) w.insert(key);
    for (std::uint64_t key = 1000; key < 200'000; ++key) {
        w.counted.reset();
        const bool was_false_positive = w.query(key);
        ASSERT_EQ(w.counted.counts().range_reads, was_false_positive ? 1u : 0u);
    }
}

TEST(broom_core, erasing_absent_keys_removes_no_stored_key) {
    world w{16, 0x1p-8, 6};
    for (std::uint64_t key = 0; key < 16 * 44; ++key) w.insert(key);
    for (std::uint64_t key = 10'000; key < 60'000; ++key) w.erase(key);
    w.audit();
}

TEST(broom_core, one_key_inserted_many_times_takes_one_slot) {
    world w{4, 0x1p-8, 7};
    for (int i = 0; i < 10'000; ++i) w.insert(42);
    EXPECT_EQ(w.filter.keys(), 1u);
    w.audit();
}

// Keys of a table with one bin that share a base in its first epoch, found by trial.
std::vector<std::uint64_t> keys_with_one_base(world& w, std::size_t count) {
    bin_image image = w.filter.bins().read(0);
    const epoch now{w.filter.bins(), image};
    const std::uint32_t base = now.of(w.hash(std::uint64_t{1})).print.base();
    std::vector<std::uint64_t> found;
    for (std::uint64_t key = 1; found.size() < count; ++key) {
        if (now.of(w.hash(key)).print.base() == base) found.push_back(key);
    }
    return found;
}

TEST(broom_core, an_adapt_while_r_holds_a_key_not_inserted_yet_loses_neither_key) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        world w{1, 0x1p-8, seed};
        const auto keys = keys_with_one_base(w, 3);
        w.insert(keys[0]);
        // The second key is in R, because the store commits first, and has no slot yet: the slot
        // must be extended with the stream of the first.
        ASSERT_TRUE(w.remote.put(w.hash(keys[1]), key_view{reinterpret_cast<const std::byte*>(&keys[1]), 8}));
        ASSERT_TRUE(w.filter.contains(w.hash(keys[2])));
        auto from = w.source(keys[2]);
        ASSERT_TRUE(w.filter.adapt(w.hash(keys[2]), from));
        EXPECT_TRUE(w.filter.contains(w.hash(keys[0]))) << "false negative, seed " << seed;
        EXPECT_FALSE(w.filter.contains(w.hash(keys[2])));
        auto second = w.source(keys[1]);
        ASSERT_TRUE(w.filter.insert(w.hash(keys[1]), second));
        w.truth.insert(keys[1]);
        w.audit();
    }
}

TEST(broom_core, a_colliding_key_is_inserted_even_if_the_remote_map_does_not_hold_it_yet) {
    world w{1, 0x1p-8, 3};
    const auto keys = keys_with_one_base(w, 2);
    w.insert(keys[0]);
    auto from = w.source(keys[1]);
    const auto outcome = w.filter.insert(w.hash(keys[1]), from);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(*outcome, insert_outcome::inserted);
    EXPECT_TRUE(w.filter.contains(w.hash(keys[0])));
    EXPECT_TRUE(w.filter.contains(w.hash(keys[1])));
}

TEST(broom_core, a_keys_own_tombstone_does_not_count_as_present) {
    world w{1, 0x1p-8, 4};
    w.insert(1);
    w.insert(2);
    for (int i = 0; i < 100; ++i) {
        w.erase(1);
        w.insert(1);
        w.audit();
    }
}

// A store that fails in the middle of an operation: the operation returns the error and changes
// nothing.
struct bad_source final : range_source {
    result<void> read(position_range, population& into) override {
        into.members.assign(3, digest{1, 2});
        return error::make(error_code::io, "the store is down");
    }
    result<bool> erase() override { return error::make(error_code::io, "the store is down"); }
};

TEST(broom_core, a_failing_store_changes_nothing) {
    world w{1, 0x1p-8, 5};
    const auto keys = keys_with_one_base(w, 2);
    w.insert(keys[0]);
    const bin_image before = w.filter.bins().read(0);
    bad_source bad;
    EXPECT_FALSE(w.filter.adapt(w.hash(keys[1]), bad));
    EXPECT_FALSE(w.filter.erase(w.hash(keys[0]), bad));
    const bin_image after = w.filter.bins().read(0);
    EXPECT_EQ(before.slots, after.slots);
    EXPECT_EQ(before.sides, after.sides);
    w.audit();
}

// An error would reveal that the key collides: it becomes an entry [law L3].
TEST(broom_core, a_colliding_insert_over_a_failing_store_takes_exactly_one_entry) {
    world w{1, 0x1p-8, 5};
    const auto keys = keys_with_one_base(w, 2);
    w.insert(keys[0]);
    bad_source bad;
    for (int again = 0; again < 3; ++again) {
        const auto outcome = w.filter.insert(w.hash(keys[1]), bad);
        ASSERT_TRUE(outcome);
        EXPECT_EQ(*outcome, insert_outcome::inserted);
        EXPECT_EQ(w.filter.bins().read(0).sides.backyard.size(), 1u);
    }
    EXPECT_TRUE(w.filter.contains(w.hash(keys[0])));
    EXPECT_TRUE(w.filter.contains(w.hash(keys[1])));
}

TEST(broom_core, a_rebuild_from_the_remote_map_restores_every_key) {
    world w{32, 0x1p-8, 8};
    for (std::uint64_t key = 0; key < 32 * 44; ++key) w.insert(key);
    const auto fresh = *core::make({.grows = false, .random = repeatable(99)}, w.hash, shape::for_rate(0x1p-8), 40);
    const std::uint64_t nobody = 0;
    auto from = w.source(nobody);
    ASSERT_TRUE(fresh->rebuild(from));
    ASSERT_TRUE(fresh->audit(from));
    EXPECT_EQ(fresh->keys(), w.truth.size());
}

}  // namespace
}  // namespace genista::broom::broom_model_test
