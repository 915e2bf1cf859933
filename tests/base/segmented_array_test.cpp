// segmented_array: elements stay what they are while it grows and shrinks, and a small one is small.
#include "base/segmented_array.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace genista::segmented_array_test {
namespace {

TEST(segmented_array, keeps_its_elements_while_it_grows_and_shrinks) {
    segmented_array<std::uint32_t> all{6};
    EXPECT_EQ(all.room(), 0u);
    for (std::uint32_t size = 1; size <= 1000; ++size) {
        ASSERT_TRUE(all.make_room(size));
        EXPECT_EQ(all[size - 1], 0u) << "new elements are zero";
        all[size - 1] = size;
    }
    for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(all[i], i + 1);
    for (std::uint32_t size = 1000; size > 0; --size) {
        all.give_back(size);
        ASSERT_GE(all.room(), size);
        ASSERT_LT(all.room(), size + all.segment());
        ASSERT_EQ(all[size - 1], size);
    }
}

TEST(segmented_array, a_small_one_is_small) {
    segmented_array<std::uint64_t> all{18};
    ASSERT_TRUE(all.make_room(10));
    EXPECT_LT(all.allocated_bytes(), 512u);
    ASSERT_TRUE(all.make_room(1000));
    EXPECT_LT(all.allocated_bytes(), 32'768u);
    all.give_back(10);
    EXPECT_LT(all.allocated_bytes(), 512u);
}

TEST(segmented_array, tells_what_is_left_of_a_segment) {
    const segmented_array<std::uint64_t> all{4};
    EXPECT_EQ(all.segment(), 16u);
    EXPECT_EQ(all.left_in_segment(0), 16u);
    EXPECT_EQ(all.left_in_segment(15), 1u);
    EXPECT_EQ(all.left_in_segment(33), 15u);
}

}  // namespace
}  // namespace genista::segmented_array_test
