// Late readers: a look-up that still has the state of a table whose pages growth has given back
// reads zeros there. It must detect that and use the new table.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "filters/broom/core.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/broom_effort.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::broom::broom_late_readers_test {
namespace {

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
                const test::integer_key key{members.size()};
                members.push_back(hash(key.value));
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
        const test::integer_key bytes{key};
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
}  // namespace genista::broom::broom_late_readers_test
