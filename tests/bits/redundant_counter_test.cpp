// redundant_counter: value, invariant and space in every state that can be reached, and what operations cost.
#include "genista/bits/redundant_counter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>

namespace genista::redundant_counter_test {
namespace {

using genista::bits::digit;
using genista::bits::redundant_counter;

std::uint64_t most_space(std::uint64_t value) {
    if (value == 0) return 0;
    const auto log_up = static_cast<std::uint64_t>(std::bit_width(value - 1));
    return std::min(2 * log_up + 2, value);
}

void expect_good(const redundant_counter& counter, std::uint64_t value) {
    ASSERT_EQ(counter.value(), value);
    ASSERT_TRUE(counter.is_sound()) << counter.plus() << " - " << counter.minus();
    ASSERT_LE(counter.space_bits(), most_space(value)) << counter.plus() << " - " << counter.minus();
    ASSERT_EQ(counter.is_zero(), value == 0);
    ASSERT_EQ(genista::bits::value_of(counter), value);
}

// Every state that can be reached with values below 2^12: from each, both ways.
TEST(redundant_counter, every_reachable_state_keeps_the_invariants) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, redundant_counter> seen;
    std::vector<redundant_counter> open{redundant_counter{}};
    seen.emplace(std::pair{0u, 0u}, open.back());
    while (!open.empty()) {
        const redundant_counter from = open.back();
        open.pop_back();
        for (const bool up : {true, false}) {
            redundant_counter to = from;
            const bool moved = up ? to.increment() : to.decrement();
            ASSERT_EQ(moved, up || from.value() > 0);
            if (!moved) {
                ASSERT_EQ(to.value(), 0u);
                continue;
            }
            expect_good(to, up ? from.value() + 1 : from.value() - 1);
            if (to.value() >= 1u << 12) continue;
            if (seen.emplace(std::pair{to.plus(), to.minus()}, to).second) open.push_back(to);
        }
    }
    EXPECT_GT(seen.size(), std::size_t{1} << 12);  // several ways to write most numbers
}

TEST(redundant_counter, is_zero_takes_one_probe) {
    redundant_counter counter;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(counter.increment());
    const auto before = counter.digits_read();
    EXPECT_FALSE(counter.is_zero());
    EXPECT_EQ(counter.digits_read() - before, 1u);
}

TEST(redundant_counter, amortised_cost_has_the_bound_that_the_header_proves) {
    std::mt19937_64 chance{7};
    for (const double up : {0.5, 0.6, 1.0}) {
        redundant_counter counter;
        const std::uint64_t operations = 200'000;
        for (std::uint64_t i = 0; i < operations; ++i) {
            if (std::bernoulli_distribution{up}(chance) || counter.value() == 0) {
                ASSERT_TRUE(counter.increment());
            } else {
                ASSERT_TRUE(counter.decrement());
            }
        }
        EXPECT_LE(counter.digits_read() + counter.digits_written(), genista::bits::amortised_digits * operations);
    }
}

// To and fro across a power of two, where a binary counter changes every digit.
TEST(redundant_counter, powers_of_two_are_not_dear) {
    redundant_counter counter;
    while (counter.value() < (1u << 16) - 1) ASSERT_TRUE(counter.increment());
    const auto before = counter.digits_read() + counter.digits_written();
    for (int i = 0; i < 10'000; ++i) {
        ASSERT_TRUE(counter.increment());
        ASSERT_TRUE(counter.increment());
        ASSERT_TRUE(counter.decrement());
        ASSERT_TRUE(counter.decrement());
        expect_good(counter, (1u << 16) - 1);
    }
    // expect_good reads at most 18 digits itself.
    EXPECT_LE(counter.digits_read() + counter.digits_written() - before,
              40'000 * genista::bits::amortised_digits + 10'000u * 19);
}

TEST(redundant_counter, a_plan_begins_with_the_digit_that_comes_into_being) {
    redundant_counter counter;
    for (int i = 0; i < 1000; ++i) {
        const auto plan = genista::bits::plan_increment(counter);
        ASSERT_TRUE(plan.has_value());
        bool first = true;
        for (const auto& each : *plan) {
            EXPECT_EQ(counter.read(each.position) == digit::none, first && plan->creates());
            first = false;
        }
        ASSERT_TRUE(counter.increment());
    }
}

}  // namespace
}  // namespace genista::redundant_counter_test
