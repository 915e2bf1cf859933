// The cascade by example: limits, bad options, levels in use, history, wrong answers of R,
// snapshots.
#include "genista/filters/cascade.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/cascade_world.hpp"
#include "tests/support/learning_snapshot_exercise.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::cascade_test {
namespace {

using two_maps = with_index<memory_map, memory_map>;
static_assert(savable_filter<cascade_filter>);
static_assert(adaptive_filter<cascade_filter, two_maps>);

TEST(cascade, an_empty_one_contains_nothing) {
    test::cascade_world w{test::cascade_made(100, 0.25)};
    EXPECT_FALSE(w.find_false_positive(10'000));
    EXPECT_EQ(*w.filter.erase(std::uint64_t{1}, w.truth), erase_outcome::absent);
    EXPECT_EQ(*w.filter.forget(key_view{"nobody"}, w.truth), erase_outcome::absent);
    EXPECT_EQ(*w.filter.adapt(std::uint64_t{1}, w.truth), adapt_outcome::was_negative);
    EXPECT_TRUE(w.filter.audit(w.truth));
}

TEST(cascade, bad_options_are_refused_with_value_and_range) {
    const auto message = [](std::uint64_t capacity, double rate) {
        const auto made = cascade_filter::make({.capacity = capacity, .false_positive_rate = rate});
        EXPECT_FALSE(made);
        const auto bits = cascade_filter::bits_for(capacity, rate);
        EXPECT_FALSE(bits);
        if (made || bits) return std::string{};
        EXPECT_EQ(made.error().code(), error_code::invalid_argument);
        EXPECT_EQ(made.error().message(), bits.error().message());
        return std::string{made.error().message()};
    };
    EXPECT_NE(message(0, 0.1).find("capacity 0"), std::string::npos);
    EXPECT_NE(message((std::uint64_t{1} << 34) + 1, 0.1).find("17179869185, allowed are 1 to 2^34"), std::string::npos);
    EXPECT_NE(message(10, 0.51).find("0.51"), std::string::npos);
    EXPECT_NE(message(10, 1e-9).find("1e-09"), std::string::npos);
    EXPECT_NE(message(10, std::nan("")).find("nan"), std::string::npos);
}

TEST(cascade, it_takes_as_many_keys_as_its_capacity_and_no_more) {
    for (const double rate : {0.5, 0.25, 1.0 / 256, 0x1p-26}) {
        for (const std::uint64_t capacity : {1u, 2u, 45u, 5'000u}) {
            test::cascade_world w{test::cascade_made(capacity, rate), capacity};
            for (std::uint64_t key = 0; key < capacity; ++key) {
                w.put(key);
                ASSERT_EQ(*w.filter.insert(key, w.truth), insert_outcome::inserted) << key;
            }
            EXPECT_EQ(*w.filter.insert(std::uint64_t{0}, w.truth), insert_outcome::already_present);
            w.put(capacity);
            EXPECT_EQ(*w.filter.insert(capacity, w.truth), insert_outcome::full);
            w.take_out(capacity);
            EXPECT_TRUE(w.filter.audit(w.truth))
                << "nothing changed but the writes that are still owed to R, rate " << rate;
            EXPECT_EQ(w.filter.stats().keys, capacity);
            EXPECT_EQ(*w.filter.erase(std::uint64_t{0}, w.truth), erase_outcome::erased);
            w.put(capacity);
            EXPECT_EQ(*w.filter.insert(capacity, w.truth), insert_outcome::inserted);
            EXPECT_TRUE(w.filter.audit(w.truth));
        }
    }
}

TEST(cascade, batches_answer_like_single_queries_and_count_as_many) {
    test::cascade_world w{test::cascade_made(200, 0.25)};
    for (std::uint64_t key = 0; key < 200; ++key) (void)w.insert(key);
    std::vector<std::uint64_t> keys(300);
    std::vector<digest> digests;
    std::vector<std::string> texts;
    std::vector<key_view> views;
    for (std::uint64_t i = 0; i < keys.size(); ++i) {
        keys[i] = i;
        digests.push_back(w.filter.hash()(i));
        texts.push_back("key " + std::to_string(i));
    }
    for (const std::string& each : texts) views.emplace_back(each);
    std::vector<std::uint64_t> by_key(words_for(300)), by_digest(words_for(300)), by_view(words_for(300));
    const std::uint64_t before = w.filter.details().queries;
    w.filter.may_contain(std::span<const std::uint64_t>{keys}, by_key);
    w.filter.may_contain(std::span<const digest>{digests}, by_digest);
    w.filter.may_contain(std::span<const key_view>{views}, by_view);
    EXPECT_EQ(w.filter.details().queries, before + 900);
    EXPECT_EQ(by_key, by_digest);
    for (std::uint64_t i = 0; i < keys.size(); ++i) {
        EXPECT_EQ((by_key[i / 64] >> i % 64 & 1) != 0, w.filter.may_contain(i));
        EXPECT_EQ((by_view[i / 64] >> i % 64 & 1) != 0, w.filter.may_contain(views[i]));
    }
}

// n queries of absent keys, every false positive fixed: [broom17 §5] E n_1 = ε n, E n_2 = ε ε_1 n.
TEST(cascade, several_levels_are_used_and_hold_about_what_the_paper_expects) {
    constexpr std::uint64_t keys = 20'000;
    test::cascade_world w{test::cascade_made(keys, 0.25)};
    for (std::uint64_t key = 0; key < keys; ++key) w.put(key);
    ASSERT_TRUE(w.filter.rebuild(w.truth));
    for (std::uint64_t asked = 0; asked < keys - 1; ++asked) {
        const std::uint64_t absent_key = (std::uint64_t{1} << 50) + asked;
        if (w.filter.may_contain(absent_key)) {
            ASSERT_EQ(*w.filter.adapt(absent_key, w.truth), adapt_outcome::fixed);
        }
    }
    const cascade_details now = w.filter.details();
    ASSERT_EQ(now.rebuilds, 1u);
    ASSERT_EQ(now.levels.size(), 4u) << "1/4, 1/16, 2^-32, and the last";
    EXPECT_EQ(now.levels[1].rate, 1.0 / 16);
    EXPECT_EQ(now.levels[2].rate, 0x1p-32);
    EXPECT_EQ(now.levels[0].come, keys);
    // A key moves if one of n queries has its value: 1 - e^(-n/V). Six standard deviations.
    const double share = -std::expm1(-static_cast<double>(keys) / static_cast<double>(now.levels[0].values));
    EXPECT_NEAR(static_cast<double>(now.levels[1].come), share * keys, 6 * std::sqrt(share * keys));
    EXPECT_GT(now.levels[2].come, 20u);
    EXPECT_EQ(now.levels[3].come, 0u);
    for (const cascade_details::level& each : now.levels) EXPECT_LE(each.come, each.most_keys);
    EXPECT_TRUE(w.filter.audit(w.truth));
    for (std::uint64_t key = 0; key < keys; ++key) ASSERT_TRUE(w.filter.may_contain(key));
}

// The n-th query makes new hash functions due, and the next change takes them.
TEST(cascade, after_n_queries_all_hash_functions_are_new) {
    test::cascade_world w{test::cascade_made(1'000, 0.25)};
    for (std::uint64_t key = 0; key < 900; ++key) ASSERT_TRUE(w.insert(key));
    EXPECT_EQ(w.filter.details().queries, 900u) << "cascade_world queries each key that it has inserted";
    for (std::uint64_t i = 0; i < 99; ++i) (void)w.filter.may_contain(i);
    (void)w.insert(2'000);
    EXPECT_EQ(w.filter.details().rebuilds, 0u);
    EXPECT_EQ(w.filter.details().queries, 1'000u);
    w.erase(2'000);
    EXPECT_EQ(w.filter.details().rebuilds, 1u);
    EXPECT_LT(w.filter.details().queries, 10u);
    EXPECT_EQ(w.filter.details().levels[0].dead, 0u);
    w.audit();
    w.scan();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
}

// [broom18 §4.3]: y, for which x was a false positive, is erased and inserted again. A filter that
// forgets the adaptation then has x as a false positive again.
TEST(cascade, dead_cells_stay_dead_when_their_keys_are_erased_and_inserted_again) {
    std::uint64_t attacks = 0, again = 0;
    test::cascade_world w{test::cascade_made(20'000, 1.0 / 16)};
    for (std::uint64_t key = 0; key < 2'000; ++key) ASSERT_TRUE(w.insert(key));
    for (; attacks < 100; ++attacks) {
        const auto x = w.find_false_positive(2'000);
        ASSERT_TRUE(x);
        w.adapt(*x);
        const std::uint64_t before = w.filter.details().levels[0].dead;
        // In ten attacks every key is erased and inserted once, the colliding one among them.
        for (std::uint64_t key = attacks % 10; key < 2'000; key += 10) {
            w.erase(key);
            ASSERT_TRUE(w.insert(key));
        }
        EXPECT_EQ(w.filter.details().levels[0].dead, before);
        if (w.filter.details().rebuilds == 0) {
            EXPECT_GE(w.filter.level_of(w.filter.hash()(*x)), 1u);
        }
        again += w.filter.may_contain(*x) ? 1u : 0u;
        if (w.filter.details().queries > 19'000) break;
    }
    EXPECT_GE(attacks, 5u);
    EXPECT_EQ(again, 0u) << "a chance of 2^-16 each";
    EXPECT_TRUE(w.wrong.empty()) << w.text();
}

// A hash of the first letter only: "a1" and "a2" are two keys with one digest, "a3" is an absent
// key with the same digest.
digest first_letter(const void*, key_view key) noexcept {
    const auto letter = std::to_integer<std::uint64_t>(key.data[0]);
    return digest{letter * 0x9e3779b97f4a7c15u, letter * 0xbf58476d1ce4e5b9u};
}

TEST(cascade, keys_with_one_digest_share_a_value_and_are_erased_one_by_one) {
    memory_map records, index;
    two_maps remote{records, index};
    cascade_options options = test::cascade_made(100, 0.5);
    options.hash = hasher::custom(first_letter, nullptr);
    auto made = cascade_filter::make(options);
    ASSERT_TRUE(made);
    cascade_filter& filter = *made;
    const auto put = [&](const std::string& key) {
        EXPECT_TRUE(records.put(filter.hash()(key_view{key}), key_view{key}));
        return *filter.insert(key_view{key}, remote);
    };
    EXPECT_EQ(put("a1"), insert_outcome::inserted);
    EXPECT_EQ(put("a2"), insert_outcome::inserted);
    EXPECT_EQ(put("a1"), insert_outcome::already_present);
    EXPECT_EQ(filter.stats().keys, 2u);
    EXPECT_EQ(*filter.adapt(key_view{"a3"}, remote), adapt_outcome::true_positive)
        << "keys with one digest are one to the filter";
    // Absent keys with other letters move both of them to higher levels together.
    for (int letter = 'b'; letter <= 'z'; ++letter) {
        const std::string absent_key(1, static_cast<char>(letter));
        const auto outcome = filter.adapt(key_view{absent_key}, remote);
        ASSERT_TRUE(outcome);
        EXPECT_FALSE(filter.may_contain(key_view{absent_key}));
    }
    EXPECT_TRUE(filter.audit(remote));
    EXPECT_EQ(*filter.erase(key_view{"a1"}, remote), erase_outcome::erased);
    EXPECT_TRUE(filter.may_contain(key_view{"a2"}));
    EXPECT_EQ(*filter.erase(key_view{"a2"}, remote), erase_outcome::erased);
    EXPECT_FALSE(filter.may_contain(key_view{"a2"}));
    EXPECT_TRUE(filter.audit(remote));
    vector_sink out;
    const auto saved = filter.save(out);
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code(), error_code::unsupported);
}

// ---- wrong answers of R
// --------------------------------------------------------------------------------

TEST(cascade, a_lost_index_record_is_an_error_and_no_key_is_lost) {
    test::cascade_world w{test::cascade_made(300, 0.25)};
    for (std::uint64_t key = 0; key < 300; ++key) ASSERT_TRUE(w.insert(key));
    std::vector<std::pair<digest, std::string>> all;
    ASSERT_TRUE(w.plain_index.for_each(0, ~std::uint64_t{0}, [&](const digest& where, key_view key) {
        all.emplace_back(where, std::string{key.text()});
        return true;
    }));
    ASSERT_EQ(all.size(), 300u);
    for (const auto& [where, key] : all) ASSERT_TRUE(*w.plain_index.erase(where, key_view{key}));
    const auto absent_key = w.find_false_positive();
    ASSERT_TRUE(absent_key);
    const auto before = w.saved();
    const auto adapted = w.filter.adapt(*absent_key, w.truth);
    ASSERT_FALSE(adapted);
    EXPECT_EQ(adapted.error().code(), error_code::corrupt);
    EXPECT_FALSE(w.filter.forget(integer_key{*absent_key}.view(), w.truth));
    EXPECT_FALSE(w.filter.audit(w.truth));
    EXPECT_EQ(w.saved(), before);
    EXPECT_TRUE(w.rebuild());
    EXPECT_TRUE(w.filter.audit(w.truth));
    EXPECT_EQ(*w.filter.adapt(*absent_key, w.truth) == adapt_outcome::true_positive, false);
}

TEST(cascade, a_record_in_the_place_of_another_key_is_an_error) {
    test::cascade_world w{test::cascade_made(300, 0.25)};
    for (std::uint64_t key = 0; key < 300; ++key) ASSERT_TRUE(w.insert(key));
    std::vector<digest> places;
    ASSERT_TRUE(w.plain_index.for_each(0, ~std::uint64_t{0}, [&](const digest& where, key_view) {
        places.push_back(where);
        return true;
    }));
    for (const digest& where : places) ASSERT_TRUE(w.plain_index.put(where, key_view{"an intruder"}));
    const auto before = w.saved();
    const auto absent_key = w.find_false_positive();
    EXPECT_FALSE(w.filter.adapt(*absent_key, w.truth));
    EXPECT_FALSE(w.filter.erase(std::uint64_t{7}, w.truth)) << "R has erased it, the filter has not";
    EXPECT_EQ(w.saved(), before);
    EXPECT_TRUE(w.filter.rebuild(w.truth)) << "the wrong records are gone";
    EXPECT_TRUE(w.filter.audit(w.truth));
}

class throwing_map : public memory_map {
  public:
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        if (throws) throw std::runtime_error{"broken wire"};
        return memory_map::for_each(first, last, visit);
    }
    result<bool> put(const digest& where, key_view key) {
        if (throws) throw std::runtime_error{"broken wire"};
        return memory_map::put(where, key);
    }
    bool throws = false;
};

TEST(cascade, an_r_that_throws_is_an_r_that_fails) {
    memory_map records;
    throwing_map index;
    with_index remote{records, index};
    auto filter = cascade_filter::make(test::cascade_made(100, 0.25));
    ASSERT_TRUE(filter);
    for (std::uint64_t key = 0; key < 100; ++key) {
        ASSERT_TRUE(records.put(filter->hash()(key), integer_key{key}.view()));
        ASSERT_TRUE(filter->insert(key, remote));
    }
    index.throws = true;
    const auto erased = filter->erase(std::uint64_t{3}, remote);
    ASSERT_FALSE(erased);
    EXPECT_NE(std::string{erased.error().message()}.find("broken wire"), std::string::npos);
    EXPECT_FALSE(filter->rebuild(remote));
    for (std::uint64_t key = 0; key < 100; ++key) EXPECT_TRUE(filter->may_contain(key));
    index.throws = false;
    ASSERT_TRUE(filter->insert(std::uint64_t{5}, remote));
    EXPECT_TRUE(filter->audit(remote));
    EXPECT_EQ(filter->stats().keys, 99u);
}

// ---- space --------------------------------------------------------------------------------------

TEST(cascade, the_table_has_the_size_of_bits_for_and_adapting_does_not_change_it) {
    for (const double rate : {0.25, 1.0 / 256}) {
        test::cascade_world w{test::cascade_made(10'000, rate)};
        const std::uint64_t empty = w.filter.stats().local_bytes, bits = *cascade_filter::bits_for(10'000, rate);
        EXPECT_GE(8 * empty, bits);
        EXPECT_LE(8 * empty, bits + 8 * 4'096);
        for (std::uint64_t key = 0; key < 10'000; ++key) ASSERT_TRUE(w.insert(key));
        for (int i = 0; i < 100; ++i) w.adapt(*w.find_false_positive());
        EXPECT_LE(w.filter.stats().local_bytes, empty + 64);
        EXPECT_TRUE(w.wrong.empty()) << w.text();
    }
    // Thm 20: n log(1/ε) + O(n).
    for (const double rate : {0.25, 0.125, 0.0625, 1.0 / 256}) {
        const double each = static_cast<double>(*cascade_filter::bits_for(1'000'000, rate)) / 1e6;
        EXPECT_LE(each, std::log2(1 / rate) + (rate > 0.01 ? 6 : 4.5)) << rate;
    }
}

// ---- snapshots ----------------------------------------------------------------------------------

std::vector<std::byte> after_use(std::uint64_t capacity, double rate) {
    test::cascade_world w{test::cascade_made(capacity, rate, capacity)};
    for (std::uint64_t key = 0; key < capacity; ++key) EXPECT_TRUE(w.insert(key));
    for (std::uint64_t key = 0; key < capacity; key += 8) w.erase(key);
    for (std::uint64_t i = 0; i < capacity / 8; ++i) {
        if (const auto absent_key = w.find_false_positive(4)) w.adapt(*absent_key);
    }
    EXPECT_TRUE(w.wrong.empty()) << w.text();
    return w.saved();
}

TEST(cascade_snapshot, a_round_trip_gives_equal_bytes_and_answers) {
    for (const double rate : {0.5, 0.25, 0.01, 0x1p-26}) {
        for (const std::uint64_t capacity : {1u, 64u, 3'000u}) {
            const auto file = after_use(capacity, rate);
            auto loaded = test::loaded_as_saved<cascade_filter>(file);
            ASSERT_TRUE(loaded && !HasFailure());
            for (std::uint64_t key = 0; key < capacity; ++key) {
                if (key % 8 != 0) {
                    ASSERT_TRUE(loaded->may_contain(key)) << key;
                }
            }
            memory_map records, index;
            two_maps remote{records, index};
            const auto refused = loaded->insert(std::uint64_t{1}, remote);
            ASSERT_FALSE(refused);
            EXPECT_EQ(refused.error().code(), error_code::unsupported);
        }
    }
}

TEST(cascade_snapshot, every_truncation_and_every_bit_flip_is_refused) {
    test::expect_damage_refused<cascade_filter>(after_use(150, 0.25));
}

TEST(cascade_snapshot, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    std::vector<std::vector<std::byte>> originals;
    for (const double rate : {0.5, 0.25, 0.01}) {
        for (const std::uint64_t capacity : {1u, 70u}) originals.push_back(after_use(capacity, rate));
    }
    test::expect_edits_refused_or_sound(
        {originals, 17, test::scaled<std::uint64_t>(20'000, 1'000'000)}, 320,
        [](std::span<const std::byte> forged) { return test::exercise_learning_snapshot<cascade_filter>(forged); });
}

}  // namespace
}  // namespace genista::cascade_test
