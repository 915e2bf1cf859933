// daisy_broom_filter by example: bands, class 0 and its exceptions, wrong oracles, drift, refusals.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "genista/detail/filters/asked_with_key.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/counting_map.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/every_isa.hpp"

namespace genista::daisy_broom_test {
namespace {

using test::odds_of_class;
using test::plan_of;
using test::scripted_oracle;
using filter = daisy_broom_filter<scripted_oracle>;

static_assert(learning_with_key<filter, memory_map>);
static_assert(asked_with_key<filter> && !asked_with_key<broom_filter>);
static_assert(!membership_filter<filter>);
static_assert(remote_map<band_view<memory_map, filter>>);

constexpr daisy_terms terms{20'000, 0x1p-14};
constexpr std::uint64_t absent_keys = std::uint64_t{1} << 40;

// The last digit of a key chooses its class: 0 and 1 are of class 0, 2 to 7 of class 10, the others
// of class 14.
unsigned class_by_digit(std::uint64_t key) {
    const std::uint64_t digit = key % 10;
    return digit < 2 ? 0 : digit < 8 ? 10 : 14;
}
std::shared_ptr<const scripted_oracle> by_digit(std::uint64_t number = 1) {
    return std::make_shared<scripted_oracle>(
        [](std::uint64_t key) { return odds_of_class(class_by_digit(key), terms); }, number);
}
daisy_plan plan_by_digit() {
    return plan_of(terms, {{0, {0.2, 0.0001}}, {10, {0.6, 0.3}}, {14, {0.2, 0.6}}});
}
daisy_broom_options seeded(std::uint64_t seed) {
    daisy_broom_options options;
    options.hash = hasher{hash_key::from_seed(seed)};
    options.random = repeatable(seed);
    options.exception_bytes = 16'384;
    return options;
}

struct world {
    filter f = *filter::make(seeded(1), plan_by_digit(), by_digit());
    memory_map store{};
    counting_map<memory_map> remote{store};

    void insert(std::uint64_t key) {
        ASSERT_TRUE(remote.put(f.hash()(key), integer_key{key}.view()));
        const auto outcome = f.insert(key, remote);
        ASSERT_TRUE(outcome);
        ASSERT_NE(*outcome, insert_outcome::full);
    }
    // True: the query cost a read.
    bool ask_absent_key(std::uint64_t key) {
        if (!f.may_contain(key)) return false;
        const auto outcome = f.adapt(key, remote);
        EXPECT_TRUE(outcome);
        EXPECT_EQ(*outcome, adapt_outcome::fixed);
        return true;
    }
};

TEST(daisy_broom, counts_its_keys) {
    world w;
    EXPECT_TRUE(w.f.empty());
    for (std::uint64_t key = 0; key < 500; ++key) ASSERT_NO_FATAL_FAILURE(w.insert(key));
    EXPECT_EQ(w.f.size(), 500u);
    EXPECT_EQ(w.f.size(), w.f.stats().keys);
    EXPECT_FALSE(w.f.empty());
}

TEST(daisy_broom, keeps_every_key_and_adapts_in_every_class) {
    world w;
    for (std::uint64_t key = 0; key < 20'000; ++key) w.insert(key);
    for (std::uint64_t key = 0; key < 20'000; ++key) ASSERT_TRUE(w.f.may_contain(key)) << key;
    EXPECT_EQ(w.f.stats().keys, 20'000u);
    ASSERT_TRUE(w.f.audit(w.store));
    std::vector<std::uint64_t> wasted(4);
    constexpr std::uint64_t asked = 5'000;
    for (auto& round : wasted) {
        for (std::uint64_t i = 0; i < asked; ++i) round += w.ask_absent_key(absent_keys + i) ? 1u : 0u;
    }
    EXPECT_GE(wasted[0], asked / 5) << "keys of class 0 cost a read each, once";
    EXPECT_LE(wasted[0], asked / 5 + 20);
    for (std::size_t round = 1; round < wasted.size(); ++round) EXPECT_LE(wasted[round], 2u) << round;
    EXPECT_EQ(w.f.stats().adapts, wasted[0] + wasted[1] + wasted[2] + wasted[3]);
    ASSERT_TRUE(w.f.audit(w.store));
}

TEST(daisy_broom, a_key_of_class_0_takes_no_memory_and_can_be_erased) {
    world w;
    const std::uint64_t empty = w.f.stats().local_bytes;
    for (std::uint64_t key = 0; key < 20'000; key += 10) w.insert(key);
    EXPECT_EQ(w.f.stats().local_bytes, empty);
    EXPECT_EQ(*w.f.erase(std::uint64_t{0}, w.remote), erase_outcome::erased);
    EXPECT_EQ(*w.f.erase(std::uint64_t{0}, w.remote), erase_outcome::absent);
    EXPECT_TRUE(w.f.may_contain(std::uint64_t{0}));
    EXPECT_TRUE(w.ask_absent_key(0));
    EXPECT_FALSE(w.f.may_contain(std::uint64_t{0}));
    EXPECT_EQ(*w.f.adapt(std::uint64_t{0}, w.remote), adapt_outcome::was_negative);
    w.insert(0);
    EXPECT_TRUE(w.f.may_contain(std::uint64_t{0})) << "inserted again";
    EXPECT_EQ(*w.f.adapt(std::uint64_t{0}, w.remote), adapt_outcome::true_positive);
    EXPECT_TRUE(w.f.may_contain(std::uint64_t{0}));
}

TEST(daisy_broom, bands_join_rare_classes_upward) {
    // 1 to 8 together; 9 is rare and joins 10; 11 has no keys and joins 12; the last band exists
    // with or without keys.
    const auto plan = plan_of({1e6, 0x1p-15}, {{0, {0.1, 0}},
                                               {3, {0.3, 0.1}},
                                               {8, {0.1, 0.1}},
                                               {9, {0.01, 0.1}},
                                               {10, {0.29, 0.2}},
                                               {12, {0.2, 0.3}},
                                               {15, {0, 0.2}}});
    auto bands = daisy_bands::make(plan);
    ASSERT_TRUE(bands);
    const auto all = bands->all();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].rate_bits, 8u);
    EXPECT_EQ(all[1].rate_bits, 10u);
    EXPECT_EQ(all[1].first_class, 9u);
    EXPECT_EQ(all[2].rate_bits, 12u);
    EXPECT_EQ(all[3].rate_bits, 15u);
    EXPECT_EQ(all[3].last_class, max_daisy_class);
    EXPECT_EQ(bands->of(0), daisy_bands::none);
    EXPECT_EQ(bands->of(1), 0u);
    EXPECT_EQ(bands->of(9), 1u);
    EXPECT_EQ(bands->of(11), 2u);
    EXPECT_EQ(bands->of(13), 3u);
    EXPECT_EQ(bands->of(64), 3u);
    EXPECT_GE(all[0].capacity, 400'000u);
    EXPECT_GE(all[3].capacity, 900'000u / 64) << "a smaller band would read all of R as one range";
    const double rate = bands->expected_rate();
    EXPECT_NEAR(rate, 0.2 / 256 + 0.3 / 1024 + 0.3 / 4096 + 0.2 / 32768, 1e-9);
    const std::uint64_t before = bands->bits();
    bands->spend(before - 1);
    EXPECT_EQ(bands->bits(), before);
    bands->spend(before + 200'000);
    EXPECT_GT(bands->bits(), before);
    EXPECT_LE(bands->bits(), before + 200'000);
    EXPECT_LT(bands->expected_rate(), rate);
}

TEST(daisy_broom, there_is_one_band_if_all_classes_are_small) {
    const auto bands = daisy_bands::make(plan_of({1000, 1.0 / 16}, {{2, {1, 1}}}));
    ASSERT_TRUE(bands);
    ASSERT_EQ(bands->all().size(), 1u);
    EXPECT_EQ(bands->all()[0].rate_bits, 8u);
    const auto all_in_class_0 = daisy_bands::make(plan_of({1000, 1.0 / 16}, {{0, {1, 1}}}));
    ASSERT_TRUE(all_in_class_0);
    EXPECT_EQ(all_in_class_0->all().size(), 1u);
}

TEST(daisy_broom, rates_below_the_broom_filters_are_refused_by_name) {
    const auto made = filter::make({}, plan_of({1000, 0x1p-25}, {{25, {1, 1}}}), by_digit());
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message().find("2^-24"), std::string_view::npos) << made.error().message();
    EXPECT_FALSE(filter::make({}, plan_of({0, 0.1}, {}), by_digit()));
    EXPECT_FALSE(filter::make({}, plan_of({1000, 0.7}, {}), by_digit()));
}

TEST(daisy_broom, an_entirely_wrong_oracle_costs_reads_and_no_key) {
    world w;
    // The plan expects nearly no stored keys in class 14: it gets five times its share; the band
    // grows.
    for (std::uint64_t key = 8; key < 200'000; key += 10) w.insert(key);
    for (std::uint64_t key = 8; key < 200'000; key += 10) ASSERT_TRUE(w.f.may_contain(key)) << key;
    ASSERT_TRUE(w.f.audit(w.store));
    const daisy_drift drift = w.f.drift();
    EXPECT_GT(drift.stored, 0.7);
    EXPECT_TRUE(drift.is_notable());
}

TEST(daisy_broom, drift_is_silent_while_the_plan_holds) {
    world w;
    for (std::uint64_t key = 0; key < 20'000; ++key) w.insert(key);
    EXPECT_LT(w.f.drift().stored, 0.01);
    EXPECT_LT(w.f.drift().fill, 1.01);
    EXPECT_FALSE(w.f.drift().is_notable());
    // Queries that the plan did not expect: many of class 0.
    for (std::uint64_t i = 0; i < 4'000; i += 10) (void)w.ask_absent_key(absent_keys + i - absent_keys % 10);
    EXPECT_GT(w.f.drift().mistakes, 0.3);
    EXPECT_TRUE(w.f.drift().is_notable());
}

TEST(daisy_broom, is_built_from_r_with_another_oracle) {
    world w;
    for (std::uint64_t key = 0; key < 20'000; ++key) w.insert(key);
    const auto turned = std::make_shared<scripted_oracle>(
        [](std::uint64_t key) { return odds_of_class(class_by_digit(9 - key % 10), terms); }, 2);
    auto again = filter::build(seeded(1), plan_by_digit(), turned, w.store);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(again->stats().keys, 20'000u);
    for (std::uint64_t key = 0; key < 20'000; ++key) ASSERT_TRUE(again->may_contain(key)) << key;
    ASSERT_TRUE(again->audit(w.store));
    ASSERT_TRUE(again->grow(w.store));
    ASSERT_TRUE(again->rebuild(w.store));
    ASSERT_TRUE(again->audit(w.store));
}

TEST(daisy_broom, a_rebuild_admits_keys_that_were_only_put_into_r) {
    world w;
    EXPECT_TRUE(w.ask_absent_key(10));
    EXPECT_FALSE(w.f.may_contain(std::uint64_t{10}));
    for (const std::uint64_t key : {10u, 13u, 18u}) {
        ASSERT_TRUE(w.remote.put(w.f.hash()(key), integer_key{key}.view()));
    }
    EXPECT_FALSE(w.f.audit(w.store));
    ASSERT_TRUE(w.f.rebuild(w.remote));
    for (const std::uint64_t key : {10u, 13u, 18u}) EXPECT_TRUE(w.f.may_contain(key)) << key;
    EXPECT_TRUE(w.f.audit(w.store));
}

TEST(daisy_broom, a_list_of_exceptions_that_is_too_short_forgets_some_and_not_all) {
    daisy_broom_options options = seeded(1);
    options.exception_bytes = 10 * absent_cells::bucket_bytes;  // 300 cells
    options.deferred_band = false;
    world w{.f = *filter::make(options, plan_by_digit(), by_digit())};
    std::vector<std::uint64_t> wasted(4);
    for (auto& round : wasted) {
        for (std::uint64_t i = 0; i < 400; ++i) round += w.ask_absent_key(10 * (absent_keys + i)) ? 1u : 0u;
    }
    EXPECT_EQ(wasted[0], 400u);
    EXPECT_GE(wasted[3], 100u) << "as many as do not fit";
    EXPECT_LE(wasted[3], 300u) << "a list that forgot them in turn would hold none";
    EXPECT_LE(w.f.exceptions().size(), 300u);
    EXPECT_GT(w.f.exceptions().forgotten(), 0u);
}

TEST(daisy_broom, answers_batches_as_one_by_one) {
    world w;
    for (std::uint64_t key = 0; key < 3'000; ++key) w.insert(key);
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < 1'001; ++i) keys.push_back(i % 2 == 0 ? i : absent_keys + i);
    std::vector<std::uint64_t> bits(words_for(keys.size()), ~std::uint64_t{0});
    w.f.may_contain(std::span<const std::uint64_t>{keys}, bits);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        ASSERT_EQ((bits[i / 64] >> i % 64 & 1) != 0, w.f.may_contain(keys[i])) << i;
        const integer_key bytes{keys[i]};
        ASSERT_EQ(w.f.may_contain(keys[i]), w.f.may_contain(hashed_key{w.f.hash(), bytes}));
    }
}

// Batches of all sizes around a word and a chunk, of integers and views, before and after class 0
// has a deferred band or exceptions.
TEST(daisy_broom, answers_batches_of_any_size_as_one_by_one_for_every_instruction_set) {
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        world w;
        for (std::uint64_t key = 0; key < 3'000; ++key) w.insert(key);
        for (std::uint64_t i = 0; i < 400; ++i) (void)w.ask_absent_key(absent_keys + i);
        for (std::size_t count = 0; count <= 1'100; count = count < 70 ? count + 1 : count + 147) {
            std::vector<std::uint64_t> keys(count), bits(words_for(count) + 1, ~std::uint64_t{0}), again = bits;
            std::vector<key_view> views(count);
            for (std::size_t i = 0; i < count; ++i) {
                keys[i] = i % 3 == 0 ? i : absent_keys + i;
                views[i] = key_view{reinterpret_cast<const std::byte*>(&keys[i]), 8};
            }
            w.f.may_contain(std::span<const std::uint64_t>{keys}, bits);
            w.f.may_contain(std::span<const key_view>{views}, again);
            ASSERT_EQ(bits, again) << count;
            for (std::size_t i = 0; i < count; ++i)
                ASSERT_EQ((bits[i / 64] >> i % 64 & 1) != 0, w.f.may_contain(keys[i])) << i << " of " << count;
            ASSERT_EQ(bits.back(), ~std::uint64_t{0}) << "no word too many is written";
        }
    }
}

TEST(daisy_broom, an_erase_removes_one_key_of_its_band_and_no_other) {
    world w;
    for (std::uint64_t key = 0; key < 5'000; ++key) w.insert(key);
    for (std::uint64_t key = 0; key < 5'000; key += 3) {
        const integer_key bytes{key};
        const auto gone = key % 2 == 0 ? w.f.erase(key, w.remote) : w.f.erase(bytes.view(), w.remote, assume_present);
        ASSERT_TRUE(gone);
        ASSERT_EQ(*gone, erase_outcome::erased);
    }
    ASSERT_TRUE(w.f.audit(w.store));
    std::uint64_t left = 0;
    for (std::uint64_t key = 0; key < 5'000; ++key) {
        if (key % 3 != 0) {
            ASSERT_TRUE(w.f.may_contain(key)) << key;
        } else if (class_by_digit(key) != 0) {
            left += w.f.may_contain(key) ? 1u : 0u;
        }
    }
    EXPECT_LE(left, 3u) << "erased keys are absent keys";
}

TEST(daisy_broom, a_plan_for_a_number_of_bits_takes_no_more_memory) {
    const auto plan_for = [](const daisy_terms& asked) {
        return plan_for_groups(
            asked, std::vector<odds_group>{{{0.9 / 1e14, 0.1 / 1e14}, 1e14}, {{0.1 / 1e14, 0.9 / 1e14}, 1e14}});
    };
    const std::uint64_t budget = *broom_filter::bits_for(100'000, 0x1p-12);
    const auto plan = plan_for_bits(100'000, budget, plan_for);
    ASSERT_TRUE(plan);
    auto bands = daisy_bands::make(*plan);
    ASSERT_TRUE(bands);
    EXPECT_LE(bands->bits(), budget);
    bands->spend(budget);
    EXPECT_LE(bands->bits(), budget);
    EXPECT_LT(bands->expected_rate(), 0x1p-12 / 3.5);
    EXPECT_FALSE(plan_for_bits(100'000, 1000, plan_for));
}

}  // namespace
}  // namespace genista::daisy_broom_test
