// counted: a dynamic multiset of elements of [u] in B + o(B) + O(n) bits [ppr05 §4, Theorem 1.1].
//
// Every element has a redundant counter (bits/redundant_counter.hpp). Digit i of the counter of x
// is the symbol of x in set S_i: x_0, x_1 or x_-1 in the paper, "none" if x is not in S_i. Whether
// x is present at all is one look-up in S_1; a count c takes O(1 + log c); an increment or
// decrement changes O(1) sets, amortised.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "bits/redundant_counter.hpp"
#include "filters/succinct/sets.hpp"
#include "genista/base/result.hpp"

namespace genista::succinct {

class counted {
  public:
    static constexpr unsigned symbols = 3;
    static constexpr std::uint64_t most_size = ~std::uint64_t{0} >> 1;  // with repetitions

    [[nodiscard]] static result<counted> make(std::uint64_t universe) noexcept;

    [[nodiscard]] bool contains(std::uint64_t x) const noexcept { return sets_.contains(0, x); }
    [[nodiscard]] std::uint64_t count(std::uint64_t x) const noexcept { return bits::value_of(counter{sets_, x}); }
    // False: no memory, and nothing has changed.
    [[nodiscard]] bool insert(std::uint64_t x) noexcept;
    // Inserts x `times` times at once, in O(1 + log times), amortised. False: no memory, or beyond
    // `most_size` or the limit of a counter (2^62 - 1); nothing has changed.
    [[nodiscard]] bool insert(std::uint64_t x, std::uint64_t times) noexcept;
    // False: x is absent, and nothing has changed.
    [[nodiscard]] bool erase(std::uint64_t x) noexcept;
    // As after make().
    void clear() noexcept {
        sets_.clear();
        size_ = 0;
    }

    [[nodiscard]] std::uint64_t universe() const noexcept { return sets_.shape().universe; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }              // with repetitions
    [[nodiscard]] std::uint64_t distinct() const noexcept { return sets_.size(0); }  // without
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return sets_.allocated_bytes(); }
    [[nodiscard]] const sets& digits() const noexcept { return sets_; }

    // Every x with its count.
    template <class Take>
    void each(Take take) const {
        sets_.each(0, [&](std::uint64_t x, unsigned) { take(x, count(x)); });
    }
    // Takes the digits of a snapshot, which may be anything: an error unless every counter is
    // valid.
    [[nodiscard]] static result<counted> from_digits(sets digits) noexcept;

  private:
    // The digits of one element, in the form that the counter's rules read and write.
    struct counter {
        const sets& in;
        std::uint64_t x;
        [[nodiscard]] bits::digit read(std::size_t position) const noexcept {
            const auto symbol = in.find(static_cast<unsigned>(position), x);
            return symbol ? static_cast<bits::digit>(1 + *symbol) : bits::digit::none;
        }
    };
    explicit counted(sets digits) noexcept : sets_{std::move(digits)} {}
    [[nodiscard]] bool follow(const bits::counter_plan& plan, std::uint64_t x) noexcept;

    sets sets_;
    std::uint64_t size_ = 0;
};

}  // namespace genista::succinct
