// memory_slots against std::map under random operations, and its edges one by one. with_slots
// passes every call on. Failing allocations are in memory_map_allocation_test.cpp.
#include "genista/remote/memory_slots.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "genista/remote/memory_map.hpp"
#include "remote/remote_support.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::memory_slots_test {
namespace {

static_assert(slot_map<memory_slots> && !remote_map<memory_slots>);
static_assert(slotted_map<with_slots<memory_map, memory_slots>>);

constexpr std::uint64_t last_slot = ~std::uint64_t{0};

TEST(memory_slots, an_empty_one_shows_nothing_and_can_be_cleared) {
    memory_slots slots;
    EXPECT_EQ(read_slot(slots, 0), std::nullopt);
    EXPECT_EQ(read_slot(slots, last_slot), std::nullopt);
    EXPECT_TRUE(slots_between(slots, 0, last_slot).empty());
    EXPECT_TRUE(slots.clear_slots(0, last_slot));
    EXPECT_TRUE(slots.write_slots({}));
    const slot_change gone{5, std::nullopt};
    EXPECT_TRUE(slots.write_slots({&gone, 1})) << "emptying what is empty";
}

TEST(memory_slots, the_last_slots_of_all_are_slots_like_any_other) {
    memory_slots slots;
    const std::vector<slot_change> changes = {{last_slot, "last"}, {last_slot - 64, "page before"}, {0, ""}};
    ASSERT_TRUE(slots.write_slots(changes));
    EXPECT_EQ(read_slot(slots, last_slot), "last");
    EXPECT_EQ(read_slot(slots, 0), "") << "an empty key is a key";
    EXPECT_EQ(slots_between(slots, last_slot, last_slot), (slot_contents{{last_slot, "last"}}));
    EXPECT_EQ(slots_between(slots, 1, last_slot - 1), (slot_contents{{last_slot - 64, "page before"}}));
    EXPECT_TRUE(slots_between(slots, 5, 4).empty());
    ASSERT_TRUE(slots.clear_slots(1, last_slot));
    EXPECT_EQ(slots_between(slots, 0, last_slot), (slot_contents{{0, ""}}));
    ASSERT_TRUE(slots.clear_slots(5, 4));
    EXPECT_EQ(slots_between(slots, 0, last_slot).size(), 1u) << "an empty range clears nothing";
}

TEST(memory_slots, agree_with_a_map_under_random_operations) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        splitmix chance{seed};
        memory_slots slots;
        slot_contents exact;
        // Few slots beside each other, and some far away: pages fill, empty and are removed.
        const auto any_slot = [&] {
            const std::uint64_t near = chance.below(300);
            return chance.below(8) == 0 ? last_slot - near : near << (chance.below(2) * 40);
        };
        for (std::uint64_t step = 0; step < scaled<std::uint64_t>(4'000, 200'000); ++step) {
            const std::uint64_t kind = chance.below(10);
            if (kind < 7) {
                std::vector<std::string> keys(chance.below(6), "");
                std::vector<slot_change> changes;
                for (std::string& key : keys) {
                    key = std::string(chance.below(40), 'k') + std::to_string(chance.below(100));
                    const bool set = chance.below(3) != 0;
                    changes.push_back({any_slot(), set ? std::optional<key_view>{key} : std::nullopt});
                    exact.erase(changes.back().slot);
                    if (set) exact[changes.back().slot] = key;
                }
                ASSERT_TRUE(slots.write_slots(changes));
            } else if (kind < 8) {
                const std::uint64_t first = any_slot(),
                                    last = chance.below(2) == 0 ? first + chance.below(80) : any_slot();
                ASSERT_TRUE(slots.clear_slots(first, last));
                std::erase_if(exact, [&](const auto& each) { return first <= each.first && each.first <= last; });
            } else {
                const std::uint64_t first = any_slot(), last = any_slot();
                slot_contents wanted;
                for (const auto& each : exact) {
                    if (first <= each.first && each.first <= last) wanted.insert(each);
                }
                ASSERT_EQ(slots_between(slots, first, last), wanted);
            }
            const std::uint64_t asked = any_slot();
            const auto known = exact.find(asked);
            ASSERT_EQ(read_slot(slots, asked), known == exact.end() ? std::nullopt : std::optional{known->second});
        }
        ASSERT_EQ(slots_between(slots, 0, last_slot), exact);
    }
}

TEST(memory_slots, a_visitor_that_has_seen_enough_stops_the_visit) {
    memory_slots slots;
    fill(slots, 0, 10);
    std::vector<std::uint64_t> seen;
    EXPECT_TRUE(slots.for_each_slot(2, 9, [&](std::uint64_t slot, key_view) {
        seen.push_back(slot);
        return seen.size() < 3;
    }));
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{2, 3, 4}));
}

TEST(with_slots, passes_every_call_on_to_the_map_or_the_slots_it_is_made_of) {
    memory_map map;
    memory_slots slots;
    with_slots both{map, slots};
    EXPECT_TRUE(*both.put(digest{1, 2}, "member"));
    EXPECT_TRUE(*both.contains(digest{1, 2}, "member"));
    EXPECT_EQ(read_all(both), read_all(map));
    fill(both, 7, 3);
    EXPECT_EQ(slots_between(both, 0, last_slot), slots_between(slots, 0, last_slot));
    EXPECT_EQ(read_slot(both, 8), "key 8");
    EXPECT_TRUE(both.clear_slots(8, 8));
    EXPECT_EQ(read_slot(slots, 8), std::nullopt);
    EXPECT_TRUE(*both.erase(digest{1, 2}, "member"));
    EXPECT_EQ(map.size(), 0u);
    EXPECT_EQ(&both.map(), &map);
    EXPECT_EQ(&both.slots(), &slots);
}

}  // namespace
}  // namespace genista::test::memory_slots_test
