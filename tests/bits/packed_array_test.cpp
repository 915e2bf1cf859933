// packed_array.hpp: entries of every width compared with a vector of numbers, exact sizes, and
// sizes that must be refused.
#include "bits/packed_array.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace genista::bits::packed_array_test {
namespace {

TEST(packed_array, entries_of_every_width_keep_their_values_and_their_neighbours) {
    std::mt19937_64 random{21};
    for (std::size_t width = 1; width <= 64; ++width) {
        const std::uint64_t size = 131;
        auto made = packed_array::make(size, width);
        ASSERT_TRUE(made);
        std::vector<std::uint64_t> model(size, 0);
        for (int change = 0; change < 300; ++change) {
            const std::uint64_t index = random() % size, value = random() & low_mask(width);
            made->set(index, value);
            model[index] = value;
            for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ((*made)[i], model[i]) << width << " " << i;
        }
    }
}

TEST(packed_array, the_bytes_are_counted_exactly) {
    struct expectation {
        std::uint64_t size, width, bytes;
    };
    for (const auto& [size, width, bytes] : {expectation{0, 7, 0},
                                             {1, 1, 8},
                                             {64, 1, 8},
                                             {65, 1, 16},
                                             {63, 1, 8},
                                             {16, 8, 16},
                                             {17, 8, 24},
                                             {3, 64, 24},
                                             {1000, 13, 1632}}) {
        const auto made = packed_array::make(size, width);
        ASSERT_TRUE(made);
        EXPECT_EQ(made->size_bytes(), bytes) << size << " x " << width;
        EXPECT_GE(made->allocated_bytes(), bytes);
        EXPECT_EQ(made->size(), size);
        EXPECT_EQ(made->width_bits(), width);
    }
}

TEST(packed_array, the_last_entry_ends_in_the_last_word) {
    auto made = packed_array::make(64, 63);  // 63 words; the last entry does not straddle two
    ASSERT_TRUE(made);
    EXPECT_EQ(made->size_bytes(), 63 * 8u);
    made->set(63, made->largest_value());
    EXPECT_EQ((*made)[63], made->largest_value());
    EXPECT_EQ((*made)[62], 0u);
}

TEST(packed_array, impossible_widths_and_sizes_are_refused_by_name) {
    for (const std::uint64_t width : {std::uint64_t{0}, std::uint64_t{65}, ~std::uint64_t{0}}) {
        const auto made = packed_array::make(10, width);
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code(), error_code::invalid_argument);
        EXPECT_NE(made.error().message().find(std::to_string(width)), std::string_view::npos);
        EXPECT_NE(made.error().message().find("1 to 64"), std::string_view::npos);
    }
    const auto overflowing = packed_array::make(std::uint64_t{1} << 60, 16);  // 2^64 bits
    ASSERT_FALSE(overflowing);
    EXPECT_EQ(overflowing.error().code(), error_code::invalid_argument);
    const auto huge = packed_array::make((std::uint64_t{1} << 60) - 1, 16);  // valid, but no machine has it
    ASSERT_FALSE(huge);
    EXPECT_EQ(huge.error().code(), error_code::out_of_memory);
}

}  // namespace
}  // namespace genista::bits::packed_array_test
