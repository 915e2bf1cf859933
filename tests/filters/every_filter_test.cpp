// What holds for every filter that has it (filters/filter.hpp): which concepts it models, size(),
// and clear().
#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "genista/detail/filters/asked_with_key.hpp"
#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/daisy_sampling.hpp"
#include "genista/filters/lossy.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "genista/filters/succinct_set.hpp"
#include "genista/genista.hpp"
#include "genista/oracles/exact_oracle.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::every_filter_test {
namespace {

// ---- concepts -----------------------------------------------------------------------------------

// Which of the concepts of filters/filter.hpp each public filter models, and which it does not. The
// compiler is the test.

using indexed = with_index<memory_map, memory_map>;

// Of the surface that all of them have, whatever a key of theirs is.
template <class F>
concept counted = requires(const F& f) {
    { F::name } -> std::convertible_to<std::string_view>;
    { f.size() }
    noexcept->std::same_as<std::uint64_t>;
    { f.empty() }
    noexcept->std::same_as<bool>;
    { f.stats() }
    noexcept->std::same_as<filter_stats>;
}
&&std::movable<F> && !std::copyable<F>;

// Take keys by themselves.
template <class F>
constexpr bool is_local = counted<F>&& local_filter<F>&& clearable_filter<F>;
static_assert(is_local<bloom_filter> && is_local<blocked_bloom_filter> && is_local<cleary_filter> &&
              is_local<cuckoo_partial_filter> && is_local<optimal_filter> && is_local<spectral_filter>);
static_assert(sized_filter<bloom_filter> && sized_filter<blocked_bloom_filter> && sized_filter<cleary_filter> &&
              sized_filter<cuckoo_partial_filter>);
static_assert(mergeable_filter<bloom_filter> && mergeable_filter<blocked_bloom_filter>);
static_assert(!mergeable_filter<cleary_filter> && !mergeable_filter<cuckoo_partial_filter> &&
              !mergeable_filter<optimal_filter> && !mergeable_filter<spectral_filter>);
static_assert(locally_erasable_filter<cuckoo_partial_filter> && locally_erasable_filter<optimal_filter> &&
              locally_erasable_filter<spectral_filter>);
static_assert(!locally_erasable_filter<bloom_filter> && !locally_erasable_filter<blocked_bloom_filter> &&
              !locally_erasable_filter<cleary_filter>);

// Built once.
static_assert(counted<bloomier_filter> && membership_filter<bloomier_filter> && !local_filter<bloomier_filter> &&
              !clearable_filter<bloomier_filter>);

// Learn, and answer for the keys of R: emptied with R, by rebuild().
template <class F, class R>
constexpr bool is_adaptive =
    counted<F>&& membership_filter<F>&& adaptive_filter<F, R> && !local_filter<F> && !clearable_filter<F>;
static_assert(is_adaptive<broom_filter, memory_map> && is_adaptive<cascade_filter, indexed> &&
              is_adaptive<cuckooing_filter, indexed>);
static_assert(sized_filter<broom_filter> && sized_filter<cuckooing_filter>);
static_assert(counted<adaptive_bloom_filter> && membership_filter<adaptive_bloom_filter> &&
                  !clearable_filter<adaptive_bloom_filter> && !adaptive_filter<adaptive_bloom_filter, indexed>,
              "it has no erase");
using daisy_broom = daisy_broom_filter<exact_oracle>;
static_assert(counted<daisy_broom> && learning_with_key<daisy_broom, memory_map> && asked_with_key<daisy_broom> &&
                  !clearable_filter<daisy_broom> && !membership_filter<daisy_broom>,
              "a digest tells no class");

// Take the class of a key, or an oracle that knows it.
template <class F>
constexpr bool is_daisy = counted<F>&& class_filter<F>&& counted<with_oracle<F, exact_oracle>>&&
    clearable_filter<with_oracle<F, exact_oracle>>&& counted<sampled_filter<F, exact_oracle>>&&
        clearable_filter<sampled_filter<F, exact_oracle>>&& asked_with_key<with_oracle<F, exact_oracle>>&&
            asked_with_key<sampled_filter<F, exact_oracle>>;
static_assert(is_daisy<daisy_bloom_filter> && is_daisy<daisy_fingerprint_filter>);

// No filters of keys: one denies some on purpose, two are exact sets of numbers.
static_assert(counted<lossy_filter> && clearable_filter<lossy_filter> && !membership_filter<lossy_filter>);
static_assert(counted<succinct_set> && clearable_filter<succinct_set> && !membership_filter<succinct_set>);
static_assert(counted<succinct_multiset> && clearable_filter<succinct_multiset> &&
              !membership_filter<succinct_multiset>);

TEST(concepts, of_every_public_filter_are_checked_by_the_compiler) {
    SUCCEED();
}

}  // namespace
}  // namespace genista::every_filter_test

