// count_min and count_sketch by example: limits, bad input, merging, and counters that stop instead
// of wrapping.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "genista/detail/oracles/sketches.hpp"

namespace genista::sketches_test {
namespace {

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

}  // namespace
}  // namespace genista::sketches_test
