// result and error: what they hold, their size, and that an error can be reported when no memory is
// left.
#include "genista/base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/failing_allocator.hpp"

namespace genista::result_test {
namespace {

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
}  // namespace genista::result_test