namespace genista::test::every_filter_test {
namespace {

// ---- size() and empty() -------------------------------------------------------------------------

// size() and empty() (filters/filter.hpp): what inserts and erases have counted.

template <class F>
class sized : public testing::Test {};
using local_filters = testing::Types<bloom_filter, blocked_bloom_filter, cleary_filter, cuckoo_partial_filter,
                                     optimal_filter, spectral_filter>;
TYPED_TEST_SUITE(sized, local_filters);

TYPED_TEST(sized, counts_inserts_and_erases) {
    auto made = TypeParam::make({.capacity = 1'000, .hash = hasher{hash_key::from_seed(3)}});
    ASSERT_TRUE(made);
    TypeParam& f = *made;
    EXPECT_TRUE(f.empty());
    EXPECT_EQ(f.size(), 0u);
    std::uint64_t inserted = 0;
    for (std::uint64_t key = 0; key < 500; ++key) {
        inserted += f.insert(key) == insert_outcome::inserted ? 1u : 0u;
        ASSERT_EQ(f.size(), inserted);
        ASSERT_FALSE(f.empty());
    }
    EXPECT_EQ(f.size(), f.stats().keys);
    EXPECT_GT(f.size(), 480u);
    if constexpr (locally_erasable_filter<TypeParam>) {
        std::uint64_t erased = 0;
        for (std::uint64_t key = 0; key < 500; ++key) erased += f.erase(key) == erase_outcome::erased ? 1u : 0u;
        EXPECT_EQ(f.size(), inserted - erased);
        EXPECT_TRUE(f.empty());
    }
}

TEST(size_of, a_lossy_filter_counts_what_it_stores) {
    auto f = lossy_filter::make({.capacity = 1'000, .hash = hasher{hash_key::from_seed(3)}});
    ASSERT_TRUE(f);
    EXPECT_TRUE(f->empty());
    std::uint64_t stored = 0;
    for (std::uint64_t key = 0; key < 500; ++key) stored += f->insert(key) == lossy_insert::stored ? 1u : 0u;
    EXPECT_EQ(f->size(), stored);
    EXPECT_GT(stored, 0u);
}

TEST(size_of, a_broom_filter_counts_keys_and_not_slots) {
    auto made = broom_filter::make({.capacity = 1'000, .hash = hasher{hash_key::from_seed(3)}});
    ASSERT_TRUE(made);
    broom_filter& f = *made;
    memory_map remote;
    EXPECT_TRUE(f.empty());
    for (std::uint64_t key = 0; key < 500; ++key) {
        ASSERT_TRUE(remote.put(f.hash()(key), integer_key{key}.view()));
        ASSERT_TRUE(f.insert(key, remote));
    }
    EXPECT_EQ(f.size(), 500u);
    for (std::uint64_t key = 0; key < 500; ++key) {
        ASSERT_TRUE(f.erase(key, remote));
        ASSERT_EQ(f.size(), 499 - key) << "the slot of an erased key is no key";
    }
    EXPECT_TRUE(f.empty());
}

// ---- clear() ------------------------------------------------------------------------------------

// clear() (filters/filter.hpp): a filter that was filled and emptied is as make() made it, byte for
// byte and by its memory, and fills up again like a new one. One driver for all filters that have
// it.

hasher the_hash() {
    return hasher{hash_key::from_seed(5)};
}

// `used` and `fresh` are made alike; insert(filter, key) puts one key in.
template <class F, class Insert>
void expect_clear_makes_new(F used, F fresh, std::uint64_t keys, Insert insert) {
    const auto empty = saved(fresh);
    const std::uint64_t bytes = fresh.stats().local_bytes;
    ASSERT_EQ(saved(used), empty) << "the two are not alike";
    used.clear();
    EXPECT_EQ(saved(used), empty) << "an empty filter can be cleared";
    for (const std::uint64_t first : {std::uint64_t{0}, keys}) {
        for (std::uint64_t key = first; key < first + keys; ++key) insert(used, key);
        ASSERT_FALSE(used.empty());
        used.clear();
        EXPECT_TRUE(used.empty());
        EXPECT_EQ(used.size(), 0u);
        EXPECT_EQ(saved(used), empty);
        EXPECT_EQ(used.stats().local_bytes, bytes);
        EXPECT_TRUE(used.stats().capacity == fresh.stats().capacity &&
                    used.stats().false_positive_rate == fresh.stats().false_positive_rate);
    }
    for (std::uint64_t key = 0; key < keys; ++key) insert(used, key), insert(fresh, key);
    EXPECT_EQ(saved(used), saved(fresh)) << "filled again it is as a new one";
    EXPECT_EQ(used.size(), fresh.size());
}

template <class F>
class cleared : public testing::Test {};
TYPED_TEST_SUITE(cleared, local_filters);

// 30,000 keys: the tables are mapped from 128 KiB on, and smaller ones come from the allocator.
TYPED_TEST(cleared, is_as_new) {
    static_assert(clearable_filter<TypeParam>);
    for (const std::uint64_t capacity : {1u, 100u, 30'000u, 400'000u}) {
        const auto make = [&] { return *TypeParam::make({.capacity = capacity, .hash = the_hash()}); };
        expect_clear_makes_new(make(), make(), std::min<std::uint64_t>(capacity, 30'000),
                               [](TypeParam& f, std::uint64_t key) { ASSERT_NE(f.insert(key), insert_outcome::full); });
    }
}

TYPED_TEST(cleared, answers_absent_for_what_it_held) {
    auto f = *TypeParam::make({.capacity = 5'000, .hash = the_hash()});
    for (std::uint64_t key = 0; key < 5'000; ++key) ASSERT_NE(f.insert(key), insert_outcome::full);
    f.clear();
    for (std::uint64_t key = 0; key < 5'000; ++key) ASSERT_FALSE(f.may_contain(key)) << key;
    EXPECT_TRUE(f.hash() == the_hash());
    if constexpr (locally_erasable_filter<TypeParam>) {
        EXPECT_EQ(f.erase(7u), erase_outcome::absent);
    }
    auto moved = std::move(f);
    EXPECT_EQ(moved.insert(7u), insert_outcome::inserted);
    EXPECT_TRUE(moved.may_contain(7u));
}

TEST(cleared_sets, are_as_new) {
    for (const std::uint64_t universe : {std::uint64_t{1}, std::uint64_t{5'000}, std::uint64_t{1} << 40}) {
        const auto insert = [&](auto& all, std::uint64_t x) { ASSERT_TRUE(all.insert(x % universe)); };
        const succinct_options options{.universe = universe, .hash = the_hash()};
        expect_clear_makes_new(*succinct_set::make(options), *succinct_set::make(options), 20'000, insert);
        expect_clear_makes_new(*succinct_multiset::make(options), *succinct_multiset::make(options), 20'000, insert);
    }
}

TEST(cleared_lossy, forgets_omitted_keys_too) {
    const auto make = [] { return *lossy_filter::make({.capacity = 8'000, .hash = the_hash()}); };
    expect_clear_makes_new(make(), make(), 8'000,
                           [](lossy_filter& f, std::uint64_t key) { ASSERT_NE(f.insert(key), lossy_insert::full); });
    const auto before = make();
    auto f = make();
    f.clear();
    for (std::uint64_t key = 0; key < 1'000; ++key) ASSERT_EQ(f.omits(key), before.omits(key));
}

daisy_plan plan_of_classes(double draws) {
    return plan_of(draws, 0x1p-8, {0.25, 0, 0, 0.25, 0, 0.001, 0, 0, 0.499});
}

TEST(cleared_daisy_bloom, begins_its_drift_again) {
    const daisy_plan plan = plan_of_classes(3'000);
    for (const bool blocked : {false, true}) {
        const auto make = [&] {
            return *daisy_bloom_filter::make({.plan = plan, .hash = the_hash(), .blocked = blocked});
        };
        expect_clear_makes_new(make(), make(), 3'000, [&](daisy_bloom_filter& f, std::uint64_t key) {
            (void)f.insert(key, class_by(plan, key));
        });
        auto f = make();
        (void)f.insert(1u, 8);
        f.clear();
        EXPECT_EQ(f.bits_set(), 0u);
        EXPECT_EQ(f.drift().draws, 0u);
        EXPECT_FALSE(f.may_contain(1u, 8));
    }
}

// Four times the planned keys: growing tables come and go.
TEST(cleared_daisy_fingerprint, gives_growing_tables_back) {
    const daisy_plan plan = plan_of_classes(2'000);
    for (const bool unknown_size : {false, true}) {
        const auto make = [&] {
            return *daisy_fingerprint_filter::make({.plan = plan, .hash = the_hash(), .unknown_size = unknown_size});
        };
        expect_clear_makes_new(make(), make(), 8'000, [&](daisy_fingerprint_filter& f, std::uint64_t key) {
            ASSERT_NE(f.insert(key, class_by(plan, key)), insert_outcome::full);
        });
        auto f = make();
        for (std::uint64_t key = 0; key < 8'000; ++key) ASSERT_NE(f.insert(key, 8), insert_outcome::full);
        EXPECT_GT(f.drift().extra_tables, 0u);
        f.clear();
        EXPECT_EQ(f.drift().extra_tables, 0u);
        for (std::uint64_t key = 0; key < 8'000; ++key) ASSERT_FALSE(f.may_contain(key, 8));
    }
}

constexpr daisy_terms terms{2'000, 0x1p-8};
std::shared_ptr<const scripted_oracle> by_parity() {
    return std::make_shared<scripted_oracle>([](std::uint64_t key) { return odds_of_class(key % 2 * 8, terms); }, 1);
}

TEST(cleared_with_oracle, clears_the_filter_behind_it) {
    with_oracle filter{*daisy_bloom_filter::make(
                           {.plan = test::plan_of(2'000, 0x1p-8, {0.5, 0, 0, 0, 0, 0, 0, 0, 0.5}), .hash = the_hash()}),
                       by_parity()};
    EXPECT_TRUE(filter.empty());
    for (std::uint64_t key = 0; key < 1'000; ++key) ASSERT_NE(filter.insert(key), insert_outcome::full);
    EXPECT_EQ(filter.size(), filter.stats().keys);
    EXPECT_GT(filter.size(), 480u);
    filter.clear();
    EXPECT_TRUE(filter.empty());
    for (std::uint64_t key = 1; key < 1'000; key += 2) ASSERT_FALSE(filter.may_contain(key));
    EXPECT_TRUE(filter.may_contain(2u)) << "class 0 is always maybe";
}

TEST(cleared_sampled, samples_again_or_keeps_its_plan) {
    using sampled = sampled_filter<daisy_fingerprint_filter, scripted_oracle>;
    auto f = *sampled::make({.terms = terms, .samples = 500, .hash = the_hash()}, by_parity());
    const std::uint64_t bytes = f.stats().local_bytes;
    for (std::uint64_t key = 0; key < 400; ++key) ASSERT_EQ(f.insert(key), insert_outcome::inserted);
    EXPECT_EQ(f.size(), 400u);
    f.clear();
    EXPECT_TRUE(f.empty() && f.is_sampling());
    EXPECT_EQ(f.stats().local_bytes, bytes);
    for (std::uint64_t key = 0; key < 400; ++key) ASSERT_FALSE(f.may_contain(key));
    for (std::uint64_t key = 0; key < 499; ++key) ASSERT_EQ(f.insert(key), insert_outcome::inserted);
    EXPECT_TRUE(f.is_sampling()) << "the draws before clear() are no samples any more";
    ASSERT_NE(f.insert(1'001u), insert_outcome::full);
    ASSERT_FALSE(f.is_sampling());
    const double planned = f.filter()->plan().mean_bits;
    EXPECT_EQ(f.size(), f.stats().keys);
    f.clear();
    EXPECT_TRUE(f.empty() && !f.is_sampling());
    EXPECT_EQ(f.filter()->plan().mean_bits, planned);
    for (std::uint64_t key = 1; key < 400; key += 2) ASSERT_FALSE(f.may_contain(key));
    for (std::uint64_t key = 0; key < 400; ++key) ASSERT_NE(f.insert(key), insert_outcome::full);
    for (std::uint64_t key = 0; key < 400; ++key) ASSERT_TRUE(f.may_contain(key));
}

// Adaptive filters are emptied with R (docs/filters/broom.md).
TEST(cleared_broom, is_emptied_by_a_rebuild_from_an_empty_r) {
    auto f = *broom_filter::make({.capacity = 1'000, .hash = the_hash()});
    memory_map remote;
    for (int life = 0; life < 2; ++life) {
        for (std::uint64_t key = 0; key < 1'000; ++key) {
            ASSERT_TRUE(remote.put(f.hash()(key), integer_key{key}.view()));
            ASSERT_TRUE(f.insert(key, remote));
        }
        for (std::uint64_t key = 0; key < 1'000; ++key)
            ASSERT_TRUE(remote.erase(f.hash()(key), integer_key{key}.view()));
        ASSERT_TRUE(f.rebuild(remote));
        EXPECT_TRUE(f.empty());
        ASSERT_TRUE(f.audit(remote));
        for (std::uint64_t key = 0; key < 1'000; ++key) ASSERT_FALSE(f.may_contain(key)) << key;
    }
}

}  // namespace
}  // namespace genista::test::every_filter_test
