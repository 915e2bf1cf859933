// The events that a guard reports (ranges that need repair, repairs, failing adapts, foreign
// writes), to a function that may throw.
#include "genista/guard/event_log.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/guard/memory_store.hpp"

namespace genista::test::event_log_test {
namespace {

struct told {
    event_level level;
    event_kind kind;
    std::string text;
};

class listener {
  public:
    [[nodiscard]] event_log log() {
        return event_log{[this](const guard_event& event) {
            const std::lock_guard held{mutex_};
            all_.push_back({event.level, event.kind, std::string{event.text}});
        }};
    }
    [[nodiscard]] std::vector<told> of(event_kind kind) const {
        const std::lock_guard held{mutex_};
        std::vector<told> found;
        for (const told& each : all_) {
            if (each.kind == kind) found.push_back(each);
        }
        return found;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<told> all_;
};

TEST(event_log, without_a_function_says_nothing_and_is_false) {
    const event_log none, empty{event_hook{}};
    EXPECT_FALSE(none);
    EXPECT_FALSE(empty);
    none.report(event_level::info, event_kind::opened, "%d", 1);
}

TEST(event_log, hands_on_level_kind_and_text_in_one_line) {
    listener heard;
    const event_log log = heard.log();
    EXPECT_TRUE(log);
    log.report(event_level::warning, event_kind::snapshot_refused, "%s: %d", "a\nb\x7f", 7);
    const auto all = heard.of(event_kind::snapshot_refused);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].text, "a?b?: 7");
    EXPECT_EQ(to_string(all[0].level), "warning");
    EXPECT_EQ(to_string(all[0].kind), "snapshot_refused");
    EXPECT_EQ(to_string(event_kind::adapt_failed), "adapt_failed");
    log.report(event_level::info, event_kind::opened, "%s", std::string(2000, 'x').c_str());
    EXPECT_EQ(heard.of(event_kind::opened)[0].text, std::string(event_log::longest_text, 'x'));
}

TEST(event_log, what_the_function_throws_is_dropped) {
    const event_log log{[](const guard_event&) { throw std::runtime_error{"the disk of the log is full"}; }};
    log.report(event_level::info, event_kind::opened, "x");
    const event_log odd{[](const guard_event&) { throw 7; }};
    odd.report(event_level::info, event_kind::opened, "x");
}

// R that fails on demand: the filter can neither insert keys that collide nor adapt.
class failing_map {
  public:
    explicit failing_map(memory_map& inner) : inner_{&inner} {}
    bool fails = false;

    result<bool> put(const digest& d, key_view key) { return inner_->put(d, key); }
    result<bool> erase(const digest& d, key_view key) { return inner_->erase(d, key); }
    result<bool> contains(const digest& d, key_view key) { return inner_->contains(d, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        if (fails) return error::make(error_code::io, "the disk is on fire");
        return inner_->for_each(first, last, std::forward<Visit>(visit));
    }

  private:
    memory_map* inner_;
};

struct world {
    listener heard;
    memory_map records;
    failing_map remote{records};
    hasher hash{hash_key::from_seed(9)};
    guard_core<broom_filter, failing_map> guard{
        *broom_filter::make({.capacity = 4000, .hash = hash}), remote, {.log = heard.log()}};

