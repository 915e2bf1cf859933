// count_min_oracle and count_sketch_oracle: training from logs, keys below the noise, merging, and
// bad input.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "genista/oracles/daisy_plan.hpp"
#include "genista/oracles/sketch_oracle.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::sketch_oracle_test {
namespace {

const hasher fixed{hash_key::from_seed(3)};

// Three keys make up three quarters of the log; 10,000 others occur once each.
struct sample_log {
    std::vector<integer_key> keys;
    std::vector<counted_key> entries;
    explicit sample_log(std::uint64_t first) {
        for (std::uint64_t i = 0; i < 10'003; ++i) keys.emplace_back(first + i);
        for (std::uint64_t i = 0; i < keys.size(); ++i) entries.push_back({keys[i].view(), i < 3 ? 10'000u : 1u});
    }
};

template <class Oracle>
class sketch_oracles : public ::testing::Test {};
using both_oracles = ::testing::Types<count_min_oracle, count_sketch_oracle>;
TYPED_TEST_SUITE(sketch_oracles, both_oracles);

const sketch_oracle_options usual{.stored = {512, 5}, .asked = {512, 5}, .hash = fixed};

TYPED_TEST(sketch_oracles, find_the_frequent_keys) {
    const sample_log inserts{0}, queries{2};  // key 2 is the last of one and the first of the other
    const auto oracle = *TypeParam::train(usual, inserts.entries, queries.entries);
    for (const std::uint64_t key : {0u, 1u, 2u}) EXPECT_NEAR(oracle.odds(key).stored, 0.25, 0.01) << key;
    for (const std::uint64_t key : {2u, 3u, 4u}) EXPECT_NEAR(oracle.odds(key).asked, 0.25, 0.01) << key;
    EXPECT_EQ(oracle.odds(std::uint64_t{0}).asked, oracle.unseen().asked);
}

TYPED_TEST(sketch_oracles, give_keys_below_the_noise_equal_odds) {
    const sample_log inserts{0}, queries{2};
    auto options = usual;
    options.universe = 1e6;
    const auto oracle = *TypeParam::train(options, inserts.entries, queries.entries);
    EXPECT_NEAR(oracle.unseen().stored, 0.25 / 1e6, 0.01 / 1e6);
    const auto shy = *TypeParam::train(usual, inserts.entries, queries.entries);
    EXPECT_NEAR(shy.unseen().stored, 0.25 / 0x1p64, 0.01 / 0x1p64) << "a universe of unknown size";
    std::uint64_t absent_keys_believed = 0;
    for (std::uint64_t key = 1'000'000; key < 1'001'000; ++key) {
        const key_odds odds = oracle.odds(key);
        EXPECT_GT(odds.stored, 0);
        EXPECT_GT(odds.asked, 0);
        absent_keys_believed += odds == oracle.unseen() ? 0u : 1u;
    }
    EXPECT_LE(absent_keys_believed, 20u);
}

TYPED_TEST(sketch_oracles, never_give_an_unseen_key_zero_odds) {
    const std::vector<counted_key> one{{"a", 5}};
    const auto oracle = *TypeParam::train(usual, one, one);
    EXPECT_DOUBLE_EQ(oracle.unseen().stored, 0.1 / 0x1p64) << "half an observation of five";
    EXPECT_EQ(daisy_class(oracle.odds("absent_key"), {.draws = 1e6, .rate = 1.0 / 256}), 8u);
}

TYPED_TEST(sketch_oracles, use_the_callers_odds_for_unseen_keys) {
    const sample_log log{0};
    auto options = usual;
    options.unseen = key_odds{1e-7, 1e-8};
    EXPECT_EQ(TypeParam::train(options, log.entries, log.entries)->unseen(), (key_odds{1e-7, 1e-8}));
    for (const key_odds& bad : {key_odds{0, 1e-8}, key_odds{1e-8, 0}, key_odds{-1, 1}, key_odds{1, 2},
                                key_odds{std::nan(""), 1}, key_odds{1, HUGE_VAL}}) {
        options.unseen = bad;
        const auto made = TypeParam::train(options, log.entries, log.entries);
        ASSERT_FALSE(made) << bad.stored << ' ' << bad.asked;
        EXPECT_NE(made.error().message().find("is not in (0, 1]"), std::string_view::npos);
    }
}

TYPED_TEST(sketch_oracles, refuse_empty_logs_bad_shapes_and_universes) {
    const std::vector<counted_key> log{{"a", 5}}, empty{}, zeros{{"a", 0}};
    const auto message = [](const sketch_oracle_options& options, const auto& inserts, const auto& queries) {
        return std::string{TypeParam::train(options, inserts, queries).error().message()};
    };
    const std::string name{TypeParam::name};
    EXPECT_EQ(message(usual, empty, log), name + ": the log of inserts is empty");
    EXPECT_EQ(message(usual, log, zeros), name + ": the log of queries is empty");
    auto options = usual;
    options.universe = 0;
    EXPECT_EQ(message(options, log, log), name + ": a universe of 0 keys is not in 1..2^64");
    options = usual;
    options.asked.depth = 0;
    EXPECT_NE(message(options, log, log).find("a depth of 0"), std::string::npos);
}

TYPED_TEST(sketch_oracles, merge_into_the_oracle_of_both_logs) {
    const sample_log inserts{0}, queries{50};
    const auto part = [](const std::vector<counted_key>& all, bool first) {
        const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
        return first ? std::vector<counted_key>(all.begin(), all.begin() + half)
                     : std::vector<counted_key>(all.begin() + half, all.end());
    };
    auto options = usual;
    options.conservative = false;  // plain counters add up exactly
    options.unseen = key_odds{1e-9, 1e-9};
    auto a = *TypeParam::train(options, part(inserts.entries, true), part(queries.entries, true));
    const auto b = *TypeParam::train(options, part(inserts.entries, false), part(queries.entries, false));
    const auto whole = *TypeParam::train(options, inserts.entries, queries.entries);
    ASSERT_TRUE(a.merge(b));
    for (std::uint64_t key = 0; key < 300; ++key) {
        EXPECT_DOUBLE_EQ(a.odds(key).stored, whole.odds(key).stored) << key;
        EXPECT_DOUBLE_EQ(a.odds(key).asked, whole.odds(key).asked) << key;
    }
    auto other = options;
    other.asked.width = 256;
    const auto foreign = *TypeParam::train(other, inserts.entries, queries.entries);
    const key_odds before = a.odds(std::uint64_t{1});
    EXPECT_EQ(a.merge(foreign).error().code(), error_code::mismatch);
    EXPECT_EQ(a.odds(std::uint64_t{1}), before) << "nothing has changed";
}

TYPED_TEST(sketch_oracles, count_all_their_bytes) {
    const sample_log log{0};
    auto options = usual;
    options.stored = {1024, 4};
    const auto oracle = *TypeParam::train(options, log.entries, log.entries);
    EXPECT_GE(oracle.memory_bytes(), 4u * (1024 * 4 + 512 * 5));
    EXPECT_LE(oracle.memory_bytes(), 4u * (1024 * 4 + 512 * 5) + 2048);
}

TEST(sketch_oracle, needs_two_sketches_that_fit) {
    const auto sketch = [](const hasher& hash, std::uint64_t count, bool conservative = true) {
        auto made = *count_min::make({{64, 2}, conservative, hash});
        made.add("a", count);
        return made;
    };
    const key_odds unseen{1e-6, 1e-6};
    EXPECT_TRUE(count_min_oracle::make(sketch(fixed, 1), sketch(fixed, 1), unseen));
    EXPECT_FALSE(count_min_oracle::make(sketch(fixed, 0), sketch(fixed, 1), unseen));
    EXPECT_FALSE(count_min_oracle::make(sketch(fixed, 1), sketch(hasher{hash_key::from_seed(4)}, 1), unseen));
    EXPECT_FALSE(count_min_oracle::make(sketch(fixed, 1), sketch(fixed, 1, false), unseen));
}

}  // namespace
}  // namespace genista::sketch_oracle_test
