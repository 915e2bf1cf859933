// A call of an adaptive filter hashes its key once, and not at all if the caller did. (The guard's
// calls: tests/guard/hashed_once_test.cpp.)
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "genista/filters/adaptive_bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/counting_hash.hpp"
#include "tests/support/daisy_classes.hpp"

namespace genista::test::hashed_once_test {
namespace {

constexpr std::uint64_t capacity = 12'000, keys = 2'000;  // new hash functions are due after 12,000 queries
constexpr double rate = 0.25;
constexpr daisy_terms terms{2'000, 0x1p-12};

std::string name(std::uint64_t number) {
    return "a key of about thirty bytes/" + std::to_string(number);
}

// Everything that some filter asks of R.
struct full_remote {
    memory_map records, places;
    with_index<memory_map, memory_map> indexed{records, places};
};

template <class Filter>
struct made_of;
template <>
struct made_of<broom_filter> {
    static broom_filter filter(const hasher& hash) {
        return *broom_filter::make({.capacity = 300, .hash = hash, .random = repeatable(7)});
    }
    static memory_map& remote(full_remote& all) { return all.records; }
    static bool hashes_anew(const broom_filter&) { return false; }
};
template <>
struct made_of<adaptive_bloom_filter> {
    static adaptive_bloom_filter filter(const hasher& hash) {
        return *adaptive_bloom_filter::make(
            {.capacity = capacity, .false_positive_rate = rate, .hash = hash, .random = repeatable(7)});
    }
    static auto& remote(full_remote& all) { return all.indexed; }
    static bool hashes_anew(const adaptive_bloom_filter& filter) { return filter.details().rebuilds != 0; }
};
template <>
struct made_of<cascade_filter> {
    static cascade_filter filter(const hasher& hash) {
        return *cascade_filter::make(
            {.capacity = capacity, .false_positive_rate = rate, .hash = hash, .random = repeatable(7)});
    }
    static auto& remote(full_remote& all) { return all.indexed; }
    static bool hashes_anew(const cascade_filter& filter) { return filter.details().rebuilds != 0; }
};
template <>
struct made_of<cuckooing_filter> {
    static cuckooing_filter filter(const hasher& hash) {
        return *cuckooing_filter::make(
            {.capacity = 4'000, .fingerprint_bits = 5, .hash = hash, .random = repeatable(7)});
    }
    static auto& remote(full_remote& all) { return all.indexed; }
    static bool hashes_anew(const cuckooing_filter& filter) { return filter.rehashes() != 0; }
};
using daisy = daisy_broom_filter<scripted_oracle>;
template <>
struct made_of<daisy> {
    // Half of the keys have class 0.
    static daisy filter(const hasher& hash) {
        daisy_broom_options options;
        options.hash = hash;
        options.exception_bytes = 1'024;
        auto oracle = std::make_shared<scripted_oracle>(
            [](std::uint64_t key) { return odds_of_class((key & 0xff) % 2 == 0 ? 0 : 8, terms); });
        return *daisy::make(options, plan_of(terms, {{0, {0.5, 0.5}}, {8, {0.5, 0.5}}}), std::move(oracle));
    }
    static memory_map& remote(full_remote& all) { return all.records; }
    static bool hashes_anew(const daisy&) { return false; }
};

template <class Filter>
struct hashed_once : ::testing::Test {
    using made = made_of<Filter>;
    counting_hash counting;
    full_remote all;
    Filter filter = made::filter(counting.hash());
    std::uint64_t others = 0;

    void put(const std::string& key) { ASSERT_TRUE(all.records.put(filter.hash()(key), key)); }
    void take_out(const std::string& key) { ASSERT_TRUE(all.records.erase(filter.hash()(key), key)); }

    // The call with a key, which hashes it once, or with the key hashed already.
    template <class Call>
    void check(std::uint64_t number, const Call& call) {
        const std::string key = name(number);
        const hashed_key hashed{filter.hash(), key};
        if (number % 2 == 0) {
            others += counting.during(key, [&] { call(key_view{key}); }) == 1 ? 0u : 1u;
        } else {
            others += counting.during(key, [&] { call(hashed); }) == 0 ? 0u : 1u;
        }
    }
};
using adaptive_filters = ::testing::Types<broom_filter, adaptive_bloom_filter, cascade_filter, cuckooing_filter, daisy>;
TYPED_TEST_SUITE(hashed_once, adaptive_filters);

TYPED_TEST(hashed_once, by_inserts_adapts_and_erases) {
    auto& remote = TestFixture::made::remote(this->all);
    auto& learning = this->filter;
    for (std::uint64_t number = 0; number < keys; ++number) {
        this->put(name(number));
        this->check(number, [&](const auto& key) { ASSERT_TRUE(learning.insert(key, remote)); });
    }
    for (std::uint64_t number = 0; number < 100; ++number)
        this->check(number, [&](const auto& key) { ASSERT_TRUE(learning.insert(key, remote)); });
    EXPECT_EQ(std::exchange(this->others, 0), 0u) << "an insert";
    std::uint64_t fixed = 0;
    for (std::uint64_t number = keys; number < 10'000; ++number) {
        if (!learning.may_contain(name(number))) continue;
        this->check(number, [&](const auto& key) { fixed += *learning.adapt(key, remote) == adapt_outcome::fixed; });
    }
    EXPECT_GT(fixed, 10u);
    for (std::uint64_t number = 0; number < 100; ++number)
        this->check(number,
                    [&](const auto& key) { ASSERT_EQ(*learning.adapt(key, remote), adapt_outcome::true_positive); });
    EXPECT_EQ(std::exchange(this->others, 0), 0u) << "an adapt";
    if constexpr (requires(key_view key) { learning.erase(key, remote); }) {
        for (std::uint64_t number = 0; number < 500; ++number)
            this->check(number,
                        [&](const auto& key) { ASSERT_EQ(*learning.erase(key, remote), erase_outcome::erased); });
        for (std::uint64_t number = 500; number < 1'000; ++number) {
            this->take_out(name(number));
            this->check(number, [&](const auto& key) { ASSERT_TRUE(learning.forget(key, remote)); });
        }
        for (std::uint64_t number = 0; number < 100; ++number)
            this->check(number,
                        [&](const auto& key) { ASSERT_EQ(*learning.erase(key, remote), erase_outcome::absent); });
        EXPECT_EQ(this->others, 0u) << "an erase";
    } else {  // a Bloom filter adapts to keys that have left R
        for (std::uint64_t number = 0; number < 500; ++number) {
            this->take_out(name(number));
            this->check(number, [&](const auto& key) { ASSERT_TRUE(learning.adapt(key, remote)); });
        }
        EXPECT_EQ(this->others, 0u) << "an adapt to a key that was stored";
    }
    EXPECT_FALSE(TestFixture::made::hashes_anew(learning))
        << "new hash functions read all of R, and hash what they read";
    for (std::uint64_t number = 1'000; number < keys; ++number) ASSERT_TRUE(learning.may_contain(name(number)));
    EXPECT_TRUE(learning.audit(remote));
}

// The quick insert of an integer is one kernel with its hash. Only a key that needs R, or sets off
// growth, is hashed again.
TEST(hashed_once_broom, by_integers) {
    counting_hash counting;
    memory_map remote;
    broom_filter filter = made_of<broom_filter>::filter(counting.hash());
    std::uint64_t others = 0, twice = 0;
    for (std::uint64_t number = 0; number < 10'000; ++number) {
        const integer_key key{number};
        const std::string bytes{key.view().text()};
        ASSERT_TRUE(remote.put(filter.hash()(number), key.view()));
        const std::uint64_t times = counting.during(bytes, [&] { ASSERT_TRUE(filter.insert(number, remote)); });
        others += times == 1 || times == 2 ? 0u : 1u;
        twice += times == 2 ? 1u : 0u;
        others += counting.during(bytes, [&] { ASSERT_TRUE(filter.may_contain(number)); }) != 1;
    }
    EXPECT_LT(twice, 1'500u);
    for (std::uint64_t number = 0; number < 10'000; number += 10) {
        const integer_key key{number};
        const std::string bytes{key.view().text()};
        others += counting.during(bytes, [&] { ASSERT_EQ(*filter.erase(number, remote), erase_outcome::erased); }) != 1;
        others += counting.during(bytes, [&] { ASSERT_TRUE(filter.adapt(number, remote)); }) != 1;
    }
    EXPECT_EQ(others, 0u);
    EXPECT_TRUE(filter.audit(remote));
}

// The filter is so large and so precise that no insert reads R, which would check the records of a
// bin, perhaps those of other keys of the batch. The key that is watched is the first to be erased.
TEST(hashed_once_broom, in_batches) {
    counting_hash counting;
    memory_map remote;
    broom_filter filter = *broom_filter::make(
        {.capacity = 40'000, .false_positive_rate = 0x1p-22, .hash = counting.hash(), .random = repeatable(7)});
    std::uint64_t others = 0;
    for (std::uint64_t first = 0; first < 10'000; first += 200) {
        std::array<std::uint64_t, 200> batch;
        std::vector<std::string> texts;
        for (std::uint64_t i = 0; i < batch.size(); ++i) {
            batch[i] = first + i;
            texts.push_back(name(first + i));
            ASSERT_TRUE(remote.put(filter.hash()(batch[i]), integer_key{batch[i]}.view()));
            ASSERT_TRUE(remote.put(filter.hash()(texts[i]), texts[i]));
        }
        const std::vector<key_view> views{texts.begin(), texts.end()};
        const std::span<const std::uint64_t> integers{batch};
        const integer_key one{batch[0]};
        const std::string bytes{one.view().text()};
        others += counting.during(bytes, [&] { ASSERT_EQ(*filter.insert(integers, remote), 200u); }) != 1;
        others += counting.during(texts[0], [&] { ASSERT_EQ(*filter.insert(views, remote), 200u); }) != 1;
        if (first % 400 == 0) continue;
        others += counting.during(bytes, [&] { ASSERT_EQ(*filter.erase(integers, remote), 200u); }) != 1;
        others += counting.during(texts[0], [&] { ASSERT_EQ(*filter.erase(views, remote), 200u); }) != 1;
    }
    EXPECT_EQ(others, 0u);
    EXPECT_TRUE(filter.audit(remote));
}

}  // namespace
}  // namespace genista::test::hashed_once_test
