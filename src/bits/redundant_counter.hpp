// redundant_counter: a counter whose increments and decrements touch O(1) of its digits, amortised,
// at every value.
//
// A binary counter that alternates between 2^k - 1 and 2^k changes k digits each time. [ppr05 §3]
// keeps two tracks, C+ and C-, with C = C+ - C-: an increment adds one to C+, a decrement adds one
// to C-, and additions seldom carry. At each position the two tracks together are one *digit*:
//
//     none     C+_i = C-_i = ⊥     beyond the last 1 of either track: costs no space, and every
//                                  digit above is none, too
//     zero     0 and 0 (or ⊥)
//     plus     C+_i = 1
//     minus    C-_i = 1            both 1 is rule (i): both become 0
//
// The paper's drawing of its rules is lost. These rules are consistent with its proof, for digits
// (i+1, i):
//
//     (i)   plus and minus at one place   → zero
//     (ii)  (plus, minus)                 → (zero, plus)       2 - 1 = 1
//     (iii) (minus, plus)                 → (zero, minus)      mirrored
//
//   I1  No plus is next to a minus. So the highest digit is plus, C- ≤ C+/2, and C+ ≤ 2C.
//   I2  Space: the digits of both tracks that are not ⊥ are at most min(2⌈log C⌉ + 2, C). Where the
//       rules alone would need more, at C = 3 (as 4 - 1) and C = 5 (as 8 - 3), C is stored in
//       binary.
//
// Cost, in digits read and written [Lemma 3.1]: r carries cost 2r and take r ones away; the rest is
// at most 1 digit read at the place where the carry ends, 1 above it, at most 3 more to restore I2,
// and at most 4 written. Each operation adds at most one 1. With a potential of 2 for every 1 an
// operation costs at most 11 digits, amortised (`amortised_digits`).
//
// The caller stores the digits: filters/multiset looks each of them up in a set of its own. An
// operation first reads and makes a plan, then writes the changes of the plan: if there is no room
// for a digit, no operation is half done.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace genista::bits {

enum class digit : unsigned char { none, zero, plus, minus };

inline constexpr std::size_t most_digits = 62;
inline constexpr std::uint64_t amortised_digits = 11;

template <class Tape>
concept digit_tape = requires(const Tape& tape, std::size_t position) {
    { tape.read(position) } -> std::same_as<digit>;
};

// The changes of one operation. A digit that is new (none before) comes first, and there is at most
// one.
class counter_plan {
  public:
    struct change {
        std::size_t position = 0;
        digit becomes = digit::none;
    };
    void write(std::size_t position, digit becomes) noexcept { changes_[size_++] = {position, becomes}; }
    void create(std::size_t position, digit becomes) noexcept {
        changes_[size_++] = changes_[0];
        changes_[0] = {position, becomes};
        creates_ = true;
    }
    [[nodiscard]] bool creates() const noexcept { return creates_; }
    [[nodiscard]] const change* begin() const noexcept { return changes_.data(); }
    [[nodiscard]] const change* end() const noexcept { return changes_.data() + size_; }

  private:
    std::array<change, most_digits + 4> changes_{};
    std::size_t size_ = 0;
    bool creates_ = false;
};

// No plan if all `digits` digits are in use.
template <digit_tape Tape>
[[nodiscard]] std::optional<counter_plan> plan_increment_below(const Tape& tape, std::size_t digits) {
    counter_plan plan;
    std::size_t i = 0;
    digit here = tape.read(0);
    for (; here == digit::plus; here = tape.read(i)) {
        plan.write(i, digit::zero);
        if (++i == digits) return std::nullopt;
    }
    if (here == digit::none) {
        plan.create(i, digit::plus);
    } else if (here == digit::minus) {
        plan.write(
            i,
            digit::zero);  // rule (i), at the lowest digit only: a carry comes from a plus, which is next to no minus
    } else if (tape.read(i + 1) == digit::minus) {
        plan.write(i, digit::minus);  // rule (iii)
        plan.write(i + 1, digit::zero);
    } else {
        plan.write(i, digit::plus);
    }
    return plan;
}
template <digit_tape Tape>
[[nodiscard]] std::optional<counter_plan> plan_increment(const Tape& tape) {
    return plan_increment_below(tape, most_digits);
}

