// What every filter without a remote map must do, whatever its structure: typed over all of them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "filters/filter_snapshots.hpp"
#include "genista/format/sink.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::local_filters_test {
namespace {

static_assert(local_filter<bloom_filter> && mergeable_filter<bloom_filter> && sized_filter<bloom_filter>);
static_assert(local_filter<blocked_bloom_filter> && mergeable_filter<blocked_bloom_filter> &&
              sized_filter<blocked_bloom_filter>);
static_assert(locally_erasable_filter<cuckoo_partial_filter> && sized_filter<cuckoo_partial_filter>);
static_assert(!locally_erasable_filter<bloom_filter> && !locally_erasable_filter<blocked_bloom_filter>);

template <class F>
F made(const filter_options& options) {
    auto filter = F::make(options);
    EXPECT_TRUE(filter.has_value()) << (filter ? "" : filter.error().message());
    return *std::move(filter);
}

filter_options seeded(std::uint64_t capacity, double rate = 1.0 / 256, std::uint64_t seed = 1,
                      hash_kind kind = hash_kind::keyed) {
    return {capacity, rate, hasher{hash_key::from_seed(seed), kind}};
}

// Distinct keys: splitmix of a counter is a bijection.
std::vector<std::uint64_t> keys_from(std::uint64_t seed, std::size_t count) {
    std::vector<std::uint64_t> keys(count);
    test::splitmix chance{seed};
    for (auto& key : keys) key = chance();
    return keys;
}

template <class F>
class local_filters : public testing::Test {};

TYPED_TEST_SUITE(local_filters, test::all_local_filters, test::filter_names);

TYPED_TEST(local_filters, an_empty_filter_contains_nothing) {
    const auto filter = made<TypeParam>(seeded(1000));
    for (const std::uint64_t key : keys_from(1, 10'000)) ASSERT_FALSE(filter.may_contain(key));
    EXPECT_EQ(filter.stats().keys, 0u);
}

TYPED_TEST(local_filters, no_false_negative_at_any_capacity_rate_hash_and_instruction_set) {
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        for (const hash_kind kind : {hash_kind::keyed, hash_kind::trusted}) {
            for (const std::uint64_t capacity : {1u, 2u, 3u, 7u, 64u, 1000u, 20'000u}) {
                for (const double rate : {0.5, 0.1, 0.02, 1.0 / 256, 1.0 / 4096, 1.3e-4}) {
                    auto filter = made<TypeParam>(seeded(capacity, rate, capacity, kind));
                    const auto keys = keys_from(capacity, capacity);
                    for (const auto key : keys) ASSERT_NE(filter.insert(key), insert_outcome::full) << capacity;
                    for (const auto key : keys) {
                        ASSERT_TRUE(filter.may_contain(key)) << capacity << ' ' << rate << ' ' << to_string(level);
                    }
                }
            }
        }
    }
}

TYPED_TEST(local_filters, keys_can_be_texts_integers_and_digests) {
    auto filter = made<TypeParam>(seeded(1000));
    EXPECT_EQ(filter.insert("a text"), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(std::string(1000, 'x')), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(std::uint64_t{7}), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(filter.hash()("by digest")), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(""), insert_outcome::inserted);
    EXPECT_TRUE(filter.may_contain("a text"));
    EXPECT_TRUE(filter.may_contain(filter.hash()("a text")));
    EXPECT_TRUE(filter.may_contain(std::string(1000, 'x')));
    EXPECT_TRUE(filter.may_contain(7u));
    EXPECT_TRUE(filter.may_contain(std::string_view{"\x07\0\0\0\0\0\0\0", 8}));
    EXPECT_TRUE(filter.may_contain("by digest"));
    EXPECT_TRUE(filter.may_contain(""));
    EXPECT_FALSE(filter.may_contain("a tex"));
    EXPECT_EQ(filter.stats().keys, 5u);
}

TYPED_TEST(local_filters, batches_of_every_length_equal_single_queries) {
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        for (const double rate : {0.3, 0.01, 1.0 / 256, 1.3e-4}) {
            auto filter = made<TypeParam>(seeded(300, rate));
            const auto stored = keys_from(3, 300);
            for (const auto key : stored) ASSERT_EQ(filter.insert(key) == insert_outcome::full, false);
            auto asked = keys_from(4, 300);
            for (std::size_t i = 0; i < asked.size(); i += 3) asked[i] = stored[i];
            std::vector<key_view> views;
            std::vector<digest> digests;
            for (const auto& key : asked) {
                views.emplace_back(reinterpret_cast<const std::byte*>(&key), sizeof key);
                digests.push_back(filter.hash()(key));
            }
            for (std::size_t count = 0; count <= asked.size(); ++count) {
                // One word more, to check that no word beyond is written.
                std::vector<std::uint64_t> integers(words_for(count) + 1, 0xdead), texts = integers, ready = integers;
                filter.may_contain(std::span<const std::uint64_t>{asked}.first(count), integers);
                filter.may_contain(std::span<const key_view>{views}.first(count), texts);
                filter.may_contain(std::span<const digest>{digests}.first(count), ready);
                ASSERT_EQ(integers, texts);
                ASSERT_EQ(integers, ready);
                ASSERT_EQ(integers.back(), 0xdeadu);
                for (std::size_t i = 0; i < words_for(count) * 64; ++i) {
                    const bool expected = i < count && filter.may_contain(asked[i]);
                    ASSERT_EQ(integers[i / 64] >> (i % 64) & 1, expected ? 1u : 0u) << i << " of " << count;
                }
            }
        }
    }
}

TYPED_TEST(local_filters, every_instruction_set_builds_the_same_bytes) {
    for (const double rate : {0.3, 1.0 / 256, 1.3e-4}) {
        std::vector<std::vector<std::byte>> saved;
        for (const isa level : test::usable_isas()) {
            const test::scoped_isa scope{level};
            auto filter = made<TypeParam>(seeded(5000, rate));
            for (const auto key : keys_from(9, 5000)) ASSERT_NE(filter.insert(key), insert_outcome::full);
            vector_sink out;
            ASSERT_TRUE(filter.save(out).has_value());
            saved.push_back(std::move(out).take());
        }
        for (const auto& bytes : saved) EXPECT_TRUE(bytes == saved.front());
    }
}

TYPED_TEST(local_filters, options_outside_their_range_are_refused_by_name) {
    struct bad {
        filter_options options;
        const char* named;
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    for (const bad& wrong :
         {bad{{0, 0.01, {}}, "capacity 0 "}, bad{{max_capacity + 1, 0.01, {}}, "capacity 1099511627777 "},
          bad{{~std::uint64_t{0}, 0.01, {}}, "18446744073709551615"}, bad{{10, 0.0, {}}, "rate 0 "},
          bad{{10, -0.1, {}}, "-0.1"}, bad{{10, 0.500001, {}}, "0.500001"}, bad{{10, 1.0, {}}, "rate 1 "},
          bad{{10, nan, {}}, "nan"}, bad{{10, infinity, {}}, "inf"}, bad{{10, 1e-300, {}}, "1e-300"}}) {
        const auto filter = TypeParam::make(wrong.options);
        ASSERT_FALSE(filter.has_value()) << wrong.named;
        EXPECT_EQ(filter.error().code(), error_code::invalid_argument);
        EXPECT_NE(filter.error().message().find(wrong.named), std::string_view::npos) << filter.error().message();
        EXPECT_NE(filter.error().message().find(TypeParam::name), std::string_view::npos);
    }
}

TYPED_TEST(local_filters, too_little_memory_is_an_error) {
    const auto filter = TypeParam::make(seeded(max_capacity, 1.3e-4));
    if (filter) GTEST_SKIP() << "this machine supplies terabytes";
    EXPECT_EQ(filter.error().code(), error_code::out_of_memory);
}

TYPED_TEST(local_filters, sizing_helpers_are_inverses) {
    for (const double rate : {0.5, 0.2, 0.03, 0.01, 1.0 / 256, 0.002, 1.0 / 4096, 1.3e-4}) {
        for (const std::uint64_t capacity : {1ull, 10ull, 999ull, 12'345ull, 1'000'000ull, 1'000'000'007ull}) {
            const auto bits = TypeParam::bits_for(capacity, rate);
            ASSERT_TRUE(bits.has_value());
            EXPECT_LE(TypeParam::fpr_for(capacity, *bits), rate * 1.0000001) << capacity << ' ' << rate;
            const auto back = TypeParam::keys_for_bits(*bits, rate);
            ASSERT_TRUE(back.has_value());
            EXPECT_GE(*back, capacity);
            EXPECT_LE(*TypeParam::bits_for(*back, rate), *bits);
            EXPECT_GT(*TypeParam::bits_for(*back + 1, rate), *bits);
        }
    }
}

TYPED_TEST(local_filters, bits_for_is_what_make_allocates) {
    for (const double rate : {0.3, 0.01, 1.0 / 256, 1.3e-4}) {
        for (const std::uint64_t capacity : {1u, 1000u, 100'000u, 3'000'000u}) {
            const auto filter = made<TypeParam>(seeded(capacity, rate));
            const std::uint64_t table = *TypeParam::bits_for(capacity, rate) / 8;
            EXPECT_GE(filter.stats().local_bytes, table);
            EXPECT_LE(filter.stats().local_bytes, table + 4096 + sizeof(TypeParam));
        }
    }
}

TYPED_TEST(local_filters, sizing_refuses_what_make_refuses) {
    EXPECT_FALSE(TypeParam::bits_for(0, 0.01).has_value());
    EXPECT_FALSE(TypeParam::bits_for(10, 0).has_value());
    EXPECT_FALSE(TypeParam::keys_for_bits(1 << 20, 0.9).has_value());
    EXPECT_FALSE(TypeParam::keys_for_bits(0, 0.01).has_value());
    EXPECT_EQ(TypeParam::fpr_for(1000, 0), 1);
}

TYPED_TEST(local_filters, filters_without_a_given_key_do_not_share_one) {
    auto one = made<TypeParam>({.capacity = 100});
    auto two = made<TypeParam>({.capacity = 100});
    EXPECT_FALSE(one.hash() == two.hash());
}

TYPED_TEST(local_filters, a_moved_filter_answers_as_before) {
    auto first = made<TypeParam>(seeded(1000));
    for (const auto key : keys_from(1, 1000)) ASSERT_NE(first.insert(key), insert_outcome::full);
    auto second = std::move(first);
    for (const auto key : keys_from(1, 1000)) ASSERT_TRUE(second.may_contain(key));
    auto third = made<TypeParam>(seeded(10));
    third = std::move(second);
    for (const auto key : keys_from(1, 1000)) ASSERT_TRUE(third.may_contain(key));
}

TYPED_TEST(local_filters, a_custom_hash_cannot_be_saved) {
    struct plain {
        static digest of(const void*, key_view key) noexcept { return digest{key.size, 1}; }
    };
    const auto filter = made<TypeParam>({10, 0.01, hasher::custom(&plain::of, nullptr)});
    vector_sink out;
    const auto saved = filter.save(out);
    ASSERT_FALSE(saved.has_value());
    EXPECT_EQ(saved.error().code(), error_code::unsupported);
    EXPECT_TRUE(out.bytes().empty());
}

template <class F>
class mergeable_filters : public testing::Test {};
using all_mergeable_filters = testing::Types<bloom_filter, blocked_bloom_filter>;
TYPED_TEST_SUITE(mergeable_filters, all_mergeable_filters, test::filter_names);

TYPED_TEST(mergeable_filters, a_merged_filter_equals_one_that_took_all_keys) {
    auto one = made<TypeParam>(seeded(2000));
    auto two = made<TypeParam>(seeded(2000));
    auto both = made<TypeParam>(seeded(2000));
    for (const auto key : keys_from(1, 1000)) (void)one.insert(key), (void)both.insert(key);
    for (const auto key : keys_from(2, 1000)) (void)two.insert(key), (void)both.insert(key);
    ASSERT_TRUE(one.merge(two).has_value());
    for (const auto key : keys_from(3, 100'000)) ASSERT_EQ(one.may_contain(key), both.may_contain(key));
    for (const auto key : keys_from(1, 1000)) ASSERT_TRUE(one.may_contain(key));
    for (const auto key : keys_from(2, 1000)) ASSERT_TRUE(one.may_contain(key));
}

TYPED_TEST(mergeable_filters, unlike_filters_are_refused_and_nothing_changes) {
    auto one = made<TypeParam>(seeded(2000));
    (void)one.insert(1u);
    for (const filter_options& other : {seeded(2000, 1.0 / 256, 2), seeded(4000), seeded(2000, 0.3),
                                        seeded(2000, 1.0 / 256, 1, hash_kind::trusted)}) {
        auto two = made<TypeParam>(other);
        for (const auto key : keys_from(5, 2000)) (void)two.insert(key);
        const auto merged = one.merge(two);
        ASSERT_FALSE(merged.has_value());
        EXPECT_EQ(merged.error().code(), error_code::mismatch);
        EXPECT_EQ(one.stats().keys, 1u);
        for (const auto key : keys_from(6, 1000)) ASSERT_FALSE(one.may_contain(key));
    }
}

TYPED_TEST(mergeable_filters, a_second_insert_changes_nothing_and_reports_it) {
    auto filter = made<TypeParam>(seeded(2000));
    EXPECT_EQ(filter.insert("once"), insert_outcome::inserted);
    EXPECT_EQ(filter.insert("once"), insert_outcome::already_present);
    EXPECT_EQ(filter.stats().keys, 1u);
}

TYPED_TEST(mergeable_filters, keys_beyond_the_capacity_are_kept) {
    auto filter = made<TypeParam>(seeded(100));
    for (const auto key : keys_from(1, 10'000)) ASSERT_NE(filter.insert(key), insert_outcome::full);
    for (const auto key : keys_from(1, 10'000)) ASSERT_TRUE(filter.may_contain(key));
}

}  // namespace
}  // namespace genista::local_filters_test
