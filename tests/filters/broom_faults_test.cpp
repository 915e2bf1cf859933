// A store that fails or gives wrong answers: what a failed operation of the broom filter leaves
// behind, and how keys whose erase was not completed are treated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filters/broom/core.hpp"
#include "genista/detail/filters/broom/range_source.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/wrapped_maps.hpp"

namespace genista::broom_faults_test {
namespace {

// ---- operations that fail -----------------------------------------------------------------------

// A store that fails or gives wrong answers during insert, erase, adapt, grow and rebuild: the
// operation returns an error, the filter is as it was, no key is lost, and the operation succeeds
// once the store works again.

// Every kind but a lagging replica, which is not a valid R (remote.hpp, "Order").
std::vector<fault_kind> kinds_of_faults() {
    std::vector<fault_kind> kinds;
    for (const fault_kind kind : all_fault_kinds) {
        if (kind != fault_kind::stale) kinds.push_back(kind);
    }
    return kinds;
}

enum class call : unsigned char { insert, erase, adapt, grow, rebuild };

struct step {
    call what;
    std::uint64_t key = 0;
};

// A filter of three bins with more keys than its lines hold, with extensions and tombstones; and
// the operations that run while the store fails.
class bad_store : public test::broom_world<broom_filter> {
  public:
    explicit bad_store(bool grows = true)
        : broom_world{{.capacity = 130, .grows = grows, .seed = 12, .universe = 400}} {
        for (std::uint64_t key = 0; key < 170; ++key) (void)insert(key);
        for (std::uint64_t key = 0; key < 170; key += 13) erase(key);
        for (int i = 0; i < 4; ++i) adapt(*find_false_positive(1'000'000));
        std::vector<std::uint64_t> absent_keys;
        while (absent_keys.size() < 6) absent_keys.push_back(*find_false_positive(1'000'000));
        script_ = {{call::adapt, absent_keys[0]},
                   {call::insert, absent_keys[1]},
                   {call::erase, 40},
                   {call::erase, 1},
                   {call::insert, 13},
                   {call::insert, 300},
                   {call::adapt, absent_keys[2]},
                   {call::erase, 14},
                   {call::insert, 301},
                   {call::grow, 0},
                   {call::insert, 302},
                   {call::erase, 41},
                   {call::rebuild, 0},
                   {call::erase, 42},
                   {call::insert, 303}};
    }

    // Through the store as it is at the moment. The key of a failed insert is taken back.
    [[nodiscard]] result<void> perform(const step& s) {
        const digest where = filter.hash()(s.key);
        const integer_key bytes{s.key};
        const auto done = [](const auto& outcome) -> result<void> {
            if (!outcome) return outcome.error();
            return {};
        };
        switch (s.what) {
            case call::insert: {
                const bool held = *plain.contains(where, bytes.view());
                EXPECT_TRUE(plain.put(where, bytes.view()));
                const auto outcome = filter.insert(s.key, remote);
                if (!outcome && !held) {
                    EXPECT_TRUE(plain.erase(where, bytes.view()));
                }
                if (outcome) {
                    EXPECT_NE(*outcome, insert_outcome::full);
                    EXPECT_TRUE(filter.may_contain(s.key)) << "false negative";
                }
                return done(outcome);
            }
            case call::erase:
                return done(filter.erase(s.key, remote));
            case call::adapt:
                return done(filter.adapt(s.key, remote));
            case call::grow:
                return filter.grow(remote);
            case call::rebuild:
                return filter.rebuild(remote);
        }
        return {};
    }
    // Performs the step. After an error every key in R is still answered maybe, and nothing has
    // changed but how many bins growth or a rebuild has moved.
    [[nodiscard]] bool attempt(const step& s, const std::string& when) {
        const auto before = draw_portrait();
        const auto outcome = perform(s);
        if (outcome) return true;
        EXPECT_TRUE(outcome.error().code() == error_code::io || outcome.error().code() == error_code::timeout ||
                    outcome.error().code() == error_code::corrupt)
            << outcome.error().message();
        const auto after = draw_portrait();
        const bool swept = s.what == call::grow || s.what == call::rebuild || before[2] != after[2];
        if (!swept) {
            EXPECT_EQ(before, after) << when << ": a failed call changed the filter";
        }
        const auto sound = filter.audit(plain);
        EXPECT_TRUE(sound) << when << ": " << sound.error().message();
        return false;
    }
    [[nodiscard]] const std::vector<step>& script() const noexcept { return script_; }

