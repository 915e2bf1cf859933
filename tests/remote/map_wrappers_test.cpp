// Wrappers of remote maps: counting_map counts, faulty_map fails, lags, lies and hangs by a plan,
// and neither changes an answer otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "genista/remote/memory_map.hpp"
#include "remote/remote_support.hpp"
#include "support/remote/counting_map.hpp"
#include "support/remote/faulty_map.hpp"

namespace genista::test::map_wrappers_test {
namespace {

// ---- counting_map -------------------------------------------------------------------------------

// counting_map counts exactly, changes no answer, and loses no count between threads.

TEST(counting_map, counts_every_call_every_key_visited_and_every_byte_of_it) {
    memory_map map;
    counting_map counted{map};
    EXPECT_EQ(counted.counts(), remote_counts{});
    EXPECT_TRUE(*counted.put(digest{1, 0}, "abc"));
    EXPECT_FALSE(*counted.put(digest{1, 0}, "abc"));
    EXPECT_TRUE(*counted.put(digest{2, 0}, ""));
    EXPECT_TRUE(*counted.put(digest{3, 0}, "a longer key"));
    EXPECT_TRUE(*counted.contains(digest{1, 0}, "abc"));
    EXPECT_FALSE(*counted.contains(digest{1, 0}, "abd"));
    EXPECT_EQ(read_all(counted).size(), 3u);
    EXPECT_EQ(read_range(counted, 4, 9).size(), 0u);
    EXPECT_TRUE(counted.for_each(0, 9, [](const digest&, key_view) { return false; }));  // visits one, then stops
    EXPECT_TRUE(*counted.erase(digest{1, 0}, "abc"));
    EXPECT_FALSE(*counted.erase(digest{1, 0}, "abc"));
    EXPECT_EQ(counted.counts(), (remote_counts{.range_reads = 3,
                                               .point_reads = 2,
                                               .keys_visited = 4,
                                               .key_bytes_visited = 3 + 0 + 12 + 3,
                                               .puts = 4,
                                               .erases = 2,
                                               .failures = 0}));
    EXPECT_EQ(map.size(), 2u);
    counted.reset();
    EXPECT_EQ(counted.counts(), remote_counts{});
}

TEST(counting_map, counts_a_failed_call_as_a_call_and_as_a_failure_and_the_prefix_it_visited) {
    memory_map map;
    for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(*map.put(digest{i, 0}, "four"));
    faulty_map faulty{map};
    counting_map counted{faulty};
    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::error_midway, 0, fault_scope::ranges, 3),
                                           fault_rule::from(fault_kind::error_before, 0)}}));
    EXPECT_FALSE(counted.for_each(0, last_position, [](const digest&, key_view) { return true; }));
    EXPECT_FALSE(counted.put(digest{1, 0}, "k"));
    EXPECT_FALSE(counted.erase(digest{1, 0}, "k"));
    EXPECT_FALSE(counted.contains(digest{1, 0}, "k"));
    EXPECT_EQ(counted.counts(), (remote_counts{.range_reads = 1,
                                               .point_reads = 1,
                                               .keys_visited = 3,
                                               .key_bytes_visited = 12,
                                               .puts = 1,
                                               .erases = 1,
                                               .failures = 4}));
}

TEST(counting_map, counts_what_a_throwing_visitor_saw) {
    memory_map map;
    ASSERT_TRUE(*map.put(digest{1, 0}, "abc"));
    counting_map counted{map};
    EXPECT_THROW((void)counted.for_each(0, 9, [](const digest&, key_view) -> bool { throw std::runtime_error{"no"}; }),
                 std::runtime_error);
    EXPECT_EQ(counted.counts().keys_visited, 1u);
    EXPECT_EQ(counted.counts().key_bytes_visited, 3u);
}

TEST(counting_map, lets_several_counters_share_one_map) {
    memory_map map;
    counting_map first{map};
    counting_map second{map};
    EXPECT_TRUE(*first.put(digest{1, 0}, "abc"));
    EXPECT_TRUE(*second.contains(digest{1, 0}, "abc"));
    EXPECT_EQ(first.counts(), remote_counts{.puts = 1});
    EXPECT_EQ(second.counts(), remote_counts{.point_reads = 1});
}

