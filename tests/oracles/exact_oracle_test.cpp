// exact_oracle: the three ways to make one, absent keys, and bad input, which is refused by name.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "genista/oracles/daisy_plan.hpp"
#include "genista/oracles/exact_oracle.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::exact_oracle_test {
namespace {

const hasher fixed{hash_key::from_seed(3)};

std::vector<known_key> three() {
    return {{"ada", {0.5, 0.1}}, {"bob", {0.25, 0.2}}, {"eve", {0.25, 0.7}}};
}

std::string message_of(const std::vector<known_key>& keys, const exact_oracle_options& options = {fixed}) {
    const auto made = exact_oracle::make(keys, options);
    return made ? std::string{"made"} : std::string{made.error().message()};
}

TEST(exact_oracle, gives_the_odds_it_was_made_with) {
    const auto oracle = *exact_oracle::make(three(), {fixed});
    EXPECT_EQ(oracle.odds("ada"), (key_odds{0.5, 0.1}));
    EXPECT_EQ(oracle.odds("eve"), (key_odds{0.25, 0.7}));
    EXPECT_EQ(oracle.keys(), 3u);
}

TEST(exact_oracle, gives_an_absent_key_all_bits_for_any_terms) {
    const auto oracle = *exact_oracle::make(three(), {fixed});
    EXPECT_EQ(oracle.odds("mallory"), (key_odds{0, 0.1})) << "the smallest q";
    for (const double draws : {1.0, 1e3, 0x1p40}) {
        for (const double rate : {0.5, 0x1p-8, 0x1p-64})
            EXPECT_EQ(regime_of(oracle.odds("mallory"), {draws, rate}), daisy_regime::in_full);
    }
}

TEST(exact_oracle, takes_other_odds_for_absent_keys_but_not_zero) {
    const auto oracle = *exact_oracle::make(three(), {fixed, key_odds{1e-9, 1e-8}});
    EXPECT_EQ(oracle.odds("mallory"), (key_odds{1e-9, 1e-8}));
    EXPECT_NE(message_of(three(), {fixed, key_odds{0, 0}}).find("not both zero"), std::string::npos);
    EXPECT_NE(message_of(three(), {fixed, key_odds{-1, 0.5}}).find("-1"), std::string::npos);
    EXPECT_NE(message_of(three(), {fixed, key_odds{0.5, std::nan("")}}).find("nan"), std::string::npos);
}

TEST(exact_oracle, treats_a_key_with_zero_odds_as_an_absent_key) {
    auto keys = three();
    keys.push_back({"ghost", {0, 0}});
    const auto oracle = *exact_oracle::make(keys, {fixed});
    EXPECT_EQ(oracle.keys(), 3u);
    EXPECT_EQ(oracle.odds("ghost"), oracle.unknown());
    EXPECT_NE(daisy_class(oracle.odds("ghost"), {}), 0u);
}

TEST(exact_oracle, refuses_bad_lists_and_names_the_value) {
    EXPECT_EQ(message_of({}), "exact_oracle: the list has no keys");
    EXPECT_EQ(message_of({{"a", {-0.5, 1}}, {"b", {1.5, 0}}}),
              "key 0: the probability -0.5 of being stored is not in 0..1");
    EXPECT_EQ(message_of({{"a", {0.5, 1}}, {"b", {0.5, std::numeric_limits<double>::quiet_NaN()}}}),
              "key 1: the probability nan of being asked is not in 0..1");
    EXPECT_EQ(message_of({{"a", {0.5, 1}}, {"b", {0.4, 0}}}),
              "daisy: the probabilities of being stored sum to 0.9, which is not within 1% of one");
    EXPECT_EQ(message_of({{"a", {0.5, 0.5}}, {"b", {0.25, 0.25}}, {"a", {0.25, 0.25}}}),
              "exact_oracle: the key 'a' is listed twice, as entries 1 and 3");
    EXPECT_EQ(message_of({{integer_key{5u}.view(), {0.5, 0.5}}, {integer_key{5u}.view(), {0.5, 0.5}}}),
              "exact_oracle: the key '0x0500000000000000' is listed twice, as entries 1 and 2");
}

TEST(exact_oracle, refuses_two_keys_with_one_position) {
    const auto alike = hasher::custom([](const void*, key_view) noexcept { return digest{5, 6}; }, nullptr);
    EXPECT_EQ(message_of(three(), {alike}),
              "exact_oracle: the keys 'ada' and 'bob' have one position under this hash key; take another");
}

TEST(exact_oracle, joins_two_columns_in_any_order) {
    const std::vector<weighted_key> stored{{"ada", 0.5}, {"bob", 0.25}, {"eve", 0.25}};
    const std::vector<weighted_key> asked{{"eve", 0.7}, {"ada", 0.1}, {"bob", 0.2}};
    const auto oracle = *exact_oracle::from_columns(stored, asked, {fixed});
    for (const known_key& each : three()) EXPECT_EQ(oracle.odds(each.key), each.odds);
}

TEST(exact_oracle, names_the_first_key_that_one_column_lacks) {
    const std::vector<weighted_key> stored{{"ada", 0.5}, {"bob", 0.25}, {"eve", 0.25}};
    const auto message = [](const auto& p, const auto& q) {
        return std::string{exact_oracle::from_columns(p, q, {fixed}).error().message()};
    };
    const std::vector<weighted_key> fewer{{"ada", 1.0}}, others{{"ada", 0.5}, {"eve", 0.2}, {"bob", 0.2}, {"zoe", 0.1}};
    EXPECT_EQ(message(stored, fewer),
              "exact_oracle: the key 'bob', entry 2 of the list of probabilities of being stored, is not in that of "
              "being asked");
    EXPECT_EQ(message(stored, others),
              "exact_oracle: the key 'zoe', entry 4 of the list of probabilities of being asked, is not in that of "
              "being stored");
    const std::vector<weighted_key> no_keys{};
    EXPECT_EQ(message(no_keys, no_keys), "exact_oracle: the list has no keys");
}

TEST(exact_oracle, reserves_half_an_observation_of_every_key_for_unseen_keys) {
    const std::vector<counted_key> inserts{{"ada", 2}, {"bob", 1}, {"ada", 1}, {"nil", 0}};
    const std::vector<counted_key> queries{{"bob", 3}, {"eve", 5}};
    const auto oracle = *exact_oracle::from_counts(inserts, queries, {.hash = fixed, .universe = 1002});
    EXPECT_DOUBLE_EQ(oracle.odds("ada").stored, 2.5 / 4);
    EXPECT_DOUBLE_EQ(oracle.odds("bob").stored, 0.5 / 4);
    EXPECT_DOUBLE_EQ(oracle.odds("bob").asked, 2.5 / 8);
    EXPECT_DOUBLE_EQ(oracle.odds("eve").asked, 4.5 / 8);
    const double unseen_stored = 1.0 / 4 / 1000, unseen_asked = 1.0 / 8 / 1000;  // two keys on each side
    EXPECT_DOUBLE_EQ(oracle.odds("eve").stored, unseen_stored);
    EXPECT_DOUBLE_EQ(oracle.odds("ada").asked, unseen_asked);
    EXPECT_EQ(oracle.odds("nil"), oracle.unknown());
    EXPECT_EQ(oracle.odds("mallory"), oracle.unknown());
    EXPECT_DOUBLE_EQ(oracle.unknown().stored, unseen_stored);
    // All of the 1002 keys together.
    EXPECT_NEAR(2.5 / 4 + 0.5 / 4 + 1000 * unseen_stored, 1, 1e-12);
}

TEST(exact_oracle, never_makes_an_unseen_key_likelier_than_one_seen_once) {
    const std::vector<counted_key> log{{"a"}, {"b"}, {"c"}};
    for (const double universe : {1.0, 3.0, 4.0, 100.0, 0x1p64}) {
        const auto oracle = *exact_oracle::from_counts(log, log, {.hash = fixed, .universe = universe});
        EXPECT_LE(oracle.unknown().stored, oracle.odds("a").stored) << universe;
        EXPECT_GT(oracle.unknown().stored, 0) << universe;
    }
}

TEST(exact_oracle, refuses_empty_logs_and_universes_out_of_range) {
    const std::vector<counted_key> log{{"a"}}, zeros{{"a", 0}}, empty{};
    const auto message = [&](const auto& p, const auto& q, double universe) {
        return std::string{exact_oracle::from_counts(p, q, {.hash = fixed, .universe = universe}).error().message()};
    };
    EXPECT_EQ(message(empty, log, 10), "exact_oracle: the log of inserts is empty");
    EXPECT_EQ(message(log, zeros, 10), "exact_oracle: the log of queries is empty");
    EXPECT_EQ(message(log, log, 0.5), "exact_oracle: a universe of 0.5 keys is not in 1..2^64");
    EXPECT_EQ(message(log, log, std::nan("")), "exact_oracle: a universe of nan keys is not in 1..2^64");
}

TEST(exact_oracle, takes_27_bytes_a_key_and_counts_them) {
    std::vector<integer_key> keys;
    for (std::uint64_t i = 0; i < 10'000; ++i) keys.emplace_back(i);
    std::vector<known_key> list;
    for (const integer_key& key : keys) list.push_back({key.view(), {1e-4, 1e-4}});
    const auto oracle = *exact_oracle::make(list, {fixed});
    EXPECT_GE(oracle.memory_bytes(), 240'000u);
    EXPECT_LE(oracle.memory_bytes(), 282'000u);
}

// Compared with a map: every size from 1 on, because the ends and the crowded places of the table
// differ.
TEST(exact_oracle, agrees_with_a_map) {
    test::splitmix chance{5};
    for (std::uint64_t size = 1; size < 300; size += 1 + size / 20) {
        std::vector<integer_key> keys;
        for (std::uint64_t i = 0; i < size; ++i) keys.emplace_back(i);
        std::vector<known_key> list;
        std::map<std::uint64_t, key_odds> model;
        double stored = 0, asked = 0;
        for (const integer_key& key : keys) {
            const key_odds odds{static_cast<double>(1 + chance.below(9)), static_cast<double>(1 + chance.below(9))};
            list.push_back({key.view(), odds});
            stored += odds.stored, asked += odds.asked;
        }
        for (known_key& each : list) each.odds.stored /= stored, each.odds.asked /= asked;
        for (std::uint64_t i = 0; i < size; ++i) model[i] = list[i].odds;
        const auto oracle = *exact_oracle::make(list, {hasher{hash_key::from_seed(size)}});
        for (std::uint64_t key = 0; key < 2 * size; ++key)
            ASSERT_EQ(oracle.odds(key), model.contains(key) ? model[key] : oracle.unknown()) << key << " of " << size;
    }
}

}  // namespace
}  // namespace genista::exact_oracle_test
