// families: hash families with proofs: what a theorem means by "choose h at random from a universal
// class".
//
// The filters' own digests (hasher.hpp) are believed to look random; these functions are *proved*
// to be random enough, each for a stated purpose. u is the universe, m the range, x ≠ y;
// probabilities are over the draw of the function.
//
//     family              promise                                     m         function
//     universal_hash      Pr[h(x) = h(y)] ≤ 1/m                       1..p      scale(a x + b)
//     multiply_shift      Pr[h(x) = h(y)] ≤ 2/m ("2-universal")       2^1..2^W  top of a x, a odd
//     multiply_add_shift  (h(x), h(y)) uniform on [m]²                2^1..2^W  top of a x + b
//                         (strongly universal)
//     polynomial_hash     any K values independent; uniform if m = p  1..p      scale(a_0 + ..
//                                                                               a_{K-1} x^{K-1})
//
//     a ≠ 0 in universal_hash. "top of v" are the top bits of v.
//
// Where each is used: [ppr05 §2] stores h(S) with h universal into [n/ε], 2-universal into [2n/ε],
// or 4-wise independent into a smaller range (reduction.hpp); [ppr05 §6.2] takes check bits from a
// 2-universal family; [ppr05 §6.3] selects keys by a strongly universal function. "2-universal" is
// the paper's word for the factor two, not for pairs.
//
// Each class holds only its coefficients, is made from given ones (so that tests can try all of
// them: tests/hash/families_test.cpp) or drawn with a generator, and needs no table. Keys must lie
// in the universe: below p over a field, below 2^W otherwise. The aliases at the end take any
// 64-bit key.
//
// Next: field.hpp for the arithmetic, reduction.hpp for ranges.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "genista/base/result.hpp"
#include "genista/detail/hash/field.hpp"
#include "genista/hash/key.hpp"

namespace genista {

namespace families_detail {

template <prime_field_type Field>
[[nodiscard]] inline result<void> check_range(std::uint64_t range) noexcept {
    if (range >= 1 && range <= Field::modulus()) return {};
    const auto largest = Field::modulus() >> 64 != 0 ? std::numeric_limits<std::uint64_t>::max()
                                                     : static_cast<std::uint64_t>(Field::modulus());
    return error::make(error_code::invalid_argument, "hash range %llu: allowed are 1 to %llu (the field's size)",
                       static_cast<unsigned long long>(range), static_cast<unsigned long long>(largest));
}

[[nodiscard]] inline result<void> check_bits(unsigned bits, unsigned word_bits) noexcept {
    if (bits >= 1 && bits <= word_bits) return {};
    return error::make(error_code::invalid_argument, "hash range of 2^%u: allowed are 2^1 to 2^%u", bits, word_bits);
}

}  // namespace families_detail

// Universal: for x ≠ y at most one function in m collides (Carter and Wegman, "Universal classes of
// hash functions", 1979). Proof: over a ≠ 0 and all b the pair (a x + b, a y + b) takes each of the
// p (p - 1) ordered pairs of *different* values once. Given the first value, at most ⌈p/m⌉ - 1 ≤ (p
// - 1)/m others share its cell. Hence at most p (p - 1)/m of the p (p - 1) functions collide. (a =
// 0 would be a constant function, which is why it is left out.)
template <prime_field_type Field>
class universal_hash {
  public:
    using value = typename Field::value;

    [[nodiscard]] static result<universal_hash> make(std::uint64_t range, value a, value b) noexcept {
        if (auto checked = families_detail::check_range<Field>(range); !checked) return checked.error();
        if (a == 0 || a >= Field::modulus() || b >= Field::modulus())
            return error::make(error_code::invalid_argument,
                               "universal hash: the factor must be in 1..p-1 and the summand in 0..p-1");
        return universal_hash{range, a, b};
    }

    template <word_generator Generator>
    [[nodiscard]] static result<universal_hash> draw(std::uint64_t range, Generator& generator) {
        value a = 0;
        while (a == 0) a = draw_value<Field>(generator);
        return make(range, a, draw_value<Field>(generator));
    }

    [[nodiscard]] std::uint64_t operator()(std::uint64_t key) const noexcept {
        assert(key < Field::modulus());
        return Field::scale(Field::add(Field::multiply(a_, static_cast<value>(key)), b_), range_);
    }

    [[nodiscard]] std::uint64_t range() const noexcept { return range_; }

  private:
    universal_hash(std::uint64_t range, value a, value b) noexcept : a_{a}, b_{b}, range_{range} {}

    value a_, b_;
    std::uint64_t range_;
};

// K-wise independent: a random polynomial of degree < K (Wegman and Carter, "New hash functions and
// their use in authentication and set equality", 1981). Proof: K points determine the polynomial,
// so its values at any K different keys take each of the p^K vectors once: uniform and independent
// over the field. scale() maps each of them alone, so they stay independent in [m], where a cell
// has probability ⌊p/m⌋/p or ⌈p/m⌉/p: exactly 1/m if m = p, else within a factor 1 ± m/p of it.
// Over 2^89 - 1 that is 1 ± 2^-25 at the largest range, m = 2^64 - 1.
template <prime_field_type Field, std::size_t K>
class polynomial_hash {
  public:
    static_assert(K >= 1, "a polynomial needs a coefficient");
    using value = typename Field::value;
    using coefficients = std::array<value, K>;  // of x^0, x^1, ...

    [[nodiscard]] static result<polynomial_hash> make(std::uint64_t range, const coefficients& a) noexcept {
        if (auto checked = families_detail::check_range<Field>(range); !checked) return checked.error();
        for (const value coefficient : a)
            if (coefficient >= Field::modulus())
                return error::make(error_code::invalid_argument,
                                   "polynomial hash: every coefficient must be in 0..p-1");
        return polynomial_hash{range, a};
    }