TEST(counting_map, loses_no_count_between_threads) {
    memory_map map;
    for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(*map.put(digest{i, 0}, "12"));
    counting_map counted{map};
    constexpr std::uint64_t rounds = 5'000;
    std::vector<std::thread> threads;
    for (std::uint64_t id = 0; id < 4; ++id) {
        threads.emplace_back([&, id] {
            for (std::uint64_t i = 0; i < rounds; ++i) {
                (void)counted.for_each(0, 4, [](const digest&, key_view) { return true; });
                (void)counted.put(digest{100 + id, i}, "x");
                (void)counted.contains(digest{100 + id, i}, "x");
                (void)counted.erase(digest{100 + id, i}, "x");
            }
        });
    }
    for (auto& each : threads) each.join();
    EXPECT_EQ(counted.counts(), (remote_counts{.range_reads = 4 * rounds,
                                               .point_reads = 4 * rounds,
                                               .keys_visited = 20 * rounds,
                                               .key_bytes_visited = 40 * rounds,
                                               .puts = 4 * rounds,
                                               .erases = 4 * rounds,
                                               .failures = 0}));
}

// ---- faulty_map ---------------------------------------------------------------------------------

// Each fault of faulty_map seen from outside: on a schedule, at random, from many threads, and
// recorded in counts and log.

using std::chrono::nanoseconds;

// Ten records at positions 10, 20 ... 100, put past the wrapper, so its journal is empty.
class faulty_map_of_ten : public testing::Test {
  protected:
    faulty_map_of_ten() {
        for (std::uint64_t i = 1; i <= 10; ++i) EXPECT_TRUE(*truth.put(digest{10 * i, i}, "key " + std::to_string(i)));
    }

    void follow(fault_rule rule) { ASSERT_TRUE(faulty.set_plan({.rules = {rule}})); }

    struct visit_outcome {
        result<void> done;
        std::vector<record> seen;
    };
    visit_outcome visit(std::uint64_t first, std::uint64_t last, std::size_t at_most = 1000) {
        std::vector<record> seen;
        auto done = faulty.for_each(first, last, [&](const digest& where, key_view key) {
            seen.push_back({where, std::string{key.text()}});
            return seen.size() < at_most;
        });
        return {done, seen};
    }

    memory_map truth;
    std::vector<nanoseconds> slept;
    faulty_map<memory_map> faulty{truth, {.sleep = [this](nanoseconds time) { slept.push_back(time); }}};
};

TEST_F(faulty_map_of_ten, passes_every_call_through_until_it_has_a_plan) {
    EXPECT_EQ(read_all(faulty), read_all(truth));
    EXPECT_TRUE(*faulty.put(digest{5, 5}, "new"));
    EXPECT_FALSE(*faulty.put(digest{5, 5}, "new"));
    EXPECT_TRUE(*faulty.contains(digest{5, 5}, "new"));
    EXPECT_TRUE(*faulty.erase(digest{5, 5}, "new"));
    EXPECT_EQ(faulty.counts().calls, 5u);
    EXPECT_EQ(faulty.counts().injected(), 0u);
    EXPECT_TRUE(faulty.log().empty());
}

TEST_F(faulty_map_of_ten, error_before_leaves_everything_undone) {
    follow(fault_rule::from(fault_kind::error_before, 0));
    const auto put = faulty.put(digest{5, 5}, "new");
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code(), error_code::io);
    EXPECT_EQ(put.error().message(), "faulty_map: injected error_before in call 0 (put)");
    EXPECT_FALSE(faulty.erase(digest{10, 1}, "key 1"));
    EXPECT_FALSE(faulty.contains(digest{10, 1}, "key 1"));
    const auto [done, seen] = visit(0, last_position);
    EXPECT_FALSE(done);
    EXPECT_TRUE(seen.empty());
    EXPECT_EQ(truth.size(), 10u);
    EXPECT_FALSE(*truth.contains(digest{5, 5}, "new"));
    EXPECT_EQ(faulty.counts().injected(fault_kind::error_before), 4u);
}

