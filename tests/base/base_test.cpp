// The ground floor: buffers, the choice of the instruction set, and result<T> with its errors.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/cpu.hpp"
#include "genista/base/result.hpp"
#include "genista/detail/base/buffer.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/failing_allocator.hpp"

namespace genista::base_test {
namespace {

// ---- buffers and instruction sets ---------------------------------------------------------------

// buffer, and the choice of the instruction set.

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

// ---- result<T> ----------------------------------------------------------------------------------

// result and error: what they hold, their size, and that an error can be reported when no memory is
// left.

static_assert(sizeof(error) == sizeof(void*));
static_assert(sizeof(result<bool>) <= 2 * sizeof(void*));
static_assert(sizeof(result<void>) <= 2 * sizeof(void*));

TEST(result, holds_a_value_that_can_only_be_moved) {
    result<std::unique_ptr<int>> made = std::make_unique<int>(7);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(**made, 7);
    const std::unique_ptr<int> taken = *std::move(made);
    EXPECT_EQ(*taken, 7);
}

TEST(result, holds_an_error_with_its_code_and_message) {
    const result<int> failed = error::make(error_code::invalid_argument, "capacity %d is not in %d..%d", 0, 1, 9);
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error().code(), error_code::invalid_argument);
    EXPECT_EQ(failed.error().message(), "capacity 0 is not in 1..9");
}

TEST(result, of_nothing_is_success_or_an_error) {
    EXPECT_TRUE(result<void>{}.has_value());
    EXPECT_FALSE(result<void>{error::make(error_code::io, "no")}.has_value());
}

TEST(error, long_messages_are_cut_and_stay_strings) {
    const std::string endless(10'000, 'x');
    const error cut = error::make(error_code::io, "%s", endless.c_str());
    EXPECT_LT(cut.message().size(), 300u);
    EXPECT_EQ(cut.message(), endless.substr(0, cut.message().size()));
}

TEST(error, every_code_has_a_name) {
    for (const error_code code : {error_code::invalid_argument, error_code::out_of_memory, error_code::corrupt,
                                  error_code::unsupported, error_code::mismatch, error_code::io, error_code::timeout}) {
        EXPECT_NE(to_string(code), "unknown error");
    }
}

TEST(error, has_a_predicate_for_every_code) {
    EXPECT_TRUE(error::make(error_code::invalid_argument, "x").is_invalid_argument());
    EXPECT_TRUE(error::make(error_code::out_of_memory, "x").is_out_of_memory());
    EXPECT_TRUE(error::make(error_code::corrupt, "x").is_corrupt());
    EXPECT_TRUE(error::make(error_code::unsupported, "x").is_unsupported());
    EXPECT_TRUE(error::make(error_code::mismatch, "x").is_mismatch());
    EXPECT_TRUE(error::make(error_code::io, "x").is_io());
    EXPECT_TRUE(error::make(error_code::timeout, "x").is_timeout());
    EXPECT_FALSE(error::make(error_code::io, "x").is_timeout());
}

TEST(error, copies_outlive_what_they_were_copied_from) {
    std::optional<error> first = error::make(error_code::io, "sector %d", 7);
    error copy = *first;
    error assigned = error::make(error_code::corrupt, "another");
    assigned = copy;
    assigned = *&assigned;  // assigned to itself
    first.reset();
    EXPECT_EQ(copy.message(), "sector 7");
    EXPECT_EQ(assigned.message(), "sector 7");
    EXPECT_EQ(assigned.code(), error_code::io);
}

TEST(error, copies_may_be_dropped_by_any_thread) {
    const error shared = error::make(error_code::io, "shared");
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&shared] {
            for (int n = 0; n < 10'000; ++n) {
                const error copy = shared;
                ASSERT_EQ(copy.message(), "shared");
            }
        });
    }
}

TEST(result, value_or_gives_the_value_or_the_callers_default) {
    EXPECT_EQ(result<int>{7}.value_or(1), 7);
    EXPECT_EQ(result<int>{error::make(error_code::io, "no")}.value_or(1), 1);
    EXPECT_EQ(*result<std::unique_ptr<int>>{std::make_unique<int>(7)}.value_or(nullptr), 7);
}

// Every allocation fails here. Sixteen texts are reserved; beyond them an error still has its code.
TEST(error, can_be_made_without_memory) {
    std::vector<error> made;
    made.reserve(100);
    for (int round = 0; round < 2; ++round) {  // texts that were returned can be used again
        for (int i = 0; i < 20; ++i) {
            const test::failing_allocations armed{0};
            made.push_back(error::make(error_code::out_of_memory, "round %d, error %d", round, i));
        }
        for (std::size_t i = 0; i < made.size(); ++i) {
            EXPECT_TRUE(made[i].is_out_of_memory());
            const std::string own = "round " + std::to_string(round) + ", error " + std::to_string(i);
            EXPECT_EQ(made[i].message(), i < 16 ? own : "out of memory");
        }
        const std::vector<error> copies = made;
        made.clear();
        EXPECT_EQ(copies[15].message(), "round " + std::to_string(round) + ", error 15");
        EXPECT_EQ(copies[19].message(), "out of memory");
    }
}

}  // namespace
}  // namespace genista::base_test
