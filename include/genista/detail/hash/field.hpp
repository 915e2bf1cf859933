// field: prime fields, the arithmetic of the hash families of families.hpp, for fields of 7
// elements as well as of 2^89 - 1.
//
// Why: a family is proved over a field that contains the whole universe. Keys of 64 bits need a
// prime p ≥ 2^64, and 2^89 - 1 is the smallest Mersenne prime that is. Over smaller fields the same
// proof can be checked by trying *every* function, so the field is a template parameter and the
// code under test is the code in use:
//
//     mersenne_field<E>         p = 2^E - 1; reduction is a shift and an addition. E = 61 or 89 for
//                               use, 2..19 for tests
//     mersenne_field<E, true>   the same through the two-word product that E > 64 needs: lets tests
//                               try it at E = 5
//     prime_field<P>            any prime P < 2^31 with the plain % operator: the reference for
//                               tests
//
// A field has value, modulus(), add, multiply and scale. Values are in [0, p).
//
// scale(v, m) = floor(v m / p) splits the p values into m cells, each a run of ⌊p/m⌋ or ⌈p/m⌉
// values, for 1 ≤ m ≤ p:
//
//     v     0 1 2 3 4 5 6          p = 7, m = 3
//     cell  0 0 0 1 1 2 2          cell c begins at ⌈c p/m⌉
//
// The proofs of families.hpp rest on that ⌈p/m⌉ alone, so they hold for "mod m" too; this way needs
// no division.
//
// Next: families.hpp.
#pragma once

#include <cassert>
#include <concepts>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include "genista/hash/key.hpp"

namespace genista {

// A generator of uniform 64-bit words, such as std::mt19937_64.
template <class Generator>
concept word_generator = std::uniform_random_bit_generator<Generator> && Generator::min()
== 0 && Generator::max() == std::numeric_limits<std::uint64_t>::max();

template <class Field>
concept prime_field_type = requires(typename Field::value a, std::uint64_t range) {
    { Field::modulus() } -> std::same_as<uint128>;
    { Field::add(a, a) } -> std::same_as<typename Field::value>;
    { Field::multiply(a, a) } -> std::same_as<typename Field::value>;
    { Field::scale(a, range) } -> std::same_as<std::uint64_t>;
};

namespace field_detail {

constexpr bool is_mersenne_exponent(unsigned e) noexcept {
    for (unsigned known : {2u, 3u, 5u, 7u, 13u, 17u, 19u, 31u, 61u, 89u, 107u, 127u})
        if (e == known) return true;
    return false;
}

constexpr bool is_prime(std::uint64_t n) noexcept {
    if (n < 2) return false;
    for (std::uint64_t d = 2; d * d <= n; ++d)
        if (n % d == 0) return false;
    return true;
}

struct product_256 {
    uint128 low, high;
};

// a b in full, out of four products of 64-bit halves.
constexpr product_256 multiply_256(uint128 a, uint128 b) noexcept {
    const uint128 mask = std::numeric_limits<std::uint64_t>::max();
    const uint128 a0 = a & mask, a1 = a >> 64, b0 = b & mask, b1 = b >> 64;
    const uint128 p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
    const uint128 middle = (p00 >> 64) + (p01 & mask) + (p10 & mask);  // < 3 · 2^64: no overflow
    return {(p00 & mask) | (middle << 64), p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64)};
}

}  // namespace field_detail

template <unsigned E, bool Wide = (E > 64)>
struct mersenne_field {
    static_assert(field_detail::is_mersenne_exponent(E), "2^E - 1 must be a prime of at most 127 bits");
    static_assert(Wide || E <= 61, "products of larger values need two words");

    using value = std::conditional_t<Wide, uint128, std::uint64_t>;
    static constexpr value p = (value{1} << E) - 1;

    static constexpr uint128 modulus() noexcept { return p; }

    static constexpr value add(value a, value b) noexcept { return once_below(a + b); }  // < 2p, which fits

    // 2^E ≡ 1, so the bits above E are added to those below. The product is < 2^2E, hence both
    // parts are ≤ p.
    static constexpr value multiply(value a, value b) noexcept {
        const split halves = split_at_e(a, b);
        return once_below(static_cast<value>(halves.above + halves.below));
    }

    // With v m = q 2^E + r = q p + (q + r): the quotient by p is q, plus one if q + r reaches p. As
    // q < m ≤ p and r ≤ p, it never reaches 2p.
    static constexpr std::uint64_t scale(value v, std::uint64_t range) noexcept {
        assert(range >= 1 && range <= modulus());
        const split halves = split_at_e(v, static_cast<value>(range));
        return static_cast<std::uint64_t>(halves.above + reaches_p(static_cast<value>(halves.above + halves.below)));
    }

  private:
    struct split {
        value above, below;
    };

    // 1 or 0, for values below 2p. Without a branch, because random values would mispredict it in
    // every hash.
    static constexpr value reaches_p(value v) noexcept { return static_cast<value>(v + 1) >> E; }
    static constexpr value once_below(value v) noexcept { return static_cast<value>(v + reaches_p(v)) & p; }

    static constexpr split split_at_e(value a, value b) noexcept {
        if constexpr (Wide) {
            const auto [low, high] = field_detail::multiply_256(a, b);
            return {(high << (128 - E)) | (low >> E), low & p};
        } else {
            const uint128 product = static_cast<uint128>(a) * b;
            return {static_cast<value>(product >> E), static_cast<value>(product) & p};
        }
    }
};

template <std::uint64_t P>
struct prime_field {
    static_assert(P < (std::uint64_t{1} << 31) && field_detail::is_prime(P), "P must be a prime below 2^31");

    using value = std::uint64_t;

    static constexpr uint128 modulus() noexcept { return P; }
    static constexpr value add(value a, value b) noexcept { return (a + b) % P; }
    static constexpr value multiply(value a, value b) noexcept { return a * b % P; }
    static constexpr std::uint64_t scale(value v, std::uint64_t range) noexcept {
        assert(range >= 1 && range <= P);
        return v * range / P;
    }
};

// Uniform in [0, p): as many random bits as p has, drawn again while their value is p or more. Less
// than two draws on average.
template <prime_field_type Field, word_generator Generator>
[[nodiscard]] typename Field::value draw_value(Generator& generator) {
    const uint128 modulus = Field::modulus();
    uint128 mask = modulus;
    for (unsigned shift = 1; shift < 128; shift *= 2) mask |= mask >> shift;  // all ones, as long as p
    for (;;) {
        uint128 bits = generator();
        if (modulus >> 64 != 0) bits |= static_cast<uint128>(generator()) << 64;
        bits &= mask;
        if (bits < modulus) return static_cast<typename Field::value>(bits);
    }
}

}  // namespace genista