TEST_F(faulty_map_of_ten, error_after_does_it_all_and_reports_failure) {
    follow(fault_rule::from(fault_kind::error_after, 0));
    EXPECT_FALSE(faulty.put(digest{5, 5}, "new"));
    EXPECT_TRUE(*truth.contains(digest{5, 5}, "new"));
    EXPECT_FALSE(faulty.erase(digest{10, 1}, "key 1"));
    EXPECT_FALSE(*truth.contains(digest{10, 1}, "key 1"));
    EXPECT_FALSE(faulty.contains(digest{5, 5}, "new"));
    const auto [done, seen] = visit(0, last_position);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), error_code::io);
    EXPECT_EQ(seen, read_all(truth));
    EXPECT_EQ(faulty.counts().injected(fault_kind::error_after), 4u);
}

TEST_F(faulty_map_of_ten, error_midway_breaks_a_range_off_after_exactly_so_many_records) {
    for (std::uint64_t record = 0; record <= 12; ++record) {
        follow(fault_rule::once(fault_kind::error_midway, 0, fault_scope::ranges, record));
        const auto [done, seen] = visit(0, last_position);
        ASSERT_FALSE(done) << "also when the range ends first";
        EXPECT_EQ(seen.size(), std::min<std::uint64_t>(record, 10));
        EXPECT_EQ(faulty.counts().injected(fault_kind::error_midway), 1u);
        EXPECT_EQ(read_all(faulty).size(), 10u) << "the next range is whole again";
    }
}

TEST_F(faulty_map_of_ten, a_visitor_that_stops_before_the_break_gets_no_error) {
    follow(fault_rule::once(fault_kind::error_midway, 0, fault_scope::ranges, 5));
    const auto [done, seen] = visit(0, last_position, 3);
    EXPECT_TRUE(done);
    EXPECT_EQ(seen.size(), 3u);
    EXPECT_EQ(faulty.counts().injected(), 0u);
    EXPECT_EQ(faulty.log(), (std::vector<fault_event>{{0, remote_call::for_each, fault_kind::error_midway, false}}));
}

TEST_F(faulty_map_of_ten, stale_answers_omit_what_was_put_and_show_what_was_erased) {
    const std::vector<record> before = read_all(truth);
    ASSERT_TRUE(*faulty.put(digest{15, 0}, "fresh"));
    ASSERT_TRUE(*faulty.erase(digest{20, 2}, "key 2"));
    ASSERT_TRUE(*faulty.put(digest{95, 0}, "fresh too"));
    ASSERT_FALSE(*faulty.put(digest{95, 0}, "fresh too")) << "changes nothing, so it is not in the journal";
    const std::vector<record> now = read_all(truth);
    ASSERT_NE(now, before);

    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::stale, 0)}, .stale_writes = 3}));
    EXPECT_EQ(visit(0, last_position).seen, before);
    EXPECT_EQ(visit(0, last_position, 2).seen.size(), 2u) << "a visitor may still stop early";
    EXPECT_FALSE(*faulty.contains(digest{15, 0}, "fresh"));
    EXPECT_TRUE(*faulty.contains(digest{20, 2}, "key 2"));
    EXPECT_EQ(faulty.counts().injected(fault_kind::stale), 4u);
    EXPECT_TRUE(*faulty.contains(digest{10, 1}, "key 1"));
    EXPECT_EQ(visit(30, 40).seen.size(), 2u);
    EXPECT_EQ(faulty.counts().injected(fault_kind::stale), 4u) << "a true answer is not a fault";
    EXPECT_EQ(faulty.counts().chosen[static_cast<std::size_t>(fault_kind::stale)], 6u);

    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::stale, 0)}, .stale_writes = 1}));
    EXPECT_TRUE(*faulty.contains(digest{15, 0}, "fresh"));
    EXPECT_FALSE(*faulty.contains(digest{95, 0}, "fresh too"));
    EXPECT_EQ(visit(0, last_position).seen.size(), now.size() - 1);
    EXPECT_EQ(read_all(truth), now) << "R itself is untouched";
}

