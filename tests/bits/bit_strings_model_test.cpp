// bit_strings.hpp under random operations, full to the last slot, for one to four words and both
// kernels. The reference model is compared after every operation. Also the promise of a constant
// number of word steps.
#include <gtest/gtest.h>

#include "base/cpu.hpp"
#include "lab/scalar/bit_strings_workloads.hpp"

namespace genista::bits::bit_strings_model_test {
namespace {

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
}  // namespace genista::bits::bit_strings_model_test
