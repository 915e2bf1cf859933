// counting_slots counts exactly and changes no answer. faulty_slots injects each of its faults in
// the planned call, and reports it.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "genista/remote/memory_slots.hpp"
#include "remote/remote_support.hpp"
#include "support/remote/counting_slots.hpp"
#include "support/remote/faulty_slots.hpp"

namespace genista::test::slot_wrappers_test {
namespace {

static_assert(slot_map<counting_slots<memory_slots>> && slot_map<faulty_slots<memory_slots>>);

constexpr std::uint64_t last_slot = ~std::uint64_t{0};

TEST(counting_slots, counts_every_call_every_change_and_every_slot_visited) {
    memory_slots slots;
    counting_slots counted{slots};
    EXPECT_EQ(counted.counts(), slot_counts{});
    const std::vector<slot_change> changes = {{1, "a"}, {2, "b"}, {3, std::nullopt}};
    ASSERT_TRUE(counted.write_slots(changes));
    EXPECT_EQ(read_slot(counted, 1), "a");
    EXPECT_EQ(read_slot(counted, 3), std::nullopt);
    EXPECT_EQ(slots_between(counted, 0, last_slot), slots_between(slots, 0, last_slot));
    EXPECT_TRUE(counted.for_each_slot(0, 9, [](std::uint64_t, key_view) { return false; }));
    EXPECT_TRUE(counted.clear_slots(2, 5));
    EXPECT_EQ(
        counted.counts(),
        (slot_counts{
            .point_reads = 2, .range_reads = 2, .slots_visited = 3, .writes = 1, .slots_changed = 3, .clears = 1}));
    EXPECT_EQ(slots_between(slots, 0, last_slot), (slot_contents{{1, "a"}}));
    counted.reset();
    EXPECT_EQ(counted.counts(), slot_counts{});
}

TEST(counting_slots, counts_failed_calls_among_their_kind_and_once_more) {
    memory_slots slots;
    fill(slots, 0, 5);
    faulty_slots faulty{slots};
    counting_slots counted{faulty};
    using rule = slot_fault_plan::rule;
    faulty.set_plan({.rules = {rule{slot_fault::error_before, slot_call::read_slot, 0, 9},
                               rule{slot_fault::error_before, slot_call::write_slots, 0, 9},
                               rule{slot_fault::error_midway, slot_call::for_each_slot, 0, 9, 2},
                               rule{slot_fault::error_before, slot_call::clear_slots, 0, 9}}});
    EXPECT_FALSE(counted.read_slot(1, [](key_view) {}));
    EXPECT_FALSE(counted.write_slots({}));
    EXPECT_FALSE(counted.for_each_slot(0, 9, [](std::uint64_t, key_view) { return true; }));
    EXPECT_FALSE(counted.clear_slots(0, 9));
    EXPECT_EQ(
        counted.counts(),
        (slot_counts{.point_reads = 1, .range_reads = 1, .slots_visited = 2, .writes = 1, .clears = 1, .failures = 4}));
}

// Ten slots, 0 to 9.
class faulty_slots_of_ten : public testing::Test {
  protected:
    faulty_slots_of_ten() { fill(slots, 0, 10); }

    void follow(slot_fault fault, slot_call call, std::uint64_t number = 0, std::uint64_t record = 0) {
        faulty.set_plan({.rules = {{fault, call, number, number, record}}});
    }
    slot_contents now() { return slots_between(slots, 0, last_slot); }
    struct visit_outcome {
        result<void> done;
        slot_contents seen;
    };
    visit_outcome visit(std::size_t at_most = 1000) {
        slot_contents seen;
        auto done = faulty.for_each_slot(0, last_slot, [&](std::uint64_t slot, key_view key) {
            seen.emplace(slot, key.text());
            return seen.size() < at_most;
        });
        return {done, seen};
    }

