// Former bugs with an R that fails, lags or gives wrong records. The comment at the head of each
// section tells the story of its bug.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "genista/filters/adaptive_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/snapshot_damage.hpp"
#include "tests/support/wrapped_maps.hpp"

namespace genista::remote_test {
namespace {

// ---- lagging replicas ---------------------------------------------------------------------------

// Two replicas that lagged behind answered in turn for an index that was being cleared: each named
// a record that had been erased long ago. The loop gave up only when one record was named time
// after time; so the first insert into a new filter never returned.

class lagging_map : public memory_map {
  public:
    explicit lagging_map(std::uint64_t replicas) noexcept : replicas_{replicas} {}
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t, Visit&& visit) {
        constexpr std::uint64_t many = 100'000;
        if (++reads == many) return error::make(error_code::timeout, "%llu reads in one call", 0ull + many);
        const std::uint64_t which = reads % replicas_;
        (void)visit(digest{first + which, which}, key_view{"erased long ago"});
        return {};
    }
    std::uint64_t reads = 0;

  private:
    std::uint64_t replicas_;
};

template <class Filter>
void insert_into_a_new_one() {
    for (const std::uint64_t replicas : {1u, 2u, 3u, 20u}) {
        auto filter = *Filter::make({.capacity = 100});
        memory_map records;
        lagging_map index{replicas};
        with_index remote{records, index};
        const auto outcome = filter.insert("ada", remote);
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code(), error_code::corrupt) << outcome.error().message();
        EXPECT_LT(index.reads, 100u) << replicas;
    }
}

TEST(lagging_replicas, end_an_insert_into_a_cascade) {
    insert_into_a_new_one<cascade_filter>();
}
TEST(lagging_replicas, end_an_insert_into_an_adaptive_bloom_filter) {
    insert_into_a_new_one<adaptive_bloom_filter>();
}

// ---- a cascade in doubt -------------------------------------------------------------------------

// A write of the index failed, and the insert was repeated: the cascade had the key, and did not
// count it. So it took more keys than its capacity, and the next new hash functions had no room for
// them: every later change was an error, erases as well, and mistakes were repaired no more. And
// when the other keys of its value had left, a level had more values than counted keys: the filter
// saved a snapshot that load() refused.

// Every third write is done, and its reply is lost.
class losing_map : public memory_map {
  public:
    result<bool> put(const digest& where, key_view key) {
        const auto done = memory_map::put(where, key);
        if (loses && ++writes_ % 3 == 0) return error::make(error_code::io, "reply lost");
        return done;
    }
    bool loses = true;

  private:
    std::uint64_t writes_ = 0;
};

TEST(cascade_in_doubt, a_cascade_takes_no_more_keys_than_a_rebuild_has_room_for) {
    constexpr std::uint64_t capacity = 60;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        auto filter = *cascade_filter::make({.capacity = capacity,
                                             .false_positive_rate = 0.25,
                                             .hash = hasher{hash_key::from_seed(seed)},
                                             .random = repeatable(seed)});
        memory_map records;
        losing_map index;
        with_index remote{records, index};
        std::uint64_t taken = 0;
        for (std::uint64_t key = 0; key < 2 * capacity; ++key) {
            ASSERT_TRUE(records.put(filter.hash()(key), integer_key{key}.view()));
            auto outcome = filter.insert(key, remote);
            for (int again = 0; !outcome && again < 10; ++again) outcome = filter.insert(key, remote);
            if (outcome && *outcome != insert_outcome::full) {
                ++taken;
            } else {
                EXPECT_TRUE(!outcome || key >= capacity) << "full with room for " << key;
                ASSERT_TRUE(records.erase(filter.hash()(key), integer_key{key}.view()));
            }
        }
        EXPECT_EQ(taken, capacity) << seed;
        index.loses = false;
        for (std::uint64_t key = 0; key < capacity; ++key) ASSERT_TRUE(filter.may_contain(key)) << key;
        const auto rebuilt = filter.rebuild(remote);
        ASSERT_TRUE(rebuilt) << seed << ": " << rebuilt.error().message();
        EXPECT_TRUE(filter.audit(remote));
        EXPECT_EQ(*filter.erase(std::uint64_t{1}, remote), erase_outcome::erased);
    }
}