TEST_F(faulty_map_of_ten, stale_answers_go_back_through_several_writes_of_one_record_and_no_further_than_the_journal) {
    const digest where{15, 0};
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(*faulty.put(where, "blinks"));
        ASSERT_TRUE(*faulty.erase(where, "blinks"));
    }
    for (std::uint64_t depth = 0; depth <= 70; ++depth) {
        ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::stale, 0)}, .stale_writes = depth}));
        const bool then = depth <= 6 && depth % 2 == 1;  // odd: between a put and its erase
        EXPECT_EQ(*faulty.contains(where, "blinks"), then) << depth;
        EXPECT_EQ(visit(15, 15).seen.size(), then ? 1u : 0u) << depth;
    }
    ASSERT_TRUE(faulty.set_plan({}));
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(*faulty.put(digest{1000 + i, 0}, "late"));
    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::stale, 0)}, .stale_writes = 1000}));
    EXPECT_EQ(visit(1000, 2000).seen.size(), 100u - faulty_map_options{}.journal_writes);
}

TEST_F(faulty_map_of_ten, a_write_whose_reply_was_lost_is_forgotten_by_stale_answers_like_any_other) {
    follow(fault_rule::from(fault_kind::error_after, 0));
    ASSERT_FALSE(faulty.put(digest{15, 0}, "fresh"));
    follow(fault_rule::from(fault_kind::stale, 0));
    EXPECT_FALSE(*faulty.contains(digest{15, 0}, "fresh"));
    EXPECT_TRUE(*truth.contains(digest{15, 0}, "fresh"));
}

TEST_F(faulty_map_of_ten, wrong_key_changes_the_key_of_one_record_and_nothing_else) {
    const std::vector<record> right = read_all(truth);
    for (const std::uint64_t which : {0u, 4u, 9u, 50u}) {
        follow(fault_rule::once(fault_kind::wrong_key, 0, fault_scope::ranges, which));
        const std::vector<record> told = visit(0, last_position).seen;
        ASSERT_EQ(told.size(), right.size());
        for (std::size_t i = 0; i < told.size(); ++i) {
            EXPECT_EQ(told[i].where, right[i].where);
            EXPECT_EQ(told[i].key != right[i].key, i == std::min<std::uint64_t>(which, 9));
        }
        EXPECT_EQ(faulty.counts().injected(fault_kind::wrong_key), 1u);
    }
    ASSERT_TRUE(*truth.put(digest{5, 0}, ""));
    follow(fault_rule::once(fault_kind::wrong_key, 0));
    EXPECT_EQ(visit(0, 9).seen.at(0).key.size(), 1u) << "an empty key becomes another one, too";
}

TEST_F(faulty_map_of_ten, wrong_seed_changes_the_digest_of_one_record_within_the_range) {
    const std::vector<record> right = read_all(truth);
    follow(fault_rule::once(fault_kind::wrong_seed, 0, fault_scope::ranges, 2));
    const std::vector<record> told = visit(0, last_position).seen;
    ASSERT_EQ(told.size(), right.size());
    for (std::size_t i = 0; i < told.size(); ++i) {
        EXPECT_EQ(told[i].key, right[i].key);
        EXPECT_EQ(told[i].where.position, right[i].where.position);
        EXPECT_EQ(told[i].where.seed != right[i].where.seed, i == 2);
    }
    EXPECT_EQ(faulty.counts().injected(fault_kind::wrong_seed), 1u);
}

TEST_F(faulty_map_of_ten, out_of_range_adds_one_record_from_outside_where_there_is_an_outside) {
    follow(fault_rule::from(fault_kind::out_of_range, 0));
    EXPECT_EQ(visit(10, 29).seen.back().where.position, 30u);
    EXPECT_EQ(visit(10, 29).seen.size(), 3u);
    EXPECT_EQ(visit(50, last_position).seen.front().where.position, 49u);
    EXPECT_EQ(visit(41, 42).seen.size(), 1u) << "an empty range of R, too";
    EXPECT_EQ(faulty.counts().injected(fault_kind::out_of_range), 4u);
    EXPECT_EQ(visit(0, last_position).seen, read_all(truth));
    EXPECT_TRUE(visit(5, 4).seen.empty());
    EXPECT_EQ(faulty.counts().injected(fault_kind::out_of_range), 4u) << "nothing is outside of all positions";
}

