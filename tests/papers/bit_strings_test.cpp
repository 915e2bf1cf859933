// Bit strings in parallel, and the wide words that they are made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/cpu.hpp"
#include "lab/scalar/bit_strings_workloads.hpp"
#include "papers/bit_strings/bit_planes.hpp"
#include "papers/bit_strings/bit_strings.hpp"
#include "papers/bit_strings/bit_strings_parallel.hpp"
#include "papers/bit_strings/wide_word.hpp"
#include "tests/support/scale.hpp"

namespace genista::bits::bit_strings_test {
namespace {

// ---- wide words ---------------------------------------------------------------------------------

// wide_word.hpp and bit_planes.hpp agree with loops over single bits, for one to four words and
// both kernels.

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

// ---- bit strings --------------------------------------------------------------------------------

// bit_strings.hpp: every operation on every small sequence agrees with the scalar version, and the
// cases in which strings cross the edge of a word are listed by hand.

using namespace genista::lab;

template <class Strings>
void expect_no_mismatch(const bit_strings_driver<Strings>& driver) {
    EXPECT_GT(driver.counts.cases(), 0u);
    for (std::size_t i = 0; i < driver.counts.of.size(); ++i)
        EXPECT_EQ(driver.counts.of[i].mismatches, 0u) << bit_strings_operation_names[i];
}

TEST(bit_strings, the_layout_is_the_one_drawn_in_the_header) {
    bit_strings<1> strings;
    ASSERT_EQ(strings.insert(0, bit_string<1>::of(0b101, 3)), edit::done);
    ASSERT_EQ(strings.insert(1, bit_string<1>::of(0, 0)), edit::done);
    ASSERT_EQ(strings.insert(2, bit_string<1>::of(0b10, 2)), edit::done);
    EXPECT_EQ(strings.data().words[0], 0b1000101u);
    EXPECT_EQ(strings.ends().words[0], 0b10011000u);
    EXPECT_EQ(strings.count(), 3u);
    EXPECT_EQ(strings.used_slots(), 8u);
    EXPECT_EQ(strings.free_slots(), 56u);
    EXPECT_EQ(strings.length(0), 3u);
    EXPECT_EQ(strings.length(1), 0u);
    EXPECT_EQ(strings.at(2), bit_string<1>::of(0b10, 2));
    EXPECT_EQ(nonempty(strings).words[0], 0b101u);
}

TEST(bit_strings, every_query_over_every_range_of_every_small_sequence_agrees_with_the_scalar_version) {
    bit_strings_driver<bit_strings<1>> driver;
    const std::size_t most_slots = test::sanitized ? 6 : 8;
    for (std::size_t slots = 0; slots <= most_slots; ++slots)
        for (const auto& texts : all_sequences(slots)) exhaust_queries(driver, texts, 6);
    expect_no_mismatch(driver);
}

TEST(bit_strings, every_edit_of_every_small_sequence_agrees_with_the_scalar_version) {
    bit_strings_driver<bit_strings<1>> driver;
    for (std::size_t slots = 0; slots <= 8; ++slots)
        for (const auto& texts : all_sequences(slots)) exhaust_edits(driver, texts);
    expect_no_mismatch(driver);
}

TEST(bit_strings, every_parallel_edit_of_every_small_sequence_agrees_with_the_scalar_version) {
    bit_strings_driver<bit_strings<1>> driver;
    for (std::size_t slots = 0; slots <= 7; ++slots)
        for (const auto& texts : all_sequences(slots)) exhaust_parallel_edits(driver, texts, 3);
    expect_no_mismatch(driver);
}

TEST(bit_strings, every_parallel_query_of_every_pair_of_small_sequences_agrees_with_the_scalar_version) {
    bit_strings_driver<bit_strings<1>> driver;
    exhaust_parallel_queries(driver, 6);
    expect_no_mismatch(driver);
}

// One string before the edge, one across it, one after: all operations where two words meet.
TEST(bit_strings, strings_across_the_edges_of_words_agree_with_the_scalar_version) {
    bit_strings_driver<bit_strings<3>> driver;
    for (const std::size_t lead : {60u, 61u, 62u, 63u, 64u, 65u, 124u, 125u, 126u, 127u, 128u, 129u}) {
        const std::vector<std::string> texts{std::string(lead, '1'), "", "0110", "1", "", "01101"};
        driver.reset(texts);
        for (const std::string& query : {std::string{}, std::string{"0110"}, std::string{"011011"},
                                         std::string(192, '1'), std::string(lead, '1'), std::string(lead - 1, '1')}) {
            driver.prefix_match(query, 0, 6);
            driver.prefix_match(query, 2, 5);
            driver.prefix_lengths(query, 0, 6);
        }
        exhaust_parallel_edits(driver, texts, 2);
        for (std::size_t rank = 1; rank < texts.size(); ++rank) {
            driver.reset(texts);
            driver.append(rank, "1011");
            driver.splice(rank, 1, 2, "000");
            driver.concatenate(rank - 1);
            driver.erase(rank - 1);
        }
    }
    expect_no_mismatch(driver);
}

TEST(bit_strings, one_string_may_take_every_slot_but_its_terminator) {
    const auto expect_for = [](auto strings) {
        using strings_type = decltype(strings);
        const std::size_t longest = strings_type::slots - 1;
        for (const std::size_t length : {longest - 1, longest}) {
            strings_type one;
            const auto s = to_string_of<strings_type>(std::string(length, '1'));
            ASSERT_EQ(one.insert(0, s), edit::done);
            EXPECT_EQ(one.at(0), s);
            EXPECT_TRUE(one.prefix_match(s).test(0));
            const auto longer = to_string_of<strings_type>(std::string(strings_type::slots, '1'));
            EXPECT_TRUE(one.prefix_match(longer).test(0));
            EXPECT_EQ(one.prefix_lengths(longer)[0], length);
            const auto shorter = to_string_of<strings_type>(std::string(length - 1, '1'));
            EXPECT_FALSE(one.prefix_match(shorter).test(0));
            EXPECT_EQ(one.prefix_lengths(shorter)[0], length - 1);
        }
    };
    expect_for(bit_strings<1>{});
    expect_for(bit_strings<2>{});
    expect_for(bit_strings<3>{});
    expect_for(bit_strings<4>{});
}

TEST(bit_strings, an_edit_that_does_not_fit_is_refused_and_changes_nothing) {
    bit_strings<1> strings;
    for (int i = 0; i < 64; ++i) ASSERT_EQ(strings.insert(0, bit_string<1>::of(0, 0)), edit::done);  // 64 empty ones
    const auto before = strings;
    EXPECT_EQ(strings.insert(3, bit_string<1>::of(0, 0)), edit::full);
    EXPECT_EQ(strings.append(3, bit_string<1>::of(1, 1)), edit::full);
    bit_strings<1> one;
    ASSERT_EQ(one.insert(0, bit_string<1>::of(0, 0)), edit::done);
    EXPECT_EQ(insert_all(strings, wide_word<1>::of(1), one), edit::full);
    EXPECT_EQ(strings.ends(), before.ends());
    EXPECT_EQ(strings.count(), 64u);
    EXPECT_EQ(strings.prefix_match(bit_string<1>::of(0, 0)).words[0], ~std::uint64_t{0});
}

}  // namespace
}  // namespace genista::bits::bit_strings_test