// Every write of the index is done, and its reply is lost.
class silent_map : public memory_map {
  public:
    result<bool> put(const digest& where, key_view key) {
        const auto done = memory_map::put(where, key);
        if (is_silent) return error::make(error_code::io, "reply lost");
        return done;
    }
    bool is_silent = false;
};

TEST(cascade_in_doubt, a_snapshot_of_keys_in_doubt_can_be_loaded) {
    constexpr std::uint64_t keys = 20, strays = 5;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        auto filter = *cascade_filter::make({.capacity = 60,
                                             .false_positive_rate = 0.25,
                                             .hash = hasher{hash_key::from_seed(seed)},
                                             .random = repeatable(seed)});
        memory_map records;
        silent_map index;
        with_index remote{records, index};
        const auto put = [&](std::uint64_t key) {
            EXPECT_TRUE(records.put(filter.hash()(key), integer_key{key}.view()));
            return filter.insert(key, remote);
        };
        for (std::uint64_t key = 0; key < keys; ++key) ASSERT_TRUE(put(key));
        // Queries go to loaded copies: so many would bring new hash functions, and end the doubt.
        std::optional<cascade_filter> copy;
        const auto load_copy = [&] {
            auto loaded = cascade_filter::load(test::saved(filter));
            ASSERT_TRUE(loaded) << seed << ": " << loaded.error().message();
            copy.emplace(*std::move(loaded));
            const auto sound = filter.audit(remote);
            ASSERT_TRUE(sound) << seed << ": " << sound.error().message();
        };
        // Keys that share a stored value: inserted, in doubt, and given up by the caller.
        ASSERT_NO_FATAL_FAILURE(load_copy());
        std::uint64_t next = keys;
        for (std::uint64_t given_up = 0; given_up < strays; ++next) {
            if (!copy->may_contain(next)) continue;
            index.is_silent = true;
            ASSERT_FALSE(put(next));
            index.is_silent = false;
            ASSERT_TRUE(records.erase(filter.hash()(next), integer_key{next}.view()));
            ++given_up;
        }
        for (std::uint64_t key = 0; key < keys; ++key) {
            ASSERT_NO_FATAL_FAILURE(load_copy());
            for (std::uint64_t left = key; left < keys; ++left) ASSERT_TRUE(copy->may_contain(left)) << left;
            if (key % 8 == seed % 8) {
                std::uint64_t wrong = next;
                while (!copy->may_contain(wrong)) ++wrong;
                ASSERT_TRUE(filter.adapt(wrong, remote));
            }
            ASSERT_EQ(*filter.erase(key, remote), erase_outcome::erased);
        }
        ASSERT_NO_FATAL_FAILURE(load_copy());
    }
}

// ---- replaced records ---------------------------------------------------------------------------

// R returned a record that exists, but in another one's place: twice, or outside its range. Three
// readers left such a record out without a word, and with it the key whose place it had taken,
// which was denied from then on: the view of R that a band of daisy_broom has (if the record was of
// another band), a guard's repair of a filter that does not learn, and the filters with an index.

using test::replacing_map;
constexpr std::uint64_t stored = 2'000, absent = std::uint64_t{1} << 40;

template <class Filter>
std::uint64_t denied_by(const Filter& filter, std::uint64_t keys) {
    std::uint64_t denied = 0;
    for (std::uint64_t key = 0; key < keys; ++key) denied += filter.may_contain(key) ? 0u : 1u;
    return denied;
}

