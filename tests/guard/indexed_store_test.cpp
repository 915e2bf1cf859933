// The cuckoo family in front of a store: every filter adapts by its rule or does not adapt, and
// denies no key, whatever happens to its index.
#include "support/guard/indexed_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "genista/filters/cuckooing.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/guard/memory_store.hpp"
#include "genista/remote/memory_map.hpp"
#include "papers/cuckoo_family.hpp"
#include "tests/support/guard_exercise.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::indexed_store_test {
namespace {

hasher test_hash() {
    return hasher{hash_key{}, hash_kind::keyed};
}

constexpr auto key_number = key_text;

// An index that fails on demand; a failed write was done or was not.
class failing_index {
  public:
    // A filter of the cuckoo family asks for no single record.
    result<bool> put(const digest& where, key_view key) { return index_.put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return index_.erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return index_.contains(where, key); }
    result<void> apply(std::span<const record_change> changes) {
        if (writes_fail_before) return error::make(error_code::io, "no place is written");
        if (const auto done = index_.apply(changes); !done) return done;
        if (writes_fail_after) return error::make(error_code::io, "the reply was lost");
        return {};
    }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        if (reads_fail) return error::make(error_code::io, "no places are read");
        return index_.for_each(first, last, visit);
    }
    result<void> erase_range(std::uint64_t first, std::uint64_t last) {
        if (writes_fail_before) return error::make(error_code::io, "no places are erased");
        return index_.erase_range(first, last);
    }

    std::atomic<bool> reads_fail{false}, writes_fail_before{false}, writes_fail_after{false};

  private:
    memory_map index_;
};

using plain_store = indexed_store<memory_store, memory_map>;
using failing_store = indexed_store<memory_store, failing_index>;
static_assert(guarded_store<plain_store> && guarded_store<failing_store>);
static_assert(batch_indexed_map<remote_of<plain_store>>);

template <class Filter>
class indexed_guard : public ::testing::Test {
  protected:
    static_assert(adaptive_filter<Filter, remote_of<plain_store>>);
    static_assert(guard_core<Filter, remote_of<plain_store>>::learns);

    static Filter empty_filter(std::uint64_t capacity, unsigned bits = 8) {
        return *Filter::make(
            {.capacity = capacity, .fingerprint_bits = bits, .hash = test_hash(), .random = repeatable(7)});
    }

    memory_store store_{test_hash()};
    memory_map index_;
    plain_store both_{store_, index_};
};

using members = ::testing::Types<cuckoo_filter, cuckooing_filter, cyclic_filter<1>, cyclic_filter<2>, cyclic_filter<3>,
                                 swapping_filter>;
TYPED_TEST_SUITE(indexed_guard, members);

TYPED_TEST(indexed_guard, what_was_put_is_found_and_what_was_erased_is_not) {
    guarded guard{this->empty_filter(1000), this->both_};
    expect_puts_and_erases(guard);
    EXPECT_TRUE(guard.filter().audit(this->both_.remote()));
}

TYPED_TEST(indexed_guard, a_guard_agrees_with_a_map_under_random_operations) {
    guarded guard{this->empty_filter(900, 6), this->both_};
    std::map<std::string, std::string> model;
    splitmix chance{3};
    expect_a_map(guard, model, chance, {.steps = 20000, .keys = 1600, .puts = 3, .erases = 2, .most_stored = 900});
    if (this->HasFatalFailure()) return;
    EXPECT_EQ(guard.filter().stats().keys, model.size());
    EXPECT_EQ(guard.counters().ranges_pending_repair, 0u);
    const auto audited = guard.filter().audit(this->both_.remote());
    EXPECT_TRUE(audited) << audited.error().message();
}

