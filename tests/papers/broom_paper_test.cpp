// broom_paper by example: limits, outcomes, the designs, ghosts, the frontier and its calls to R.
// broom_paper_model_test.cpp runs random operations.
#include "papers/broom_paper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "papers/broom_paper/design.hpp"
#include "support/remote/counting_map.hpp"
#include "tests/support/paper_world.hpp"
#include "tests/support/scale.hpp"

namespace genista::broom_paper_test {
namespace {

using two_maps = with_index<memory_map, memory_map>;
static_assert(indexed_map<two_maps>);
static_assert(!indexed_map<memory_map>);
static_assert(membership_filter<broom_paper_filter> && !savable_filter<broom_paper_filter>);
static_assert(adaptive_filter<broom_paper_filter, two_maps>);
static_assert(!local_filter<broom_paper_filter>);

broom_paper_options small_one(std::uint64_t seed = 1, std::uint64_t capacity = 100) {
    return {.capacity = capacity, .false_positive_rate = 0x1p-4, .random = repeatable(seed)};
}
broom_paper_options large_one(std::uint64_t seed = 1, std::uint64_t capacity = 100) {
    return {.capacity = capacity, .false_positive_rate = 0x1p-7, .random = repeatable(seed)};
}

void expect_sound(test::paper_world& w) {
    w.scan();
    w.audit();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
}

// ---- limits and sizes ---------------------------------------------------------------------------

TEST(broom_paper, refuses_parameters_out_of_range_and_names_them) {
    const auto message_of = [](const broom_paper_options& options) {
        const auto made = broom_paper_filter::make(options);
        if (made) return std::string{"made"};
        EXPECT_EQ(made.error().code(), error_code::invalid_argument);
        return std::string{made.error().message()};
    };
    const auto names = [](const std::string& message, const char* value, const char* range) {
        return message.find(value) != std::string::npos && message.find(range) != std::string::npos;
    };
    EXPECT_TRUE(names(message_of({.capacity = 0}), "0", "1")) << message_of({.capacity = 0});
    EXPECT_TRUE(names(message_of({.capacity = (std::uint64_t{1} << 36) + 1}), "68719476737", "2^36"));
    for (const double rate : {0.0, -1.0, 0.6, 0x1p-27, std::numeric_limits<double>::quiet_NaN()}) {
        EXPECT_NE(message_of({.capacity = 10, .false_positive_rate = rate}), "made") << rate;
    }
    EXPECT_TRUE(names(message_of({.capacity = 10, .false_positive_rate = 0.6}), "0.6", "0.5"));
    EXPECT_TRUE(names(message_of({.capacity = 10, .rehashed_by_adapt = 2}), "2", "3 to 64"));
    EXPECT_TRUE(names(message_of({.capacity = 10, .rehashed_by_adapt = 65}), "65", "3 to 64"));
    for (const unsigned c : {3u, 64u}) EXPECT_EQ(message_of({.capacity = 10, .rehashed_by_adapt = c}), "made");
    for (const double rate : {0.5, 0x1p-26})
        EXPECT_EQ(message_of({.capacity = 1, .false_positive_rate = rate}), "made");
    EXPECT_FALSE(broom_paper_filter::bits_for(0, 0.01));
    EXPECT_FALSE(broom_paper_filter::bits_for((std::uint64_t{1} << 36) + 1, 0.01));
    EXPECT_FALSE(broom_paper_filter::bits_for(10, 0x1p-27));
}

TEST(broom_paper, the_rate_alone_chooses_the_design) {
    for (const std::uint64_t capacity : {1u, 16u, 100u, 3'000u, 100'000u, 1'000'000u}) {
        const double log = std::log2(std::max(static_cast<double>(capacity), 16.0));
        for (unsigned bits = 1; bits <= 26; ++bits) {
            const double rate = std::ldexp(1.0, -static_cast<int>(bits));
            const broom_paper::design sizes = broom_paper::design_for(capacity, rate);
            EXPECT_EQ(sizes.is_large, bits > 2 * std::log2(log)) << capacity << ", " << bits;
            EXPECT_EQ(sizes.remainder_bits, bits);
            EXPECT_LE(sizes.rate(), rate) << capacity << ", " << bits;
            EXPECT_GE(sizes.primary.quotients, capacity);
            EXPECT_EQ(sizes.primary.bits + sizes.primary.more_bits, bits);
            if (capacity <= 3'000) {
                const auto made = broom_paper_filter::make({.capacity = capacity, .false_positive_rate = rate});
                ASSERT_TRUE(made);
                const broom_paper_details now = made->details();
                EXPECT_EQ(now.is_large, sizes.is_large);
                EXPECT_EQ(now.signature_bits != 0, sizes.is_large);
                EXPECT_EQ(made->rate(), rate);
                EXPECT_LE(*broom_paper_filter::bits_for(capacity, rate), 8 * made->stats().local_bytes);
            }
        }
    }
    // At a capacity between two powers of two the remainder is as long as requested.
    EXPECT_EQ(broom_paper::design_for(1000, 0.3).remainder_bits, 2u);
    EXPECT_EQ(broom_paper::design_for(1000, 0.01).remainder_bits, 7u);
}

TEST(broom_paper, stats_and_details_count_keys_and_memory) {
    for (const auto& options : {small_one(), large_one()}) {
        test::paper_world w{options};
        EXPECT_EQ(w.filter.stats().keys, 0u);
        EXPECT_EQ(w.filter.stats().capacity, 100u);
        EXPECT_EQ(w.filter.stats().false_positive_rate, options.false_positive_rate);
        for (std::uint64_t key = 0; key < 100; ++key) ASSERT_TRUE(w.insert(key));
        const std::uint64_t before = w.filter.stats().adapts;
        for (int i = 0; i < 7; ++i) w.adapt(*w.find_false_positive());
        const broom_paper_details now = w.filter.details();
        EXPECT_EQ(w.filter.stats().adapts, before + 7);
        EXPECT_EQ(w.filter.stats().keys, 100u);
        EXPECT_EQ(now.primary_keys + now.overflow_keys, 100u);
        EXPECT_GT(now.extended, 0u);
        EXPECT_GE(now.extension_bits, now.extended);
        EXPECT_GE(w.filter.stats().adaptive_bytes, now.string_bytes);
        EXPECT_GT(w.filter.stats().local_bytes, now.table_bytes + now.string_bytes + now.overflow_bytes);
        EXPECT_GT(w.filter.stats().remote_reads, 7u);
        std::uint64_t in_groups = 0;
        for (const std::uint32_t bits : now.group_bits) in_groups += bits;
        EXPECT_LE(in_groups, now.extension_bits + now.ghost_bits);
        EXPECT_GT(in_groups, 0u);
        EXPECT_EQ(now.group_bits.size(), (now.bins + 63) / 64);
    }
}

// ---- outcomes -----------------------------------------------------------------------------------

TEST(broom_paper, is_full_at_the_capacity_and_unchanged_by_a_refused_insert) {
    for (const auto& options : {small_one(2, 30), large_one(2, 30)}) {
        test::paper_world w{options};
        for (std::uint64_t key = 0; key < 30; ++key) ASSERT_TRUE(w.insert(key));
        const auto before = w.contents();
        const std::uint64_t records = w.index_records();
        w.put(30);
        EXPECT_EQ(*w.filter.insert(std::uint64_t{30}, w.truth), insert_outcome::full);
        EXPECT_EQ(*w.filter.insert(std::uint64_t{7}, w.truth), insert_outcome::already_present);
        EXPECT_EQ(w.contents(), before);
        EXPECT_EQ(w.index_records(), records);
        w.take_out(30);
        w.erase(3);
        EXPECT_TRUE(w.insert(30));
        expect_sound(w);
    }
}

TEST(broom_paper, one_key_inserted_many_times_is_one_key) {
    test::paper_world w{small_one()};
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(w.insert(5));
        ASSERT_EQ(w.filter.stats().keys, 1u);
    }
    EXPECT_EQ(w.index_records(), 2u);
    w.erase(5);
    EXPECT_EQ(w.index_records(), 0u) << "it never collided and left no ghost";
    w.erase(5);
    EXPECT_FALSE(w.filter.may_contain(std::uint64_t{5}));
    expect_sound(w);
}

TEST(broom_paper, absent_keys_may_be_erased_forgotten_and_adapted_without_harm) {
    for (const auto& options : {small_one(3), large_one(3)}) {
        test::paper_world w{options};
        for (std::uint64_t key = 0; key < 100; ++key) ASSERT_TRUE(w.insert(key));
        for (int i = 0; i < 30; ++i) {
            const std::uint64_t absent_key = *w.find_false_positive();
            const auto before = w.contents();
            EXPECT_EQ(*w.filter.erase(absent_key, w.truth), erase_outcome::absent);
            EXPECT_EQ(*w.filter.forget(integer_key{absent_key}.view(), w.truth), erase_outcome::absent);
            // One that R held and that was never inserted into the filter.
            w.put(absent_key);
            EXPECT_EQ(*w.filter.adapt(absent_key, w.truth), adapt_outcome::true_positive);
            EXPECT_EQ(*w.filter.erase(absent_key, w.truth), erase_outcome::absent);
            EXPECT_EQ(w.contents(), before);
            EXPECT_EQ(*w.filter.adapt(absent_key, w.truth), adapt_outcome::fixed);
            EXPECT_EQ(*w.filter.adapt(absent_key, w.truth), adapt_outcome::was_negative);
            w.adapt(5);
        }
        expect_sound(w);
    }
}

TEST(broom_paper, a_key_that_r_holds_again_is_not_forgotten) {
    test::paper_world w{small_one()};
    ASSERT_TRUE(w.insert(1));
    EXPECT_EQ(*w.filter.forget(integer_key{1u}.view(), w.truth), erase_outcome::absent);
    EXPECT_TRUE(w.filter.may_contain(std::uint64_t{1}));
    w.take_out(1);
    EXPECT_EQ(*w.filter.adapt(std::uint64_t{1}, w.truth), adapt_outcome::fixed) << "an orphan is removed";
    EXPECT_EQ(w.filter.stats().keys, 0u);
}

TEST(broom_paper, takes_keys_of_any_length) {
    for (auto options : {small_one(), large_one()}) {
        options.hash = hasher{hash_key::from_seed(4)};
        auto filter = *broom_paper_filter::make(options);
        memory_map map, index;
        two_maps remote{map, index};
        std::vector<std::string> keys;
        for (std::size_t length = 0; length < 90; ++length)
            keys.emplace_back(length == 89 ? 100'000 : length, static_cast<char>(length * 7));
        for (const std::string& key : keys) {
            ASSERT_TRUE(map.put(filter.hash()(key_view{key}), key_view{key}));
            ASSERT_EQ(*filter.insert(key_view{key}, remote), insert_outcome::inserted);
        }
        for (int absent_key = 0; absent_key < 20'000; ++absent_key) {  // some phases
            const std::string key = std::to_string(absent_key) + " is nobody";
            if (filter.may_contain(key_view{key})) {
                ASSERT_TRUE(filter.adapt(key_view{key}, remote));
            }
        }
        EXPECT_GT(filter.details().phases, 1u);
        for (const std::string& key : keys) EXPECT_TRUE(filter.may_contain(key_view{key})) << key.size();
        ASSERT_TRUE(filter.audit(remote)) << filter.audit(remote).error().message();
        EXPECT_EQ(*filter.erase(key_view{""}, remote), erase_outcome::erased);
        EXPECT_EQ(*filter.erase(key_view{keys.back()}, remote), erase_outcome::erased);
        EXPECT_FALSE(filter.may_contain(key_view{""}) && filter.may_contain(key_view{keys.back()}));
        ASSERT_TRUE(filter.rebuild(remote));
        EXPECT_EQ(filter.stats().keys, 88u);
        ASSERT_TRUE(filter.audit(remote));
    }
}

// ---- Property 10 [broom18 §4.3] -----------------------------------------------------------------

// A filter with its keys, one of which collides with an absent key. The same seed gives the same
// filter.
struct collision {
    std::uint64_t absent_key = 0, member = 0;
};
std::optional<collision> find_collision(const broom_paper_options& options, std::uint64_t keys) {
    test::paper_world w{options};
    for (std::uint64_t key = 0; key < keys; ++key) (void)w.insert(key);
    const auto absent_key = w.find_false_positive();
    if (!absent_key || w.filter.details().rehashed != 0) return std::nullopt;
    for (std::uint64_t key = 0; key < keys; ++key) {
        w.erase(key);
        if (!w.filter.may_contain(*absent_key)) return collision{*absent_key, key};
    }
    return std::nullopt;
}

// How often a repaired absent key is answered maybe again while many stored keys are erased and
// inserted.
std::uint64_t count_returns(broom_paper_options options, std::uint64_t seeds, std::uint64_t& judged) {
    std::uint64_t again = 0;
    constexpr std::uint64_t keys = 40;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        options.random = repeatable(seed);
        const auto found = find_collision(options, keys);
        if (!found) continue;
        test::paper_world w{options};
        for (std::uint64_t key = 0; key < keys; ++key) (void)w.insert(key);
        w.adapt(found->absent_key);
        // The first three keys of the order have another hash function by now.
        std::vector<digest> order;
        for (std::uint64_t key = 0; key < keys; ++key) order.push_back(w.filter.hash()(key));
        std::ranges::sort(order);
        if (w.filter.hash()(found->absent_key) <= order[2] || w.filter.hash()(found->member) <= order[2]) continue;
        if (w.filter.details().rehashed != 3) continue;
        ++judged;
        for (int round = 0; round < 10 && w.filter.details().rehashed == 3; ++round) {
            w.erase(found->member);
            (void)w.insert(found->member);
            again += w.filter.may_contain(found->absent_key) ? 1u : 0u;
        }
        expect_sound(w);
    }
    return again;
}

TEST(broom_paper, a_repaired_absent_key_stays_repaired_when_the_stored_key_is_erased_and_inserted_again) {
    for (auto options : {small_one(1, 200), large_one(1, 200)}) {
        for (const ghost_rule rule : {ghost_rule::whole_match, ghost_rule::first_difference}) {
            options.ghosts = rule;
            std::uint64_t judged = 0;
            EXPECT_EQ(count_returns(options, 60, judged), 0u);
            EXPECT_GT(judged, 25u);
        }
        // The control: without ghosts the absent key is a false positive again every time.
        options.ghosts = ghost_rule::forgotten;
        std::uint64_t judged = 0;
        const std::uint64_t again = count_returns(options, 60, judged);
        EXPECT_GT(judged, 25u);
        EXPECT_GT(again, 8 * judged) << "of 10 rounds";
    }
}

TEST(broom_paper, a_ghost_stays_until_the_frontier_has_passed_it) {
    test::paper_world w{small_one(4, 60)};
    for (std::uint64_t key = 0; key < 60; ++key) ASSERT_TRUE(w.insert(key));
    for (int i = 0; i < 10; ++i) w.adapt(*w.find_false_positive());
    const std::uint64_t extended = w.filter.details().extended;
    ASSERT_GT(extended, 3u);
    for (std::uint64_t key = 0; key < 60; ++key) w.erase(key);
    EXPECT_EQ(w.filter.details().ghosts, extended) << "every key with bits left one";
    EXPECT_EQ(w.index_records(), extended);
    expect_sound(w);
    // The only fingerprint of the last stored key, and false positives of it until the phase is
    // over and the next one has begun.
    ASSERT_TRUE(w.insert(1'000));
    for (int i = 0; i < 80; ++i) w.adapt(*w.find_false_positive());
    EXPECT_EQ(w.filter.details().ghosts, 0u);
    EXPECT_EQ(w.index_records(), 2u);
    expect_sound(w);
}

// ---- the frontier [broom18 §4.2] ----------------------------------------------------------------

TEST(broom_paper, a_phase_rehashes_every_key_once_in_n_over_c_repairs) {
    for (const unsigned c : {3u, 4u, 64u}) {
        for (auto options : {small_one(5, 150), large_one(5, 150)}) {
            options.rehashed_by_adapt = c;
            test::paper_world w{options};
            for (std::uint64_t key = 0; key < 150; ++key) ASSERT_TRUE(w.insert(key));
            ASSERT_TRUE(w.rebuild());  // nothing is due
            const std::uint64_t phases = w.filter.details().phases, rehashed = w.filter.details().rehashed;
            std::uint64_t repairs = 0;
            for (std::uint64_t phase = 1; phase <= 3; ++phase) {
                while (w.filter.details().phases < phases + phase) {
                    w.adapt(*w.find_false_positive());
                    ++repairs;
                    ASSERT_LE(repairs, phase * (150 / c + 1)) << "phases of Θ(n) repairs";
                }
                EXPECT_EQ(w.filter.details().rehashed, rehashed + 150 * phase);
                EXPECT_EQ(repairs, phase * (150 / c + 1));
                expect_sound(w);
            }
            EXPECT_EQ(w.filter.stats().renewals, w.filter.details().phases + w.filter.details().rebuilds);
        }
    }
}

TEST(broom_paper, bits_are_reclaimed_under_endless_repairs) {
    for (const rehash_rule rule : {rehash_rule::frontier, rehash_rule::at_once}) {
        for (auto options : {small_one(6, 200), large_one(6, 200)}) {
            options.rehashing = rule;
            test::paper_world w{options};
            for (std::uint64_t key = 0; key < 200; ++key) ASSERT_TRUE(w.insert(key));
            const std::uint64_t start = w.filter.details().rebuilds;
            for (std::uint64_t i = 0; i < 2'000; ++i) {
                w.adapt(*w.find_false_positive());
                if (i % 50 != 0) continue;
                const broom_paper_details now = w.filter.details();
                ASSERT_LT(now.extension_bits + now.ghost_bits, 3 * 200u);
            }
            const broom_paper_details now = w.filter.details();
            if (rule == rehash_rule::at_once) {
                EXPECT_EQ(now.rehashed, 0u);
                EXPECT_NEAR(static_cast<double>(now.rebuilds - start), 2'000 * 3 / 200., 3);
            } else {
                EXPECT_NEAR(static_cast<double>(now.phases), 2'000 * 3 / 200., 3);
            }
            expect_sound(w);
        }
    }
}

// With remainders of one or two bits some group of 64 quotients was full all the time, and every
// insert rehashed all keys.
TEST(broom_paper, no_group_is_full_even_with_short_remainders) {
    for (const double rate : {0.5, 0.25, 0.125, 0x1p-4}) {
        constexpr std::uint64_t keys = 1'500;
        test::paper_world w{{.capacity = keys, .false_positive_rate = rate, .random = repeatable(12)}};
        for (std::uint64_t key = 0; key < keys; ++key) ASSERT_TRUE(w.insert(key));
        for (std::uint64_t i = 0; i < 2 * keys; ++i) ASSERT_TRUE(w.filter.adapt(*w.find_false_positive(), w.truth));
        EXPECT_EQ(w.filter.details().rebuilds, 0u) << rate;
        EXPECT_GE(w.filter.details().phases, 5u) << rate;
        expect_sound(w);
    }
}

// ---- R ------------------------------------------------------------------------------------------

TEST(broom_paper, remote_calls_are_as_many_as_the_header_says) {
    for (const auto& options : {small_one(7), large_one(7)}) {
        test::paper_world w{options};
        counting_map records{w.plain}, index{w.plain_index};
        with_index remote{records, index};
        std::uint64_t collided = 0;
        const auto begin = [&] {
            records.reset();
            index.reset();
        };
        ASSERT_TRUE(w.filter.adapt(std::uint64_t{0}, remote));  // finds no former index
        for (std::uint64_t key = 0; key < 100; ++key) {
            w.put(key);
            const bool maybe = w.filter.may_contain(key);
            begin();
            ASSERT_EQ(*w.filter.insert(key, remote), insert_outcome::inserted);
            collided += maybe ? 1u : 0u;
            EXPECT_EQ(records.counts(), remote_counts{});
            EXPECT_EQ(index.counts().puts >= 1 && index.counts().puts <= 2 + (maybe ? 3u : 0u), true);
            if (!maybe) {
                EXPECT_EQ(index.counts().range_reads, 0u);
            }
        }
        if (!w.filter.details().is_large) {
            EXPECT_GT(collided, 0u);
        }
        begin();
        for (std::uint64_t absent_key = 1'000'000; absent_key < 1'010'000; ++absent_key)
            (void)w.filter.may_contain(absent_key);
        EXPECT_EQ(index.counts(), remote_counts{});
        EXPECT_EQ(records.counts(), remote_counts{});
        for (int i = 0; i < 50; ++i) {
            const std::uint64_t absent_key = *w.find_false_positive();
            begin();
            ASSERT_EQ(*w.filter.adapt(absent_key, remote), adapt_outcome::fixed);
            EXPECT_EQ(records.counts().point_reads, 1u);
            EXPECT_EQ(records.counts().range_reads, 0u);
            EXPECT_LE(index.counts().range_reads, 2u + 3 * 3u + 2);
            EXPECT_LE(index.counts().puts + index.counts().erases, 2 * 3u + 3u);
        }
        for (std::uint64_t key = 0; key < 50; ++key) {
            begin();
            ASSERT_EQ(*w.filter.erase(key, remote), erase_outcome::erased);
            EXPECT_EQ(records.counts().erases, 1u);
            EXPECT_LE(index.counts().range_reads, 3u);
            EXPECT_LE(index.counts().puts + index.counts().erases, 3u);
        }
    }
}

TEST(broom_paper, the_index_of_a_former_filter_is_cleared) {
    test::paper_world w{small_one()};
    for (std::uint64_t key = 0; key < 50; ++key) ASSERT_TRUE(w.insert(key));
    auto next = *broom_paper_filter::make({.capacity = 100, .hash = w.filter.hash(), .random = repeatable(9)});
    EXPECT_FALSE(next.audit(w.truth)) << "stored keys are answered no";
    ASSERT_EQ(*next.insert(std::uint64_t{7}, w.truth), insert_outcome::inserted);
    EXPECT_EQ(w.index_records(), 2u);
    ASSERT_TRUE(next.rebuild(w.truth));
    ASSERT_TRUE(next.audit(w.truth));
    EXPECT_EQ(next.stats().keys, 50u);
    const auto built = broom_paper_filter::build({.capacity = 100, .hash = w.filter.hash()}, w.truth);
    ASSERT_TRUE(built);
    EXPECT_TRUE(built->audit(w.truth));
}

TEST(broom_paper, a_rebuild_from_more_keys_than_the_capacity_fails_and_changes_nothing) {
    for (const auto& options : {small_one(8, 50), large_one(8, 50)}) {
        test::paper_world w{options};
        for (std::uint64_t key = 0; key < 50; ++key) ASSERT_TRUE(w.insert(key));
        for (std::uint64_t key = 50; key < 60; ++key) w.put(key);
        const auto before = w.contents();
        const std::uint64_t records = w.index_records();
        const auto refused = w.filter.rebuild(w.truth);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), error_code::mismatch);
        EXPECT_NE(refused.error().message().find("50"), std::string::npos) << refused.error().message();
        EXPECT_EQ(w.contents(), before);
        EXPECT_EQ(w.index_records(), records) << "the index is unchanged";
        EXPECT_EQ(*w.filter.erase(std::uint64_t{3}, w.truth), erase_outcome::erased);
        EXPECT_FALSE(broom_paper_filter::build(options, w.truth));
        for (std::uint64_t key = 50; key < 60; ++key) w.take_out(key);
        auto built = broom_paper_filter::build({.capacity = 50, .hash = w.filter.hash()}, w.truth);
        ASSERT_TRUE(built);
        EXPECT_EQ(built->stats().keys, 49u);
    }
}

// A rebuild fails with the index half written. Queries are answered all the time, and the next
// change after the store works again completes the rebuild.
TEST(broom_paper, a_rebuild_that_fails_half_way_is_completed_by_the_next_change) {
    for (const auto& options : {small_one(9), large_one(9)}) {
        for (std::uint64_t call = 0; call < 400; call += 13) {
            test::paper_world w{options};
            for (std::uint64_t key = 0; key < 60; ++key) ASSERT_TRUE(w.insert(key));
            w.set_faults(1e-300);
            ASSERT_TRUE(w.faulty_index.set_plan({.rules = {fault_rule::from(fault_kind::error_before, call)}}));
            if (w.rebuild()) continue;
            w.scan();
            EXPECT_FALSE(w.filter.adapt(std::uint64_t{3}, w.remote));
            EXPECT_FALSE(w.filter.insert(std::uint64_t{61}, w.remote));
            w.scan();
            w.set_faults(0);
            w.erase(7);
            w.insert(61);
            expect_sound(w);
            EXPECT_EQ(w.filter.details().rebuilds, 1u);
        }
    }
}

// ---- digests of few bits ------------------------------------------------------------------------

// Keys with one digest share a fingerprint: each of them is inserted and erased by itself.
struct short_digests {
    hasher inner{hash_key::from_seed(25)};

    static digest make(const void* context, key_view key) noexcept {
        const auto& self = *static_cast<const short_digests*>(context);
        const std::uint64_t kept = self.inner(key).position >> (64 - 8);
        // Neighbours differ in the lowest bit of the position, or in the seed only.
        return digest{(kept >> 5) << 61 | (kept >> 4 & 1), kept & 15};
    }
};

TEST(broom_paper, keys_with_one_digest_share_a_fingerprint_and_none_is_lost) {
    const short_digests few;
    const hasher hash = hasher::custom(&short_digests::make, &few);
    for (auto options : {small_one(10, 200), large_one(10, 200)}) {
        options.hash = hash;
        auto filter = *broom_paper_filter::make(options);
        memory_map map, index;
        two_maps remote{map, index};
        test::splitmix chance{11};
        std::set<std::uint64_t> members;
        const auto has_twin = [&](std::uint64_t key) {
            return std::ranges::any_of(members, [&](std::uint64_t m) { return m != key && hash(m) == hash(key); });
        };
        std::uint64_t twins = 0;
        for (int step = 0; step < 3'000; ++step) {
            const std::uint64_t key = chance.below(400), kind = chance.below(100);
            const digest where = hash(key);
            if (kind < 45) {
                ASSERT_TRUE(map.put(where, integer_key{key}.view()));
                const auto outcome = filter.insert(key, remote);
                ASSERT_TRUE(outcome) << outcome.error().message();
                if (*outcome == insert_outcome::full) {
                    ASSERT_EQ(members.size(), 200u);
                    ASSERT_TRUE(map.erase(where, integer_key{key}.view()));
                } else {
                    ASSERT_EQ(*outcome == insert_outcome::inserted, members.insert(key).second);
                }
            } else if (kind < 80) {
                const auto outcome = kind < 65 || !members.contains(key) ? filter.erase(key, remote) : [&] {
                    EXPECT_TRUE(map.erase(where, integer_key{key}.view()));
                    return filter.forget(integer_key{key}.view(), remote);
                }();
                ASSERT_TRUE(outcome) << outcome.error().message();
                ASSERT_EQ(*outcome == erase_outcome::erased, members.erase(key) == 1);
            } else if (kind < 99) {
                const bool maybe = filter.may_contain(key);
                if (members.contains(key) && kind < 85) {  // an orphan is removed, keys with its digest stay
                    ASSERT_TRUE(map.erase(where, integer_key{key}.view()));
                    members.erase(key);
                }
                const auto outcome = filter.adapt(key, remote);
                ASSERT_TRUE(outcome) << outcome.error().message();
                const bool stays = members.contains(key) || has_twin(key);
                twins += has_twin(key) ? 1u : 0u;
                const auto wanted = !maybe  ? adapt_outcome::was_negative
                                    : stays ? adapt_outcome::true_positive
                                            : adapt_outcome::fixed;
                ASSERT_EQ(*outcome, wanted) << step;
            } else {
                ASSERT_TRUE(filter.rebuild(remote));
            }
            for (const std::uint64_t each : members) ASSERT_TRUE(filter.may_contain(each)) << step;
            ASSERT_EQ(filter.stats().keys, members.size());
            if (step % 4 == 0) {
                const auto sound = filter.audit(remote);
                ASSERT_TRUE(sound) << sound.error().message() << ", step " << step;
            }
        }
        EXPECT_GT(twins, 100u);
    }
}

}  // namespace
}  // namespace genista::broom_paper_test
