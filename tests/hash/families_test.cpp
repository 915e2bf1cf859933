// The hash families, exhaustively: every function over small universes, every pair (every 4-tuple)
// of keys, every range. The arithmetic of the large fields is compared with a slow version, because
// 2^178 functions are too many to try.
#include "genista/detail/hash/families.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace genista::families_test {
namespace {

// ---- fields ----

template <class Field, class Reference>
void expect_the_same_arithmetic() {
    ASSERT_EQ(Field::modulus(), Reference::modulus());
    const auto p = static_cast<std::uint64_t>(Reference::modulus());
    for (std::uint64_t a = 0; a < p; ++a) {
        for (std::uint64_t b = 0; b < p; ++b) {
            const auto left = static_cast<typename Field::value>(a), right = static_cast<typename Field::value>(b);
            ASSERT_TRUE(Field::add(left, right) == Reference::add(a, b)) << a << " + " << b;
            ASSERT_TRUE(Field::multiply(left, right) == Reference::multiply(a, b)) << a << " * " << b;
        }
        for (std::uint64_t range = 1; range <= p; ++range)
            ASSERT_EQ(Field::scale(static_cast<typename Field::value>(a), range), Reference::scale(a, range));
    }
}

TEST(field, mersenne_reduction_equals_the_remainder_for_all_operands) {
    expect_the_same_arithmetic<mersenne_field<2>, prime_field<3>>();
    expect_the_same_arithmetic<mersenne_field<3>, prime_field<7>>();
    expect_the_same_arithmetic<mersenne_field<5>, prime_field<31>>();
    expect_the_same_arithmetic<mersenne_field<7>, prime_field<127>>();
    expect_the_same_arithmetic<mersenne_field<5, true>, prime_field<31>>();
    expect_the_same_arithmetic<mersenne_field<7, true>, prime_field<127>>();
}

// a b mod p and floor(a b / p) bit by bit, for any p below 2^127: the slow version of the wide
// field.
struct quotient_and_remainder {
    uint128 quotient, remainder;
};
quotient_and_remainder slow_product(uint128 a, uint128 b, uint128 p) {
    quotient_and_remainder now{0, 0};
    for (int bit = 127; bit >= 0; --bit) {
        now = {now.quotient * 2, now.remainder * 2};
        if (now.remainder >= p) now = {now.quotient + 1, now.remainder - p};
        if ((b >> bit & 1) == 0) continue;
        now.remainder += a % p;
        now.quotient += a / p;
        if (now.remainder >= p) now = {now.quotient + 1, now.remainder - p};
    }
    return now;
}

template <class Field>
void expect_the_slow_products() {
    const uint128 p = Field::modulus();
    std::mt19937_64 random{5};
    std::vector<typename Field::value> values{0,
                                              1,
                                              2,
                                              static_cast<typename Field::value>(p - 1),
                                              static_cast<typename Field::value>(p - 2),
                                              static_cast<typename Field::value>(p / 2)};
    for (int i = 0; i < 40; ++i) values.push_back(draw_value<Field>(random));
    std::vector<std::uint64_t> ranges{1, 2, 3, 1000, std::uint64_t{1} << 40};
    if (p > ~std::uint64_t{0}) ranges.push_back(~std::uint64_t{0});
    for (const auto a : values) {
        for (const auto b : values) {
            EXPECT_TRUE(Field::multiply(a, b) == slow_product(a, b, p).remainder);
            EXPECT_TRUE(Field::add(a, b) == (uint128{a} + b) % p);
        }
        for (const std::uint64_t range : ranges)
            EXPECT_TRUE(Field::scale(a, range) == slow_product(a, range, p).quotient);
    }
}

TEST(field, large_fields_multiply_and_scale_like_long_division) {
    expect_the_slow_products<mersenne_field<61>>();
    expect_the_slow_products<mersenne_field<61, true>>();
    expect_the_slow_products<mersenne_field<89>>();
    expect_the_slow_products<mersenne_field<107>>();
}

TEST(field, scaling_splits_the_field_into_runs_of_nearly_equal_size) {
    constexpr std::uint64_t p = 127;
    for (std::uint64_t range = 1; range <= p; ++range) {
        std::vector<std::uint64_t> cells(range);
        std::uint64_t before = 0;
        for (std::uint64_t v = 0; v < p; ++v) {
            const std::uint64_t cell = mersenne_field<7>::scale(v, range);
            ASSERT_LT(cell, range);
            ASSERT_GE(cell, before);
            before = cell;
            ++cells[cell];
        }
        for (const std::uint64_t size : cells) {
            EXPECT_GE(size, p / range);
            EXPECT_LE(size, (p + range - 1) / range);
        }
    }
}

// Returns the words it was given, then counts up.
struct scripted_words {
    using result_type = std::uint64_t;
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }
    result_type operator()() { return next++; }
    result_type next = 0;
};