namespace counter_detail {

// The digits of a tape from some position on, as a separate counter.
template <digit_tape Tape>
struct tape_from {
    const Tape& tape;
    std::size_t first;
    [[nodiscard]] digit read(std::size_t position) const { return tape.read(first + position); }
};

// A decrement has made the lowest digit minus, with `second` above it. If this is one of the two
// forms of a small number that need more digits than the number itself (I2), replaces it.
template <digit_tape Tape>
void keep_small(const Tape& tape, digit second, counter_plan& plan) {
    const digit third = second == digit::plus ? digit::none : tape.read(2);
    if (second == digit::zero && third == digit::plus && tape.read(3) == digit::none) {
        plan.write(0, digit::plus);  // 4 - 1 = 3
        plan.write(1, digit::plus);
        plan.write(2, digit::none);
    } else if (second == digit::minus && third == digit::zero && tape.read(3) == digit::plus &&
               tape.read(4) == digit::none) {
        plan.write(0, digit::plus);  // 8 - 2 - 1 = 5
        plan.write(1, digit::zero);
        plan.write(2, digit::plus);
        plan.write(3, digit::none);
    } else {
        plan.write(0, digit::minus);
    }
}

}  // namespace counter_detail

// No plan if the counter is zero.
template <digit_tape Tape>
[[nodiscard]] std::optional<counter_plan> plan_decrement(const Tape& tape) {
    counter_plan plan;
    std::size_t i = 0;
    digit here = tape.read(0);
    if (here == digit::none) return std::nullopt;
    for (; here == digit::minus; here = tape.read(i)) plan.write(i++, digit::zero);
    assert(here != digit::none);  // I1: a plus is above
    if (here == digit::plus) {    // rule (i), at the lowest digit only
        plan.write(i, tape.read(i + 1) == digit::none ? digit::none : digit::zero);
        return plan;
    }
    const digit above = tape.read(i + 1);
    if (above == digit::plus) {  // rule (ii): it may have been the highest
        plan.write(i, digit::plus);
        plan.write(i + 1, tape.read(i + 2) == digit::none ? digit::none : digit::zero);
    } else if (i == 0) {
        counter_detail::keep_small(tape, above, plan);
    } else {
        plan.write(i, digit::minus);
    }
    return plan;
}

// The changes of many increments at once. Several digits may be new, and there may be no room for
// one of them: callers write these first and can undo them.
class addition_plan {
  public:
    void put(std::size_t position, digit before, digit becomes) noexcept {
        if (before != becomes) write(position, becomes, before == digit::none);
    }
    void write(std::size_t position, digit becomes, bool creates) noexcept {
        changes_[size_++] = {position, becomes};
        creates_ |= std::uint64_t{creates} << position;
    }
    [[nodiscard]] bool creates(std::size_t position) const noexcept { return (creates_ >> position & 1) != 0; }
    [[nodiscard]] const counter_plan::change* begin() const noexcept { return changes_.data(); }
    [[nodiscard]] const counter_plan::change* end() const noexcept { return changes_.data() + size_; }

  private:
    std::array<counter_plan::change, most_digits + 1> changes_{};  // each position once
    std::size_t size_ = 0;
    std::uint64_t creates_ = 0;
};

// No plan if more digits would be needed than there are. The digits below `window` (as many as
// `times` has, and some more) are read and written again, all plus or all minus; the carry out of
// them is an increment of the digits above. So it takes O(log times) digits, and amortised O(1)
// more. A counter that lies completely in the window is written in binary, so that I2 holds for
// small numbers.
template <digit_tape Tape>
[[nodiscard]] std::optional<addition_plan> plan_addition(const Tape& tape, std::uint64_t times) {
    constexpr std::size_t least_window = 6;
    if (times >> most_digits != 0) return std::nullopt;
    const std::size_t window = std::max(least_window, static_cast<std::size_t>(std::bit_width(times)));
    assert(window <= most_digits);
    std::array<digit, most_digits> before{};
    std::int64_t sum = static_cast<std::int64_t>(times);  // below 2^63: both parts are below 2^62
    bool ended = false;
    for (std::size_t i = 0; i < window; ++i) {
        before[i] = ended ? digit::none : tape.read(i);
        ended = before[i] == digit::none;
        if (before[i] == digit::plus) sum += std::int64_t{1} << i;
        if (before[i] == digit::minus) sum -= std::int64_t{1} << i;
    }
    const std::int64_t whole = std::int64_t{1} << window;
    const bool is_top = window == most_digits;
    digit above = ended || is_top ? digit::none : tape.read(window);  // its present and then its new value
    const digit above_before = above;

    addition_plan plan;
    if (sum >= whole) {
        if (is_top) return std::nullopt;
        sum -= whole;
        const auto carried = plan_increment_below(counter_detail::tape_from<Tape>{tape, window}, most_digits - window);
        if (!carried) return std::nullopt;
        for (const counter_plan::change& each : *carried) {
            if (each.position == 0) {
                above = each.becomes;
            } else {
                plan.write(window + each.position, each.becomes, carried->creates() && &each == carried->begin());
            }
        }
    }
    // I1 at the boundary: a plus at the window's end below a minus becomes a minus below a zero,
    // and the other way round.
    const std::int64_t half = whole / 2;
    if (above == digit::minus && sum >= half) {
        sum -= whole;
        above = digit::zero;
    } else if (above == digit::plus && sum <= -half) {
        sum += whole;
        above = tape.read(window + 1) == digit::none ? digit::none : digit::zero;
    }
    if (!is_top) plan.put(window, above_before, above);
    const std::uint64_t bits = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const digit one = sum < 0 ? digit::minus : digit::plus;
    for (std::size_t i = 0; i < window; ++i) {
        const bool beyond = above == digit::none && bits >> i == 0;
        plan.put(i, before[i], beyond ? digit::none : (bits >> i & 1) != 0 ? one : digit::zero);
    }
    return plan;
}

