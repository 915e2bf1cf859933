// Walks for ppr-counter, over any counter that counts the digits it reads and writes: the redundant
// one, and its rivals.
//
// *Limits.* Let the potential be 2 for every digit that is not zero. By the rules of
// bits/redundant_counter.hpp:
//
//     increment, r carries     reads r + 2, writes r + 1, one digit more: 2r + 3 - 2r + 2 = 5; with
//                              rule (iii) 4
//     decrement, r borrows     rule (ii): reads r + 3, writes r + 2: 5 at the lowest digit: reads
//                              5, writes 1, one digit more: 8; 4 - 1 and 8 - 3 written in binary: 9
//
// So every single increment is at most 5 and every decrement at most 9, potential included, and the
// mean from zero on is at most 9. Both are attained: one digit more in an operation of the most
// expensive kind is seen.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "bits/redundant_counter.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {

inline constexpr std::int64_t most_of_an_increment = 5, most_of_a_decrement = 9;

template <class Counter>
std::uint64_t digits_of(const Counter& counter) {
    return counter.digits_read() + counter.digits_written();
}

struct seen_digits {
    std::uint64_t operations = 0, unsound = 0, too_large = 0, too_expensive = 0, costly_zeros = 0;
    std::int64_t costliest_increment = 0, costliest_decrement = 0;  // with the potential
    double most = 0;  // digits an operation, over any beginning of at least 1000 operations

    // True if it is a counter of this value.
    [[nodiscard]] bool right() const { return unsound == 0 && too_large == 0 && costly_zeros == 0; }
    [[nodiscard]] bool cheap() const { return too_expensive == 0 && most <= double{most_of_a_decrement}; }
    [[nodiscard]] bool kept() const { return right() && cheap(); }
    [[nodiscard]] nlohmann::json row(const std::string& what) const {
        return {{"what", what},
                {"operations", operations},
                {"digits_an_operation", most},
                {"dearest_increment", costliest_increment},
                {"dearest_decrement", costliest_decrement},
                {"unsound", unsound},
                {"too_large", too_large},
                {"too_dear", too_expensive},
                {"kept", kept()}};
    }
};

// A counter in use, with its totals since the start.
template <class Counter>
class counter_walk {
  public:
    explicit counter_walk(Counter from = {}) : counter_{from}, value_{from.value()}, before_{digits_of(from)} {}

    void move(bool up) {
        const std::uint64_t digits = digits_of(counter_);
        const unsigned ones = counter_.ones();
        if (!(up ? counter_.increment() : counter_.decrement())) throw workload_error{"a counter that cannot go on"};
        value_ = up ? value_ + 1 : value_ - 1;
        const auto cost = static_cast<std::int64_t>(digits_of(counter_) - digits) +
                          2 * (static_cast<std::int64_t>(counter_.ones()) - static_cast<std::int64_t>(ones));
        std::int64_t& costliest = up ? seen_.costliest_increment : seen_.costliest_decrement;
        costliest = std::max(costliest, cost);
        seen_.too_expensive += cost > (up ? most_of_an_increment : most_of_a_decrement) ? 1u : 0u;
        ++seen_.operations;
        if (seen_.operations >= 1000) seen_.most = std::max(seen_.most, mean());
        seen_.unsound += counter_.value() != value_ || !counter_.is_sound() ? 1u : 0u;
        seen_.too_large += counter_.space_bits() > most_space() ? 1u : 0u;
    }
    [[nodiscard]] double mean() const {
        return static_cast<double>(digits_of(counter_) - before_) / static_cast<double>(seen_.operations);
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }
    [[nodiscard]] Counter& counter() { return counter_; }
    [[nodiscard]] seen_digits& seen() { return seen_; }

  private:
    [[nodiscard]] std::uint64_t most_space() const {
        if (value_ == 0) return 0;
        return std::min<std::uint64_t>(2 * static_cast<std::uint64_t>(std::bit_width(value_ - 1)) + 2, value_);
    }
    Counter counter_;
    std::uint64_t value_, before_;
    seen_digits seen_{};
};

template <class Counter>
seen_digits up_and_down(std::uint64_t highest) {
    counter_walk<Counter> walk;
    while (walk.value() < highest) walk.move(true);
    while (walk.value() > 0) walk.move(false);
    const auto before = digits_of(walk.counter());
    if (!walk.counter().is_zero() || digits_of(walk.counter()) != before + 1 || walk.counter().decrement())
        ++walk.seen().costly_zeros;
    return walk.seen();
}

// Around every power of two up to 2^highest_power, in steps of 1 to 3, a hundred times each.
template <class Counter>
seen_digits across_powers(unsigned highest_power) {
    counter_walk<Counter> walk;
    for (unsigned power = 1; power <= highest_power; ++power) {
        while (walk.value() < (std::uint64_t{1} << power) - 1) walk.move(true);
        for (unsigned round = 0; round < 300; ++round) {
            const unsigned steps = 1 + round % 3;
            for (unsigned i = 0; i < steps; ++i) walk.move(true);
            for (unsigned i = 0; i < steps; ++i) walk.move(false);
        }
    }
    return walk.seen();
}

