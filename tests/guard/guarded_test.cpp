// Ask, read, adapt: any filter in front of any store, also one that fails in between.
#include "genista/guard/guarded.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/guard/memory_store.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/faulty_map.hpp"
#include "tests/support/guard_exercise.hpp"
#include "tests/support/splitmix.hpp"
#include "tests/support/wrapped_maps.hpp"

namespace genista::test::guarded_test {
namespace {

static_assert(guarded_store<memory_store>);

hasher test_hash() {
    return hasher{hash_key{}, hash_kind::keyed};
}

template <class Filter>
Filter empty_filter(std::uint64_t capacity) {
    if constexpr (std::is_same_v<Filter, broom_filter>)
        return *broom_filter::make({.capacity = capacity, .hash = test_hash(), .random = repeatable(7)});
    else
        return *Filter::make({.capacity = capacity, .hash = test_hash()});
}

constexpr auto key_number = key_text;

// A store whose R fails on demand; the store itself continues.
class failing_store {
  public:
    failing_store() : store_{test_hash()}, remote_{store_.remote(), {.sleep = [](auto) {}}} {}
    const hasher& hash() const noexcept { return store_.hash(); }
    faulty_map<memory_map>& remote() noexcept { return remote_; }
    memory_store& inside() noexcept { return store_; }

    result<bool> read(const digest& d, key_view key, std::string& value) {
        if (reads_fail) return error::make(error_code::io, "read failed");
        return store_.read(d, key, value);
    }
    result<void> write(const digest& d, key_view key, std::string_view value) {
        if (write_fails_before) return error::make(error_code::io, "write failed");
        const auto done = store_.write(d, key, value);
        if (write_fails_after) return error::make(error_code::io, "reply lost");
        return done;
    }
    result<void> remove(const digest& d, key_view key) { return store_.remove(d, key); }

    bool reads_fail = false;
    bool write_fails_before = false;
    bool write_fails_after = false;