TEST_F(faulty_map_of_ten, duplicate_shows_one_record_twice) {
    follow(fault_rule::from(fault_kind::duplicate, 0, fault_scope::ranges, 3));
    const std::vector<record> told = visit(0, last_position).seen;
    ASSERT_EQ(told.size(), 11u);
    EXPECT_EQ(told[3], told[4]);
    EXPECT_TRUE(visit(1, 2).seen.empty());
    EXPECT_EQ(faulty.counts().injected(fault_kind::duplicate), 1u) << "there was nothing to double in an empty range";
}

TEST_F(faulty_map_of_ten, hangs_wait_for_the_time_out_and_report_it_before_or_after_the_effect) {
    ASSERT_TRUE(faulty.set_plan(
        {.rules = {fault_rule::once(fault_kind::hang_before, 0), fault_rule::once(fault_kind::hang_after, 1),
                   fault_rule::from(fault_kind::hang_before, 2)},
         .hang = std::chrono::hours{5}}));
    const auto before = faulty.put(digest{5, 5}, "new");
    ASSERT_FALSE(before);
    EXPECT_EQ(before.error().code(), error_code::timeout);
    EXPECT_FALSE(*truth.contains(digest{5, 5}, "new"));
    const auto after = faulty.put(digest{5, 5}, "new");
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().code(), error_code::timeout);
    EXPECT_TRUE(*truth.contains(digest{5, 5}, "new"));
    EXPECT_EQ(visit(0, last_position).done.error().code(), error_code::timeout);
    EXPECT_EQ(faulty.contains(digest{5, 5}, "new").error().code(), error_code::timeout);
    EXPECT_EQ(slept, std::vector<nanoseconds>(4, std::chrono::hours{5}));
    EXPECT_EQ(faulty.counts().injected(fault_kind::hang_before), 3u);
    EXPECT_EQ(faulty.counts().injected(fault_kind::hang_after), 1u);
}

TEST(faulty_map, really_sleeps_by_default_until_it_is_cancelled) {
    memory_map truth;
    faulty_map faulty{truth};
    ASSERT_TRUE(faulty.set_plan(
        {.rules = {fault_rule::from(fault_kind::hang_before, 0)}, .hang = std::chrono::milliseconds{1}}));
    EXPECT_EQ(faulty.contains(digest{1, 1}, "k").error().code(), error_code::timeout) << "ends by itself";

    ASSERT_TRUE(
        faulty.set_plan({.rules = {fault_rule::from(fault_kind::hang_before, 0)}, .hang = std::chrono::hours{24}}));
    std::atomic<int> returned{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            returned += faulty.contains(digest{1, 1}, "k").error().code() == error_code::timeout;
        });
    }
    while (faulty.counts().injected(fault_kind::hang_before) < 3) std::this_thread::yield();
    EXPECT_EQ(returned, 0);
    EXPECT_EQ(faulty.counts().calls, 3u) << "other calls are not blocked by those that hang";
    faulty.cancel_hangs();
    for (auto& each : threads) each.join();
    EXPECT_EQ(returned, 3);
    EXPECT_FALSE(faulty.contains(digest{1, 1}, "k")) << "returns at once: still cancelled";
}

