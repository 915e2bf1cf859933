// Packed structures of bits against reference models: arrays, redundant counters, bit strings.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/cpu.hpp"
#include "bits/packed_array.hpp"
#include "bits/redundant_counter.hpp"
#include "lab/scalar/bit_strings_workloads.hpp"

namespace genista::bits::packed_array_test {
namespace {

// ---- packed_array -------------------------------------------------------------------------------

// packed_array.hpp: entries of every width compared with a vector of numbers, exact sizes, and
// sizes that must be refused.

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

namespace genista::packed_array_test {
namespace {

// ---- redundant_counter --------------------------------------------------------------------------

// redundant_counter: value, invariant and space in every reachable state, and the cost of
// operations.

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
}  // namespace genista::packed_array_test

namespace genista::bits::packed_array_test {
namespace {

// ---- bit_strings --------------------------------------------------------------------------------

// bit_strings.hpp under random operations, full to the last slot, for one to four words and both
// kernels. The reference model is compared after every operation. Also the promise of a constant
// number of word steps.

using namespace genista::lab;

template <class Strings>
void expect_chance_finds_no_mismatch(std::uint64_t seed) {
    random_bit_strings_workload<Strings> workload{seed};
    for (int i = 0; i < 20'000; ++i) workload.step();
    for (std::size_t i = 0; i < workload.driver.counts.of.size(); ++i) {
        EXPECT_GT(workload.driver.counts.of[i].cases, 100u) << bit_strings_operation_names[i];
        EXPECT_EQ(workload.driver.counts.of[i].mismatches, 0u) << bit_strings_operation_names[i];
    }
}

TEST(bit_strings_model, one_word_portable) {
    expect_chance_finds_no_mismatch<bit_strings<1>>(41);
}
TEST(bit_strings_model, two_words_portable) {
    expect_chance_finds_no_mismatch<bit_strings<2>>(42);
}
TEST(bit_strings_model, three_words_portable) {
    expect_chance_finds_no_mismatch<bit_strings<3>>(43);
}
TEST(bit_strings_model, four_words_portable) {
    expect_chance_finds_no_mismatch<bit_strings<4>>(44);
}

TEST(bit_strings_model, one_to_four_words_with_bmi2) {
    if (best_isa() < isa::avx2) GTEST_SKIP() << "this processor has no BMI2";
    expect_chance_finds_no_mismatch<bit_strings<1, bmi2_words>>(45);
    expect_chance_finds_no_mismatch<bit_strings<2, bmi2_words>>(46);
    expect_chance_finds_no_mismatch<bit_strings<3, bmi2_words>>(47);
    expect_chance_finds_no_mismatch<bit_strings<4, bmi2_words>>(48);
}

// The largest number of steps of each operation must be the same for every shape of the strings,
// and below the bound that bit_strings.hpp states.
template <std::size_t Words>
void expect_steps_do_not_depend_on_the_strings() {
    using strings = bit_strings<Words, counted<portable_words>>;
    bit_strings_counts first_shape;
    for (std::size_t slots = 16; slots <= strings::slots; slots *= 2)
        for (std::size_t count = 2; count <= slots - 3; count = count * 3 / 2) {
            random_bit_strings_workload<strings> workload{slots + count};
            for (int i = 0; i < 3; ++i) {
                workload.fill_exactly(slots - 3, count);
                workload.each_operation_once();
            }
            const bit_strings_counts& counts = workload.driver.counts;
            ASSERT_EQ(counts.mismatches(), 0u);
            if (first_shape.cases() == 0) first_shape = counts;
            for (std::size_t i = 0; i < counts.of.size(); ++i) {
                EXPECT_EQ(counts.of[i].steps_max, first_shape.of[i].steps_max)
                    << bit_strings_operation_names[i] << " with " << count << " strings in " << slots << " slots";
                EXPECT_LE(counts.of[i].steps_max, step_bound_of<strings>(bit_strings_operation{i}))
                    << bit_strings_operation_names[i];
            }
        }
}

TEST(bit_strings_model, the_number_of_word_steps_does_not_depend_on_the_strings) {
    expect_steps_do_not_depend_on_the_strings<1>();
    expect_steps_do_not_depend_on_the_strings<2>();
    expect_steps_do_not_depend_on_the_strings<3>();
    expect_steps_do_not_depend_on_the_strings<4>();
}

}  // namespace
}  // namespace genista::bits::packed_array_test