// A filter that adapts is wrong less often when it is asked again. If a repair may be in vain, the
// filter reports it, and it does not count as an adapt.
TYPED_TEST(indexed_guard, counts_what_was_repaired_and_nothing_else) {
    guarded guard{this->empty_filter(2000), this->both_};
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(guard.put(key_number(i), "v"));
    std::uint64_t repaired = 0, unrepaired = 0;
    for (std::uint64_t i = 2000; i < 22000; ++i) {
        const bool was_let_through = guard.may_contain(key_number(i));
        EXPECT_FALSE(guard.get(key_number(i))->has_value());
        if (was_let_through) (guard.may_contain(key_number(i)) ? unrepaired : repaired) += 1;
    }
    const guard_counters once = guard.counters();
    EXPECT_GT(once.wasted_reads, 20u);
    EXPECT_EQ(once.queries, once.local_negatives + once.reads);
    EXPECT_EQ(once.wasted_reads, repaired + unrepaired);
    EXPECT_EQ(once.adapts, repaired);
    EXPECT_EQ(once.failed_adapts, 0u);
    for (std::uint64_t i = 2000; i < 22000; ++i) EXPECT_FALSE(guard.get(key_number(i))->has_value());
    const guard_counters twice = guard.counters();
    if (TypeParam::name == "cuckoo") {
        EXPECT_EQ(once.adapts, 0u);
        EXPECT_EQ(twice.wasted_reads, 2 * once.wasted_reads);
    } else {
        EXPECT_GT(once.adapts * 10, once.wasted_reads * 9);
        EXPECT_LT(twice.wasted_reads * 4, once.wasted_reads * 7);
    }
    for (std::uint64_t i = 0; i < 2000; ++i) EXPECT_TRUE(guard.get(key_number(i))->has_value());
}

TYPED_TEST(indexed_guard, without_adapting_every_repetition_costs_a_read) {
    guarded guard{this->empty_filter(2000), this->both_, {.adapt = adapting::off}};
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(guard.put(key_number(i), "v"));
    const auto ask_all = [&] {
        for (std::uint64_t i = 2000; i < 12000; ++i) EXPECT_FALSE(guard.get(key_number(i))->has_value());
        return guard.counters();
    };
    const std::uint64_t reads_to_fill = guard.counters().filter.remote_reads;
    const std::uint64_t once = ask_all().wasted_reads;
    const guard_counters twice = ask_all();
    EXPECT_EQ(twice.wasted_reads, 2 * once);
    EXPECT_EQ(twice.adapts, 0u);
    EXPECT_EQ(twice.filter.remote_reads, reads_to_fill) << "without adapting R is not read";
}

// Threads: of the family, cuckooing_filter is the one that is deployed.
using cuckooing_guard = indexed_guard<cuckooing_filter>;

TEST_F(cuckooing_guard, adapts_in_the_background_too) {
    guarded guard{this->empty_filter(2000), this->both_, {.adapt = adapting::in_background, .queued_adapts = 4096}};
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(guard.put(key_number(i), "v"));
    for (std::uint64_t i = 2000; i < 12000; ++i) EXPECT_FALSE(guard.get(key_number(i))->has_value());
    guard.core().drain();
    const guard_counters seen = guard.counters();
    EXPECT_GT(seen.wasted_reads, 10u);
    EXPECT_LE(seen.adapts, seen.wasted_reads);
    EXPECT_GT(seen.adapts, 0u);
}

TYPED_TEST(indexed_guard, a_full_filter_denies_no_key) {
    guarded guard{this->empty_filter(64), this->both_};
    for (std::uint64_t i = 0; i < 300; ++i) ASSERT_TRUE(guard.put(key_number(i), "v"));
    for (std::uint64_t i = 0; i < 300; ++i) EXPECT_TRUE(guard.get(key_number(i))->has_value());
    EXPECT_GT(guard.counters().late_inserts, 0u);
    EXPECT_GT(guard.counters().ranges_pending_repair, 0u);
}

TYPED_TEST(indexed_guard, an_index_that_fails_leaves_ranges_for_a_repair) {
    for (const bool happened : {false, true}) {
        memory_store store{test_hash()};
        failing_index index;
        indexed_store both{store, index};
        guarded guard{this->empty_filter(2000), both};
        std::uint64_t next = 0;
        for (; next < 1000; ++next) ASSERT_TRUE(guard.put(key_number(next), "v"));
        (happened ? index.writes_fail_after : index.writes_fail_before) = true;
        for (; next < 1100; ++next) ASSERT_TRUE(guard.put(key_number(next), "v")) << "the store itself works";
        EXPECT_EQ(guard.counters().late_inserts, 100u);
        EXPECT_GT(guard.counters().ranges_pending_repair, 50u);
        for (std::uint64_t i = 0; i < next; ++i) ASSERT_TRUE(guard.get(key_number(i))->has_value()) << i;
        for (std::uint64_t i = 0; i < next; i += 7) ASSERT_TRUE(guard.erase(key_number(i)));
        for (std::uint64_t i = 0; i < next; ++i) ASSERT_EQ(guard.get(key_number(i))->has_value(), i % 7 != 0) << i;
        EXPECT_FALSE(guard.repair());
        index.writes_fail_before = index.writes_fail_after = false;
        const auto repaired = guard.repair();
        ASSERT_TRUE(repaired) << repaired.error().message();
        EXPECT_EQ(guard.counters().ranges_pending_repair, 0u);
        for (std::uint64_t i = 0; i < next; ++i) ASSERT_EQ(guard.get(key_number(i))->has_value(), i % 7 != 0) << i;
        const auto audited = guard.filter().audit(both.remote());
        EXPECT_TRUE(audited) << audited.error().message();
    }
}

