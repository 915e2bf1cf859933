// redundant_counter: value, invariant and space in every reachable state, and the cost of
// operations.
#include "bits/redundant_counter.hpp"

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

// Every state reachable with values below 2^12, in both directions.
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
    EXPECT_GT(seen.size(), std::size_t{1} << 12);  // most numbers have several representations
}

// The same states, reached by additions too. From each of them every small addition, and some
// larger ones.
TEST(redundant_counter, an_addition_is_as_many_increments_from_every_state) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, redundant_counter> seen;
    std::vector<redundant_counter> open{redundant_counter{}};
    seen.emplace(std::pair{0u, 0u}, open.back());
    const auto reach = [&](const redundant_counter& to) {
        if (to.value() < 1u << 9 && seen.emplace(std::pair{to.plus(), to.minus()}, to).second) open.push_back(to);
    };
    while (!open.empty()) {
        const redundant_counter from = open.back();
        open.pop_back();
        redundant_counter down = from;
        if (down.decrement()) reach(down);
        for (std::uint64_t times = 1; times < 1u << 11; times += 1 + times / 50) {
            redundant_counter to = from;
            ASSERT_TRUE(to.add(times));
            ASSERT_NO_FATAL_FAILURE(expect_good(to, from.value() + times)) << from.value() << " + " << times;
            reach(to);
        }
    }
    EXPECT_GT(seen.size(), std::size_t{1} << 9);
}

// Large numbers, up and down: an addition touches the digits of `times`, not all digits of the
// counter.
TEST(redundant_counter, an_addition_costs_the_logarithm_of_what_is_added) {
    std::mt19937_64 chance{8};
    for (const unsigned log : {20u, 40u, 59u}) {
        redundant_counter counter = redundant_counter::after_increments(std::uint64_t{1} << log);
        std::uint64_t value = counter.value(), allowed = 2 * (log + 1), touched = 0;
        for (int i = 0; i < 20'000; ++i) {
            const std::uint64_t times = chance() >> (64 - 1 - chance() % 12);
            const std::uint64_t before = counter.digits_read() + counter.digits_written();
            if (chance() % 2 == 0) {
                ASSERT_TRUE(counter.add(times + 1));
                value += times + 1;
                allowed += 4 * std::max<std::uint64_t>(6, static_cast<std::uint64_t>(std::bit_width(times + 1)));
            } else {
                ASSERT_TRUE(counter.decrement());
                --value;
            }
            touched += counter.digits_read() + counter.digits_written() - before;
            allowed += genista::bits::amortised_digits;
            ASSERT_LE(touched, allowed) << "read and written, ones left behind paid for in advance";
            ASSERT_NO_FATAL_FAILURE(expect_good(counter, value));
        }
        EXPECT_GT(value, std::uint64_t{1} << log);
    }
}

TEST(redundant_counter, an_addition_beyond_all_digits_changes_nothing) {
    constexpr std::uint64_t most = (std::uint64_t{1} << genista::bits::most_digits) - 1;
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{100}, most / 2, most - 5, most}) {
        for (const std::uint64_t times : {most - value, most - value + 1, most, most + 1, ~std::uint64_t{0}}) {
            if (times == 0) continue;
            redundant_counter counter = redundant_counter::after_increments(value);
            const bool fits = times <= most - value;
            ASSERT_EQ(counter.add(times), fits) << value << " + " << times;
            expect_good(counter, fits ? value + times : value);
        }
    }
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

// Up and down across a power of two, where a binary counter changes every digit.
TEST(redundant_counter, powers_of_two_are_not_expensive) {
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
    // expect_good itself reads at most 18 digits.
    EXPECT_LE(counter.digits_read() + counter.digits_written() - before,
              40'000 * genista::bits::amortised_digits + 10'000u * 19);
}

TEST(redundant_counter, a_plan_begins_with_the_digit_that_is_created) {
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
