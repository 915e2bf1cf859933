// The experiments on succinct filters see a defect of 15 %: each planted defect changes the
// verdict.
#include <gtest/gtest.h>

#include "lab/experiments/ppr_counter.hpp"
#include "lab/experiments/ppr_shared.hpp"

namespace genista::lab::ppr_defects_test {
namespace {

// Reads a digit too many, every seventh time: 15 % of the operations.
class wasteful_walker : public redundant_walker {
  public:
    using redundant_walker::redundant_walker;
    bool increment() noexcept { return waste() && redundant_walker::increment(); }
    bool decrement() noexcept { return waste() && redundant_walker::decrement(); }

  private:
    bool waste() noexcept {
        if (++operations_ % 7 == 0) (void)read(0);
        return true;
    }
    std::uint64_t operations_ = 0;
};

// Rules (ii) and (iii) left out: a decrement of an even number puts a minus beside any digit.
class lawless_walker {
  public:
    bool increment() noexcept { return move(plus_, minus_); }
    bool decrement() noexcept { return value() != 0 && move(minus_, plus_); }
    [[nodiscard]] bool is_zero() const noexcept { return value() == 0; }
    [[nodiscard]] std::uint64_t value() const noexcept { return plus_ - minus_; }
    [[nodiscard]] bool is_sound() const noexcept { return true; }
    [[nodiscard]] unsigned space_bits() const noexcept {
        return static_cast<unsigned>(std::bit_width(plus_) + std::bit_width(minus_));
    }
    [[nodiscard]] unsigned ones() const noexcept { return 0; }
    [[nodiscard]] std::uint64_t digits_read() const noexcept { return 0; }
    [[nodiscard]] std::uint64_t digits_written() const noexcept { return 0; }

  private:
    static bool move(std::uint64_t& up, std::uint64_t& other) noexcept {
        ++up;
        const std::uint64_t both = up & other;  // rule (i)
        up &= ~both, other &= ~both;
        return true;
    }
    std::uint64_t plus_ = 0, minus_ = 0;
};

TEST(ppr_counter_defects, one_digit_too_many_in_seven_operations_is_seen) {
    EXPECT_TRUE(up_and_down<redundant_walker>(1'000).kept());
    EXPECT_TRUE(random_walk<redundant_walker>(0.5, 10'000, 1).kept());
    EXPECT_FALSE(up_and_down<wasteful_walker>(1'000).kept());
    EXPECT_FALSE(random_walk<wasteful_walker>(0.5, 10'000, 1).kept());
}

TEST(ppr_counter_defects, a_counter_without_its_rules_takes_too_much_space) {
    EXPECT_EQ(random_walk<redundant_walker>(0.5, 10'000, 1).too_large, 0u);
    EXPECT_GT(random_walk<lawless_walker>(0.5, 10'000, 1).too_large, 0u);
}

TEST(ppr_counter_defects, counters_begin_in_the_state_after_their_increments) {
    redundant_walker climbed;
    for (std::uint64_t value = 0; value < 5'000; ++value) {
        const auto there = redundant_walker::after_increments(value);
        ASSERT_EQ(climbed.plus(), there.plus());
        ASSERT_EQ(climbed.minus(), there.minus());
        ASSERT_TRUE(climbed.increment());
    }
}

TEST(ppr_counter_defects, rivals_pass_in_one_direction_and_fail_to_and_fro) {
    EXPECT_LE(up_and_down<binary_walker>(10'000).most, double{most_of_a_decrement});
    EXPECT_LE(up_and_down<naf_walker>(10'000).most, double{most_of_a_decrement});
    EXPECT_FALSE(to_and_fro<binary_walker>((1u << 20) - 1).cheap());
    EXPECT_FALSE(to_and_fro<naf_walker>(((1u << 20) - 1) / 3).cheap());
    EXPECT_TRUE(to_and_fro<redundant_walker>((1u << 20) - 1).kept());
}

TEST(ppr_lossy_defects, a_bound_on_stored_keys_that_is_15_percent_too_large_is_seen) {
    EXPECT_TRUE(refill_lossy(20'000, 0.5, 1).kept());
    EXPECT_TRUE(refill_overfull(20'000, 0.5, 1, 1).kept());
    EXPECT_FALSE(refill_overfull(20'000, 0.5, 1.15, 1).kept());
}

}  // namespace
}  // namespace genista::lab::ppr_defects_test
