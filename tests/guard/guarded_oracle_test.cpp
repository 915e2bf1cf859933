// The guard in front of a store with filters that need the key itself: daisy_broom, which adapts,
// and a filter of classes with its oracle, which does not.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/filters/daisy_sampling.hpp"
#include "genista/filters/with_oracle.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/guard/memory_store.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::guarded_oracle_test {
namespace {

using test::scripted_oracle;
using daisy_broom = daisy_broom_filter<scripted_oracle>;
using daisy_bloom = with_oracle<daisy_bloom_filter, scripted_oracle>;
using sampled_bloom = sampled_filter<daisy_bloom_filter, scripted_oracle>;

constexpr daisy_terms terms{2'000, 0x1p-12};

static_assert(guard_core<daisy_broom, memory_map>::learns);
static_assert(guard_core<broom_filter, memory_map>::learns);
static_assert(!guard_core<daisy_bloom, memory_map>::learns);
static_assert(!guard_core<sampled_bloom, memory_map>::learns);
static_assert(!guard_core<bloom_filter, memory_map>::learns);

// By the first byte of the key: a third each has class 0, 9 and 12.
std::shared_ptr<const scripted_oracle> by_first_byte() {
    return std::make_shared<scripted_oracle>([](std::uint64_t key) {
        constexpr unsigned classes[] = {0, 9, 12};
        return test::odds_of_class(classes[(key & 0xff) % 3], terms);
    });
}
daisy_plan plan() {
    return test::plan_of(terms, {{0, {0.34, 0.1}}, {9, {0.33, 0.4}}, {12, {0.33, 0.5}}});
}
std::string name(std::uint64_t number) {
    return std::string(1, static_cast<char>('a' + number % 26)) + std::to_string(number);
}

template <class Filter>
void put_ask_and_erase(guarded<Filter, memory_store>& users, bool learns) {
    std::set<std::uint64_t> there;
    test::splitmix chance{5};
    for (std::uint64_t number = 0; number < 2'000; ++number) {
        ASSERT_TRUE(users.put(name(number), "value"));
        there.insert(number);
    }
    for (std::uint64_t number = 0; number < 2'000; number += 5) {
        ASSERT_TRUE(users.erase(name(number)));
        there.erase(number);
    }
    for (int i = 0; i < 4'000; ++i) {
        const std::uint64_t number = chance.below(2'600);
        const auto got = users.get(name(number));
        ASSERT_TRUE(got);
        ASSERT_EQ(got->has_value(), there.contains(number)) << number;
        ASSERT_TRUE(users.may_contain(name(number)) || !there.contains(number));
        if (chance.below(16) == 0) {
            ASSERT_TRUE(users.put(name(number), "again"));
            there.insert(number);
        }
    }
    const guard_counters seen = users.counters();
    EXPECT_GT(seen.wasted_reads, 50u);
    EXPECT_EQ(seen.ranges_pending_repair, 0u);
    EXPECT_GT(seen.filter.local_bytes, 0u);
    if (learns) {
        EXPECT_LE(seen.repeated_wasted_reads, 5u);
        EXPECT_GT(seen.adapts, 50u);
    } else {
        EXPECT_GT(seen.repeated_wasted_reads, 50u);
    }
}

TEST(guarded_oracle, daisy_broom_adapts_behind_the_guard) {
    const hasher hash{hash_key::from_seed(3)};
    memory_store store{hash};
    daisy_broom_options options;
    options.hash = hash;
    options.exception_bytes = 16'384;
    guarded users{*daisy_broom::make(options, plan(), by_first_byte()), store};
    put_ask_and_erase(users, true);
}

TEST(guarded_oracle, daisy_bloom_is_asked_with_its_keys_and_does_not_adapt) {
    const hasher hash{hash_key::from_seed(3)};
    memory_store store{hash};
    guarded users{daisy_bloom{*daisy_bloom_filter::make({.plan = plan(), .hash = hash}), by_first_byte()}, store};
    put_ask_and_erase(users, false);
}

TEST(guarded_oracle, a_sampled_filter_plans_itself_behind_the_guard) {
    const hasher hash{hash_key::from_seed(3)};
    memory_store store{hash};
    guarded users{*sampled_bloom::make({.terms = terms, .samples = 500, .hash = hash}, by_first_byte()), store};
    EXPECT_TRUE(users.filter().is_sampling());
    put_ask_and_erase(users, false);
    EXPECT_FALSE(users.filter().is_sampling());
}

}  // namespace
}  // namespace genista::guarded_oracle_test
