// bloomier_filter by example: limits and bad input. Random operations are in
// local_model_test.cpp, snapshots in snapshot_test.cpp.
#include "genista/filters/bloomier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "bits/words.hpp"
#include "filters/filter_snapshots.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::bloomier_test {
namespace {

static_assert(savable_filter<bloomier_filter>);
static_assert(!local_filter<bloomier_filter>, "static: there is no insert");

using numbers = std::vector<std::uint64_t>;
const hasher hash{hash_key::from_seed(19)};

numbers first(std::uint64_t count) {
    numbers made(count);
    for (std::uint64_t i = 0; i < count; ++i) made[i] = i;
    return made;
}

numbers values_for(std::uint64_t count, unsigned bits) {
    test::splitmix chance{bits};
    numbers made(count);
    for (std::uint64_t& value : made) value = chance() & bits::low_mask(bits);
    return made;
}

result<bloomier_filter> build(const numbers& keys, const numbers& values, unsigned bits, double rate = 1.0 / 256,
                              unsigned threads = 1) {
    return bloomier_filter::build({.false_positive_rate = rate, .value_bits = bits, .hash = hash},
                                  std::span<const std::uint64_t>{keys}, values, threads);
}

std::string refusal(const result<bloomier_filter>& built) {
    return built ? std::string{"built"} : std::string{built.error().message()};
}

TEST(bloomier, every_key_finds_its_value_of_any_width) {
    if (test::thread_sanitized) GTEST_SKIP() << "one thread: the other presets run it";
    const numbers keys = first(3'000);
    for (unsigned bits = 0; bits <= 64; ++bits) {
        const numbers values = values_for(keys.size(), bits);
        const auto made = build(keys, values, bits);
        ASSERT_TRUE(made) << made.error().message();
        for (const std::uint64_t key : keys) ASSERT_EQ(made->find(key), values[key]) << bits << " bits, key " << key;
    }
}

TEST(bloomier, every_key_finds_its_value_for_every_small_number_of_keys) {
    for (std::uint64_t count = 0; count <= 70; ++count) {
        const numbers keys = first(count), values = values_for(count, 20);
        const auto made = build(keys, values, 20);
        ASSERT_TRUE(made) << made.error().message();
        EXPECT_EQ(made->stats().keys, count);
        for (const std::uint64_t key : keys) ASSERT_EQ(made->find(key), values[key]) << count << " keys, key " << key;
    }
}

TEST(bloomier, with_no_keys_every_key_is_absent) {
    auto made = build({}, {}, 8);
    ASSERT_TRUE(made) << made.error().message();
    std::array<std::uint64_t, 100> keys{}, found{};
    std::array<std::uint64_t, 2> bits{~0ull, ~0ull};
    for (std::uint64_t key = 0; key < keys.size(); ++key) {
        keys[key] = key;
        EXPECT_EQ(made->find(key), std::nullopt);
        EXPECT_FALSE(made->may_contain(key));
        EXPECT_EQ(*made->update(key, 1), update_outcome::absent);
    }
    made->find(std::span<const std::uint64_t>{keys}, found, bits);
    EXPECT_EQ(bits, (std::array<std::uint64_t, 2>{}));
    const auto loaded = bloomier_filter::load(test::saved(*made));
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_FALSE(loaded->may_contain(std::uint64_t{5}));
    EXPECT_EQ(loaded->stats().keys, 0u);
}

TEST(bloomier, texts_integers_and_digests_are_the_same_keys) {
    std::vector<std::string> texts;
    for (int i = 0; i < 500; ++i)
        texts.push_back(std::string(static_cast<std::size_t>(i % 30), 'x') + std::to_string(i));
    const std::vector<key_view> keys{texts.begin(), texts.end()};
    const numbers values = values_for(keys.size(), 33);
    const bloomier_options options{.value_bits = 33, .hash = hash};
    const auto made = bloomier_filter::build(options, std::span<const key_view>{keys}, values);
    ASSERT_TRUE(made) << made.error().message();
    std::vector<digest> digests;
    for (const key_view key : keys) digests.push_back(hash(key));
    const auto of_digests = bloomier_filter::build(options, std::span<const digest>{digests}, values);
    ASSERT_TRUE(of_digests);
    EXPECT_EQ(test::saved(*made), test::saved(*of_digests));
    numbers found(keys.size()), bits(words_for(keys.size()));
    made->find(std::span<const key_view>{keys}, found, bits);
    EXPECT_EQ(found, values);
    made->find(std::span<const digest>{digests}, found, bits);
    EXPECT_EQ(found, values);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        ASSERT_EQ(made->find(keys[i]), values[i]);
        ASSERT_EQ(made->find(digests[i]), values[i]);
    }
    const auto integers = build(first(10), values_for(10, 5), 5);
    ASSERT_TRUE(integers);
    EXPECT_EQ(integers->find(integer_key{7u}.view()), integers->find(std::uint64_t{7}));
}

TEST(bloomier, batches_answer_as_single_look_ups_on_every_instruction_set) {
    const numbers keys = first(2'000), values = values_for(2'000, 13);
    numbers asked;
    for (std::uint64_t key = 0; key < 5'000; ++key) asked.push_back(key * 7 % 6'000);
    numbers expected, expected_bits;
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa here{level};
        const auto made = build(keys, values, 13, 0.25);
        ASSERT_TRUE(made);
        for (const std::size_t count : {0u, 1u, 7u, 8u, 15u, 16u, 31u, 32u, 33u, 63u, 64u, 65u, 200u, 5'000u}) {
            const auto part = std::span<const std::uint64_t>{asked}.first(count);
            numbers found(count, 99), bits(words_for(count), ~0ull), only_bits(words_for(count), ~0ull);
            made->find(part, found, bits);
            made->may_contain(part, only_bits);
            EXPECT_EQ(bits, only_bits);
            for (std::size_t i = 0; i < count; ++i) {
                const auto single = made->find(asked[i]);
                ASSERT_EQ((bits[i / 64] >> i % 64 & 1) != 0, single.has_value()) << i << " of " << count;
                ASSERT_EQ(found[i], single.value_or(0)) << i << " of " << count;
                ASSERT_EQ(made->may_contain(asked[i]), single.has_value());
            }
            if (count == 5'000 && expected.empty()) expected = found, expected_bits = bits;
            if (count == 5'000) {
                EXPECT_EQ(found, expected);
                EXPECT_EQ(bits, expected_bits);
            }
        }
    }
}

TEST(bloomier, has_the_same_bytes_from_any_number_of_threads_and_any_order) {
    numbers keys = first(40'000), values = values_for(40'000, 11);
    const auto alone = build(keys, values, 11);
    ASSERT_TRUE(alone);
    const auto bytes = test::saved(*alone);
    for (const unsigned threads : {0u, 2u, 3u, 8u, ~0u}) {
        const auto made = build(keys, values, 11, 1.0 / 256, threads);
        ASSERT_TRUE(made);
        EXPECT_EQ(test::saved(*made), bytes) << threads;
    }
    std::ranges::reverse(keys);
    std::ranges::reverse(values);
    EXPECT_EQ(test::saved(*build(keys, values, 11, 1.0 / 256, 2)), bytes);
}

TEST(bloomier, a_key_given_twice_with_one_value_is_one_key) {
    numbers keys = first(20'000), values = values_for(20'000, 9);
    const auto once = build(keys, values, 9);
    ASSERT_TRUE(once);
    for (std::uint64_t key = 0; key < 20'000; key += 3) keys.push_back(key), values.push_back(values[key]);
    for (const unsigned threads : {1u, 4u}) {
        const auto twice = build(keys, values, 9, 1.0 / 256, threads);
        ASSERT_TRUE(twice) << twice.error().message();
        EXPECT_EQ(twice->stats().keys, 20'000u);
        EXPECT_EQ(test::saved(*twice), test::saved(*once));
    }
    EXPECT_EQ(build(numbers(5'000, 7), numbers(5'000, 3), 2)->stats().keys, 1u);
    EXPECT_EQ(build(numbers(5'000, 7), {}, 0)->stats().keys, 1u);
}

TEST(bloomier, a_key_given_twice_with_two_values_is_refused_by_name) {
    numbers keys = first(20'000), values = numbers(20'000, 5);
    keys[15'000] = 123;
    values[15'000] = 6;
    for (const unsigned threads : {1u, 4u}) {
        EXPECT_EQ(
            refusal(build(keys, values, 9, 1.0 / 256, threads)),
            "bloomier: keys number 123 and 15000 are the same and have values 5 and 6, allowed is one value a key");
    }
    values[123] = 0;  // the or of both is one of them
    EXPECT_EQ(refusal(build(keys, values, 9)),
              "bloomier: keys number 123 and 15000 are the same and have values 0 and 6, allowed is one value a key");
}

// A hash that gives different keys one digest: they count as one key.
TEST(bloomier, keys_with_the_same_digest_are_one_key) {
    const hasher coarse = hasher::custom(
        [](const void* context, key_view key) noexcept {
            const digest d = (*static_cast<const hasher*>(context))(key);
            return key.size > 1 ? (*static_cast<const hasher*>(context))(key_view{key.data, key.size - 1}) : d;
        },
        &hash);
    const std::vector<key_view> keys{"aX", "aY", "bX"};
    const bloomier_options options{.value_bits = 4, .hash = coarse};
    EXPECT_NE(refusal(bloomier_filter::build(options, std::span<const key_view>{keys}, numbers{1, 2, 3})), "built");
    const auto made = bloomier_filter::build(options, std::span<const key_view>{keys}, numbers{1, 1, 3});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->stats().keys, 2u);
    vector_sink out;
    EXPECT_FALSE(made->save(out)) << "a custom hash cannot be written down";
}

TEST(bloomier, an_update_changes_one_value_and_no_other) {
    const numbers keys = first(1'000);
    for (const unsigned bits : {1u, 7u, 31u, 63u, 64u}) {
        numbers values = values_for(1'000, bits);
        auto made = build(keys, values, bits);
        ASSERT_TRUE(made);
        for (std::uint64_t key = 0; key < 1'000; key += 13) {
            values[key] = ~values[key] & bits::low_mask(bits);
            ASSERT_EQ(*made->update(key, values[key]), update_outcome::updated);
            for (std::uint64_t other = 0; other < 1'000; other += key % 5 + 1)
                ASSERT_EQ(made->find(other), values[other]);
        }
    }
}

TEST(bloomier, an_update_of_an_absent_key_that_fails_the_check_changes_nothing) {
    auto made = build(first(1'000), values_for(1'000, 8), 8, 0x1p-40);
    ASSERT_TRUE(made);
    const auto before = test::saved(*made);
    for (std::uint64_t key = 1'000; key < 20'000; ++key)
        ASSERT_EQ(*made->update(key, 1), update_outcome::absent) << key;
    EXPECT_EQ(test::saved(*made), before);
}

TEST(bloomier, a_value_that_does_not_fit_is_refused_by_name) {
    auto made = build(first(10), numbers(10, 7), 3);
    ASSERT_TRUE(made);
    const auto before = test::saved(*made);
    const auto outcome = made->update(std::uint64_t{3}, 8);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().message(), "bloomier: value 8, allowed are 0 to 7 (3 bits)");
    EXPECT_EQ(test::saved(*made), before);
    auto set = build(first(10), {}, 0);
    EXPECT_EQ(*set->update(std::uint64_t{3}, 0), update_outcome::updated);
    EXPECT_FALSE(set->update(std::uint64_t{3}, 1));
    EXPECT_EQ(refusal(build(first(2), {1, 8}, 3)), "bloomier: value 8 of key number 1, allowed are 0 to 7 (3 bits)");
}

TEST(bloomier, parameters_outside_their_ranges_are_refused_by_name) {
    EXPECT_EQ(refusal(build(first(2), {1, 1}, 65)), "bloomier: values of 65 bits, allowed are 0 to 64");
    EXPECT_EQ(refusal(build(first(2), {1}, 3)), "bloomier: 1 values for 2 keys, allowed is one a key");
    EXPECT_EQ(refusal(build(first(2), {}, 3)), "bloomier: 0 values for 2 keys, allowed is one a key");
    EXPECT_EQ(refusal(build(first(2), {0}, 0)), "bloomier: 1 values for 2 keys, allowed is one a key, or none");
    for (const double rate : {0.0, -1.0, 0.51, 0x1p-49, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_NE(refusal(build(first(2), {}, 0, rate)), "built") << rate;
    EXPECT_EQ(refusal(build(first(2), {}, 0, 0x1p-48)), "built");
    EXPECT_FALSE(bloomier_filter::bits_for(max_capacity + 1, 0.01));
    EXPECT_FALSE(bloomier_filter::bits_for(1, 0.01, 65));
}

TEST(bloomier, a_check_has_the_bits_of_two_over_the_rate_rounded_up) {
    EXPECT_EQ(bloomier_filter::check_bits_for(0.5), 2u);
    EXPECT_EQ(bloomier_filter::check_bits_for(0x1p-8), 9u);
    EXPECT_EQ(bloomier_filter::check_bits_for(0x1.fp-9), 10u);
    EXPECT_EQ(bloomier_filter::check_bits_for(0x1.1p-8), 9u);
    EXPECT_EQ(bloomier_filter::check_bits_for(0x1p-48), 49u);
    for (double rate = 0.5; rate >= 0x1p-48; rate *= 0.9)
        EXPECT_EQ(bloomier_filter::check_bits_for(rate), std::ceil(std::log2(2 / rate))) << rate;
}

TEST(bloomier, takes_no_more_than_bits_for_reports) {
    if (test::thread_sanitized) GTEST_SKIP() << "one thread: the other presets run it";
    const numbers keys = first(100'000);
    for (const unsigned bits : {0u, 1u, 8u, 20u}) {
        const auto made = build(keys, values_for(keys.size(), bits), bits);
        ASSERT_TRUE(made);
        const filter_stats stats = made->stats();
        EXPECT_LE(8 * stats.local_bytes, *bloomier_filter::bits_for(keys.size(), 1.0 / 256, bits)) << bits;
        const bloomier_details parts = made->details();
        EXPECT_EQ(parts.check_bits, 9u);
        EXPECT_EQ(parts.value_bits, bits);
        EXPECT_EQ(stats.local_bytes, parts.perfect_bytes + parts.entries_bytes + sizeof *made);
    }
}

TEST(bloomier, a_moved_filter_answers_as_before) {
    auto made = build(first(500), values_for(500, 17), 17);
    ASSERT_TRUE(made);
    const bloomier_filter moved = *std::move(made);
    const numbers values = values_for(500, 17);
    for (std::uint64_t key = 0; key < 500; ++key) ASSERT_EQ(moved.find(key), values[key]);
}

}  // namespace
}  // namespace genista::bloomier_test