  private:
    std::vector<step> script_;
};

std::string describe(const char* how, fault_kind kind, std::uint64_t number) {
    return std::string{how} + " " + std::string{to_string(kind)} + " in call " + std::to_string(number);
}

TEST(broom_faults, every_call_of_a_script_fails_once) {
    std::uint64_t struck = 0;
    for (const fault_kind kind : kinds_of_faults()) {
        std::uint64_t calls = 1;
        for (std::uint64_t number = 0; number < calls; ++number) {
            bad_store w;
            const std::string when = describe("once", kind, number);
            ASSERT_TRUE(w.remote.set_plan({.rules = {fault_rule::once(kind, number, fault_scope::every_call, 2)}}));
            for (const step& s : w.script()) {
                if (w.attempt(s, when)) continue;
                EXPECT_TRUE(w.perform(s)) << when << ": failed although the store worked again";
            }
            calls = w.remote.counts().calls;
            struck += w.remote.counts().injected();
            const auto sound = w.filter.audit(w.plain);
            ASSERT_TRUE(sound) << when << ": " << sound.error().message();
            ASSERT_TRUE(w.wrong.none()) << w.wrong.text();
            if (HasFailure()) return;
        }
        EXPECT_GE(calls, 15u);
    }
    test::record_figure("store_faults_once", struck);
}

TEST(broom_faults, all_calls_of_a_script_fail_from_any_one_on) {
    std::uint64_t struck = 0;
    for (const fault_kind kind : kinds_of_faults()) {
        for (std::uint64_t number = 0; number < 30; number += test::sanitized ? 5 : 1) {
            bad_store w;
            const std::string when = describe("from this call on", kind, number);
            ASSERT_TRUE(w.remote.set_plan({.rules = {fault_rule::from(kind, number, fault_scope::every_call, 2)}}));
            std::vector<step> left;
            for (const step& s : w.script()) {
                if (!w.attempt(s, when)) left.push_back(s);
            }
            struck += w.remote.counts().injected();
            ASSERT_TRUE(w.remote.set_plan({}));
            for (const step& s : left) EXPECT_TRUE(w.perform(s)) << when << ": failed although the store worked again";
            const auto sound = w.filter.audit(w.plain);
            ASSERT_TRUE(sound) << when << ": " << sound.error().message();
            if (HasFailure()) return;
        }
    }
    test::record_figure("store_faults_from_then_on", struck);
}

TEST(broom_faults, an_erase_whose_reply_is_lost_leaves_a_maybe_that_adapt_repairs) {
    for (const fault_kind kind : {fault_kind::error_after, fault_kind::hang_after}) {
        bad_store w;
        ASSERT_TRUE(w.remote.set_plan({.rules = {fault_rule::once(kind, 0, fault_scope::writes)}}));
        const auto outcome = w.filter.erase(std::uint64_t{50}, w.remote);
        ASSERT_FALSE(outcome);
        EXPECT_FALSE(*w.plain.contains(w.filter.hash()(std::uint64_t{50}), integer_key{50u}.view()));
        EXPECT_TRUE(w.filter.may_contain(std::uint64_t{50}));
        const auto adapted = w.filter.adapt(std::uint64_t{50}, w.remote);
        ASSERT_TRUE(adapted) << adapted.error().message();
        EXPECT_EQ(*adapted, adapt_outcome::fixed);
        EXPECT_FALSE(w.filter.may_contain(std::uint64_t{50}));
        EXPECT_TRUE(w.filter.audit(w.plain));
    }
}

TEST(broom_faults, records_out_of_order_are_an_error) {
    bad_store w;
    test::disordered_map liar{w.plain};
    const auto before = w.draw_portrait();
    const auto absent_key = *w.find_false_positive(1'000'000);
    const auto expect_corrupt = [](const auto& outcome) {
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code(), error_code::corrupt);
    };
    expect_corrupt(w.filter.adapt(absent_key, liar));
    expect_corrupt(w.filter.erase(std::uint64_t{60}, liar));
    expect_corrupt(w.filter.rebuild(liar));
    expect_corrupt(w.filter.audit(liar));
    EXPECT_EQ(w.draw_portrait(), before);
    EXPECT_TRUE(w.filter.audit(w.plain));
}

TEST(broom_faults, faults_inside_adapt_change_nothing) {
    bad_store w{false};
    std::vector<std::uint64_t> absent_keys;
    while (absent_keys.size() < 64) absent_keys.push_back(*w.find_false_positive(1'000'000));
    const auto kinds = kinds_of_faults();
    const auto before = w.draw_portrait();
    const std::uint64_t faults_wanted = test::effort(100'000, 20'000, 2'000'000);
    std::uint64_t struck = 0;
    for (std::size_t i = 0; struck < faults_wanted; ++i) {
        const fault_kind kind = kinds[i % kinds.size()];
        ASSERT_TRUE(w.remote.set_plan({.rules = {fault_rule::from(kind, 0, fault_scope::ranges, i % 70)}}));
        for (const std::uint64_t key : absent_keys) {
            const auto outcome = w.filter.adapt(key, w.remote);
            ASSERT_FALSE(outcome) << to_string(kind);
            ASSERT_TRUE(w.filter.may_contain(key)) << to_string(kind);
        }
        struck += w.remote.counts().injected();
        ASSERT_EQ(w.draw_portrait(), before) << to_string(kind);
    }
    ASSERT_TRUE(w.remote.set_plan({}));
    for (const std::uint64_t key : absent_keys) w.adapt(key);
    w.scan();
    w.audit();
    EXPECT_TRUE(w.wrong.none()) << w.wrong.text();
    test::record_figure("store_faults_in_adapt", struck);
}

TEST(broom_faults, a_filter_is_built_from_a_store_with_more_keys_than_its_capacity) {
    for (const std::uint64_t keys : {90u, 150u, 300u, 1000u, 20'000u}) {
        const hasher hash{hash_key::from_seed(1)};
        memory_map remote;
        for (std::uint64_t key = 0; key < keys; ++key) {
            const integer_key bytes{key};
            ASSERT_TRUE(remote.put(hash(key), bytes.view()));
        }
        const auto built = broom_filter::build({.capacity = 100, .hash = hash, .random = repeatable(1)}, remote);
        ASSERT_TRUE(built) << keys << " keys: " << built.error().message();
        EXPECT_EQ(built->stats().keys, keys);
        const auto sound = built->audit(remote);
        EXPECT_TRUE(sound) << sound.error().message();
    }
}

}  // namespace
}  // namespace genista::broom_faults_test

