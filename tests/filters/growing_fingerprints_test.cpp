// growing_fingerprints against a reference model, at every size: answers, rates, bits, failing
// memory, snapshots.
#include "filters/growing_fingerprints.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "genista/format/sink.hpp"
#include "genista/hash/key.hpp"
#include "tests/support/failing_allocations.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::growing_fingerprints_test {
namespace {

growing_fingerprints made(unsigned rate_bits) {
    auto table = growing_fingerprints::make(rate_bits);
    EXPECT_TRUE(table) << table.error().message();
    return *std::move(table);
}

digest any(test::splitmix& chance) {
    const std::uint64_t position = chance();
    return digest{position, chance()};
}

// The strings that the table must hold, one by one.
struct strings {
    std::set<std::pair<unsigned, uint128>> kept{};
    std::set<unsigned> lengths{};
    std::uint64_t values = 0;

    static uint128 first_bits(const digest& d, unsigned length) {
        return (static_cast<uint128>(d.seed) << 64 | d.position) & ((static_cast<uint128>(1) << length) - 1);
    }
    [[nodiscard]] bool contains(const digest& d) const {
        for (const unsigned length : lengths) {
            if (kept.contains({length, first_bits(d, length)})) return true;
        }
        return false;
    }
    void insert(const digest& d, unsigned rate_bits) {
        const unsigned length = growing_fingerprints::length_of(rate_bits, values++);
        kept.insert({length, first_bits(d, length)});
        lengths.insert(length);
    }
};

// The sum of 2^-L over the values of each doubling is at most 1/(i (i + 1)) of the rate, and more
// than half of that.
TEST(growing_fingerprints, lengths_divide_the_rate_among_all_doublings) {
    for (const unsigned rate_bits : {1u, 8u, 50u}) {
        double sum = 0;
        std::uint64_t first = 0, members = growing_fingerprints::page_values;
        for (unsigned i = 1; first + members < growing_fingerprints::most_values; ++i) {
            const unsigned length = growing_fingerprints::length_of(rate_bits, first);
            ASSERT_EQ(growing_fingerprints::length_of(rate_bits, first + members - 1), length) << i;
            const double share =
                std::ldexp(static_cast<double>(members), static_cast<int>(rate_bits) - static_cast<int>(length));
            ASSERT_LE(share, 1.0 / (i * (i + 1)));
            ASSERT_GT(share, 0.5 / (i * (i + 1)));
            sum += share;
            first += members;
            members = first;
        }
        EXPECT_LE(sum, 1);
    }
}

// Short rates make remainders run out of bits: the value is then a whole home, which is copied when
// its page splits.
TEST(growing_fingerprints, answers_maybe_exactly_for_its_strings) {
    for (const unsigned rate_bits : {1u, 2u, 3u, 5u, 9u, 17u, 50u}) {
        test::splitmix chance{rate_bits};
        auto table = made(rate_bits);
        strings exact;
        std::vector<digest> members;
        for (std::uint64_t i = 0; i < test::scaled(20'000u, 200'000u); ++i) {
            const digest d = any(chance);
            const bool expected = exact.contains(d);
            ASSERT_EQ(table.may_contain(d), expected) << rate_bits << ", " << i;
            ASSERT_EQ(table.insert(d), expected ? insert_outcome::already_present : insert_outcome::inserted);
            ASSERT_TRUE(table.may_contain(d));
            if (!expected) exact.insert(d, rate_bits);
            members.push_back(d);
            if (i % 4'999 != 0) continue;
            for (const digest& each : members) ASSERT_TRUE(table.may_contain(each)) << rate_bits << ", " << i;
            double sum = 0;
            for (const auto& [length, bits] : exact.kept) sum += std::ldexp(1.0, -static_cast<int>(length));
            ASSERT_NEAR(table.let_through(), sum, 1e-9 * sum) << "copies of a home are one string";
            ASSERT_LE(sum, std::ldexp(1.0, -static_cast<int>(rate_bits)));
        }
        EXPECT_EQ(table.values(), exact.values);
        EXPECT_EQ(table.pages(), growing_fingerprints::pages_for(table.values()));
    }
}

// Digests with equal first bits go to few pages, which grow. Answers stay right, and no insert is
// refused.
TEST(growing_fingerprints, crowded_pages_grow_and_answer) {
    test::splitmix chance{3};
    auto table = made(8);
    std::vector<digest> members;
    for (std::uint64_t i = 0; i < 6'000; ++i) {
        const digest d{any(chance).position << 14, chance()};
        ASSERT_NE(table.insert(d), insert_outcome::full);
        members.push_back(d);
    }
    for (const digest& each : members) ASSERT_TRUE(table.may_contain(each));
}

// At every moment from 1,000 values on, for every length: [daisy §4.3]'s n log log n with the
// constants of daisy-sampling.
TEST(growing_fingerprints, takes_2_log_log_n_and_4_bits_more_at_every_moment) {
    for (const unsigned rate_bits : {1u, 4u, 8u, 16u, 48u}) {
        test::splitmix chance{rate_bits};
        auto table = made(rate_bits);
        double worst = -100;
        for (std::uint64_t n = 1; n <= 140'000; ++n) {
            ASSERT_NE(table.insert(any(chance)), insert_outcome::full);
            if (n < 1'000) continue;
            const auto keys = static_cast<double>(n);
            const double more = 8 * static_cast<double>(table.allocated_bytes()) / keys - (rate_bits + 2 + 2.0 / 15);
            worst = std::max(worst, more - 2 * std::log2(std::log2(keys)) - 4);
        }
        EXPECT_LE(worst, 0) << rate_bits;
    }
}

TEST(growing_fingerprints, an_insert_without_memory_is_full_and_changes_no_answer) {
    for (std::uint64_t failing = 0;; ++failing) {
        test::splitmix chance{5};
        auto table = made(6);
        std::vector<digest> members;
        std::uint64_t refused = 0;
        bool failed = false;
        {
            members.reserve(3'000);
            const test::failing_allocations armed{failing * 7};
            for (std::uint64_t i = 0; i < 3'000; ++i) {
                const digest d = any(chance);
                if (table.insert(d) == insert_outcome::full) {
                    ++refused;
                    EXPECT_FALSE(table.may_contain(d));
                    EXPECT_EQ(table.insert(d), insert_outcome::inserted) << "memory is back";
                }
                members.push_back(d);
            }
            failed = armed.failed();
        }
        EXPECT_EQ(refused, failed ? 1u : 0u);
        for (const digest& each : members) ASSERT_TRUE(table.may_contain(each)) << failing;
        if (!failed) break;
    }
}

TEST(growing_fingerprints, is_loaded_as_saved_even_between_a_split_and_its_insert) {
    for (const std::uint64_t values : {0u, 1u, 255u, 256u, 257u, 5'000u}) {
        test::splitmix chance{values};
        auto table = made(4);
        while (table.values() < values) static_cast<void>(table.insert(any(chance)));
        if (values == 256) {  // the split succeeds and the insert does not
            const test::failing_allocations armed{3};
            digest d = any(chance);
            while (table.may_contain(d)) d = any(chance);
            EXPECT_EQ(table.insert(d), insert_outcome::full);
            EXPECT_EQ(table.pages(), 2u);
        }
        vector_sink out;
        ASSERT_TRUE(table.save(out));
        EXPECT_EQ(out.bytes().size(), table.saved_bytes());
        std::span<const std::byte> left = out.bytes();
        auto loaded = growing_fingerprints::load(4, table.values(), table.pages(), left);
        ASSERT_TRUE(loaded) << loaded.error().message();
        EXPECT_TRUE(left.empty());
        EXPECT_EQ(loaded->allocated_bytes(), table.allocated_bytes());
        for (int i = 0; i < 2'000; ++i) {
            const digest d = any(chance);
            ASSERT_EQ(loaded->may_contain(d), table.may_contain(d));
            ASSERT_EQ(loaded->insert(d), table.insert(d));
        }
        EXPECT_EQ(loaded->let_through(), table.let_through());
    }
}

// A table that lets through what is left for later values would exceed its rate once they come, and
// what it saved then would be refused.
TEST(growing_fingerprints, refuses_strings_that_use_up_the_rate_of_later_values) {
    for (const std::uint64_t values : {2u, 256u, 900u, 1'024u}) {
        test::splitmix chance{values};
        auto table = made(8);
        while (table.values() < values) static_cast<void>(table.insert(any(chance)));
        vector_sink out;
        ASSERT_TRUE(table.save(out));
        const auto loads_as = [&](std::uint64_t claimed) {
            std::span<const std::byte> left = out.bytes();
            return growing_fingerprints::load(8, claimed, table.pages(), left).has_value();
        };
        EXPECT_TRUE(loads_as(values));
        EXPECT_FALSE(loads_as(values - 1)) << values;
    }
}

TEST(growing_fingerprints, the_rate_of_all_values_stays_below_the_limit) {
    for (const unsigned rate_bits : {1u, 8u, 50u}) {
        const double limit = std::ldexp(1.0, -static_cast<int>(rate_bits));
        double before = 0;
        for (std::uint64_t values = 1; values <= growing_fingerprints::most_values / 3; values = values * 3 + 1) {
            const double now = growing_fingerprints::most_let_through(rate_bits, values);
            EXPECT_GT(now, before);
            EXPECT_LT(now, limit);
            before = now;
        }
        EXPECT_EQ(growing_fingerprints::most_let_through(rate_bits, 0), 0);
        EXPECT_EQ(growing_fingerprints::most_let_through(rate_bits, 257),
                  growing_fingerprints::most_let_through(rate_bits, 256) +
                      std::ldexp(1.0, -static_cast<int>(growing_fingerprints::length_of(rate_bits, 256))));
    }
}

}  // namespace
}  // namespace genista::growing_fingerprints_test