TYPED_TEST(indexed_guard, an_index_that_cannot_be_read_costs_reads_and_no_key) {
    memory_store store{test_hash()};
    failing_index index;
    failing_store both{store, index};
    guarded guard{this->empty_filter(2000), both};
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(guard.put(key_number(i), "v"));
    index.reads_fail = true;
    for (std::uint64_t i = 0; i < 12000; ++i) ASSERT_EQ(guard.get(key_number(i))->has_value(), i < 2000) << i;
    const guard_counters seen = guard.counters();
    EXPECT_GT(seen.wasted_reads, 10u);
    EXPECT_EQ(seen.failed_adapts, seen.wasted_reads);
    EXPECT_EQ(seen.adapts, 0u);
    index.reads_fail = false;
    EXPECT_TRUE(guard.filter().audit(both.remote()));
}

TYPED_TEST(indexed_guard, a_filter_built_from_a_full_store_has_all_its_keys) {
    {
        guarded guard{this->empty_filter(1000), this->both_};
        for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(guard.put(key_number(i), "v"));
    }
    auto filter =
        TypeParam::build({.capacity = 1000, .hash = test_hash(), .random = repeatable(8)}, this->both_.remote());
    ASSERT_TRUE(filter) << filter.error().message();
    guarded guard{*std::move(filter), this->both_};
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(guard.get(key_number(i))->has_value()) << i;
    ASSERT_TRUE(guard.erase(key_number(3)));
    ASSERT_TRUE(guard.put("new", "v"));
    EXPECT_TRUE(guard.filter().audit(this->both_.remote()));
}

// A key seen in the store in any way is never denied afterwards, though its put has not returned.
// Meanwhile other keys are erased and absent keys make the filter adapt. Three threads write and
// one reads, with so little room that new hash functions are needed too.
TEST_F(cuckooing_guard, a_key_seen_in_the_store_is_found_through_the_guard) {
    constexpr std::uint64_t keys = 3000;
    guarded guard{this->empty_filter(keys, 6), this->both_};
    std::string value;
    std::uint64_t absent_key = keys;
    const auto is_there = [&](std::uint64_t i) {
        if (i % 3 == 0) (void)guard.get(key_number(++absent_key));
        const auto there = this->store_.read({}, key_number(i), value);
        return there && *there && i % 5 != 0;
    };
    const auto write = [&](std::uint64_t i) {
        ASSERT_TRUE(guard.put(key_number(i), "v"));
        if (i % 5 != 0) return;
        ASSERT_TRUE(guard.erase(key_number(i)));
    };
    const unsigned threads = 3;
    EXPECT_EQ(denied_while_writing(guard, keys, threads, is_there, write), 0u);
    EXPECT_EQ(guard.filter().stats().keys, keys - keys / 5);
    const auto audited = guard.filter().audit(this->both_.remote());
    EXPECT_TRUE(audited) << audited.error().message();
}

TEST(indexed_store, may_own_its_store_and_index) {
    indexed_store both{std::make_unique<memory_store>(test_hash()), std::make_unique<memory_map>()};
    guarded guard{*cuckooing_filter::make({.capacity = 10, .hash = test_hash()}), both};
    ASSERT_TRUE(guard.put("ada", "1815"));
    EXPECT_EQ(**guard.get("ada"), "1815");
    std::string value;
    EXPECT_TRUE(*both.store().read({}, "ada", value));
    std::uint64_t occupied = 0;
    ASSERT_TRUE(both.index().for_each(0, ~std::uint64_t{0}, [&](const digest&, key_view key) {
        EXPECT_EQ(key.text(), "ada");
        return ++occupied > 0;
    }));
    EXPECT_EQ(occupied, 1u);
}

}  // namespace
}  // namespace genista::test::indexed_store_test