TEST(replaced_records, of_another_band_cost_daisy_broom_no_key) {
    using filter_type = daisy_broom_filter<test::scripted_oracle>;
    const daisy_terms terms{stored, 0x1p-8};
    const auto oracle = std::make_shared<test::scripted_oracle>(
        [terms](std::uint64_t key) { return test::odds_of_class(key % 4 == 0 ? 0 : 7, terms); });
    const daisy_plan plan = test::plan_of(terms, {{0, {0.25, 0.0001}}, {7, {0.75, 0.9}}});
    for (const auto by : {replacing_map::with::its_predecessor, replacing_map::with::a_stray}) {
        auto filter =
            *filter_type::make({.hash = hasher{hash_key::from_seed(5)}, .random = repeatable(5)}, plan, oracle);
        ASSERT_NE(filter.band_of(integer_key{0u}.view()), filter.band_of(integer_key{1u}.view()));
        replacing_map remote;
        for (std::uint64_t key = 0; key < stored; ++key) {
            ASSERT_TRUE(remote.put(filter.hash()(key), integer_key{key}.view()));
            ASSERT_TRUE(filter.insert(key, remote));
        }
        std::optional<replacing_map::record> stray;
        ASSERT_TRUE(remote.for_each(0, ~std::uint64_t{0}, [&](const digest& where, key_view key) {
            if (filter.band_of(key) != filter.band_of(integer_key{0u}.view())) return true;
            stray.emplace(where, std::string{key.text()});
            return false;
        }));
        remote.replace(by, stray);
        for (std::uint64_t key = absent; key < absent + 100'000; ++key) {
            if (filter.may_contain(key)) (void)filter.adapt(key, remote);
        }
        (void)filter.rebuild(remote);
        ASSERT_GT(remote.replaced(), 100u);
        EXPECT_EQ(denied_by(filter, stored), 0u);
        remote.replace(replacing_map::with::itself);
        EXPECT_TRUE(filter.rebuild(remote));
        EXPECT_TRUE(filter.audit(remote));
    }
}

using replacing_store = test::store_over<replacing_map>;

TEST(replaced_records, fail_the_repair_of_a_filter_that_does_not_learn) {
    for (const auto by : {replacing_map::with::its_predecessor, replacing_map::with::a_stray}) {
        auto filter = *bloom_filter::make({.capacity = stored, .hash = hasher{hash_key::from_seed(5)}});
        replacing_store store{filter.hash()};
        guarded<bloom_filter, replacing_store> guard{std::move(filter), store};
        std::uint64_t first = 0;  // the key with the smallest position, which is in the first range
        for (std::uint64_t key = 0; key < stored; ++key) {
            ASSERT_TRUE(store.remote().put(store.hash()(key), integer_key{key}.view()));
            if (store.hash()(key) < store.hash()(first)) first = key;
        }
        guard.core().need_repair_everywhere();
        store.remote().replace(by, replacing_map::record{store.hash()(first), integer_key{first}.view().text()});
        EXPECT_FALSE(guard.repair());
        EXPECT_EQ(denied_by(guard, stored), 0u);
        store.remote().replace(replacing_map::with::itself);
        EXPECT_TRUE(guard.repair());
        EXPECT_EQ(guard.core().pending_ranges(), 0u);
        EXPECT_EQ(denied_by(guard, stored), 0u);
    }
}

template <class Filter, class Options>
void adapt_with_repeated_records(std::uint64_t seed) {
    constexpr std::uint64_t keys = 1'200;
    Options options;
    options.capacity = keys;
    options.false_positive_rate = 0.25;
    options.hash = hasher{hash_key::from_seed(seed)};
    options.random = repeatable(seed);
    for (const bool in_index : {true, false}) {
        auto filter = *Filter::make(options);
        replacing_map records, index;
        with_index remote{records, index};
        for (std::uint64_t key = 0; key < keys; ++key) {
            ASSERT_TRUE(records.put(filter.hash()(key), integer_key{key}.view()));
            ASSERT_TRUE(filter.insert(key, remote));
        }
        (in_index ? index : records).replace(replacing_map::with::its_predecessor);
        for (std::uint64_t key = absent, queries = 0; queries < keys - 60; ++key, ++queries) {
            if (filter.may_contain(key)) (void)filter.adapt(key, remote);
        }
        if (!in_index) {
            EXPECT_FALSE(filter.rebuild(remote));
        }
        EXPECT_GT((in_index ? index : records).replaced(), 0u);
        EXPECT_EQ(denied_by(filter, keys), 0u) << (in_index ? "index" : "records");
        (in_index ? index : records).replace(replacing_map::with::itself);
        EXPECT_TRUE(filter.rebuild(remote));
        const auto sound = filter.audit(remote);
        EXPECT_TRUE(sound) << sound.error().message();
    }
}

TEST(replaced_records, cost_a_filter_with_an_index_no_key) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        adapt_with_repeated_records<adaptive_bloom_filter, adaptive_bloom_options>(seed);
        adapt_with_repeated_records<cascade_filter, cascade_options>(seed);
    }
}

}  // namespace
}  // namespace genista::remote_test