    template <word_generator Generator>
    [[nodiscard]] static result<polynomial_hash> draw(std::uint64_t range, Generator& generator) {
        coefficients a;
        for (value& coefficient : a) coefficient = draw_value<Field>(generator);
        return make(range, a);
    }

    // The value in the field, before it is scaled.
    [[nodiscard]] value at(std::uint64_t key) const noexcept {
        assert(key < Field::modulus());
        value sum = a_[K - 1];
        for (std::size_t i = K - 1; i-- > 0;) sum = Field::add(Field::multiply(sum, static_cast<value>(key)), a_[i]);
        return sum;
    }

    [[nodiscard]] std::uint64_t operator()(std::uint64_t key) const noexcept { return Field::scale(at(key), range_); }

    [[nodiscard]] std::uint64_t range() const noexcept { return range_; }

  private:
    polynomial_hash(std::uint64_t range, const coefficients& a) noexcept : a_{a}, range_{range} {}

    coefficients a_;
    std::uint64_t range_;
};

// 2-universal: one multiplication, the top `bits` of a x mod 2^W with a odd (Dietzfelbinger,
// Hagerup, Katajainen, Penttonen, "A reliable randomized algorithm for the closest-pair problem",
// 1997). Proof: h(x) = h(y) needs a (x - y) mod 2^W within 2^(W-bits) of 0 on either side. Write x
// - y = z 2^s with z odd: a z is a uniform odd number, so a z 2^s is uniform among the odd
// multiples of 2^s. Those in the forbidden zone are at most a share 2/2^bits of all; none, if 2^s
// lies outside it.
template <unsigned W>
class multiply_shift {
  public:
    static_assert(W >= 2 && W <= 64, "words have 2 to 64 bits");

    [[nodiscard]] static result<multiply_shift> make(unsigned bits, std::uint64_t a) noexcept {
        if (auto checked = families_detail::check_bits(bits, W); !checked) return checked.error();
        if (a % 2 == 0 || (a & ~mask) != 0)
            return error::make(error_code::invalid_argument, "multiply-shift: factor %llu must be odd and below 2^%u",
                               static_cast<unsigned long long>(a), W);
        return multiply_shift{bits, a};
    }

    template <word_generator Generator>
    [[nodiscard]] static result<multiply_shift> draw(unsigned bits, Generator& generator) {
        return make(bits, (generator() & mask) | 1);
    }

    [[nodiscard]] std::uint64_t operator()(std::uint64_t key) const noexcept {
        assert((key & ~mask) == 0);
        return ((a_ * key) & mask) >> shift_;
    }

    [[nodiscard]] unsigned range_bits() const noexcept { return W - shift_; }

  private:
    static constexpr std::uint64_t mask = ~std::uint64_t{0} >> (64 - W);

    multiply_shift(unsigned bits, std::uint64_t a) noexcept : a_{a}, shift_{W - bits} {}

    std::uint64_t a_;
    unsigned shift_;
};

// Strongly universal: the values of two keys are independent and exactly uniform; the top `bits` of
// a x + b mod 2^2W with a and b uniform below 2^2W (Dietzfelbinger, "Universal hashing and k-wise
// independent random variables via integer arithmetic without primes", 1996; words of W + bits - 1
// bits would suffice). Proof: let x - y = z 2^s with z odd and s < W. The top bits of a x + b and
// of a y + b are independent if, for fixed a y + b (uniform because b is), the top bits of a z 2^s
// are uniform: a z is uniform below 2^2W, and a shift by s ≤ W - 1 leaves the bits from s up
// uniform. The top `bits` ≤ W start at bit 2W - bits ≥ W > s.
template <unsigned W>
class multiply_add_shift {
  public:
    static_assert(W >= 1 && W <= 64, "words have 1 to 64 bits");

    [[nodiscard]] static result<multiply_add_shift> make(unsigned bits, uint128 a, uint128 b) noexcept {
        if (auto checked = families_detail::check_bits(bits, W); !checked) return checked.error();
        if ((a & ~mask) != 0 || (b & ~mask) != 0)
            return error::make(error_code::invalid_argument,
                               "multiply-add-shift: factor and summand must be below 2^%u", 2 * W);
        return multiply_add_shift{bits, a, b};
    }

    template <word_generator Generator>
    [[nodiscard]] static result<multiply_add_shift> draw(unsigned bits, Generator& generator) {
        const uint128 a = two_words(generator), b = two_words(generator);
        return make(bits, a & mask, b & mask);
    }

    [[nodiscard]] std::uint64_t operator()(std::uint64_t key) const noexcept {
        assert(W == 64 || key >> (W % 64) == 0);
        return static_cast<std::uint64_t>(((a_ * key + b_) & mask) >> shift_);
    }

    [[nodiscard]] unsigned range_bits() const noexcept { return 2 * W - shift_; }

  private:
    static constexpr uint128 mask = ~uint128{0} >> (128 - 2 * W);

    template <word_generator Generator>
    static uint128 two_words(Generator& generator) {
        const uint128 high = generator();
        return (high << 64) | generator();
    }

    multiply_add_shift(unsigned bits, uint128 a, uint128 b) noexcept : a_{a}, b_{b}, shift_{2 * W - bits} {}

    uint128 a_, b_;
    unsigned shift_;
};

// For any 64-bit key.
using universal_hash_64 = universal_hash<mersenne_field<89>>;
using two_universal_hash_64 = multiply_shift<64>;
using pairwise_hash_64 = multiply_add_shift<64>;
using four_wise_hash_64 = polynomial_hash<mersenne_field<89>, 4>;

}  // namespace genista