  private:
    memory_store store_;
    faulty_map<memory_map> remote_;
};

static_assert(guarded_store<failing_store>);

TEST(guarded, what_was_put_is_found_and_what_was_erased_is_not) {
    memory_store store{test_hash()};
    guarded guard{empty_filter<broom_filter>(1000), store};
    expect_puts_and_erases(guard);
}

TEST(guarded, the_counters_add_up_and_a_mistake_costs_one_read) {
    memory_store store{test_hash()};
    guarded guard{empty_filter<broom_filter>(2000), store};
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(guard.put(key_number(i), "v"));
    for (int round = 0; round < 4; ++round) {
        for (std::uint64_t i = 2000; i < 22000; ++i) EXPECT_FALSE(guard.get(key_number(i))->has_value());
    }
    for (std::uint64_t i = 0; i < 2000; ++i) EXPECT_TRUE(guard.get(key_number(i))->has_value());
    const guard_counters seen = guard.counters();
    EXPECT_EQ(seen.puts, 2000u);
    EXPECT_EQ(seen.queries, 82000u);
    EXPECT_EQ(seen.queries, seen.local_negatives + seen.reads);
    EXPECT_EQ(seen.reads, 2000 + seen.wasted_reads);
    EXPECT_EQ(seen.repeated_wasted_reads, 0u);
    EXPECT_GT(seen.wasted_reads, 10u);
    EXPECT_EQ(seen.adapts, seen.wasted_reads);
    EXPECT_GT(seen.local_bytes, seen.filter.local_bytes);
}

TEST(guarded, without_adapting_every_repetition_costs_a_read) {
    memory_store store{test_hash()};
    guarded guard{empty_filter<broom_filter>(2000), store, {.adapt = adapting::off}};
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(guard.put(key_number(i), "v"));
    const auto ask_all = [&] {
        for (std::uint64_t i = 2000; i < 22000; ++i) EXPECT_FALSE(guard.get(key_number(i))->has_value());
        return guard.counters();
    };
    const std::uint64_t once = ask_all().wasted_reads;
    const guard_counters twice = ask_all();
    EXPECT_EQ(twice.wasted_reads, 2 * once);
    EXPECT_EQ(twice.repeated_wasted_reads, once);
    EXPECT_EQ(twice.adapts, 0u);
}

TEST(guarded, background_adapting_repairs_the_same_mistakes) {
    memory_store store{test_hash()};
    guarded guard{empty_filter<broom_filter>(2000), store, {.adapt = adapting::in_background, .queued_adapts = 4096}};
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(guard.put(key_number(i), "v"));
    for (std::uint64_t i = 2000; i < 42000; ++i) EXPECT_FALSE(guard.get(key_number(i))->has_value());
    guard.core().drain();
    const guard_counters seen = guard.counters();
    EXPECT_GT(seen.wasted_reads, 20u);
    // One repair may also correct a waiting mistake, and a renewed bin may make a new one.
    EXPECT_LE(seen.adapts, seen.wasted_reads);
    EXPECT_GE(seen.adapts * 10, seen.wasted_reads * 9);
    std::uint64_t still_maybe = 0;
    for (std::uint64_t i = 2000; i < 42000; ++i) still_maybe += guard.may_contain(key_number(i)) ? 1u : 0u;
    EXPECT_LE(still_maybe * 2, seen.wasted_reads);
}

// A repair has cleared the mark of its range and reads R, and the keys are not in the filter yet. A
// snapshot must not be taken now.
TEST(guarded, a_repair_under_way_still_lacks_keys) {
    using rehearsed = scripted_map<memory_map>;
    using core_type = guard_core<broom_filter, rehearsed>;
    memory_map inside;
    rehearsed remote{inside};
    core_type through{*broom_filter::make({.capacity = 40, .hash = test_hash(), .grows = false}), remote};
    const auto put = [&](std::uint64_t number) {
        const std::string key = key_number(number);
        const hashed_key hashed{through.hash(), key};
        (void)*inside.put(hashed.where(), key);
        core_type::entering in{through, hashed};
        in.on_committed(hashed);
    };
    std::uint64_t next = 0;
    while (!through.any_range_needs_repair()) put(next++);
    EXPECT_TRUE(through.lacks_keys());
    for (std::uint64_t number = 0; number < 30; ++number) {
        const std::string key = key_number(number);
        const hashed_key hashed{through.hash(), key};
        (void)*inside.erase(hashed.where(), key);
        through.on_erased(hashed);
    }
    bool asked = false;
    remote.after_range = [&] {
        asked = true;
        EXPECT_FALSE(through.any_range_needs_repair());
        EXPECT_TRUE(through.lacks_keys());
    };
    ASSERT_TRUE(through.repair());
    EXPECT_TRUE(asked);
    EXPECT_FALSE(through.lacks_keys());
    EXPECT_TRUE(through.may_contain({through.hash(), key_number(next - 1)}));
}

TEST(guarded, filters_that_do_not_adapt_can_guard_a_store_too) {
    memory_store store{test_hash()};
    guarded bloom{empty_filter<bloom_filter>(2000), store};
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(bloom.put(key_number(i), "v"));
    for (std::uint64_t i = 0; i < 2000; ++i) EXPECT_TRUE(bloom.get(key_number(i))->has_value());
    ASSERT_TRUE(bloom.erase(key_number(3)));
    EXPECT_FALSE(bloom.get(key_number(3))->has_value());
    EXPECT_TRUE(bloom.may_contain(key_number(3)));  // it cannot erase
}

TEST(guarded, a_full_filter_denies_no_key) {
    memory_store store{test_hash()};
    guarded guard{empty_filter<cuckoo_partial_filter>(64), store};
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(guard.put(key_number(i), "v"));
    for (std::uint64_t i = 0; i < 2000; ++i) EXPECT_TRUE(guard.get(key_number(i))->has_value());
    EXPECT_GT(guard.counters().late_inserts, 0u);
    EXPECT_GT(guard.counters().ranges_pending_repair, 0u);
}

TEST(guarded, a_put_whose_filter_step_failed_is_found_and_repaired_later) {
    failing_store store;
    guarded guard{empty_filter<broom_filter>(300), store};
    std::uint64_t next = 0;
    for (; next < 300; ++next) ASSERT_TRUE(guard.put(key_number(next), "v"));
    ASSERT_TRUE(store.remote().set_plan({.rules = {fault_rule::from(fault_kind::error_before, 0)}}));
    while (guard.counters().late_inserts < 5 && next < 20000) ASSERT_TRUE(guard.put(key_number(next++), "v"));
    ASSERT_GE(guard.counters().late_inserts, 5u);
    for (std::uint64_t i = 0; i < next; ++i) ASSERT_TRUE(guard.get(key_number(i))->has_value()) << i;
    EXPECT_FALSE(guard.repair());
    EXPECT_GT(guard.counters().ranges_pending_repair, 0u);
    ASSERT_TRUE(store.remote().set_plan({}));
    ASSERT_TRUE(guard.repair());
    EXPECT_EQ(guard.counters().ranges_pending_repair, 0u);
    for (std::uint64_t i = 0; i < next; ++i) ASSERT_TRUE(guard.get(key_number(i))->has_value()) << i;
    EXPECT_TRUE(guard.filter().audit(store.inside().remote()));
}

// An R of which the records at one position cannot be read.
class partly_readable_map {
  public:
    explicit partly_readable_map(memory_map& inner) : inner_{inner} {}