TEST_F(faulty_map_of_ten, follows_a_schedule_of_lists_ranges_and_scopes) {
    ASSERT_TRUE(faulty.set_plan(
        {.rules = {fault_rule::once(fault_kind::error_before, 1), fault_rule::once(fault_kind::error_after, 3),
                   fault_rule::from(fault_kind::error_before, 2, fault_scope::reads),
                   fault_rule::once(fault_kind::hang_before, 3, fault_scope::writes)}}));
    std::vector<bool> outcomes;
    const auto put = [&] { outcomes.push_back(faulty.put(digest{1, outcomes.size()}, "k").has_value()); };
    const auto ask = [&] { outcomes.push_back(faulty.contains(digest{10, 1}, "key 1").has_value()); };
    put();  // call 0, write 0
    put();  // call 1, write 1: error_before
    ask();  // call 2, read 0
    put();  // call 3, write 2: error_after
    ask();  // call 4, read 1
    put();  // call 5, write 3: hang
    ask();  // call 6, read 2: error_before from here on
    put();  // call 7, write 4
    ask();  // call 8, read 3
    EXPECT_EQ(outcomes, (std::vector<bool>{true, false, true, false, true, false, false, true, false}));
    EXPECT_EQ(faulty.log(), (std::vector<fault_event>{{1, remote_call::put, fault_kind::error_before, true},
                                                      {3, remote_call::put, fault_kind::error_after, true},
                                                      {5, remote_call::put, fault_kind::hang_before, true},
                                                      {6, remote_call::contains, fault_kind::error_before, true},
                                                      {8, remote_call::contains, fault_kind::error_before, true}}));
}

TEST_F(faulty_map_of_ten, leaves_a_call_alone_when_the_kind_does_not_fit_it) {
    for (const fault_kind kind : {fault_kind::error_midway, fault_kind::stale, fault_kind::wrong_key,
                                  fault_kind::wrong_seed, fault_kind::out_of_range, fault_kind::duplicate}) {
        follow(fault_rule::from(kind, 0));
        EXPECT_TRUE(faulty.put(digest{7, 7}, "k").has_value()) << to_string(kind);
        EXPECT_TRUE(faulty.erase(digest{7, 7}, "k").has_value());
        EXPECT_EQ(faulty.counts().chosen, fault_counts{}.chosen);
    }
}

// A script of 4000 calls under random faults of all kinds: the faults that were logged, and the
// answers.
struct fault_run {
    std::vector<fault_event> log;
    fault_counts counts;
    std::vector<std::string> answers;
};
fault_run random_run(std::uint64_t seed) {
    memory_map truth;
    faulty_map faulty{truth, {.sleep = [](nanoseconds) {}}};
    fault_plan plan{.seed = seed, .random_record_below = 5};
    for (const fault_kind kind : all_fault_kinds) plan.rates.push_back({kind, 0.05});
    EXPECT_TRUE(faulty.set_plan(plan));
    fault_run run;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const auto note = [&](const result<bool>& r) {
            run.answers.emplace_back(r ? (*r ? "y" : "n") : r.error().message());
        };
        note(faulty.put(digest{i % 97, i % 2}, "key"));
        note(faulty.contains(digest{i % 89, 0}, "key"));
        std::string seen;
        const auto done = faulty.for_each(0, 50, [&](const digest& where, key_view key) {
            seen += std::to_string(where.position) + std::string{key.text()};
            return true;
        });
        run.answers.push_back(seen + (done ? "" : std::string{done.error().message()}));
        note(faulty.erase(digest{i * 7 % 97, 0}, "key"));
    }
    run.log = faulty.log();
    run.counts = faulty.counts();
    return run;
}

TEST(faulty_map, repeats_itself_for_a_seed_and_differs_for_another) {
    const fault_run first = random_run(42);
    const fault_run again = random_run(42);
    const fault_run other = random_run(43);
    EXPECT_EQ(first.log, again.log);
    EXPECT_EQ(first.answers, again.answers);
    EXPECT_NE(first.log, other.log);
}

