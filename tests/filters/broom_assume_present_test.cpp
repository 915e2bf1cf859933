// Erases with `assume_present`: no other key is lost, R is rarely read, and a renewal between R's
// erase and the filter's causes no wrong erase.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/counting_map.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/wrapped_maps.hpp"

namespace genista::broom_assume_present_test {
namespace {

// A filter, its R, and the keys that both should hold.
struct assume_present_world {
    broom_filter filter;
    memory_map remote;
    std::set<std::uint64_t> members;

    explicit assume_present_world(const broom_options& options) : filter{*broom_filter::make(options)} {}

    void insert(std::uint64_t key) {
        ASSERT_TRUE(remote.put(filter.hash()(key), integer_key{key}.view()));
        const auto outcome = filter.insert(key, remote);
        ASSERT_TRUE(outcome && *outcome != insert_outcome::full);
        members.insert(key);
    }
    template <class R>
    void erase(std::uint64_t key, R& through) {
        members.erase(key);
        const auto outcome = filter.erase(key, through, assume_present);
        ASSERT_TRUE(outcome) << outcome.error().message();
        ASSERT_EQ(*outcome, erase_outcome::erased);
    }
    void expect_sound() {
        for (const std::uint64_t key : members) ASSERT_TRUE(filter.may_contain(key)) << key << " is lost";
        const auto sound = filter.audit(remote);
        ASSERT_TRUE(sound) << sound.error().message();
        ASSERT_EQ(filter.stats().keys, members.size());
    }
};

broom_options small_options(double rate, broom_history history, bool grows) {
    return {.capacity = 400,
            .false_positive_rate = rate,
            .hash = hasher{hash_key::from_seed(21)},
            .key_is_new = true,
            .history = history,
            .grows = grows,
            .random = repeatable(3)};
}

TEST(broom_assume_present, random_operations_lose_no_key) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        for (const broom_history history : {broom_history::tombstone, broom_history::renew, broom_history::soft}) {
            for (const bool grows : {false, true}) {
                assume_present_world w{small_options(rate, history, grows)};
                test::splitmix chance{static_cast<std::uint64_t>(history) * 2 + (grows ? 1 : 0)};
                const std::uint64_t universe = grows ? 1500 : 420;
                for (std::uint64_t step = 0; step < test::effort(6000, 1500, 60'000); ++step) {
                    const std::uint64_t key = chance.below(universe);
                    if (w.members.contains(key)) {
                        w.erase(key, w.remote);
                    } else {
                        w.insert(key);
                    }
                    const std::uint64_t absent_key = universe + chance.below(20'000);
                    if (w.filter.may_contain(absent_key)) {
                        ASSERT_TRUE(w.filter.adapt(absent_key, w.remote));
                    }
                    if (step % 200 == 0) w.expect_sound();
                    if (HasFatalFailure()) return;
                }
                w.expect_sound();
            }
        }
    }
}

TEST(broom_assume_present, r_is_read_only_to_renew_a_bin) {
    assume_present_world w{small_options(0x1p-8, broom_history::tombstone, false)};
    for (std::uint64_t key = 0; key < 400; ++key) w.insert(key);
    counting_map counted{w.remote};
    std::uint64_t renewals = w.filter.stats().renewals;
    for (std::uint64_t key = 0; key < 400; key += 2) {
        const std::uint64_t before = counted.counts().range_reads;
        w.erase(key, counted);
        const std::uint64_t now = w.filter.stats().renewals;
        EXPECT_EQ(counted.counts().range_reads - before, now - renewals);
        renewals = now;
    }
    EXPECT_LT(counted.counts().range_reads, 60u);  // of 200: full bins and backyards only
    w.expect_sound();
}

// A bin may be full with two tombstones; the third erase renews it [law L2].
TEST(broom_assume_present, a_full_bin_is_renewed_with_its_third_tombstone) {
    broom_options options = small_options(0x1p-8, broom_history::tombstone, false);
    options.capacity = 40;
    assume_present_world w{options};
    for (std::uint64_t key = 0; key < 60; ++key) w.insert(key);
    ASSERT_EQ(w.filter.details().bins, 1u);
    counting_map counted{w.remote};
    std::uint64_t most_dead = 0;
    constexpr std::uint64_t erases = 300;
    for (std::uint64_t i = 0; i < erases; ++i) {
        w.erase(i, counted);
        w.insert(i + 60);
        most_dead = std::max(most_dead, w.filter.details().tombstones);
        w.expect_sound();
        if (HasFatalFailure()) return;
    }
    EXPECT_EQ(most_dead, 2u) << "the bin was full all the time";
    // Twelve of the sixty are in the backyard, whose erase renews; of the others every third does.
    EXPECT_LT(counted.counts().range_reads, erases / 2);
    EXPECT_GE(counted.counts().range_reads, erases / 3);
}

TEST(broom_assume_present, spans_of_keys_are_erased_like_single_keys) {
    for (const bool promise : {false, true}) {
        for (const double rate : {0x1p-8, 0x1p-12}) {
            assume_present_world w{small_options(rate, broom_history::tombstone, true)};
            for (std::uint64_t key = 0; key < 1500; ++key) w.insert(key);
            std::vector<std::uint64_t> leaving;
            for (std::uint64_t key = 0; key < 1500; key += 3) leaving.push_back(key);
            for (const std::uint64_t key : leaving) w.members.erase(key);
            const std::span<const std::uint64_t> all{leaving};
            const auto erased = promise ? w.filter.erase(all, w.remote, assume_present) : w.filter.erase(all, w.remote);
            ASSERT_TRUE(erased) << erased.error().message();
            EXPECT_EQ(*erased, leaving.size());
            w.expect_sound();
            EXPECT_EQ(*w.filter.erase(all, w.remote), 0u) << "R holds none of them any more";
            w.expect_sound();

            std::vector<key_view> views;
            for (const std::uint64_t& key : leaving)
                views.emplace_back(reinterpret_cast<const std::byte*>(&key), sizeof key);
            for (const std::uint64_t key : leaving) w.insert(key);
            for (const std::uint64_t key : leaving) w.members.erase(key);
            const std::span<const key_view> viewed{views};
            EXPECT_EQ(*(promise ? w.filter.erase(viewed, w.remote, assume_present) : w.filter.erase(viewed, w.remote)),
                      leaving.size());
            w.expect_sound();
            EXPECT_EQ(*w.filter.erase(std::span<const std::uint64_t>{}, w.remote), 0u);
        }
    }
}

TEST(broom_assume_present, a_key_that_r_does_not_hold_is_absent_and_nothing_changes) {
    assume_present_world w{small_options(0x1p-8, broom_history::tombstone, false)};
    for (std::uint64_t key = 0; key < 400; ++key) w.insert(key);
    for (std::uint64_t absent_key = 1000; absent_key < 21'000; ++absent_key) {
        const auto outcome = w.filter.erase(absent_key, w.remote, assume_present);
        ASSERT_TRUE(outcome && *outcome == erase_outcome::absent);
    }
    w.expect_sound();
}

// R has erased x and the filter has not; a renewal by another operation then builds the bin without
// x. An erase that looked for x's base would find a neighbour's slot one time in some hundred. Both
// ways of erasing: the kernel, which needs a tombstone in the bin beforehand, and the slow path.
TEST(broom_assume_present, a_renewal_between_the_two_erases_removes_no_other_key) {
    if (test::thread_sanitized) GTEST_SKIP() << "one thread: nothing for this sanitizer to see";
    for (const double rate : {0x1p-8, 0x1p-9}) {
        for (const bool dead_before : {false, true}) {
            auto options = small_options(rate, broom_history::tombstone, false);
            options.capacity = 40;  // one bin
            assume_present_world w{options};
            constexpr std::uint64_t keys = 38;
            const std::uint64_t trials = test::effort(15'000, 1500, 1'000'000);
            for (std::uint64_t key = 0; key < keys; ++key) w.insert(key);
            test::scripted_map<memory_map> through{w.remote};
            for (std::uint64_t trial = 0; trial < trials; ++trial) {
                const std::uint64_t x = trial % keys;
                const std::uint64_t other = (x + 1) % keys;
                through.after_erase = [&] {
                    ASSERT_TRUE(w.filter.rebuild(w.remote));
                    if (dead_before) w.erase(other, w.remote);
                };
                w.erase(x, through);
                for (const std::uint64_t key : w.members) ASSERT_TRUE(w.filter.may_contain(key)) << "trial " << trial;
                ASSERT_EQ(w.filter.stats().keys, w.members.size());
                w.insert(x);
                if (dead_before) w.insert(other);
                if (HasFatalFailure()) return;
            }
            w.expect_sound();
        }
    }
}

// Keys 2i and 2i + 1 have one digest.
digest digest_of_pair(const void* context, key_view key) noexcept {
    std::uint64_t number = 0;
    std::memcpy(&number, key.data, sizeof number);
    return (*static_cast<const hasher*>(context))(number / 2);
}

TEST(broom_assume_present, a_slot_stays_for_the_other_key_with_its_digest_under_a_hash_that_allows_such_keys) {
    const hasher inner{hash_key::from_seed(5)};
    auto options = small_options(0x1p-8, broom_history::tombstone, false);
    options.hash = hasher::custom(digest_of_pair, &inner);
    auto filter = *broom_filter::make(options);
    memory_map remote;
    for (std::uint64_t key = 0; key < 200; ++key) {
        ASSERT_TRUE(remote.put(filter.hash()(key), integer_key{key}.view()));
        ASSERT_TRUE(filter.insert(key, remote));
    }
    for (std::uint64_t key = 0; key < 200; key += 2) {
        const auto outcome = filter.erase(key, remote, assume_present);
        ASSERT_TRUE(outcome && *outcome == erase_outcome::erased);
        ASSERT_TRUE(filter.may_contain(key + 1));
    }
    EXPECT_TRUE(filter.audit(remote));
}

// Each thread erases and inserts keys of its own; the other threads' keys and those that no thread
// touches stay.
TEST(broom_assume_present, threads_that_erase_their_own_keys_lose_no_other_key) {
    for (const bool grows : {false, true}) {
        auto options = small_options(0x1p-8, broom_history::tombstone, grows);
        options.capacity = grows ? 400 : 3000;
        auto filter = *broom_filter::make(options);
        memory_map remote;
        const auto insert = [&](std::uint64_t key) {
            return remote.put(filter.hash()(key), integer_key{key}.view()).has_value() &&
                   filter.insert(key, remote).has_value();
        };
        for (std::uint64_t key = 0; key < 1000; ++key) ASSERT_TRUE(insert(key));
        std::atomic<int> at_work = 2;
        std::atomic<std::uint64_t> failed = 0;
        const auto replace = [&](std::uint64_t first) {
            for (std::uint64_t i = 0; i < 6000; ++i) {
                if (!insert(first + i)) ++failed;
                if (i < 500) continue;
                const auto gone = filter.erase(first + i - 500, remote, assume_present);
                if (!gone || *gone != erase_outcome::erased) ++failed;
            }
            --at_work;
        };
        std::uint64_t denied = 0;
        {
            const std::jthread one{replace, 1'000'000};
            const std::jthread two{replace, 2'000'000};
            while (at_work.load() != 0) {
                for (std::uint64_t key = 0; key < 1000; ++key) denied += filter.may_contain(key) ? 0u : 1u;
            }
        }
        EXPECT_EQ(denied, 0u);
        EXPECT_EQ(failed.load(), 0u);
        const auto sound = filter.audit(remote);
        EXPECT_TRUE(sound) << sound.error().message();
        EXPECT_EQ(filter.stats().keys, 2000u);
    }
}

}  // namespace
}  // namespace genista::broom_assume_present_test
