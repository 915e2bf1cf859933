// Inserts, erases and checks of counters. See counted.hpp.
#include "filters/succinct/counted.hpp"

namespace genista::succinct {

result<counted> counted::make(std::uint64_t universe) noexcept {
    auto digits = sets::make({.universe = universe, .symbols = symbols});
    if (!digits) return digits.error();
    return counted{*std::move(digits)};
}

// Only a new digit needs memory, and it is written first.
bool counted::follow(const bits::counter_plan& plan, std::uint64_t x) noexcept {
    for (const bits::counter_plan::change& each : plan) {
        const auto set = static_cast<unsigned>(each.position);
        if (each.becomes == bits::digit::none) {
            sets_.erase(set, x);
            continue;
        }
        const unsigned symbol = static_cast<unsigned>(each.becomes) - 1;
        if (&each == plan.begin() && plan.creates()) {
            if (sets_.insert(set, x, symbol) != insert_outcome::inserted) return false;
        } else {
            sets_.change(set, x, symbol);
        }
    }
    return true;
}

namespace {

constexpr unsigned plus = static_cast<unsigned>(bits::digit::plus) - 1;

}  // namespace

bool counted::insert(std::uint64_t x) noexcept {
    if (size_ == most_size) return false;
    // Nearly all elements are new, and then the plan would be to write one digit.
    if (const insert_outcome done = sets_.insert(0, x, plus); done != insert_outcome::already_present) {
        size_ += done == insert_outcome::inserted ? 1 : 0;
        return done == insert_outcome::inserted;
    }
    const auto plan = bits::plan_increment(counter{sets_, x});
    if (!plan || !follow(*plan, x)) return false;
    ++size_;
    return true;
}

bool counted::insert(std::uint64_t x, std::uint64_t times) noexcept {
    if (times > most_size - size_) return false;
    if (times == 0) return true;
    const auto plan = bits::plan_addition(counter{sets_, x}, times);
    if (!plan) return false;
    // Only new digits need memory: they are written first, and removed again if there is no memory
    // for one of them.
    for (const bits::counter_plan::change& each : *plan) {
        if (!plan->creates(each.position)) continue;
        const auto set = static_cast<unsigned>(each.position);
        if (sets_.insert(set, x, static_cast<unsigned>(each.becomes) - 1) == insert_outcome::inserted) continue;
        for (const bits::counter_plan::change& done : *plan) {
            if (&done == &each) break;
            if (plan->creates(done.position)) sets_.erase(static_cast<unsigned>(done.position), x);
        }
        return false;
    }
    for (const bits::counter_plan::change& each : *plan) {
        if (plan->creates(each.position)) continue;
        const auto set = static_cast<unsigned>(each.position);
        if (each.becomes == bits::digit::none) {
            sets_.erase(set, x);
        } else {
            sets_.change(set, x, static_cast<unsigned>(each.becomes) - 1);
        }
    }
    size_ += times;
    return true;
}

bool counted::erase(std::uint64_t x) noexcept {
    // Nearly all counters are one, a plus and nothing above it, and then the plan would be to
    // remove this digit. Without a plan this saves a look-up in the largest set and a kilobyte of
    // empty changes: a quarter of the instructions of an erase.
    const sets::located lowest = sets_.locate(0, x);
    if (!lowest.where.is_there) return false;
    if (lowest.symbol() == plus && !sets_.find(1, x)) {
        sets_.erase(0, lowest);
        --size_;
        return true;
    }
    const auto plan = bits::plan_decrement(counter{sets_, x});
    if (!plan) return false;
    (void)follow(*plan, x);  // creates no digit
    --size_;
    return true;
}

result<counted> counted::from_digits(sets digits) noexcept {
    using bits::digit;
    counted made{std::move(digits)};
    const sets& all = made.sets_;
    std::uint64_t digits_seen = 0;
    bool good = all.shape().symbols == symbols;
    all.each(0, [&](std::uint64_t x, unsigned) {
        // I1 of the counter: the highest digit is plus, and no plus is next to a minus.
        digit below = digit::none, here = digit::none;
        const counter mine{all, x};
        unsigned position = 0;
        for (; position < all.count() && (here = mine.read(position)) != digit::none; ++position) {
            const bool clash =
                (here == digit::plus && below == digit::minus) || (here == digit::minus && below == digit::plus);
            good = good && !clash;
            below = here;
        }
        good = good && below == digit::plus;
        digits_seen += position;
        const std::uint64_t value = good ? bits::value_of(mine) : 0;
        good = good && value <= most_size - made.size_;
        made.size_ += good ? value : 0;
    });
    // A digit in a higher set that no counter reaches is an error.
    if (!good || digits_seen != all.size())
        return error::make(error_code::corrupt, "succinct multiset: digits that are no counters");
    return made;
}

}  // namespace genista::succinct
