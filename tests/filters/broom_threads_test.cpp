// Threads on one broom filter: histories, contended bins, late readers, and the checks of
// broom_checks.hpp. Made for ThreadSanitizer; without it the tests run more events in less time.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "filters/broom/core.hpp"
#include "genista/detail/filters/broom/range_source.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/broom_checks.hpp"
#include "tests/support/broom_history.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::broom_threads_test {
namespace {

// ---- the history check --------------------------------------------------------------------------

// The history check of broom_history.hpp: writers, readers, readers of batches, adapters, growth
// and rebuilds on one filter. Made for ThreadSanitizer; without it the test runs more events in
// less time.

class broom_threads : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {
  protected:
    static void run(test::history_setup setup, std::uint64_t rounds) {
        setup.rate = 1.0 / static_cast<double>(1u << std::get<0>(GetParam()));
        setup.history = std::get<1>(GetParam());
        test::findings wrong;
        test::history_events seen;
        for (std::uint64_t round = 0; round < rounds && wrong.none(); ++round) {
            setup.seed = round + 1;
            const auto check = std::make_unique<test::history_check<broom_filter>>(setup);
            seen.add(check->run(wrong));
        }
        EXPECT_TRUE(wrong.none()) << wrong.text();
        EXPECT_GT(seen.judged, 0u);
        if (setup.grows) {
            EXPECT_GE(seen.growths, 3 * rounds);
        }
        test::record_figure(test::sanitized ? "events_under_sanitizer" : "events", seen.all());
        test::record_figure("judged_queries", seen.judged);
    }
};

TEST_P(broom_threads, no_false_negative_while_the_filter_grows) {
    run({}, test::effort(4, 1, 50));
}

TEST_P(broom_threads, no_false_negative_in_a_crowded_filter_that_does_not_grow) {
    // Three bins of 48 slots and a backyard: every bin overflows, and all share one lock.
    run({.capacity = 120,
         .grows = false,
         .keys_per_writer = 90,
         .steps_per_writer = test::effort(12'000, 3000, 50'000)},
        test::effort(1, 1, 4));
}

TEST_P(broom_threads, many_writers_alone_agree_on_growth) {
    run({.steps_per_writer = 5000, .writers = 4, .readers = 1, .batch_readers = 0, .adapters = 0, .maintenance = false},
        test::effort(2, 1, 30));
}

std::string name_of(const testing::TestParamInfo<std::tuple<unsigned, unsigned>>& tried) {
    return test::name_of_setting(std::get<0>(tried.param), std::get<1>(tried.param));
}

INSTANTIATE_TEST_SUITE_P(all, broom_threads,
                         testing::Values(std::tuple{8u, 0u}, std::tuple{8u, 1u}, std::tuple{8u, 2u},
                                         std::tuple{13u, 0u}, std::tuple{24u, 0u}),
                         name_of);

}  // namespace
}  // namespace genista::broom_threads_test

namespace genista::broom::broom_threads_test {
namespace {

// ---- one small table ----------------------------------------------------------------------------

// Readers, writers and adapters on one small table, so that every bin is contended. A key that is
// stored throughout a query is answered maybe, and the law holds in every bin at the end. Made for
// ThreadSanitizer.

struct shared_world {
    hasher hash{hash_key::from_seed(1)};
    memory_map remote;
    std::unique_ptr<core> made;
    core& filter;

    shared_world(std::uint64_t bins, double rate)
        : made{*core::make({.grows = false, .random = repeatable(1)}, hash, shape::for_rate(rate), bins)},
          filter{*made} {}