    result<bool> put(const digest& d, key_view key) { return inner_.put(d, key); }
    result<bool> erase(const digest& d, key_view key) { return inner_.erase(d, key); }
    result<bool> contains(const digest& d, key_view key) { return inner_.contains(d, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        if (unreadable && first <= *unreadable && *unreadable <= last)
            return error::make(error_code::io, "this block is damaged");
        return inner_.for_each(first, last, visit);
    }

    std::optional<std::uint64_t> unreadable{};

  private:
    memory_map& inner_;
};

TEST(guarded, a_range_that_cannot_be_read_does_not_hold_up_the_repair_of_others) {
    using core_type = guard_core<broom_filter, partly_readable_map>;
    memory_map inside;
    partly_readable_map remote{inside};
    // Its bins are smaller than the guard's ranges: an insert reads no other range.
    core_type through{*broom_filter::make({.capacity = 1'000'000, .hash = test_hash(), .random = repeatable(7)}),
                      remote};
    for (std::uint64_t number = 0; number < 100; ++number) {
        const std::string key = key_number(number);
        const hashed_key hashed{through.hash(), key};
        ASSERT_TRUE(inside.put(hashed.where(), key));
        const core_type::entering in{through, hashed};  // it ends without on_committed(): the key is in doubt
        remote.unreadable = hashed.where().position;
    }
    ASSERT_GT(through.pending_ranges(), 10u);
    EXPECT_FALSE(through.repair());  // every range before the damaged one
    EXPECT_FALSE(through.repair());  // and every one behind it
    EXPECT_EQ(through.pending_ranges(), 1u);
    remote.unreadable.reset();
    ASSERT_TRUE(through.repair());
    EXPECT_EQ(through.pending_ranges(), 0u);
    EXPECT_TRUE(through.filter().audit(inside));
}

TEST(guarded, a_write_whose_reply_was_lost_is_found) {
    failing_store store;
    guarded guard{empty_filter<broom_filter>(300), store};
    store.write_fails_after = true;
    EXPECT_FALSE(guard.put("lost reply", "v"));
    store.write_fails_after = false;
    store.write_fails_before = true;
    EXPECT_FALSE(guard.put("never written", "v"));
    EXPECT_TRUE(guard.get("lost reply")->has_value());
    EXPECT_FALSE(guard.get("never written")->has_value());
    EXPECT_FALSE(guard.may_contain("never written"));  // the wasted read repaired it
}

TEST(guarded, an_error_of_the_store_reaches_the_caller_and_is_no_absence) {
    failing_store store;
    guarded guard{empty_filter<broom_filter>(300), store};
    ASSERT_TRUE(guard.put("ada", "v"));
    store.reads_fail = true;
    const auto answer = guard.get("ada");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), error_code::io);
    EXPECT_EQ(guard.counters().failed_reads, 1u);
    EXPECT_EQ(guard.counters().wasted_reads, 0u);
}

// A key seen in the store in any way is never denied afterwards, though its put has not returned.
TEST(guarded, a_key_seen_in_the_store_is_found_through_the_guard) {
    memory_store store{test_hash()};
    guarded guard{empty_filter<broom_filter>(4000), store};
    constexpr std::uint64_t keys = 4000;
    std::string value;
    const auto is_there = [&](std::uint64_t i) {
        const auto there = store.read({}, key_number(i), value);
        return there && *there;
    };
    const auto write = [&](std::uint64_t i) { ASSERT_TRUE(guard.put(key_number(i), "v")); };
    const unsigned threads = 2;
    EXPECT_EQ(denied_while_writing(guard, keys, threads, is_there, write), 0u);
    EXPECT_TRUE(guard.filter().audit(store.remote()));
}

TEST(guarded, metrics_are_in_the_exposition_format) {
    memory_store store{test_hash()};
    guarded guard{empty_filter<broom_filter>(300), store};
    ASSERT_TRUE(guard.put("ada", "v"));
    (void)guard.get("ada");
    const std::string text = *guard.metrics_text({{"store", "users"}});
    for (const char* line :
         {"# TYPE genista_guard_queries_total counter\n", "genista_guard_queries_total{store=\"users\"} 1\n",
          "genista_guard_reads_total{store=\"users\"} 1\n", "genista_guard_keys{store=\"users\"} 1\n",
          "genista_guard_read_seconds_bucket{store=\"users\",le=\"+Inf\"} 1\n",
          "genista_guard_read_seconds_count{store=\"users\"} 1\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    }
    EXPECT_NE(guard.metrics_text()->find("genista_guard_queries_total 1\n"), std::string::npos);
}

}  // namespace
}  // namespace genista::test::guarded_test
