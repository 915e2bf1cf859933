// number_set against std::set: the same numbers after every draw and erase, 0 and neighbours among
// them, before and after growth.
#include "lab/workloads/number_set.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "lab/workloads/random.hpp"

namespace genista::lab::number_set_test {
namespace {

void expect_equal(const number_set& set, const std::set<std::uint64_t>& model) {
    ASSERT_EQ(set.size(), model.size());
    std::multiset<std::uint64_t> visited;
    set.for_each([&](std::uint64_t number) { visited.insert(number); });
    EXPECT_EQ(visited, std::multiset<std::uint64_t>(model.begin(), model.end()));
    for (const std::uint64_t each : model) {
        EXPECT_TRUE(set.contains(each)) << each;
        for (const std::uint64_t near : {each - 1, each + 1, each << 32, each >> 32})
            EXPECT_EQ(set.contains(near), model.contains(near)) << near;
    }
}

TEST(number_set, holds_what_was_drawn_and_nothing_else) {
    for (const std::uint64_t range : {std::uint64_t{10}, std::uint64_t{5'000}, std::uint64_t{1} << 60}) {
        for (const std::size_t reserved : {std::size_t{0}, std::size_t{100}, std::size_t{4'000}}) {
            number_set set;
            set.reserve(reserved);
            std::set<std::uint64_t> model;
            random_stream chance{range + reserved};
            expect_equal(set, model);
            for (int i = 0; i < 3'000; ++i) {
                const std::uint64_t number = chance.below(range);
                ASSERT_EQ(set.insert(number), model.insert(number).second);
            }
            expect_equal(set, model);
        }
    }
}

TEST(number_set, forgets_what_is_erased_and_nothing_else) {
    for (const std::uint64_t range : {std::uint64_t{10}, std::uint64_t{100}, std::uint64_t{5'000}}) {
        number_set set;
        std::set<std::uint64_t> model;
        random_stream chance{range};
        for (int i = 0; i < 20'000; ++i) {
            const std::uint64_t number = chance.below(range);
            if (chance.below(2) == 0) {
                ASSERT_EQ(set.erase(number), model.erase(number) == 1);
            } else {
                ASSERT_EQ(set.insert(number), model.insert(number).second);
            }
            if (i % 500 == 0) expect_equal(set, model);
        }
        expect_equal(set, model);
        for (std::uint64_t number = 0; number < range; ++number) set.erase(number);
        expect_equal(set, {});
    }
}

TEST(number_set, takes_the_smallest_and_the_largest_number) {
    number_set set;
    EXPECT_FALSE(set.contains(0));
    EXPECT_FALSE(set.contains(~std::uint64_t{0}));
    for (int twice = 0; twice < 2; ++twice) {
        set.insert(0);
        set.insert(~std::uint64_t{0});
    }
    expect_equal(set, {0, ~std::uint64_t{0}});
}

}  // namespace
}  // namespace genista::lab::number_set_test
