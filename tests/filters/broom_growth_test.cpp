// How often a filter grows. Former bugs: an insert that overflowed a bin already moved to the new
// table was refused as `full`, because it finished the running growth and began no second one; and
// a bin that was still to move made the filter grow twice.
#include <gtest/gtest.h>

#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/broom_world.hpp"

namespace genista::broom_growth_test {
namespace {

// R whose range reads fail while it is down.
struct map_that_goes_down {
    memory_map inner;
    bool down = false;

    result<bool> put(const digest& where, key_view key) { return inner.put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return inner.erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return inner.contains(where, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        if (down) return error::make(error_code::io, "the store is down");
        return inner.for_each(first, last, visit);
    }
};

// Commits and inserts; after an error the key is taken back.
bool insert(broom_filter& filter, map_that_goes_down& remote, std::uint64_t key) {
    const digest where = filter.hash()(key);
    EXPECT_TRUE(remote.put(where, integer_key{key}.view()));
    const auto outcome = filter.insert(key, remote);
    if (outcome && *outcome != insert_outcome::full) return true;
    EXPECT_TRUE(remote.erase(where, integer_key{key}.view()));
    return false;
}

TEST(broom_growth, a_moved_bin_that_overflows_makes_the_filter_grow_once_more) {
    auto filter =
        *broom_filter::make({.capacity = 500, .hash = hasher{hash_key::from_seed(11)}, .random = repeatable(7)});
    map_that_goes_down remote;
    std::vector<std::uint64_t> stored;
    std::uint64_t key = 0;
    for (; filter.details().growth_done == 0; ++key) {
        ASSERT_TRUE(insert(filter, remote, key));
        stored.push_back(key);
    }
    // The first bin has moved. Growth cannot continue, and the first of the new bins is filled.
    remote.down = true;
    const std::uint64_t end = range_of_bin(0, 2 * filter.details().bins).last;
    for (int refused = 0; refused < 20; ++key) {
        if (filter.hash()(key).position > end) continue;
        if (insert(filter, remote, key)) {
            stored.push_back(key);
        } else {
            ++refused;
        }
    }
    EXPECT_EQ(filter.details().growths, 0u);
    EXPECT_EQ(filter.details().fullest_backyard, 64u);
    remote.down = false;
    for (int more = 0; more < 20; ++key) {
        if (filter.hash()(key).position > end) continue;
        ASSERT_TRUE(insert(filter, remote, key)) << "refused although the filter may grow";
        stored.push_back(key);
        ++more;
    }
    for (const std::uint64_t each : stored) ASSERT_TRUE(filter.may_contain(each));
    const auto sound = filter.audit(remote);
    EXPECT_TRUE(sound) << sound.error().message();
    EXPECT_EQ(filter.stats().keys, stored.size());
}

// A bin with more than two thirds of its backyard in use makes the filter grow. Until growth moves
// that bin, more keys are inserted into it.
TEST(broom_growth, a_crowded_bin_that_has_not_moved_yet_makes_the_filter_grow_only_once) {
    auto filter =
        *broom_filter::make({.capacity = 2000, .hash = hasher{hash_key::from_seed(12)}, .random = repeatable(7)});
    map_that_goes_down remote;
    const std::uint64_t bins = filter.details().bins;
    const std::uint64_t crowded = range_of_bin(bins - 1, bins).first;
    std::uint64_t key = 0;
    const auto insert_next = [&](bool into_crowded) {
        while ((filter.hash()(key).position >= crowded) != into_crowded) ++key;
        ASSERT_TRUE(insert(filter, remote, key++));
    };
    for (int i = 0; i < 1200; ++i) insert_next(false);  // enough for the filter to grow, and to grow again
    while (!filter.is_growing()) insert_next(true);
    EXPECT_LT(filter.stats().keys, 1300u);
    for (int i = 0; i < 5; ++i) insert_next(true);
    for (std::uint64_t i = 0; i < 2 * bins; ++i) insert_next(false);
    for (int i = 0; i < 20; ++i) insert_next(true);  // some overflow, and would begin a growth if one were due
    EXPECT_FALSE(filter.is_growing());
    EXPECT_EQ(filter.details().growths, 1u);
    EXPECT_EQ(filter.details().bins, 2 * bins);
    const auto sound = filter.audit(remote);
    EXPECT_TRUE(sound) << sound.error().message();
}

}  // namespace
}  // namespace genista::broom_growth_test
