// A key that R has erased and the filter has not (the reply was lost, or the erase is still
// running) leaves a slot or a backyard entry without an owner. A new key that matches it may take
// it over only if a look-up of the new key finds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "filters/broom/core.hpp"
#include "genista/detail/filters/broom/range_source.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/broom_world.hpp"

namespace genista::broom::broom_faults_orphan_test {
namespace {


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
}  // namespace genista::broom::broom_faults_orphan_test