    memory_slots slots;
    faulty_slots<memory_slots> faulty{slots};
};

TEST_F(faulty_slots_of_ten, passes_every_call_through_until_it_has_a_plan) {
    EXPECT_EQ(slots_between(faulty, 0, last_slot), now());
    EXPECT_EQ(read_slot(faulty, 3), "key 3");
    EXPECT_EQ(read_slot(faulty, 10), std::nullopt);
    EXPECT_TRUE(faulty.clear_slots(0, 4));
    EXPECT_EQ(now().size(), 5u);
    EXPECT_EQ(faulty.struck(), 0u);
    EXPECT_EQ(faulty.calls(slot_call::read_slot), 2u);
    EXPECT_EQ(faulty.calls(slot_call::write_slots), 0u);
}

TEST_F(faulty_slots_of_ten, fails_only_the_call_of_that_number_and_kind) {
    follow(slot_fault::error_before, slot_call::read_slot, 2);
    for (std::uint64_t call = 0; call < 5; ++call) {
        EXPECT_TRUE(visit().done);
        bool shown = false;
        const auto found = faulty.read_slot(1, [&](key_view) { shown = true; });
        EXPECT_EQ(found.has_value(), call != 2);
        EXPECT_EQ(shown, call != 2) << "before: nothing was asked";
    }
    EXPECT_EQ(faulty.struck(slot_fault::error_before), 1u);
}

TEST_F(faulty_slots_of_ten, writes_fail_before_or_after_they_are_done) {
    const slot_change change{3, "another"};
    follow(slot_fault::error_before, slot_call::write_slots);
    EXPECT_FALSE(faulty.write_slots({&change, 1}));
    EXPECT_EQ(read_slot(slots, 3), "key 3");
    follow(slot_fault::error_after, slot_call::write_slots);
    EXPECT_FALSE(faulty.write_slots({&change, 1}));
    EXPECT_EQ(read_slot(slots, 3), "another");
    follow(slot_fault::throws, slot_call::write_slots);
    const slot_change gone{3, std::nullopt};
    EXPECT_THROW((void)faulty.write_slots({&gone, 1}), std::runtime_error);
    EXPECT_EQ(read_slot(slots, 3), std::nullopt);
    EXPECT_EQ(faulty.struck(), 1u);
}

TEST_F(faulty_slots_of_ten, clears_fail_before_after_and_half_way) {
    follow(slot_fault::error_before, slot_call::clear_slots);
    EXPECT_FALSE(faulty.clear_slots(0, 9));
    EXPECT_EQ(now().size(), 10u);
    follow(slot_fault::error_midway, slot_call::clear_slots);
    EXPECT_FALSE(faulty.clear_slots(0, 9));
    EXPECT_EQ(now().size(), 5u);
    follow(slot_fault::error_after, slot_call::clear_slots);
    EXPECT_FALSE(faulty.clear_slots(0, 9));
    EXPECT_TRUE(now().empty());
}

TEST_F(faulty_slots_of_ten, a_visit_breaks_off_after_exactly_so_many_slots) {
    for (std::uint64_t record = 0; record <= 12; ++record) {
        follow(slot_fault::error_midway, slot_call::for_each_slot, 0, record);
        const auto [done, seen] = visit();
        EXPECT_FALSE(done) << "also when the range ends first";
        EXPECT_EQ(seen.size(), std::min<std::uint64_t>(record, 10));
        EXPECT_TRUE(visit().done) << "the next one is whole again";
    }
    follow(slot_fault::error_midway, slot_call::for_each_slot, 0, 5);
    EXPECT_TRUE(visit(3).done) << "a visitor that stops before the break gets no error";
    EXPECT_EQ(faulty.struck(), 0u);
    follow(slot_fault::error_after, slot_call::for_each_slot);
    const auto [done, seen] = visit();
    EXPECT_FALSE(done);
    EXPECT_EQ(seen, now());
}

TEST_F(faulty_slots_of_ten, falsifies_keys_and_leaves_slots_out) {
    follow(slot_fault::wrong_key, slot_call::read_slot);
    EXPECT_EQ(read_slot(faulty, 3), "key 2") << "one bit";
    EXPECT_EQ(faulty.struck(), 1u);
    follow(slot_fault::wrong_key, slot_call::read_slot);
    EXPECT_EQ(read_slot(faulty, 10), std::nullopt);
    EXPECT_EQ(faulty.struck(), 0u) << "there was nothing to falsify";
    follow(slot_fault::missing, slot_call::read_slot);
    EXPECT_EQ(read_slot(faulty, 3), std::nullopt);
    EXPECT_EQ(faulty.struck(), 1u);

    slot_contents without_4 = now(), with_a_wrong_4 = now();
    without_4.erase(4);
    with_a_wrong_4[4] = "key 5";
    follow(slot_fault::missing, slot_call::for_each_slot, 0, 4);
    EXPECT_EQ(visit().seen, without_4);
    EXPECT_EQ(visit().seen, now());
    follow(slot_fault::wrong_key, slot_call::for_each_slot, 0, 4);
    const auto [done, seen] = visit();
    EXPECT_TRUE(done);
    EXPECT_EQ(seen, with_a_wrong_4);
    EXPECT_EQ(faulty.struck(), 1u);
    EXPECT_EQ(now().size(), 10u) << "the slots themselves are untouched";
}

TEST_F(faulty_slots_of_ten, random_faults_have_their_rate_and_every_kind_and_can_be_repeated) {
    const slot_fault_plan plan{
        .rate = 0.5, .kinds = {all_slot_faults.begin(), all_slot_faults.end()}, .seed = 9, .records_below = 10};
    std::vector<bool> outcomes[2];
    for (std::vector<bool>& outcome : outcomes) {
        faulty.set_plan(plan);
        for (int i = 0; i < 2'000; ++i) {
            try {
                outcome.push_back(visit().done.has_value());
            } catch (const std::runtime_error&) {
                outcome.push_back(false);
            }
        }
        // Half of 2,000 calls, six kinds that all fit: 167 each; a fixed seed.
        for (const slot_fault each : all_slot_faults) {
            EXPECT_GT(faulty.struck(each), 110u) << static_cast<int>(each);
            EXPECT_LT(faulty.struck(each), 230u) << static_cast<int>(each);
        }
    }
    EXPECT_EQ(outcomes[0], outcomes[1]);
}

}  // namespace
}  // namespace genista::test::slot_wrappers_test