    static key_view bytes(const std::uint64_t& key) {
        return key_view{reinterpret_cast<const std::byte*>(&key), sizeof key};
    }
    remote_source<memory_map> source(const std::uint64_t& key) { return {remote, hash, hash(key), bytes(key)}; }
    bool insert(std::uint64_t key) {
        auto from = source(key);
        if (!remote.put(hash(key), bytes(key))) return false;
        const auto outcome = filter.insert(hash(key), from);
        return outcome && *outcome != insert_outcome::full;
    }
    bool erase(std::uint64_t key) {
        auto from = source(key);
        const auto outcome = filter.erase(hash(key), from);
        return outcome && *outcome == erase_outcome::erased;
    }
    bool contains(std::uint64_t key) const { return filter.contains(hash(key)); }
    bool adapt(std::uint64_t key) {
        auto from = source(key);
        return filter.adapt(hash(key), from).has_value();
    }
};

class broom_core_threads : public testing::TestWithParam<double> {};

TEST_P(broom_core_threads, no_stored_key_is_ever_answered_no) {
    constexpr std::uint64_t bins = 24;
    constexpr std::uint64_t permanent = bins * 20;
    constexpr std::uint64_t own_keys = bins * 12;  // per writer; two writers fill the lines
    shared_world w{bins, GetParam()};
    for (std::uint64_t key = 0; key < permanent; ++key) ASSERT_TRUE(w.insert(key));

    const std::uint64_t steps = test::effort(20'000, 8'000, 2'000'000);
    std::atomic<std::uint64_t> denied = 0;
    std::atomic<std::uint64_t> failed = 0;
    std::atomic<unsigned> writing = 2;
    std::vector<std::set<std::uint64_t>> members(2);
    const auto write = [&](std::uint64_t number) {
        test::splitmix chance{number};
        std::set<std::uint64_t>& mine = members[number];
        for (std::uint64_t step = 0; step < steps; ++step) {
            const std::uint64_t key = ((number + 1) << 32) + chance.below(own_keys);
            if (mine.contains(key)) {
                denied += w.contains(key) ? 0u : 1u;
                failed += w.erase(key) ? 0u : 1u;
                mine.erase(key);
            } else {
                failed += w.insert(key) ? 0u : 1u;
                denied += w.contains(key) ? 0u : 1u;
                mine.insert(key);
            }
        }
        --writing;
    };
    const auto read = [&] {
        test::splitmix chance{7};
        while (writing.load() > 0) denied += w.contains(chance.below(permanent)) ? 0u : 1u;
    };
    const auto adapt = [&] {
        test::splitmix chance{8};
        while (writing.load() > 0) {
            const std::uint64_t key = (std::uint64_t{9} << 40) + chance.below(1'000'000);
            if (w.contains(key)) failed += w.adapt(key) ? 0u : 1u;
        }
    };
    {
        std::vector<std::jthread> team;
        team.emplace_back(write, 0);
        team.emplace_back(write, 1);
        team.emplace_back(read);
        team.emplace_back(adapt);
    }
    EXPECT_EQ(denied.load(), 0u) << "false negatives";
    EXPECT_EQ(failed.load(), 0u);
    const std::uint64_t nobody = 0;
    auto from = w.source(nobody);
    const auto sound = w.filter.audit(from);
    EXPECT_TRUE(sound) << sound.error().message();
    EXPECT_EQ(w.filter.keys(), permanent + members[0].size() + members[1].size());
}

INSTANTIATE_TEST_SUITE_P(rates, broom_core_threads, testing::Values(0x1p-8, 0x1p-13));

// ---- late readers -------------------------------------------------------------------------------

// Late readers: a look-up that still has the state of a table whose pages growth has given back
// reads zeros there. It must detect that and use the new table.

TEST(broom_late_readers, with_the_state_of_a_replaced_table_miss_no_stored_key) {
    if (test::thread_sanitized) GTEST_SKIP() << "one thread: nothing for this sanitizer to see";
    for (const double rate : {0x1p-8, 0x1p-13}) {
        const hasher hash{hash_key::from_seed(3)};
        const shape form = shape::for_rate(rate);
        const auto filter = *core::make({.hash = hash, .key_is_new = true, .random = repeatable(4)}, hash, form, 2100);
        memory_map remote;
        std::vector<digest> members;
        const auto insert_more = [&](std::uint64_t keys) {
            for (const std::uint64_t end = members.size() + keys; members.size() < end;) {
                const integer_key key{members.size()};
                members.push_back(hash(key.value()));
                ASSERT_TRUE(remote.put(members.back(), key.view()));
                remote_source<memory_map> from{remote, hash, members.back(), key.view()};
                const auto outcome = filter->insert(members.back(), from);
                ASSERT_TRUE(outcome && *outcome == insert_outcome::inserted);
            }
        };
        const broom_lookup_state* const at_first = filter->state().load();
        const table& first_table = filter->bins();
        std::vector<const broom_lookup_state*> states{at_first};
        const auto ask_all = [&](const char* when) {
            for (const isa level : test::usable_isas()) {
                const test::scoped_isa scope{level};
                const auto& kernels = *pick_kernels(form);
                std::vector<std::uint64_t> answers((members.size() + 63) / 64);
                for (const broom_lookup_state* const state : states) {
                    kernels.lookups.contains_digests(*state, hash.state(), members.data(), members.size(),
                                                     answers.data());
                    for (std::size_t i = 0; i < members.size(); ++i) {
                        ASSERT_TRUE(kernels.lookups.contains_digest(*state, members[i])) << when;
                        ASSERT_TRUE((answers[i / 64] >> (i % 64) & 1) != 0) << when << ", in a batch";
                    }
                }
                // A writer with that state must have no effect.
                const digest absent_key = hash(std::uint64_t{1} << 50);
                ASSERT_EQ(kernels.join(*at_first, absent_key), broom_joined::no);
                ASSERT_FALSE(kernels.leave_tombstone(*at_first, members[0], at_first->mark_of(members[0].position)));
            }
        };
        insert_more(2100 * 46);
        while (filter->details().growth_done < 0.5) insert_more(100);
        states.push_back(filter->state().load());
        ask_all("half of the bins have moved");
        while (filter->details().growths == 0) insert_more(100);
        states.push_back(filter->state().load());
        ask_all("all bins have moved");
        // A look-up in the old table reads pages that were given back, and returns.
        std::uint64_t found = 0;
        for (const digest& d : members) found += first_table.contains(d) ? 1u : 0u;
        EXPECT_LT(found, members.size() / 100) << "the pages were not given back";
        remote_source<memory_map> from{remote, hash};
        ASSERT_TRUE(filter->grow(from));
        ask_all("two growths later");
    }
}

TEST(broom_late_readers, on_other_threads_miss_no_stored_key_while_pages_are_given_back) {
    const std::uint64_t first_keys = 95'000;
    const std::uint64_t keys = test::effort(420'000, 120'000, 4'000'000);
    auto filter =
        *broom_filter::make({.capacity = first_keys, .hash = hasher{hash_key::from_seed(8)}, .random = repeatable(9)});
    memory_map remote;
    std::atomic<std::uint64_t> inserted = 0;
    std::atomic<bool> stop = false;
    std::atomic<std::uint64_t> denied = 0;
    std::atomic<std::uint64_t> asked = 0;
    const auto read_singly = [&] {
        test::splitmix chance{21};
        std::uint64_t wrong = 0;
        std::uint64_t count = 0;
        while (!stop.load(std::memory_order_relaxed)) {
            const std::uint64_t below = inserted.load(std::memory_order_acquire);
            if (below == 0) continue;
            wrong += filter.may_contain(chance.below(below)) ? 0u : 1u;
            ++count;
        }
        denied += wrong;
        asked += count;
    };
    const auto read_in_batches = [&] {
        test::splitmix chance{22};
        std::vector<std::uint64_t> batch(256);
        std::vector<std::uint64_t> answers(4);
        std::uint64_t count = 0;
        while (!stop.load(std::memory_order_relaxed)) {
            const std::uint64_t below = inserted.load(std::memory_order_acquire);
            if (below == 0) continue;
            for (std::uint64_t& key : batch) key = chance.below(below);
            filter.may_contain(std::span<const std::uint64_t>{batch}, answers);
            for (const std::uint64_t word : answers) denied += word == ~std::uint64_t{0} ? 0u : 1u;
            count += batch.size();
        }
        asked += count;
    };
    std::thread single{read_singly};
    std::thread batches{read_in_batches};
    for (std::uint64_t key = 0; key < keys; ++key) {
        const integer_key bytes{key};
        EXPECT_TRUE(remote.put(filter.hash()(key), bytes.view()));
        const auto outcome = filter.insert(key, remote);
        EXPECT_TRUE(outcome && *outcome == insert_outcome::inserted);
        inserted.store(key + 1, std::memory_order_release);
    }
    stop = true;
    single.join();
    batches.join();
    EXPECT_EQ(denied.load(), 0u) << "false negatives";
    EXPECT_GE(filter.details().growths, 1u);
    test::record_figure("late_readers_asked", asked.load());
    const auto sound = filter.audit(remote);
    EXPECT_TRUE(sound) << sound.error().message();
}

}  // namespace
}  // namespace genista::broom::broom_threads_test

namespace genista::broom_threads_test {
namespace {

// ---- checks, some of them with threads ----------------------------------------------------------

// The checks of tests/support/broom_checks.hpp find no failure in the product filter. tests/planted
// shows that each of them can fail.

class broom_checked : public testing::TestWithParam<test::broom_check> {};

TEST_P(broom_checked, finds_no_failure) {
    if (test::thread_sanitized && !GetParam().has_threads) GTEST_SKIP() << "one thread: the other presets run it";
    EXPECT_EQ(GetParam().run(), "") << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(all, broom_checked, testing::ValuesIn(test::broom_checks<broom_filter>),
                         [](const auto& tried) {
                             std::string name{tried.param.name};
                             for (char& c : name) c = c == ' ' ? '_' : c;
                             return name;
                         });

}  // namespace
}  // namespace genista::broom_threads_test