TEST(field, drawing_rejects_instead_of_wrapping_so_that_every_value_is_equally_likely) {
    scripted_words words;  // 0, 1, 2, ...: the low bits run through all patterns equally often
    std::array<int, 13> seen{};
    for (int i = 0; i < 1300; ++i) ++seen[draw_value<prime_field<13>>(words)];
    for (const int count : seen) EXPECT_EQ(count, 100);
    EXPECT_EQ(words.next, 1597u);  // 16 words for every 13 values; the three after the last value were not needed
}

TEST(field, values_of_a_wide_field_use_all_its_bits) {
    std::mt19937_64 random{3};
    uint128 any = 0, all = mersenne_field<89>::modulus();
    for (int i = 0; i < 200; ++i) {
        const uint128 drawn = draw_value<mersenne_field<89>>(random);
        ASSERT_LT(drawn, mersenne_field<89>::modulus());
        any |= drawn;
        all &= drawn;
    }
    EXPECT_TRUE(any == mersenne_field<89>::modulus());
    EXPECT_TRUE(all == 0);
}

// ---- universal ----

template <class Field>
void expect_universal() {
    const auto p = static_cast<std::uint64_t>(Field::modulus());
    for (std::uint64_t range = 1; range <= p; ++range) {
        std::vector<std::uint64_t> collisions(p * p);
        std::uint64_t functions = 0;
        std::vector<std::uint64_t> h(p);
        for (std::uint64_t a = 1; a < p; ++a) {
            for (std::uint64_t b = 0; b < p; ++b, ++functions) {
                const auto made = universal_hash<Field>::make(range, static_cast<typename Field::value>(a),
                                                              static_cast<typename Field::value>(b));
                ASSERT_TRUE(made);
                for (std::uint64_t x = 0; x < p; ++x) h[x] = (*made)(x);
                for (std::uint64_t x = 0; x < p; ++x)
                    for (std::uint64_t y = 0; y < x; ++y) collisions[x * p + y] += h[x] == h[y] ? 1u : 0u;
            }
        }
        for (const std::uint64_t count : collisions) EXPECT_LE(count * range, functions) << "range " << range;
    }
}

TEST(universal_hash, makes_every_pair_collide_for_at_most_one_function_in_m) {
    expect_universal<mersenne_field<3>>();
    expect_universal<prime_field<11>>();
    expect_universal<prime_field<13>>();
    expect_universal<mersenne_field<5>>();
    expect_universal<mersenne_field<5, true>>();
}

TEST(universal_hash, refuses_the_constant_functions_and_ranges_beyond_the_field) {
    using small = universal_hash<mersenne_field<5>>;
    EXPECT_TRUE(small::make(31, 1, 0));
    EXPECT_FALSE(small::make(16, 0, 3));   // a = 0: all keys would collide
    EXPECT_FALSE(small::make(16, 31, 3));  // not a field element
    EXPECT_FALSE(small::make(16, 3, 31));
    EXPECT_FALSE(small::make(0, 3, 3));
    const auto refused = small::make(32, 3, 3);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(), "hash range 32: allowed are 1 to 31 (the field's size)");
}

// ---- 2-universal ----

