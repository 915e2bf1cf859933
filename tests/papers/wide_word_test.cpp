// wide_word.hpp and bit_planes.hpp agree with loops over single bits, for one to four words and
// both kernels.
#include "papers/bit_strings/wide_word.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/cpu.hpp"
#include "papers/bit_strings/bit_planes.hpp"

namespace genista::bits::wide_word_test {
namespace {

using flags = std::vector<bool>;

template <class Wide>
flags bits_of(const Wide& wide) {
    flags out(Wide::bits);
    for (std::size_t i = 0; i < Wide::bits; ++i) out[i] = (wide.words[i / 64] >> (i % 64) & 1) != 0;
    return out;
}
template <class Wide>
Wide random_wide(std::mt19937_64& random) {
    Wide out;
    const std::uint64_t style = random() % 5;
    for (std::uint64_t& word : out.words) {
        word = style == 0 ? 0 : style == 1 ? ~std::uint64_t{0} : random();
        if (style == 3) word &= random() & random();
    }
    return out;
}
flags shifted_up(const flags& from, std::size_t distance) {
    flags out(from.size());
    for (std::size_t i = distance; i < from.size(); ++i) out[i] = from[i - distance];
    return out;
}

template <class Wide>
void expect_arithmetic_agrees(const Wide& a, const Wide& b) {
    const flags x = bits_of(a), y = bits_of(b), sum = bits_of(a + b), difference = bits_of(a - b);
    bool carry = false, borrow = false;
    for (std::size_t i = 0; i < Wide::bits; ++i) {
        const int up = x[i] + y[i] + carry, down = x[i] - y[i] - borrow;
        ASSERT_EQ(sum[i], (up & 1) != 0);
        ASSERT_EQ(difference[i], (down & 1) != 0);
        carry = up > 1;
        borrow = down < 0;
        ASSERT_EQ(bits_of(a & b)[i], x[i] && y[i]);
        ASSERT_EQ(bits_of(a | b)[i], x[i] || y[i]);
        ASSERT_EQ(bits_of(a ^ b)[i], x[i] != y[i]);
        ASSERT_EQ(bits_of(a.without(b))[i], x[i] && !y[i]);
        ASSERT_EQ(bits_of(~a)[i], !x[i]);
    }
    ASSERT_EQ(a == b, x == y);
}

template <class Wide>
void expect_moves_agree(const Wide& a, const Wide& mask) {
    const flags x = bits_of(a), m = bits_of(mask);
    flags together(Wide::bits), apart(Wide::bits);
    std::size_t seen = 0;
    for (std::size_t i = 0; i < Wide::bits; ++i)
        if (m[i]) {
            ASSERT_EQ(mask.select(seen), i);
            together[seen] = x[i];
            apart[i] = x[seen];
            ++seen;
        }
    ASSERT_EQ(mask.count(), seen);
    ASSERT_EQ(mask.select(seen), Wide::bits);
    ASSERT_EQ(mask.length(), seen == 0 ? 0 : mask.select(seen - 1) + 1);
    ASSERT_EQ(bits_of(a.extract(mask)), together);
    ASSERT_EQ(bits_of(a.deposit(mask)), apart);
}

template <class Wide>
void expect_shifts_agree(const Wide& a) {
    const flags x = bits_of(a);
    const flags backwards{x.rbegin(), x.rend()};
    for (std::size_t distance = 0; distance <= Wide::bits + 1; ++distance) {
        ASSERT_EQ(bits_of(a << distance), shifted_up(x, distance)) << distance;
        const flags down = shifted_up(backwards, distance);
        ASSERT_EQ(bits_of(a >> distance), (flags{down.rbegin(), down.rend()})) << distance;
        if (distance <= Wide::bits) {
            ASSERT_EQ(Wide::low(distance).count(), distance);
            ASSERT_EQ(Wide::low(distance).length(), distance);
        }
        if (distance < Wide::bits) {
            ASSERT_EQ(bits_of(Wide::bit(distance)), shifted_up(bits_of(Wide::of(1)), distance));
            ASSERT_EQ(a.test(distance), x[distance]);
            const auto gap = a.with_gap(distance, 5);
            ASSERT_EQ(gap & Wide::low(distance), a & Wide::low(distance));
            ASSERT_EQ(gap >> std::min(distance + 5, Wide::bits), (a << 5) >> std::min(distance + 5, Wide::bits));
            ASSERT_EQ(gap.without_gap(distance, 5),
                      a & Wide::low(Wide::bits - 5 > distance ? Wide::bits - 5 : distance));
        }
    }
}

template <class Wide>
void expect_all_agree(std::uint64_t seed) {
    std::mt19937_64 random{seed};
    for (int i = 0; i < 60; ++i) {
        const Wide a = random_wide<Wide>(random), b = random_wide<Wide>(random);
        expect_arithmetic_agrees(a, b);
        expect_moves_agree(a, b);
        if (i < 12) expect_shifts_agree(a);
    }
}

TEST(wide_word, agrees_with_loops_for_one_to_four_words) {
    expect_all_agree<wide_word<1>>(51);
    expect_all_agree<wide_word<2>>(52);
    expect_all_agree<wide_word<3>>(53);
    expect_all_agree<wide_word<4>>(54);
}

TEST(wide_word, agrees_with_loops_with_bmi2) {
    if (best_isa() < isa::avx2) GTEST_SKIP() << "this processor has no BMI2";
    expect_all_agree<wide_word<1, bmi2_words>>(55);
    expect_all_agree<wide_word<4, bmi2_words>>(56);
}

TEST(wide_word, a_pattern_is_written_at_every_mark_and_across_words) {
    using wide = wide_word<3>;
    std::mt19937_64 random{57};
    for (std::size_t width = 1; width <= 64; ++width) {
        const std::uint64_t pattern = random() & low_mask(width);
        wide marks;
        flags demanded(wide::bits);
        for (std::size_t place = random() % 5; place < wide::bits; place += width + random() % 3) {
            marks = marks | wide::bit(place);
            for (std::size_t i = 0; i < width && place + i < wide::bits; ++i)
                demanded[place + i] = (pattern >> i & 1) != 0;
        }
        ASSERT_EQ(bits_of(marks.stamped(pattern)), demanded) << width;
    }
}

// Numbers stored as bit planes against plain numbers, up to the largest that the planes hold.
template <std::size_t Words>
void expect_planes_agree(std::uint64_t seed) {
    using planes = bit_planes<Words, portable_words>;
    using wide = typename planes::wide;
    std::mt19937_64 random{seed};
    const auto number = [](const planes& from, std::size_t rank) {
        std::size_t out = 0;
        for (std::size_t b = 0; b < planes::count; ++b) out |= std::size_t{from.planes[b].test(rank)} << b;
        return out;
    };
    for (int i = 0; i < 40; ++i) {
        const wide a = random_wide<wide>(random), b = random_wide<wide>(random), carry = random_wide<wide>(random);
        const planes x = planes::positions_of(a), y = planes::positions_of(b);
        const auto sum = planes::add(x, y, carry), difference = planes::subtract(x, y);
        const std::size_t modulus = std::size_t{1} << planes::count;
        for (std::size_t rank = 0; rank < wide::bits; ++rank) {
            const std::size_t m = number(x, rank), n = number(y, rank);
            ASSERT_EQ(m, rank < a.count() ? a.select(rank) : 0);
            ASSERT_EQ(number(planes::index(), rank), rank);
            ASSERT_EQ(number(sum.value, rank), (m + n + carry.test(rank)) % modulus);
            ASSERT_EQ(number(difference.value, rank), (m - n) % modulus);
            ASSERT_EQ(difference.carry.test(rank), m >= n);
            ASSERT_EQ(number(planes::least(x, y), rank), std::min(m, n));
        }
        // From ranks back to the positions they came from, with the tags of some.
        const auto way = planes::subtract(x, planes::index()).value;
        const auto landed = scatter(way, a.count(), carry);
        ASSERT_EQ(landed.marks, a);
        ASSERT_EQ(landed.tagged, carry.deposit(a));
    }
}

TEST(bit_planes, sums_comparisons_and_scatters_agree_with_plain_numbers) {
    expect_planes_agree<1>(58);
    expect_planes_agree<2>(59);
    expect_planes_agree<3>(60);
    expect_planes_agree<4>(61);
}

}  // namespace
}  // namespace genista::bits::wide_word_test
