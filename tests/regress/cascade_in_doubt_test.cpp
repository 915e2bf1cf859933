// A write of the index failed, and the insert was repeated: the cascade had the key, and did not
// count it. So it took more keys than its capacity, and the next new hash functions had no room for
// them: every later change was an error, erases as well, and mistakes were repaired no more.
#include <gtest/gtest.h>

#include "genista/filters/cascade.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"

namespace genista::cascade_in_doubt_test {
namespace {

// Every third write is done, and its reply is lost.
class losing_map : public memory_map {
  public:
    result<bool> put(const digest& where, key_view key) {
        const auto done = memory_map::put(where, key);
        if (loses && ++writes_ % 3 == 0) return error::make(error_code::io, "reply lost");
        return done;
    }
    bool loses = true;

  private:
    std::uint64_t writes_ = 0;
};

TEST(cascade_in_doubt, a_cascade_takes_no_more_keys_than_a_rebuild_has_room_for) {
    constexpr std::uint64_t capacity = 60;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        auto filter = *cascade_filter::make({.capacity = capacity,
                                             .false_positive_rate = 0.25,
                                             .hash = hasher{hash_key::from_seed(seed)},
                                             .random = repeatable(seed)});
        memory_map records;
        losing_map index;
        with_index remote{records, index};
        std::uint64_t taken = 0;
        for (std::uint64_t key = 0; key < 2 * capacity; ++key) {
            ASSERT_TRUE(records.put(filter.hash()(key), integer_key{key}.view()));
            auto outcome = filter.insert(key, remote);
            for (int again = 0; !outcome && again < 10; ++again) outcome = filter.insert(key, remote);
            if (outcome && *outcome != insert_outcome::full) {
                ++taken;
            } else {
                EXPECT_TRUE(!outcome || key >= capacity) << "full with room for " << key;
                ASSERT_TRUE(records.erase(filter.hash()(key), integer_key{key}.view()));
            }
        }
        EXPECT_EQ(taken, capacity) << seed;
        index.loses = false;
        for (std::uint64_t key = 0; key < capacity; ++key) ASSERT_TRUE(filter.may_contain(key)) << key;
        const auto rebuilt = filter.rebuild(remote);
        ASSERT_TRUE(rebuilt) << seed << ": " << rebuilt.error().message();
        EXPECT_TRUE(filter.audit(remote));
        EXPECT_EQ(*filter.erase(std::uint64_t{1}, remote), erase_outcome::erased);
    }
}

}  // namespace
}  // namespace genista::cascade_in_doubt_test