namespace genista::broom::broom_faults_test {
namespace {

// ---- keys without an owner ----------------------------------------------------------------------

// A key that R has erased and the filter has not (the reply was lost, or the erase is still
// running) leaves a slot or a backyard entry without an owner. A new key that matches it may take
// it over only if a look-up of the new key finds it.

struct crowded_bin {
    hasher hash{hash_key::from_seed(3)};
    memory_map remote;
    std::unique_ptr<core> filter;

    crowded_bin() : filter{*core::make({.grows = false, .random = repeatable(3)}, hash, shape::for_rate(0x1p-8), 1)} {
        for (std::uint64_t key = 0; key < 54; ++key) {
            EXPECT_TRUE(remote.put(hash(key), integer_key{key}.view()));
            EXPECT_EQ(insert(key), insert_outcome::inserted);
        }
    }
    insert_outcome insert(const std::uint64_t& key) {
        const integer_key bytes{key};
        remote_source<memory_map> source{remote, hash, hash(key), bytes.view()};
        const auto outcome = filter->insert(hash(key), source);
        EXPECT_TRUE(outcome) << outcome.error().message();
        return *outcome;
    }
    // Erases every key in R only.
    void lose_all() {
        for (std::uint64_t key = 0; key < 54; ++key) EXPECT_TRUE(remote.erase(hash(key), integer_key{key}.view()));
    }
};

// The first key from 10^6 on whose fingerprint fulfils the condition.
template <class Condition>
std::uint64_t find_key(crowded_bin& w, Condition&& fulfils) {
    bin_image image = w.filter->bins().read(0);
    const epoch now{w.filter->bins(), image};
    for (std::uint64_t key = 1'000'000;; ++key) {
        if (fulfils(image, now, now.of(w.hash(key)))) return key;
    }
}

TEST(broom_orphans, a_backyard_entry_without_owner_serves_only_keys_whose_look_ups_find_it) {
    for (const bool led_there : {true, false}) {
        crowded_bin w;
        ASSERT_GT(w.filter->details().backyard_keys, 0u);
        w.lose_all();
        const std::uint64_t key = find_key(w, [&](const bin_image& image, const epoch& now, const present& x) {
            const bool led = (image.slots.overflow() >> x.print.overflow_class & 1) != 0;
            return led == led_there && now.backyard_has(x.print) && !now.slot_with_base(x.print);
        });
        ASSERT_TRUE(w.remote.put(w.hash(key), integer_key{key}.view()));
        (void)w.insert(key);
        EXPECT_TRUE(w.filter->contains(w.hash(key))) << "false negative right after an insert";
        remote_source<memory_map> source{w.remote, w.hash};
        const auto sound = w.filter->audit(source);
        EXPECT_TRUE(sound) << sound.error().message();
    }
}

TEST(broom_orphans, a_slot_without_owner_may_serve_a_new_key) {
    crowded_bin w;
    w.lose_all();
    const std::uint64_t key = find_key(w, [](const bin_image&, const epoch& now, const present& x) {
        return now.slot_with_base(x.print).has_value();
    });
    ASSERT_TRUE(w.remote.put(w.hash(key), integer_key{key}.view()));
    (void)w.insert(key);
    EXPECT_TRUE(w.filter->contains(w.hash(key)));
    remote_source<memory_map> source{w.remote, w.hash};
    const auto sound = w.filter->audit(source);
    EXPECT_TRUE(sound) << sound.error().message();
}

}  // namespace
}  // namespace genista::broom::broom_faults_test