template <class Counter>
seen_digits random_walk(double up, std::uint64_t steps, std::uint64_t seed) {
    counter_walk<Counter> walk;
    random_stream chance{seed};
    for (std::uint64_t i = 0; i < steps; ++i) walk.move(walk.value() == 0 || chance.unit() < up);
    return walk.seen();
}

// Tries both ways on copies and takes the more expensive; first it counts up, to have digits to
// change.
template <class Counter>
seen_digits greedy_walk(std::uint64_t climb, std::uint64_t steps) {
    counter_walk<Counter> walk;
    while (walk.value() < climb) walk.move(true);
    for (std::uint64_t i = 0; i < steps; ++i) {
        Counter up = walk.counter(), down = walk.counter();
        (void)up.increment();
        (void)down.decrement();
        walk.move(walk.value() == 0 || digits_of(up) >= digits_of(down));
    }
    return walk.seen();
}

// To and fro a thousand times from a value, however large: counters begin in the state after so
// many increments.
template <class Counter>
seen_digits to_and_fro(std::uint64_t value) {
    counter_walk<Counter> walk{Counter::after_increments(value)};
    for (int i = 0; i < 1000; ++i) {
        walk.move(true);
        walk.move(false);
    }
    return walk.seen();
}

// The structure under test, with the interface of the walks.
class redundant_walker : public bits::redundant_counter {
  public:
    redundant_walker() = default;
    explicit redundant_walker(const bits::redundant_counter& from) : bits::redundant_counter{from} {}
    [[nodiscard]] static redundant_walker after_increments(std::uint64_t value) {
        return redundant_walker{bits::redundant_counter::after_increments(value)};
    }
    [[nodiscard]] unsigned ones() const noexcept {
        return static_cast<unsigned>(std::popcount(plus()) + std::popcount(minus()));
    }
};

// A binary counter: cheap while it counts in one direction.
class binary_walker {
  public:
    [[nodiscard]] static binary_walker after_increments(std::uint64_t value) {
        binary_walker made;
        made.value_ = value;
        return made;
    }
    bool increment() noexcept { return to(value_ + 1); }
    bool decrement() noexcept { return value_ != 0 && to(value_ - 1); }
    [[nodiscard]] bool is_zero() const noexcept {
        ++digits_;
        return value_ == 0;
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }
    [[nodiscard]] bool is_sound() const noexcept { return true; }
    [[nodiscard]] unsigned space_bits() const noexcept { return static_cast<unsigned>(std::bit_width(value_)); }
    [[nodiscard]] unsigned ones() const noexcept { return static_cast<unsigned>(std::popcount(value_)); }
    [[nodiscard]] std::uint64_t digits_read() const noexcept { return digits_; }
    [[nodiscard]] std::uint64_t digits_written() const noexcept { return digits_; }

  private:
    bool to(std::uint64_t next) noexcept {  // every digit that changes is read, and written
        digits_ += static_cast<std::uint64_t>(std::popcount(value_ ^ next));
        value_ = next;
        return true;
    }
    std::uint64_t value_ = 0;
    mutable std::uint64_t digits_ = 0;
};

// Non-adjacent form, a signed code with a stricter invariant. Only its writes are counted, in its
// favour.
class naf_walker {
  public:
    [[nodiscard]] static naf_walker after_increments(std::uint64_t value) {
        naf_walker made;
        made.value_ = value;
        return made;
    }
    bool increment() noexcept { return to(value_ + 1); }
    bool decrement() noexcept { return value_ != 0 && to(value_ - 1); }
    [[nodiscard]] bool is_zero() const noexcept {
        ++reads_;
        return value_ == 0;
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }
    [[nodiscard]] bool is_sound() const noexcept { return true; }
    [[nodiscard]] unsigned space_bits() const noexcept { return 0; }  // its space is not judged
    [[nodiscard]] unsigned ones() const noexcept {
        return static_cast<unsigned>(std::popcount(plus(value_)) + std::popcount(minus(value_)));
    }
    [[nodiscard]] std::uint64_t digits_read() const noexcept { return reads_; }
    [[nodiscard]] std::uint64_t digits_written() const noexcept { return writes_; }

  private:
    static std::uint64_t plus(std::uint64_t x) noexcept { return (3 * x & ~x) >> 1; }
    static std::uint64_t minus(std::uint64_t x) noexcept { return (~(3 * x) & x) >> 1; }
    bool to(std::uint64_t next) noexcept {
        writes_ +=
            static_cast<std::uint64_t>(std::popcount((plus(value_) ^ plus(next)) | (minus(value_) ^ minus(next))));
        value_ = next;
        return true;
    }
    std::uint64_t value_ = 0, writes_ = 0;
    mutable std::uint64_t reads_ = 0;
};

}  // namespace genista::lab
