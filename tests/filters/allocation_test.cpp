// No memory for the filters with a remote map: every allocation of every operation fails once. The
// result is an error, or a success without the memory, and never a lost key. The filters without
// one are in local_allocation_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "filters/cuckoo_family_filters.hpp"
#include "tests/support/adaptive_bloom_world.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/cascade_world.hpp"
#include "tests/support/cuckoo_world.hpp"
#include "tests/support/failing_allocations.hpp"
#include "tests/support/failing_allocator.hpp"
#include "tests/support/scale.hpp"

namespace genista::allocation_test {
namespace {

// A broom filter with backyards, extensions and tombstones, and two of its false positives.
struct broom_short_of_memory : test::broom_world<broom_filter> {
    std::uint64_t absent_key;
    std::uint64_t second_absent_key;

    explicit broom_short_of_memory(std::uint64_t keys = 170, unsigned history = 0, bool grows = false)
        : broom_world{{.capacity = 130, .history = history, .grows = grows, .seed = 4, .universe = 1000}} {
        for (std::uint64_t key = 0; key < keys; ++key) (void)insert(key);
        for (std::uint64_t key = 0; key < keys; key += 17) erase(key);
        for (int i = 0; i < 3; ++i) adapt(*find_false_positive(1'000'000));
        absent_key = *find_false_positive(1'000'000);
        second_absent_key = *find_false_positive(1'000'000);
    }
    void put(std::uint64_t key) { EXPECT_TRUE(plain.put(filter.hash()(key), integer_key{key}.view())); }
    void take_out(std::uint64_t key) { EXPECT_TRUE(plain.erase(filter.hash()(key), integer_key{key}.view())); }
    void expect_sound(const std::string& when) const {
        const auto sound = filter.audit(const_cast<memory_map&>(plain));
        EXPECT_TRUE(sound) << when << ": " << sound.error().message();
    }
};

// Tries `call` on a fresh filter for each allocation that it makes. A call that fails must change
// nothing (growth may have moved some bins) and must succeed when it is repeated. Returns how many
// allocations there were.
template <class Make, class Call, class Undo>
std::uint64_t fail_each_allocation_of_broom(const char* what, bool sweeps, Make&& make, Call&& call, Undo&& undo) {
    for (std::uint64_t n = 0;; ++n) {
        const auto w = make();
        const std::string when = std::string{what} + ", allocation " + std::to_string(n);
        const auto before = w->draw_portrait(false);
        test::starved_call tried;
        // On a new thread: threads keep memory for their next operation, and a new one has none.
        std::thread{[&] { tried = test::call_without_memory(n, [&] { return call(*w); }); }}.join();
        tried.expect_no_other_error(when);
        if (tried.code) {
            if (!sweeps) {
                EXPECT_EQ(w->draw_portrait(false), before) << when << ": a failed call changed the filter";
            }
            undo(*w);
            w->expect_sound(when);
            w->scan();
            const auto repeated = call(*w);
            EXPECT_TRUE(repeated) << when << ": failed although memory was back";
        }
        w->expect_sound(when);
        w->scan();
        EXPECT_TRUE(w->wrong.none()) << when << ": " << w->wrong.text();
        if (!tried.failed || testing::Test::HasFailure()) return n;
    }
}

template <class Key>
std::uint64_t fail_each_allocation_of_insert(const char* what, std::uint64_t keys, bool grows, Key&& key_of) {
    using world = broom_short_of_memory;
    return fail_each_allocation_of_broom(
        what, grows, [&] { return std::make_unique<world>(keys, 0, grows); },
        [&](world& w) {
            const std::uint64_t key = key_of(w);
            const std::uint64_t until =
                std::exchange(test::this_thread_allocations.until_failure, test::allocation_state::never);
            w.put(key);  // R has memory
            test::this_thread_allocations.until_failure = until;
            auto outcome = w.filter.insert(key, w.plain);
            if (outcome && *outcome == insert_outcome::full) w.take_out(key);
            return outcome;
        },
        [&](world& w) { w.take_out(key_of(w)); });
}

TEST(broom_allocations, a_failing_insert_loses_no_key) {
    const auto fresh = [](const auto&) { return std::uint64_t{500}; };
    const auto colliding = [](const auto& w) { return w.absent_key; };
    EXPECT_GE(fail_each_allocation_of_insert("an insert", 60, false, fresh), 1u);
    (void)fail_each_allocation_of_insert("an insert into the backyard", 190, false, fresh);  // most need no memory
    EXPECT_GE(fail_each_allocation_of_insert("an insert that collides", 170, false, colliding), 5u);
    const auto buried = [](const auto&) { return std::uint64_t{17}; };
    EXPECT_GE(fail_each_allocation_of_insert("an insert of a buried key", 60, false, buried), 5u);
    std::uint64_t growing = 0;
    for (std::uint64_t keys = 130; keys < 200; ++keys) {  // growth begins, moves bin after bin, ends
        growing += fail_each_allocation_of_insert("an insert that moves bins", keys, true, fresh);
    }
    EXPECT_GE(growing, 40u);  // in most of the filters; an overflow during a growth needs no memory
}

TEST(broom_allocations, a_failing_erase_or_adapt_loses_no_key) {
    using world = broom_short_of_memory;
    const auto nothing = [](world&) {};
    for (unsigned history = 0; history < 3; ++history) {
        for (const std::uint64_t keys : {60u, 170u}) {
            const auto make = [&] { return std::make_unique<world>(keys, history); };
            const std::uint64_t erases = fail_each_allocation_of_broom(
                "an erase of an absent key", false, make,
                [](world& w) { return w.filter.erase(w.absent_key, w.plain); }, nothing);
            EXPECT_GE(erases, 1u);
            EXPECT_GE(
                fail_each_allocation_of_broom(
                    "an adapt", false, make, [](world& w) { return w.filter.adapt(w.absent_key, w.plain); }, nothing),
                5u);
            EXPECT_GE(fail_each_allocation_of_broom(
                          "two adapts", true, make,
                          [](world& w) {
                              const auto first = w.filter.adapt(w.absent_key, w.plain);
                              return first ? w.filter.adapt(w.second_absent_key, w.plain) : first;
                          },
                          nothing),
                      5u);
        }
    }
}

// An erase that ran out of memory after R committed it leaves a key that R does not hold and that
// the filter answers maybe: allowed.
TEST(broom_allocations, an_erase_that_could_not_finish_loses_no_other_key) {
    for (unsigned history = 0; history < 3; ++history) {
        for (const std::uint64_t keys : {60u, 170u}) {
            for (std::uint64_t n = 0;; ++n) {
                broom_short_of_memory w{keys, history};
                bool failed = false;
                bool in_r = true;
                {
                    const test::failing_allocations armed{n};
                    const auto outcome = w.filter.erase(std::uint64_t{5}, w.plain);
                    failed = armed.failed();
                    EXPECT_TRUE(outcome || outcome.error().code() == error_code::out_of_memory);
                }
                in_r = *w.plain.contains(w.filter.hash()(std::uint64_t{5}), integer_key{5u}.view());
                if (in_r) {
                    EXPECT_TRUE(w.filter.may_contain(std::uint64_t{5})) << "a false negative";
                }
                w.expect_sound("an erase, allocation " + std::to_string(n));
                EXPECT_TRUE(w.filter.adapt(std::uint64_t{5}, w.plain));
                w.expect_sound("an adapt after it");
                if (!failed || HasFailure()) break;
            }
        }
    }
}

TEST(broom_allocations, failing_growths_rebuilds_audits_and_snapshots_lose_no_key) {
    using world = broom_short_of_memory;
    const auto nothing = [](world&) {};
    const auto make = [] { return std::make_unique<world>(); };
    EXPECT_GE(fail_each_allocation_of_broom(
                  "a growth", true, make, [](world& w) { return w.filter.grow(w.plain); }, nothing),
              5u);
    EXPECT_GE(fail_each_allocation_of_broom(
                  "a rebuild", true, make, [](world& w) { return w.filter.rebuild(w.plain); }, nothing),
              5u);
    EXPECT_GE(fail_each_allocation_of_broom(
                  "an audit", false, make, [](world& w) { return w.filter.audit(w.plain); }, nothing),
              5u);
    EXPECT_GE(fail_each_allocation_of_broom(
                  "a snapshot", false, make,
                  [](world& w) -> result<void> {
                      vector_sink out;
                      if (const auto saved = w.filter.save(out); !saved) return saved;
                      const auto loaded = broom_filter::load(out.bytes());
                      if (!loaded) return loaded.error();
                      return {};
                  },
                  nothing),
              5u);
    EXPECT_GE(test::fail_each_allocation([] { return broom_filter::make({.capacity = 1000}); }), 3u);
    const world w;
    EXPECT_GE(test::fail_each_allocation([&] {
                  return broom_filter::build({.capacity = 300, .hash = w.filter.hash()},
                                             const_cast<memory_map&>(w.plain));
              }),
              5u);
}

TEST(broom_allocations, queries_allocate_nothing) {
    const broom_short_of_memory w;
    std::array<std::uint64_t, 100> keys{};
    std::array<std::uint64_t, 2> answers{};
    const std::uint64_t before = test::this_thread_allocations.allocations;
    for (std::uint64_t key = 0; key < keys.size(); ++key) {
        keys[key] = 3 * key;
        (void)w.filter.may_contain(3 * key);
    }
    w.filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
    EXPECT_EQ(test::this_thread_allocations.allocations, before);
}

// ---- cuckooing ----------------------------------------------------------------------------------

using cuckooing_world = test::cuckoo_world<cuckooing_filter>;

cuckoo_options tight(std::uint64_t seed) {
    return test::cuckoo_made(test::cuckoo_forms<cuckooing_filter>().back(), 70, 8, seed);
}

// Tries `call` on a fresh filter with the keys 0 .. keys-1, for each allocation that it makes (R's
// own included, which R reports). An error must leave the filter byte for byte as it was, and the
// repeated call must succeed.
template <class Call>
std::uint64_t fail_each_allocation_of_cuckooing(const char* what, std::uint64_t seed, std::uint64_t keys, Call&& call) {
    for (std::uint64_t n = 0;; ++n) {
        const std::string when = std::string{what} + ", allocation " + std::to_string(n);
        cuckooing_world w{tight(seed)};
        for (std::uint64_t key = 0; key < keys; ++key) EXPECT_TRUE(w.insert(key)) << when;
        const std::uint64_t absent_key = w.find_false_positive().value_or(0);
        w.put(keys);  // the store has committed the next one
        const auto before = w.saved();
        const auto tried = test::call_without_memory(n, [&] { return call(w, absent_key); });
        tried.expect_no_other_error(when);
        if (tried.code) {
            EXPECT_EQ(w.saved(), before) << when << ": a failed call changed the filter";
            EXPECT_TRUE(call(w, absent_key)) << when << ": failed although memory was back";
        }
        w.take_out(keys);
        EXPECT_TRUE(w.filter.forget(integer_key{keys}.view(), w.truth)) << when;
        const auto sound = w.filter.audit(w.truth);
        EXPECT_TRUE(sound) << when << ": " << sound.error().message();
        for (std::uint64_t key = 1; key < keys; ++key)
            EXPECT_TRUE(w.filter.may_contain(key)) << when << ", key " << key;
        if (!tried.failed || testing::Test::HasFailure()) return n;
    }
}

TEST(cuckooing_allocations, a_call_that_finds_no_memory_loses_no_key) {
    const auto insert_next = [](cuckooing_world& w, std::uint64_t) {
        return w.filter.insert(w.members().size(), w.truth);
    };
    const auto rehashing = test::find_rehashing_insert<cuckooing_filter>(tight);
    ASSERT_TRUE(rehashing.has_value());
    EXPECT_GE(fail_each_allocation_of_cuckooing("an insert", 1, 5, insert_next), 3u);
    EXPECT_GE(fail_each_allocation_of_cuckooing("an insert with new hash functions", rehashing->seed, rehashing->key,
                                                insert_next),
              20u);
    EXPECT_GE(fail_each_allocation_of_cuckooing(
                  "an adapt", 2, 38, [](cuckooing_world& w, std::uint64_t q) { return w.filter.adapt(q, w.truth); }),
              2u);
    EXPECT_GE(fail_each_allocation_of_cuckooing("an erase", 3, 30,
                                                [](cuckooing_world& w, std::uint64_t) -> result<void> {
                                                    const auto gone = w.filter.erase(std::uint64_t{0}, w.truth);
                                                    if (!gone) return gone.error();
                                                    return {};
                                                }),
              3u);
    EXPECT_GE(fail_each_allocation_of_cuckooing(
                  "a rebuild", 4, 30, [](cuckooing_world& w, std::uint64_t) { return w.filter.rebuild(w.truth); }),
              20u);
    EXPECT_GE(fail_each_allocation_of_cuckooing("an audit", 5, 30,
                                                [](cuckooing_world& w, std::uint64_t) {
                                                    w.take_out(30);
                                                    return w.filter.audit(w.truth);
                                                }),
              3u);
    EXPECT_GE(fail_each_allocation_of_cuckooing("a snapshot", 6, 30,
                                                [](cuckooing_world& w, std::uint64_t) -> result<void> {
                                                    vector_sink out;
                                                    if (const auto saved = w.filter.save(out); !saved) return saved;
                                                    const auto loaded = cuckooing_filter::load(out.bytes());
                                                    if (!loaded) return loaded.error();
                                                    return {};
                                                }),
              3u);
    EXPECT_GE(test::fail_each_allocation([] { return cuckooing_filter::make({.capacity = 1000}); }), 2u);
    cuckooing_world w{tight(7)};
    for (std::uint64_t member = 0; member < 30; ++member) w.put(member);
    const cuckoo_options options = tight(7);
    EXPECT_GE(test::fail_each_allocation([&] { return cuckooing_filter::build(options, w.truth); }), 20u);
}

TEST(cuckooing_allocations, queries_allocate_nothing) {
    cuckooing_world w{tight(1)};
    for (std::uint64_t key = 0; key < 30; ++key) ASSERT_TRUE(w.insert(key));
    std::array<std::uint64_t, 100> keys{};
    std::array<std::uint64_t, 2> answers{};
    const std::uint64_t before = test::this_thread_allocations.allocations;
    for (std::uint64_t key = 0; key < keys.size(); ++key) (void)w.filter.may_contain(keys[key] = key);
    w.filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
    EXPECT_EQ(test::this_thread_allocations.allocations, before);
}

// ---- adaptive_bloom -----------------------------------------------------------------------------

// Tries `call` on a fresh filter for each allocation that it makes: an error, or a success without
// it; no stored key is lost, and the repeated call succeeds.
template <class Call>
std::uint64_t fail_each_allocation_of_adaptive_bloom(const char* what, Call&& call) {
    constexpr std::uint64_t keys = 60;
    for (std::uint64_t n = 0;; ++n) {
        test::adaptive_bloom_world w{{.capacity = 100, .rate = 0.5, .seed = 4}};
        for (std::uint64_t key = 0; key < keys; ++key) EXPECT_TRUE(w.insert(key));
        for (int i = 0; i < 10; ++i) w.adapt(*w.find_false_positive());
        const std::uint64_t absent_key = *w.find_false_positive();
        const std::string when = std::string{what} + ", allocation " + std::to_string(n);
        w.put(keys);
        const auto tried = test::call_without_memory(n, [&] { return call(w, absent_key); });
        tried.expect_no_other_error(when);
        if (tried.code) {
            w.scan();
            EXPECT_TRUE(call(w, absent_key)) << when << ": failed although memory was back";
        }
        EXPECT_TRUE(w.insert(keys)) << when;
        w.scan();
        w.audit();
        EXPECT_TRUE(w.wrong.empty()) << when << ": " << w.text();
        if (!tried.failed || testing::Test::HasFailure()) return n;
    }
}

TEST(adaptive_bloom_allocations, a_call_that_finds_no_memory_loses_no_key) {
    using world = test::adaptive_bloom_world;
    const auto done = [](const auto& outcome) -> result<void> {
        if (!outcome) return outcome.error();
        return {};
    };
    EXPECT_GE(
        fail_each_allocation_of_adaptive_bloom(
            "an adapt", [&](world& w, std::uint64_t absent_key) { return done(w.filter.adapt(absent_key, w.truth)); }),
        2u);
    EXPECT_GE(fail_each_allocation_of_adaptive_bloom("an adapt of an erased key",
                                                     [&](world& w, std::uint64_t) {
                                                         w.erase(5);
                                                         return done(w.filter.adapt(std::uint64_t{5}, w.truth));
                                                     }),
              2u);
    EXPECT_GE(fail_each_allocation_of_adaptive_bloom("a rebuild",
                                                     [](world& w, std::uint64_t) { return w.filter.rebuild(w.truth); }),
              10u);
    EXPECT_GE(
        fail_each_allocation_of_adaptive_bloom(
            "an insert", [&](world& w, std::uint64_t) { return done(w.filter.insert(std::uint64_t{60}, w.truth)); }),
        0u);
    EXPECT_GE(fail_each_allocation_of_adaptive_bloom("a snapshot",
                                                     [](world& w, std::uint64_t) -> result<void> {
                                                         vector_sink out;
                                                         if (auto saved = w.filter.save(out); !saved) return saved;
                                                         const auto loaded = adaptive_bloom_filter::load(out.bytes());
                                                         if (!loaded) return loaded.error();
                                                         return {};
                                                     }),
              5u);
    EXPECT_GE(test::fail_each_allocation([] { return adaptive_bloom_filter::make({.capacity = 1000}); }), 4u);
}

// ---- the cascade --------------------------------------------------------------------------------

// Tries `call` on a fresh filter with the keys 0 .. 59, for each allocation that it makes (R's own
// included, which R reports).
template <class Call>
std::uint64_t fail_each_allocation_of_cascade(const char* what, bool is_old, Call&& call) {
    for (std::uint64_t n = 0;; ++n) {
        const std::string when = std::string{what} + ", allocation " + std::to_string(n);
        test::cascade_world w{test::cascade_made(400, 0.25, 3)};
        for (std::uint64_t key = 0; key < 60; ++key) EXPECT_TRUE(w.insert(key)) << when;
        const std::uint64_t absent_key = w.find_false_positive().value_or(0);
        w.put(60);  // the store has committed the next one
        // New hash functions are due; they are taken in this call or later.
        for (std::uint64_t i = 0; is_old && i < 400; ++i) (void)w.filter.may_contain(i);
        const auto tried = test::call_without_memory(n, [&] { return call(w, absent_key); });
        tried.expect_no_other_error(when);
        for (std::uint64_t key = 0; key < 60; ++key) {
            if (*w.plain.contains(w.filter.hash()(key), integer_key{key}.view())) {
                EXPECT_TRUE(w.filter.may_contain(key)) << when << ": a false negative";
            }
        }
        EXPECT_TRUE(w.filter.insert(std::uint64_t{60}, w.truth)) << when << ": with memory";
        const auto sound = w.filter.audit(w.truth);
        EXPECT_TRUE(sound) << when << ": " << sound.error().message();
        if (!tried.failed || testing::Test::HasFailure()) return n;
    }
}

TEST(cascade_allocations, a_call_that_finds_no_memory_loses_no_key_and_leaves_the_index_right) {
    using world = test::cascade_world;
    for (const bool is_old : {false, true}) {
        const auto insert = [](world& w, std::uint64_t) { return w.filter.insert(std::uint64_t{60}, w.truth); };
        const auto erase = [](world& w, std::uint64_t) { return w.filter.erase(std::uint64_t{7}, w.truth); };
        const auto adapt = [](world& w, std::uint64_t absent_key) { return w.filter.adapt(absent_key, w.truth); };
        const auto rebuild = [](world& w, std::uint64_t) { return w.filter.rebuild(w.truth); };
        EXPECT_GE(fail_each_allocation_of_cascade("an insert", is_old, insert), 1u);
        EXPECT_GE(fail_each_allocation_of_cascade("an erase", is_old, erase), 1u);
        EXPECT_GE(fail_each_allocation_of_cascade("an adapt", is_old, adapt), 5u);
        EXPECT_GE(fail_each_allocation_of_cascade("a rebuild", is_old, rebuild), 5u);
    }
    EXPECT_GE(test::fail_each_allocation([] { return cascade_filter::make({.capacity = 1000}); }), 3u);
    world w{test::cascade_made(100, 0.25)};
    for (std::uint64_t key = 0; key < 100; ++key) (void)w.insert(key);
    const auto file = w.saved();
    EXPECT_GE(test::fail_each_allocation([&] { return cascade_filter::load(file); }), 3u);
    EXPECT_GE(test::fail_each_allocation([&] { return w.filter.audit(w.truth); }), 3u);
    const std::uint64_t before = test::this_thread_allocations.allocations;
    std::array<std::uint64_t, 100> keys{};
    std::array<std::uint64_t, 2> answers{};
    w.filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
    EXPECT_TRUE(w.filter.may_contain(std::uint64_t{5}));
    EXPECT_EQ(test::this_thread_allocations.allocations, before) << "queries allocate nothing";
}

}  // namespace
}  // namespace genista::allocation_test
