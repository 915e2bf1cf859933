// Sketches that count keys, and the oracle made from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "genista/detail/oracles/sketches.hpp"
#include "genista/oracles/daisy_plan.hpp"
#include "genista/oracles/sketch_oracle.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::sketches_test {
namespace {

// ---- sketches -----------------------------------------------------------------------------------

// count_min and count_sketch by example: limits, bad input, merging, and counters that stop instead
// of wrapping.

const hasher fixed{hash_key::from_seed(7)};

count_min plain(sketch_shape shape = {64, 3}) {
    return *count_min::make({shape, false, fixed});
}
count_min careful(sketch_shape shape = {64, 3}) {
    return *count_min::make({shape, true, fixed});
}
count_sketch signed_one(sketch_shape shape = {64, 5}) {
    return *count_sketch::make({shape, fixed});
}

template <class Sketch>
void expect_small_counts(Sketch sketch) {
    sketch.add("ada", 3);
    sketch.add("bob");
    sketch.add(std::uint64_t{7}, 10);
    sketch.add("ada", 2);
    using number = decltype(sketch.estimate("ada"));
    EXPECT_EQ(sketch.estimate("ada"), number{5});
    EXPECT_EQ(sketch.estimate("bob"), number{1});
    EXPECT_EQ(sketch.estimate(integer_key{7u}.view()), number{10}) << "an integer is its eight bytes";
    EXPECT_EQ(sketch.estimate("eve"), number{0});
    EXPECT_EQ(sketch.total(), 16u);
}

TEST(sketches, count_few_keys_exactly) {
    expect_small_counts(plain({1024, 3}));
    expect_small_counts(careful({1024, 3}));
    expect_small_counts(signed_one({1024, 5}));
    expect_small_counts(signed_one({1024, 4}));
}

TEST(sketches, refuse_shapes_out_of_range_and_name_them) {
    const auto message = [](const sketch_shape& shape) {
        const auto made = count_min::make({shape, true, fixed});
        return made ? std::string{"made"} : std::string{made.error().message()};
    };
    EXPECT_EQ(message({0, 4}), "count_min: a width of 0 is not in 1..4294967296");
    EXPECT_EQ(message({(std::uint64_t{1} << 32) + 1, 4}), "count_min: a width of 4294967297 is not in 1..4294967296");
    EXPECT_EQ(message({16, 0}), "count_min: a depth of 0 is not in 1..32");
    EXPECT_EQ(message({16, 33}), "count_min: a depth of 33 is not in 1..32");
    EXPECT_EQ(message({1, 1}), "made");
    EXPECT_EQ(message({16, 32}), "made");
    EXPECT_FALSE(count_sketch::make({{0, 1}, fixed}));
}

TEST(sketches, have_secret_keys_of_their_own_by_default) {
    auto a = *count_min::make(), b = *count_min::make();
    EXPECT_FALSE(a.hash() == b.hash());
    EXPECT_EQ(a.hash().kind(), hash_kind::keyed);
    EXPECT_FALSE(a.merge(b));
}

TEST(sketches, of_one_counter_count_everything) {
    auto sketch = plain({1, 1});
    for (std::uint64_t key = 0; key < 100; ++key) sketch.add(key);
    EXPECT_EQ(sketch.estimate(std::uint64_t{5}), 100u);
    auto other = careful({1, 1});
    for (std::uint64_t key = 0; key < 100; ++key) other.add(key);
    EXPECT_EQ(other.estimate(std::uint64_t{1'000}), 100u);
}

TEST(sketches, counters_stop_at_their_maximum) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    for (const bool conservative : {false, true}) {
        auto sketch = conservative ? careful() : plain();
        sketch.add("a", most - 1);
        EXPECT_EQ(sketch.estimate("a"), most - 1);
        sketch.add("a");
        EXPECT_EQ(sketch.estimate("a"), most);
        sketch.add("a", 5);
        EXPECT_EQ(sketch.estimate("a"), most) << "not 4";
        sketch.add("a", ~std::uint64_t{0});
        EXPECT_EQ(sketch.estimate("a"), most);
        EXPECT_EQ(sketch.total(), ~std::uint64_t{0}) << "the total stops as well";
        auto other = *count_min::make({sketch.shape(), sketch.conservative(), fixed});
        other.add("a", 9);
        ASSERT_TRUE(other.merge(sketch));
        EXPECT_EQ(other.estimate("a"), most);
    }
    auto c = signed_one();
    c.add("a", ~std::uint64_t{0});
    EXPECT_EQ(c.estimate("a"), 0x7fff'ffff);
    c.add("a", 1);
    EXPECT_EQ(c.estimate("a"), 0x7fff'ffff);
    auto d = signed_one();
    d.add("a", 100);
    ASSERT_TRUE(d.merge(c));
    EXPECT_EQ(d.estimate("a"), 0x7fff'ffff);
}

TEST(sketches, merge_is_the_sketch_of_both_logs) {
    auto a = plain(), b = plain(), both = plain();
    auto c = signed_one(), d = signed_one(), signed_both = signed_one();
    for (std::uint64_t key = 0; key < 1'000; ++key) {
        (key % 3 == 0 ? a : b).add(key, 1 + key % 7);
        both.add(key, 1 + key % 7);
        (key % 3 == 0 ? c : d).add(key, 1 + key % 7);
        signed_both.add(key, 1 + key % 7);
    }
    ASSERT_TRUE(a.merge(b));
    ASSERT_TRUE(c.merge(d));
    EXPECT_TRUE(std::ranges::equal(a.bytes(), both.bytes()));
    EXPECT_TRUE(std::ranges::equal(c.bytes(), signed_both.bytes()));
    EXPECT_EQ(a.total(), both.total());
    EXPECT_EQ(c.total(), signed_both.total());
}

TEST(sketches, merge_refuses_sketches_that_do_not_match_and_changes_nothing) {
    auto a = plain({64, 3});
    a.add("x", 5);
    const auto message = [&](const count_min& other) { return std::string{a.merge(other).error().message()}; };
    EXPECT_EQ(message(plain({65, 3})), "count_min: 3 rows of 64 counters cannot be merged with 3 rows of 65");
    EXPECT_EQ(message(plain({64, 4})), "count_min: 3 rows of 64 counters cannot be merged with 4 rows of 64");
    EXPECT_NE(message(careful({64, 3})).find("conservatively"), std::string::npos);
    const auto foreign = *count_min::make({{64, 3}, false, hasher{hash_key::from_seed(8)}});
    EXPECT_NE(message(foreign).find("different hash keys"), std::string::npos);
    EXPECT_EQ(a.merge(foreign).error().code(), error_code::mismatch);
    EXPECT_EQ(a.total(), 5u);
    EXPECT_EQ(a.estimate("x"), 5u);
    auto c = signed_one({64, 5});
    EXPECT_FALSE(c.merge(signed_one({64, 4})));
}

TEST(sketches, report_all_their_bytes) {
    EXPECT_GE(plain({4096, 4}).memory_bytes(), 4096u * 4 * 4);
    EXPECT_LE(plain({4096, 4}).memory_bytes(), 4096u * 4 * 4 + 1024);
    EXPECT_GE(signed_one({65'536, 5}).memory_bytes(), 65'536u * 5 * 4);
}

TEST(sketches, bytes_that_are_not_valid_counters_are_refused) {
    auto a = plain({16, 2});
    a.add("x", 5);
    const count_min_options options{{16, 2}, false, fixed};
    EXPECT_EQ(count_min::from_bytes(options, 5, a.bytes())->estimate("x"), 5u);
    EXPECT_FALSE(count_min::from_bytes(options, 4, a.bytes())) << "a counter above the total";
    EXPECT_FALSE(count_min::from_bytes(options, 5, a.bytes().first(124)));
    EXPECT_FALSE(count_min::from_bytes({{16, 0}, false, fixed}, 5, {}));
}

// ---- sketch_oracle ------------------------------------------------------------------------------

// count_min_oracle and count_sketch_oracle: training from logs, keys below the noise, merging, and
// bad input.

const hasher oracle_hash{hash_key::from_seed(3)};

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

const sketch_oracle_options usual{.stored = {512, 5}, .asked = {512, 5}, .hash = oracle_hash};

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
    EXPECT_TRUE(count_min_oracle::make(sketch(oracle_hash, 1), sketch(oracle_hash, 1), unseen));
    EXPECT_FALSE(count_min_oracle::make(sketch(oracle_hash, 0), sketch(oracle_hash, 1), unseen));
    EXPECT_FALSE(count_min_oracle::make(sketch(oracle_hash, 1), sketch(hasher{hash_key::from_seed(4)}, 1), unseen));
    EXPECT_FALSE(count_min_oracle::make(sketch(oracle_hash, 1), sketch(oracle_hash, 1, false), unseen));
}

}  // namespace
}  // namespace genista::sketches_test
