// R returned a record that exists, but in another one's place: twice, or outside its range. Three
// readers left such a record out without a word, and with it the key whose place it had taken,
// which was denied from then on: the view of R that a band of daisy_broom has (if the record was of
// another band), a guard's repair of a filter that does not learn, and the filters with an index.
#include <gtest/gtest.h>

#include <memory>

#include "genista/filters/adaptive_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/remote/indexed.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/wrapped_maps.hpp"

namespace genista::replaced_records_test {
namespace {

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

// What memory_store is, on an R that replaces records.
class replacing_store {
  public:
    explicit replacing_store(const hasher& hash) : hash_{hash} {}
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] replacing_map& remote() noexcept { return remote_; }
    result<bool> read(const digest& where, key_view key, std::string&) { return remote_.contains(where, key); }
    result<void> write(const digest& where, key_view key, std::string_view) {
        if (const auto put = remote_.put(where, key); !put) return put.error();
        return {};
    }
    result<void> remove(const digest& where, key_view key) {
        if (const auto gone = remote_.erase(where, key); !gone) return gone.error();
        return {};
    }

  private:
    hasher hash_;
    replacing_map remote_;
};

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
}  // namespace genista::replaced_records_test