template <unsigned W>
void expect_2universal() {
    constexpr std::uint64_t universe = std::uint64_t{1} << W;
    for (unsigned bits = 1; bits <= W; ++bits) {
        std::vector<std::uint64_t> collisions(universe * universe);
        std::vector<std::uint64_t> h(universe);
        std::uint64_t functions = 0;
        for (std::uint64_t a = 1; a < universe; a += 2, ++functions) {
            const auto made = multiply_shift<W>::make(bits, a);
            ASSERT_TRUE(made);
            for (std::uint64_t x = 0; x < universe; ++x) {
                h[x] = (*made)(x);
                ASSERT_EQ(h[x] >> bits, 0u);
            }
            for (std::uint64_t x = 0; x < universe; ++x)
                for (std::uint64_t y = 0; y < x; ++y) collisions[x * universe + y] += h[x] == h[y] ? 1u : 0u;
        }
        const std::uint64_t worst = *std::max_element(collisions.begin(), collisions.end());
        EXPECT_LE(worst << bits, 2 * functions);
        // The factor two is necessary: without it the promise would be false.
        if (bits > 1 && bits + 1 < W) {
            EXPECT_EQ(worst << bits, 2 * functions);
        }
    }
}

TEST(multiply_shift, makes_every_pair_collide_for_at_most_two_functions_in_m) {
    expect_2universal<2>();
    expect_2universal<4>();
    expect_2universal<7>();
}

TEST(multiply_shift, refuses_even_factors_and_impossible_ranges) {
    EXPECT_TRUE(multiply_shift<64>::make(64, 1));
    EXPECT_FALSE(multiply_shift<64>::make(8, 2));
    EXPECT_FALSE(multiply_shift<8>::make(8, 257));
    EXPECT_FALSE(multiply_shift<64>::make(0, 1));
    EXPECT_FALSE(multiply_shift<64>::make(65, 1));
}

// ---- strongly universal ----

template <unsigned W>
void expect_strongly_universal() {
    constexpr std::uint64_t universe = std::uint64_t{1} << W, words = std::uint64_t{1} << 2 * W;
    for (unsigned bits = 1; bits <= W; ++bits) {
        const std::uint64_t range = std::uint64_t{1} << bits;
        for (std::uint64_t x = 0; x < universe; ++x) {
            for (std::uint64_t y = 0; y < x; ++y) {
                std::vector<std::uint64_t> joint(range * range);
                for (std::uint64_t a = 0; a < words; ++a)
                    for (std::uint64_t b = 0; b < words; ++b) {
                        const auto made = multiply_add_shift<W>::make(bits, a, b);
                        ++joint[(*made)(x)*range + (*made)(y)];
                    }
                for (const std::uint64_t count : joint) ASSERT_EQ(count, words * words / (range * range));
            }
        }
    }
}

TEST(multiply_add_shift, gives_every_pair_of_values_equally_often) {
    expect_strongly_universal<1>();
    expect_strongly_universal<2>();
    expect_strongly_universal<3>();
}

TEST(multiply_add_shift, of_64_bits_keeps_its_arithmetic_modulo_2_to_the_128) {
    const uint128 a = (uint128{0x0123456789abcdef} << 64) | 0xfedcba9876543211;
    const uint128 b = ~uint128{0};
    const auto made = multiply_add_shift<64>::make(64, a, b);
    ASSERT_TRUE(made);
    const std::uint64_t key = 0xdeadbeefcafef00d;
    EXPECT_EQ((*made)(key), static_cast<std::uint64_t>((a * key + b) >> 64));
    EXPECT_EQ((*multiply_add_shift<64>::make(1, a, b))(key), (*made)(key) >> 63);
}

// ---- k-wise ----

// Visits all p^K coefficient vectors.
template <class Field, std::size_t K, class Visit>
void for_each_polynomial(std::uint64_t range, Visit&& visit) {
    const auto p = static_cast<std::uint64_t>(Field::modulus());
    typename polynomial_hash<Field, K>::coefficients a{};
    for (;;) {
        visit(*polynomial_hash<Field, K>::make(range, a));
        std::size_t i = 0;
        while (i < K && static_cast<std::uint64_t>(++a[i]) == p) a[i++] = 0;
        if (i == K) return;
    }
}

