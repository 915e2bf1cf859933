// Keys in flight are never denied, and cost other keys nothing.
#include "genista/detail/guard/in_flight.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/guard/memory_store.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"
#include "tests/support/wrapped_maps.hpp"

namespace genista::test::in_flight_test {
namespace {

using rehearsed = scripted_map<memory_map>;
using real_core = guard_core<broom_filter, rehearsed>;

hasher test_hash() {
    return hasher{hash_key{}, hash_kind::keyed};
}
std::string key_number(std::uint64_t number) {
    return "key-" + std::to_string(number);
}

// The control: a set that registers nothing.
struct empty_set {
    struct writer {
        writer(empty_set&, const in_flight_keys&) noexcept {}
        void finish(std::size_t) noexcept {}
    };
    [[nodiscard]] static bool contains(const digest&) noexcept { return false; }
    [[nodiscard]] static constexpr std::size_t size_bytes() noexcept { return 0; }
};

template <class Core>
bool is_answered_between_commit_and_filter() {
    memory_map inside;
    rehearsed remote{inside};
    Core through{*broom_filter::make({.capacity = 100, .hash = test_hash(), .random = repeatable(3)}), remote};
    const hashed_key ada{through.hash(), "ada"};
    const typename Core::entering in{through, ada};
    (void)*inside.put(ada.where(), "ada");
    return through.may_contain(ada);
}

TEST(in_flight, a_key_between_its_commit_and_the_filter_is_answered_and_the_control_denies_it) {
    EXPECT_TRUE(is_answered_between_commit_and_filter<real_core>());
    EXPECT_FALSE((is_answered_between_commit_and_filter<guard_core<broom_filter, rehearsed, empty_set>>()));
}

std::vector<kept_key> sorted_keys(const hasher& hash, std::uint64_t first, std::uint64_t count) {
    std::vector<kept_key> keys;
    for (std::uint64_t i = first; i < first + count; ++i) keys.emplace_back(hashed_key{hash, key_number(i)});
    std::ranges::sort(keys);
    return keys;
}

TEST(in_flight, the_set_holds_exactly_what_is_registered_and_not_finished) {
    in_flight_set set;
    const auto keys = sorted_keys(test_hash(), 0, 5000), others = sorted_keys(test_hash(), 5000, 5000);
    const digest first{0, 0}, last{~std::uint64_t{0}, 0};
    {
        in_flight_set::writer batch{set, in_flight_keys{std::span<const kept_key>{keys}, &kept_key::where}};
        const in_flight_set::writer low{set, in_flight_keys{first}}, high{set, in_flight_keys{last}};
        const in_flight_set::writer nothing{set, in_flight_keys{}};
        EXPECT_TRUE(set.contains(first) && set.contains(last));
        for (const kept_key& each : others) EXPECT_FALSE(set.contains(each.where()));
        for (std::size_t finished = 0; finished <= keys.size(); finished += 1000) {
            batch.finish(finished);
            for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(set.contains(keys[i].where()), i >= finished) << i;
        }
    }
    EXPECT_FALSE(set.contains(first) || set.contains(last));
    for (const kept_key& each : keys) EXPECT_FALSE(set.contains(each.where()));
}

// A key in flight whose insert fails leaves a mark on its range. A reader that saw the range
// without the mark must see the mark before it trusts the filter. The test looks at the mark, a
// repair in progress and a failed repair in turn.
TEST(in_flight, a_key_that_the_filter_could_not_take_stays_maybe_until_it_is_repaired) {
    memory_map inside;
    rehearsed remote{inside};
    real_core through{
        *broom_filter::make({.capacity = 40, .hash = test_hash(), .grows = false, .random = repeatable(3)}), remote};
    std::vector<std::string> put;
    while (!through.any_range_needs_repair()) {
        put.push_back(key_number(put.size()));
        const hashed_key key{through.hash(), put.back()};
        (void)*inside.put(key.where(), put.back());
        real_core::entering in{through, in_flight_keys{key.where()}};
        in.on_committed(key);
    }
    const std::string name = put.back();
    const hashed_key late{through.hash(), name};
    EXPECT_TRUE(through.may_contain(late));
    EXPECT_GE(through.counters().let_through_pending, 1u);
    EXPECT_EQ(through.counters().let_through_in_flight, 0u);
    for (std::size_t i = 0; i < 30; ++i) {
        const hashed_key key{through.hash(), put[i]};
        (void)*inside.erase(key.where(), put[i]);
        through.on_erased(key);
    }
    bool asked = false;
    remote.after_range = [&] {
        asked = true;
        EXPECT_TRUE(through.may_contain(late));
    };
    ASSERT_TRUE(through.repair());
    EXPECT_TRUE(asked);
    remote.after_range = nullptr;
    EXPECT_TRUE(through.may_contain(late));
}

// A store that commits and then throws, for example without memory for its answer. The filter is
// not updated.
struct throwing_store : memory_store {
    using memory_store::memory_store;
    result<void> write(const digest& where, key_view key, std::string_view value) {
        const auto done = memory_store::write(where, key, value);
        if (throws) throw std::bad_alloc{};
        return done;
    }
    bool throws = false;
};

TEST(in_flight, a_key_whose_commit_threw_stays_maybe_until_it_is_repaired) {
    throwing_store store{test_hash()};
    guarded guard{*broom_filter::make({.capacity = 100, .hash = test_hash(), .random = repeatable(3)}), store};
    ASSERT_TRUE(guard.put("bob", "v"));
    EXPECT_FALSE(guard.core().lacks_keys());
    store.throws = true;
    EXPECT_THROW((void)guard.put("ada", "v"), std::bad_alloc);
    EXPECT_TRUE(guard.may_contain("ada"));
    EXPECT_TRUE(guard.core().lacks_keys());
    ASSERT_TRUE(guard.repair());
    EXPECT_FALSE(guard.core().lacks_keys());
    EXPECT_TRUE(guard.may_contain("ada"));
    EXPECT_TRUE(guard.filter().may_contain(guard.filter().hash()("ada")));
}

TEST(in_flight, the_rest_of_a_batch_that_ended_halfway_stays_maybe_until_it_is_repaired) {
    memory_map inside;
    rehearsed remote{inside};
    real_core through{*broom_filter::make({.capacity = 300, .hash = test_hash(), .random = repeatable(3)}), remote};
    const auto keys = sorted_keys(through.hash(), 0, 200);
    {
        real_core::entering in{through, in_flight_keys{std::span<const kept_key>{keys}, &kept_key::where}};
        for (const kept_key& each : keys) (void)*inside.put(each.where(), each.bytes());
        for (std::size_t i = 0; i < 100; ++i) in.on_committed(keys[i].key());
    }
    for (const kept_key& each : keys) EXPECT_TRUE(through.may_contain(each.key()));
    EXPECT_GE(through.counters().ranges_pending_repair, 90u);
    ASSERT_TRUE(through.repair());
    EXPECT_FALSE(through.lacks_keys());
    for (const kept_key& each : keys) EXPECT_TRUE(through.filter().may_contain(each.where()));
}

// Queries absent keys before the commit, after it, and while the batch is inserted key by key.
TEST(in_flight, a_batch_of_20000_costs_absent_keys_the_rate_of_the_filter_and_no_more) {
    if (thread_sanitized) GTEST_SKIP() << "one thread: the other presets run it";
    for (const double rate : {1.0 / 256, 1.0 / 4096, 1.0 / 65536}) {
        memory_map inside;
        rehearsed remote{inside};
        real_core through{
            *broom_filter::make(
                {.capacity = 60000, .false_positive_rate = rate, .hash = test_hash(), .random = repeatable(5)}),
            remote};
        const auto put = [&](const std::vector<kept_key>& keys, const auto& between) {
            real_core::entering in{through, in_flight_keys{std::span<const kept_key>{keys}, &kept_key::where}};
            between();
            for (const kept_key& each : keys) (void)*inside.put(each.where(), each.bytes());
            between();
            for (std::size_t i = 0; i < keys.size(); ++i) {
                in.on_committed(keys[i].key());
                if (i == keys.size() / 2) between();
            }
        };
        put(sorted_keys(through.hash(), 0, 20000), [] {});
        std::uint64_t asked = 0, maybe = 0, next = 1'000'000;
        const auto batch = sorted_keys(through.hash(), 20000, 20000);
        put(batch, [&] {
            for (const kept_key& each : batch) EXPECT_TRUE(through.may_contain(each.key()) || asked == 0);
            for (int i = 0; i < 100000; ++i, ++asked, ++next) {
                const std::string key = key_number(next);
                maybe += through.may_contain({through.hash(), key}) ? 1u : 0u;
            }
        });
        const double expected = 2 * rate * static_cast<double>(asked);
        EXPECT_LE(static_cast<double>(maybe), expected + 4) << "rate " << rate << ", asked " << asked;
        EXPECT_GT(through.counters().let_through_in_flight, 20000u);
        for (const kept_key& each : batch) EXPECT_TRUE(through.may_contain(each.key()));
    }
}

// Each writer owns its keys and publishes when a key is certainly present: after put has returned,
// and before erase begins.
TEST(in_flight, a_key_is_never_denied_between_its_put_and_its_erase_with_8_writers) {
    constexpr std::uint64_t writers = 8, keys_each = 64;
    memory_store store{test_hash()};
    guarded guard{*broom_filter::make({.capacity = 2000, .hash = test_hash(), .random = repeatable(7)}), store};
    std::array<std::array<std::atomic<std::uint64_t>, keys_each>, writers> certain{};  // odd: present
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> denied{0}, checked{0}, denied_seen{0};
    const auto name = [](std::uint64_t who, std::uint64_t which) { return key_number(who * keys_each + which); };
    const auto read = [&](std::uint64_t seed) {
        splitmix chance{seed};
        std::string value;
        while (!done.load()) {
            const std::uint64_t who = chance.below(writers), which = chance.below(keys_each);
            const std::string key = name(who, which);
            const std::uint64_t before = certain[who][which].load();
            const auto seen = store.read({}, key, value);  // without the guard, as an iterator would
            const bool answer = guard.may_contain(key);
            const std::uint64_t after = certain[who][which].load();
            if (before != after) continue;
            if (before % 2 == 1) ++checked, denied += answer ? 0u : 1u;
            // Seen in the store while its put may still run, and no erase has begun.
            if (before % 2 == 0 && seen && *seen && before % 4 == 2) denied_seen += answer ? 0u : 1u;
        }
    };
    const auto write = [&](std::uint64_t who) {
        splitmix chance{who + 100};
        for (std::uint64_t step = 0; step < effort(4000, 1000, 200000); ++step) {
            const std::uint64_t which = chance.below(keys_each);
            std::atomic<std::uint64_t>& state = certain[who][which];
            // 4n: absent. 4n + 2: its put runs. 4n + 3: present. 4n + 4: its erase runs, or is
            // done.
            if (state.load() % 4 == 0) {
                state.fetch_add(2);
                EXPECT_TRUE(guard.put(name(who, which), "v"));
                state.fetch_add(1);
            } else {
                state.fetch_add(1);
                EXPECT_TRUE(guard.erase(name(who, which)));
            }
        }
    };
    std::vector<std::thread> reading, writing;
    for (std::uint64_t r = 0; r < 2; ++r) reading.emplace_back([&, r] { read(r); });
    for (std::uint64_t w = 0; w < writers; ++w) writing.emplace_back([&, w] { write(w); });
    for (std::thread& each : writing) each.join();
    done = true;
    for (std::thread& each : reading) each.join();
    EXPECT_EQ(denied.load(), 0u);
    EXPECT_EQ(denied_seen.load(), 0u);
    EXPECT_GT(checked.load(), 0u);
    EXPECT_TRUE(guard.filter().audit(store.remote()));
}

}  // namespace
}  // namespace genista::test::in_flight_test