    void put(const std::string& key) {
        const hashed_key hashed{hash, key};
        guard_core<broom_filter, failing_map>::entering in{guard, hashed};
        ASSERT_TRUE(records.put(hashed.where(), key));
        in.on_committed(hashed);
    }
};

TEST(event_log, ranges_that_need_repair_and_their_repair_are_reported_once) {
    world w;
    // A commit whose outcome is unknown: its keys were not inserted.
    for (int i = 0; i < 20; ++i) {
        const guard_core<broom_filter, failing_map>::entering in{w.guard, {w.hash, "lost-" + std::to_string(i)}};
    }
    EXPECT_GT(w.guard.counters().ranges_pending_repair, 10u);
    auto pending = w.heard.of(event_kind::ranges_pending);
    ASSERT_EQ(pending.size(), 1u) << "once, not for each of them";
    EXPECT_EQ(pending[0].level, event_level::warning);

    w.remote.fails = true;
    EXPECT_FALSE(w.guard.repair());
    const auto failed = w.heard.of(event_kind::repair_failed);
    ASSERT_EQ(failed.size(), 1u);
    EXPECT_NE(failed[0].text.find("the disk is on fire"), std::string::npos) << failed[0].text;
    EXPECT_TRUE(w.heard.of(event_kind::ranges_repaired).empty());

    w.remote.fails = false;
    ASSERT_TRUE(w.guard.repair());
    ASSERT_TRUE(w.guard.repair());  // nothing to repair, nothing to report
    const auto repaired = w.heard.of(event_kind::ranges_repaired);
    ASSERT_EQ(repaired.size(), 1u);
    EXPECT_NE(repaired[0].text.find(", 0 need repair now"), std::string::npos) << repaired[0].text;

    { const guard_core<broom_filter, failing_map>::entering in{w.guard, {w.hash, "again"}}; }
    EXPECT_EQ(w.heard.of(event_kind::ranges_pending).size(), 2u) << "a new failure is reported again";
}

TEST(event_log, failing_adapts_are_reported_without_a_flood) {
    world w;
    for (int i = 0; i < 3000; ++i) w.put("key-" + std::to_string(i));
    w.remote.fails = true;
    std::uint64_t mistakes = 0;
    for (int i = 0; i < 40'000; ++i) {
        const std::string key = "absent-" + std::to_string(i);
        const hashed_key hashed{w.hash, key};
        if (!w.guard.may_contain(hashed)) continue;
        ++mistakes;
        w.guard.on_false_positive(hashed);
    }
    EXPECT_GT(mistakes, 50u);
    EXPECT_EQ(w.guard.counters().failed_adapts, mistakes) << "all are counted";
    const auto all = w.heard.of(event_kind::adapt_failed);
    ASSERT_GE(all.size(), 1u);
    EXPECT_LT(all.size(), mistakes / 2);
    EXPECT_NE(all[0].text.find("the disk is on fire"), std::string::npos) << all[0].text;
}

TEST(event_log, foreign_writes_are_counted_and_reported) {
    world w;
    w.guard.on_foreign_writes("found at opening; the index is built again");
    w.guard.on_foreign_writes("found in the log");
    EXPECT_EQ(w.guard.counters().foreign_writes, 2u);
    const auto all = w.heard.of(event_kind::foreign_writes);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].level, event_level::error);
    EXPECT_EQ(all[0].text, "writes went past the guard: found at opening; the index is built again");
}

// A log that throws at every event, from several threads: keys are found all the same.
TEST(event_log, a_function_that_throws_costs_no_key) {
    memory_store store{hasher{hash_key::from_seed(4)}};
    const event_log log{[](const guard_event&) { throw std::runtime_error{"no"}; }};
    guarded<broom_filter, memory_store> guard{
        *broom_filter::make({.capacity = 2000, .hash = hasher{hash_key::from_seed(4)}}), store, {.log = log}};
    std::vector<std::thread> threads;
    for (int who = 0; who < 3; ++who) {
        threads.emplace_back([&, who] {
            for (int i = 0; i < 500; ++i) {
                const std::string key = std::to_string(who) + "-" + std::to_string(i);
                { const decltype(guard)::core_type::entering in{guard.core(), {guard.core().hash(), key}}; }
                EXPECT_TRUE(guard.put(key, "v"));
                EXPECT_TRUE(guard.may_contain(key));
                if (i % 100 == 0) (void)guard.repair();
            }
        });
    }
    for (std::thread& each : threads) each.join();
    ASSERT_TRUE(guard.repair());
    EXPECT_EQ(guard.counters().ranges_pending_repair, 0u);
    EXPECT_TRUE(guard.filter().audit(store.remote()));
}

}  // namespace
}  // namespace genista::test::event_log_test