template <class Field>
void expect_4wise_independent() {
    const auto p = static_cast<std::uint64_t>(Field::modulus());
    std::vector<std::vector<std::uint64_t>> values(p);  // values[x][function]
    for_each_polynomial<Field, 4>(p, [&](const auto& h) {
        for (std::uint64_t x = 0; x < p; ++x) values[x].push_back(h(x));
    });
    const std::size_t functions = values[0].size();
    ASSERT_EQ(functions, p * p * p * p);
    std::vector<bool> seen;
    for (std::uint64_t x = 0; x < p; ++x)
        for (std::uint64_t y = 0; y < x; ++y)
            for (std::uint64_t z = 0; z < y; ++z)
                for (std::uint64_t w = 0; w < z; ++w) {
                    seen.assign(functions, false);
                    for (std::size_t f = 0; f < functions; ++f) {
                        const std::uint64_t joint =
                            ((values[x][f] * p + values[y][f]) * p + values[z][f]) * p + values[w][f];
                        ASSERT_FALSE(seen[joint]) << "values met twice: they would not be uniform";
                        seen[joint] = true;
                    }
                }
}

TEST(polynomial_hash, of_four_coefficients_takes_every_four_values_at_any_four_keys_exactly_once) {
    expect_4wise_independent<prime_field<5>>();
    expect_4wise_independent<mersenne_field<3>>();
    expect_4wise_independent<mersenne_field<3, true>>();
    expect_4wise_independent<prime_field<11>>();
}

TEST(polynomial_hash, stays_independent_in_a_smaller_range_where_cells_are_unequal) {
    using field = mersenne_field<3>;
    constexpr std::uint64_t p = 7, range = 3;
    std::array<std::uint64_t, range> cell{};
    for (std::uint64_t v = 0; v < p; ++v) ++cell[field::scale(v, range)];
    for (std::uint64_t first = 0; first < p - 3; ++first) {  // windows of four keys
        std::map<std::array<std::uint64_t, 4>, std::uint64_t> joint;
        for_each_polynomial<field, 4>(range, [&](const auto& h) {
            ++joint[{h(first), h(first + 1), h(first + 2), h(first + 3)}];
        });
        for (const auto& [v, count] : joint) EXPECT_EQ(count, cell[v[0]] * cell[v[1]] * cell[v[2]] * cell[v[3]]);
    }
}

TEST(polynomial_hash, of_two_coefficients_is_pairwise_but_not_4wise_independent) {
    using field = prime_field<5>;
    std::map<std::array<std::uint64_t, 2>, int> pairs;
    std::map<std::array<std::uint64_t, 3>, int> triples;
    for_each_polynomial<field, 2>(5, [&](const auto& h) {
        ++pairs[{h(1), h(4)}];
        ++triples[{h(0), h(1), h(2)}];
    });
    EXPECT_EQ(pairs.size(), 25u);
    EXPECT_LT(triples.size(), 125u);  // the measurement above detects too little independence
}

TEST(polynomial_hash, of_64_bits_evaluates_the_polynomial) {
    using field = mersenne_field<89>;
    std::mt19937_64 random{17};
    for (int round = 0; round < 100; ++round) {
        four_wise_hash_64::coefficients a;
        for (auto& coefficient : a) coefficient = draw_value<field>(random);
        const auto h = four_wise_hash_64::make(1'000'003, a);
        ASSERT_TRUE(h);
        const std::uint64_t key = random();
        uint128 power = 1, sum = 0;
        for (const auto coefficient : a) {
            sum = (sum + slow_product(coefficient, power, field::modulus()).remainder) % field::modulus();
            power = slow_product(power, key, field::modulus()).remainder;
        }
        EXPECT_TRUE(h->at(key) == sum);
        EXPECT_LT((*h)(key), 1'000'003u);
    }
}

TEST(families, of_64_bits_take_any_key_and_repeat_for_the_same_generator) {
    for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
        std::mt19937_64 once{42}, again{42};
        EXPECT_EQ((*universal_hash_64::draw(1000, once))(key), (*universal_hash_64::draw(1000, again))(key));
        EXPECT_EQ((*two_universal_hash_64::draw(10, once))(key), (*two_universal_hash_64::draw(10, again))(key));
        EXPECT_EQ((*pairwise_hash_64::draw(10, once))(key), (*pairwise_hash_64::draw(10, again))(key));
        EXPECT_EQ((*four_wise_hash_64::draw(1000, once))(key), (*four_wise_hash_64::draw(1000, again))(key));
        EXPECT_LT((*universal_hash_64::draw(1000, once))(key), 1000u);
        EXPECT_LT((*two_universal_hash_64::draw(10, once))(key), 1024u);
    }
}

}  // namespace
}  // namespace genista::families_test