TEST(faulty_map, injects_every_kind_at_random_at_its_own_rate) {
    const fault_run run = random_run(42);
    EXPECT_EQ(run.counts.calls, 4000u);
    for (const fault_kind kind : all_fault_kinds) {
        double calls = 0;
        for (const remote_call call :
             {remote_call::put, remote_call::erase, remote_call::contains, remote_call::for_each}) {
            calls += fits(kind, call) ? 1000 : 0;
        }
        // Binomial(calls, 0.05): six standard deviations, and the seed is fixed.
        const auto chosen = static_cast<double>(run.counts.chosen[static_cast<std::size_t>(kind)]);
        EXPECT_NEAR(chosen, calls * 0.05, 6 * std::sqrt(calls * 0.05 * 0.95)) << to_string(kind);
        EXPECT_GT(run.counts.injected(kind), 0u) << to_string(kind);
    }
    EXPECT_EQ(static_cast<std::uint64_t>(std::ranges::count_if(run.log, &fault_event::effective)),
              run.counts.injected());
}

TEST(faulty_map, keeps_its_log_within_bounds_and_its_counts_exact) {
    memory_map truth;
    faulty_map faulty{truth, {.log_events = 10}};
    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::error_before, 0)}}));
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(faulty.contains(digest{1, 1}, "k"));
    EXPECT_EQ(faulty.log().size(), 10u);
    EXPECT_EQ(faulty.counts().injected(fault_kind::error_before), 100u);
}

TEST(faulty_map, refuses_an_invalid_plan_and_keeps_the_old_one) {
    memory_map truth;
    faulty_map faulty{truth};
    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::error_before, 0)}}));
    const std::vector<std::pair<fault_plan, std::string>> bad = {
        {{.rules = {{.first_call = 5, .last_call = 4}}}, "call 5"},
        {{.rules = {{.kind = static_cast<fault_kind>(fault_kind_count)}}}, "kind 12"},
        {{.rules = {{.scope = static_cast<fault_scope>(4)}}}, "scope 4"},
        {{.rates = {{static_cast<fault_kind>(255), 0.1}}}, "kind 255"},
        {{.rates = {{fault_kind::stale, -0.5}}}, "-0.5"},
        {{.rates = {{fault_kind::stale, 1.5}}}, "1.5"},
        {{.rates = {{fault_kind::stale, std::numeric_limits<double>::quiet_NaN()}}}, "nan"},
        {{.rates = {{fault_kind::stale, 0.75}, {fault_kind::duplicate, 0.5}}}, "1.25"},
        {{.random_record_below = 0}, "random_record_below"},
        {{.hang = nanoseconds{-3}}, "-3 ns"},
    };
    for (const auto& [plan, named] : bad) {
        const auto refused = faulty.set_plan(plan);
        ASSERT_FALSE(refused) << named;
        EXPECT_EQ(refused.error().code(), error_code::invalid_argument);
        EXPECT_NE(refused.error().message().find(named), std::string::npos) << refused.error().message();
    }
    EXPECT_FALSE(faulty.contains(digest{1, 1}, "k")) << "the old plan still holds";
}

TEST(faulty_map, loses_no_call_and_no_journal_entry_between_threads) {
    memory_map truth;
    faulty_map faulty{truth, {.sleep = [](nanoseconds) {}, .journal_writes = 100'000}};
    fault_plan plan{.seed = 3, .stale_writes = 100'000};
    for (const fault_kind kind : all_fault_kinds) plan.rates.push_back({kind, 0.03});
    ASSERT_TRUE(faulty.set_plan(plan));
    constexpr std::uint64_t rounds = 400;
    std::vector<std::thread> threads;
    for (std::uint64_t id = 0; id < 4; ++id) {
        threads.emplace_back([&, id] {
            for (std::uint64_t i = 0; i < rounds; ++i) {
                (void)faulty.put(digest{i % 20, id}, "key");
                (void)faulty.contains(digest{i % 20, id}, "key");
                (void)faulty.for_each(0, 10, [](const digest&, key_view) { return true; });
                (void)faulty.erase(digest{i % 20, id}, "key");
            }
        });
    }
    for (auto& each : threads) each.join();
    EXPECT_EQ(faulty.counts().calls, 16 * rounds);
    // The journal reaches back to the beginning: with all writes undone R must look empty, as it
    // was.
    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::stale, 0)}, .stale_writes = 100'000}));
    EXPECT_TRUE(read_all(faulty).empty());
}

}  // namespace
}  // namespace genista::test::map_wrappers_test
