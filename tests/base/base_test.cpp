// buffer, and the choice of the instruction set.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "base/cpu.hpp"
#include "genista/detail/base/buffer.hpp"
#include "tests/support/every_isa.hpp"

namespace genista::base_test {
namespace {

TEST(buffer, is_zeroed_aligned_and_accounted_at_every_size) {
    for (const std::uint64_t size :
         {1ull, 63ull, 64ull, 65ull, 4096ull, (2ull << 20) - 1, 2ull << 20, (2ull << 20) + 1, 9ull << 20}) {
        auto made = buffer::zeroed(size);
        ASSERT_TRUE(made.has_value()) << size;
        EXPECT_EQ(made->size_bytes(), size);
        EXPECT_GE(made->allocated_bytes(), size);
        EXPECT_LT(made->allocated_bytes(), size + 4096);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made->data()) % buffer::alignment, 0u);
        for (const std::byte b : made->bytes()) ASSERT_EQ(b, std::byte{0});
        std::memset(made->data(), 0xff, made->size_bytes());
    }
}

TEST(buffer, that_huge_pages_can_cover_begins_where_one_begins) {
    for (const std::uint64_t size : {2ull << 20, (2ull << 20) + 1, 5ull << 20}) {
        const auto made = buffer::zeroed(size);
        ASSERT_TRUE(made.has_value());
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made->data()) % buffer::huge_page, 0u);
        EXPECT_EQ(made->allocated_bytes(), buffer::bytes_for(size));
    }
}

TEST(buffer, gives_back_whole_pieces_from_the_front_and_counts_what_is_left) {
    for (const std::uint64_t size :
         {std::uint64_t{buffer::least_mapping}, std::uint64_t{300'001}, std::uint64_t{7} << 20}) {
        auto made = *buffer::zeroed(size);
        std::memset(made.data(), 0xff, size);
        const std::size_t piece = buffer::piece_for(size);
        const std::size_t all = made.allocated_bytes();
        made.give_pages_back(piece - 1);
        EXPECT_EQ(made.allocated_bytes(), all);
        for (int twice = 0; twice < 2; ++twice) {
            made.give_pages_back(2 * piece + 17);
            EXPECT_EQ(made.allocated_bytes(), all - 2 * piece);
        }
        for (std::size_t i = 0; i < size; i += 511)
            ASSERT_EQ(made.data()[i], i < 2 * piece ? std::byte{0} : std::byte{0xff}) << i;
        made.give_pages_back();
        EXPECT_EQ(made.allocated_bytes(), 0u);
        for (std::size_t i = 0; i < size; i += 511) ASSERT_EQ(made.data()[i], std::byte{0});
    }
    auto small = *buffer::zeroed(buffer::least_mapping - 1);
    std::memset(small.data(), 0xff, small.size_bytes());
    small.give_pages_back();
    EXPECT_EQ(small.allocated_bytes(), std::size_t{buffer::least_mapping});
    EXPECT_EQ(small.data()[0], std::byte{0xff});
}

TEST(buffer, untouched_counts_the_pages_that_were_taken) {
    for (const std::uint64_t size : {std::uint64_t{300'001}, (std::uint64_t{6} << 20) + 1}) {
        auto made = *buffer::untouched(size);
        const std::size_t piece = buffer::piece_for(size);
        EXPECT_EQ(made.allocated_bytes(), 0u);
        made.take_pages(1);
        EXPECT_EQ(made.allocated_bytes(), piece);
        made.data()[0] = std::byte{1};
        made.take_pages(piece + 1);
        EXPECT_EQ(made.allocated_bytes(), 2 * piece);
        EXPECT_EQ(made.data()[0], std::byte{1}) << "taking pages has overwritten some";
        made.give_pages_back(piece);
        EXPECT_EQ(made.allocated_bytes(), piece);
        made.take_pages(made.size_bytes());
        EXPECT_EQ(made.allocated_bytes(), buffer::bytes_for(size) - piece);
    }
}

TEST(buffer, of_nothing_is_empty) {
    const auto made = buffer::zeroed(0);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->size_bytes(), 0u);
    EXPECT_EQ(made->allocated_bytes(), 0u);
}

TEST(buffer, that_cannot_be_allocated_is_an_error_that_names_the_size) {
    for (const std::uint64_t size : {~std::uint64_t{0}, std::uint64_t{1} << 62, std::uint64_t{1} << 60}) {
        const auto made = buffer::zeroed(size);
        ASSERT_FALSE(made.has_value());
        EXPECT_EQ(made.error().code(), error_code::out_of_memory);
        EXPECT_NE(made.error().message().find(std::to_string(size)), std::string_view::npos);
    }
}

TEST(buffer, moves_without_copying) {
    auto made = buffer::zeroed(100);
    ASSERT_TRUE(made.has_value());
    const std::byte* address = made->data();
    buffer taken = *std::move(made);
    EXPECT_EQ(taken.data(), address);
    buffer assigned;
    assigned = std::move(taken);
    EXPECT_EQ(assigned.data(), address);
}

TEST(isa, can_be_overridden_downwards_only) {
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        EXPECT_EQ(active_isa(), level);
    }
    const test::scoped_isa scope{isa::avx512};
    EXPECT_LE(active_isa(), best_isa());
}

}  // namespace
}  // namespace genista::base_test