// One probe: C = 0 iff C+ has no lowest digit.
template <digit_tape Tape>
[[nodiscard]] bool is_zero(const Tape& tape) {
    return tape.read(0) == digit::none;
}

// C, in O(1 + log C) probes.
template <digit_tape Tape>
[[nodiscard]] std::uint64_t value_of(const Tape& tape) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < most_digits; ++i) {
        const digit here = tape.read(i);
        if (here == digit::none) break;
        if (here == digit::plus) value += std::uint64_t{1} << i;
        if (here == digit::minus) value -= std::uint64_t{1} << i;
    }
    return value;
}

// A counter whose two tracks are two words. It counts the digits that were read and written.
class redundant_counter {
  public:
    // The counter after so many increments from zero, below 2^62: in binary. No digit has been read
    // or written.
    [[nodiscard]] static redundant_counter after_increments(std::uint64_t value) noexcept {
        redundant_counter made;
        made.plus_ = value;
        return made;
    }
    [[nodiscard]] bool is_zero() const noexcept { return bits::is_zero(*this); }
    // False: all digits are in use, and nothing has changed.
    bool increment() noexcept { return follow(plan_increment(*this)); }
    // `times` increments at once.
    bool add(std::uint64_t times) noexcept { return follow(plan_addition(*this, times)); }
    // False: it is zero.
    bool decrement() noexcept { return follow(plan_decrement(*this)); }

    [[nodiscard]] std::uint64_t value() const noexcept { return plus_ - minus_; }  // without probes
    [[nodiscard]] std::uint64_t plus() const noexcept { return plus_; }
    [[nodiscard]] std::uint64_t minus() const noexcept { return minus_; }
    // Digits of both tracks that are 0 or 1.
    [[nodiscard]] unsigned space_bits() const noexcept {
        return static_cast<unsigned>(std::bit_width(plus_) + std::bit_width(minus_));
    }
    [[nodiscard]] std::uint64_t digits_read() const noexcept { return reads_; }
    [[nodiscard]] std::uint64_t digits_written() const noexcept { return writes_; }
    // Checks I1.
    [[nodiscard]] bool is_sound() const noexcept {
        return (plus_ & (minus_ | minus_ << 1 | minus_ >> 1)) == 0 && plus_ >= 2 * minus_;
    }

    [[nodiscard]] digit read(std::size_t position) const noexcept {
        ++reads_;
        const std::uint64_t plus = plus_ >> position;
        if (plus == 0) return digit::none;
        return (plus & 1) != 0 ? digit::plus : (minus_ >> position & 1) != 0 ? digit::minus : digit::zero;
    }

  private:
    template <class Plan>
    bool follow(const std::optional<Plan>& plan) noexcept {
        if (!plan) return false;
        for (const counter_plan::change& each : *plan) {
            ++writes_;
            const std::uint64_t bit = std::uint64_t{1} << each.position;
            plus_ = each.becomes == digit::plus ? plus_ | bit : plus_ & ~bit;
            minus_ = each.becomes == digit::minus ? minus_ | bit : minus_ & ~bit;
        }
        return true;
    }

    std::uint64_t plus_ = 0, minus_ = 0;
    mutable std::uint64_t reads_ = 0;
    std::uint64_t writes_ = 0;
};

}  // namespace genista::bits
