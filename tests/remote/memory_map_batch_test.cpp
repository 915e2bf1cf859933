// memory_map's batches and range erases against a set of records under random operations, and their
// edges one by one. with_index passes every call on. Failing allocations are in
// memory_map_allocation_test.cpp.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "remote/remote_support.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::memory_map_batch_test {
namespace {

using both_maps = with_index<memory_map, memory_map>;
static_assert(batch_indexed_map<both_maps> && remote_map<both_maps> && !batched_map<both_maps>);
static_assert(!indexed_map<memory_map>);

TEST(memory_map_batch, an_empty_map_takes_an_empty_batch_and_erases_of_what_is_not_there) {
    memory_map map;
    EXPECT_TRUE(map.apply({}));
    EXPECT_TRUE(map.erase_range(0, last_position));
    const record_change gone{digest{5, 0}, "absent", false};
    EXPECT_TRUE(map.apply({&gone, 1}));
    EXPECT_EQ(map.size(), 0u);
    EXPECT_TRUE(map.audit());
}

TEST(memory_map_batch, the_last_positions_are_positions_like_any_other) {
    memory_map map;
    const std::vector<record_change> changes = {{digest{last_position, 0}, "last"},
                                                {digest{last_position, last_position}, "and its last seed"},
                                                {digest{last_position - 64, 0}, "before"},
                                                {digest{0, 0}, ""}};
    ASSERT_TRUE(map.apply(changes));
    EXPECT_EQ(map.size(), 4u);
    ASSERT_TRUE(map.erase_range(5, 4));
    EXPECT_EQ(map.size(), 4u) << "an empty range erases nothing";
    ASSERT_TRUE(map.erase_range(1, last_position - 1));
    EXPECT_EQ(read_range(map, 1, last_position).size(), 2u);
    ASSERT_TRUE(map.erase_range(1, last_position));
    EXPECT_EQ(read_all(map), (std::vector<record>{{digest{0, 0}, ""}})) << "an empty key is a key";
    ASSERT_TRUE(map.erase_range(0, 0));
    EXPECT_EQ(map.size(), 0u);
}

TEST(memory_map_batch, of_several_changes_of_one_record_the_last_one_counts) {
    memory_map map;
    const digest where{7, 0};
    ASSERT_TRUE(*map.put(where, "there"));
    const std::vector<record_change> changes = {
        {where, "there", false},      {where, "there", true}, {where, "comes", true}, {where, "goes again", true},
        {where, "goes again", false}, {where, "comes", true}, {where, "never", false}};
    const std::vector<record> wanted = {{where, "comes"}, {where, "there"}};
    for (int again = 0; again < 2; ++again) {  // a batch is idempotent
        ASSERT_TRUE(map.apply(changes));
        EXPECT_EQ(read_all(map), wanted);
    }
}

// Few places beside each other, and some far away, so that leaves fill, split and go.
template <class Map>
void agrees_with_a_set(std::uint64_t seed) {
    splitmix chance{seed};
    Map map;
    model exact;
    const auto any_position = [&] {
        const std::uint64_t near = chance.below(300);
        return chance.below(8) == 0 ? last_position - near : near << (chance.below(2) * 40);
    };
    for (std::uint64_t step = 0; step < scaled<std::uint64_t>(4'000, 200'000); ++step) {
        const std::uint64_t kind = chance.below(10);
        if (kind < 7) {
            std::vector<record> named(chance.below(6));
            std::vector<record_change> changes;
            for (record& each : named) {
                each.where = digest{any_position(), chance.below(2)};
                each.key = std::string(chance.below(3) * 10, 'k') + std::to_string(chance.below(4));
                const bool present = chance.below(3) != 0;
                changes.push_back({each.where, key_view{each.key}, present});
                if (present)
                    exact.insert(each);
                else
                    exact.erase(each);
            }
            ASSERT_TRUE(map.apply(changes));
        } else if (kind < 8) {
            const std::uint64_t first = any_position(),
                                last = chance.below(2) == 0 ? first + chance.below(80) : any_position();
            ASSERT_TRUE(map.erase_range(first, last));
            std::erase_if(
                exact, [&](const record& each) { return first <= each.where.position && each.where.position <= last; });
        } else {
            const std::uint64_t first = any_position(), last = any_position();
            ASSERT_EQ(read_range(map, first, last), range_of(exact, first, last, exact.size()));
        }
        if (step % 16 == 0) {
            const auto valid = map.audit();
            ASSERT_TRUE(valid) << valid.error().message();
        }
        ASSERT_EQ(map.size(), exact.size());
    }
    ASSERT_EQ(read_all(map), range_of(exact, 0, last_position, exact.size()));
}

TEST(memory_map_batch, agrees_with_a_set_under_random_operations) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        agrees_with_a_set<basic_memory_map<2, 4>>(seed);
        agrees_with_a_set<memory_map>(seed + 4);
    }
}

TEST(memory_map_batch, a_visitor_that_has_seen_enough_stops_the_visit) {
    memory_map map;
    std::vector<record_change> changes;
    for (std::uint64_t place = 0; place < 10; ++place) changes.push_back({digest{place, 0}, "key"});
    ASSERT_TRUE(map.apply(changes));
    std::vector<std::uint64_t> seen;
    EXPECT_TRUE(map.for_each(2, 9, [&](const digest& where, key_view) {
        seen.push_back(where.position);
        return seen.size() < 3;
    }));
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{2, 3, 4}));
}

TEST(with_index, passes_every_call_on_to_the_map_and_shows_the_index) {
    memory_map map, index;
    with_index both{map, index};
    EXPECT_TRUE(*both.put(digest{1, 2}, "member"));
    EXPECT_TRUE(*both.contains(digest{1, 2}, "member"));
    EXPECT_EQ(read_all(both), read_all(map));
    const record_change change{digest{7, 0}, "member"};
    EXPECT_TRUE(both.index().apply({&change, 1}));
    EXPECT_EQ(read_all(index), (std::vector<record>{{digest{7, 0}, "member"}}));
    EXPECT_EQ(map.size(), 1u);
    EXPECT_TRUE(both.index().erase_range(7, 7));
    EXPECT_EQ(index.size(), 0u);
    EXPECT_TRUE(*both.erase(digest{1, 2}, "member"));
    EXPECT_EQ(map.size(), 0u);
    EXPECT_EQ(&both.map(), &map);
    EXPECT_EQ(&both.index(), &index);
}

}  // namespace
}  // namespace genista::test::memory_map_batch_test
