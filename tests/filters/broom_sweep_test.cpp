// The broom filter in extreme numbers: the model test with more operations, and operations by the
// million of which other filters failed some.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/broom_model.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/scale.hpp"

namespace genista::broom_sweep_test {
namespace {

// ---- the model ----------------------------------------------------------------------------------

// The model test with more operations: more small filters, and filters of tens of thousands of keys
// with the truth in a bitmap, scanned in batches. With broom_model_test.cpp these are the 5·10^7
// operations of every `./test`.

class broom_model_sweep : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {
  protected:
    static double rate() { return 1.0 / static_cast<double>(1u << std::get<0>(GetParam())); }
    static unsigned history() { return std::get<1>(GetParam()); }
};

TEST_P(broom_model_sweep, small_filters_keep_every_key_and_the_law) {
    test::findings wrong;
    const auto counts = test::drive_small_filters<broom_filter>(rate(), history(), 1'000'000, test::effort(4, 2, 20),
                                                                test::effort(2000, 400, 10'000), wrong);
    EXPECT_TRUE(wrong.none()) << wrong.text();
    test::record_figure("model_operations", counts.operations());
    test::record_figure("model_audits", counts.audits);
}

TEST_P(broom_model_sweep, large_filters_keep_every_key_through_growth_and_churn) {
    test::world_counts counts;
    for (const bool grows : {false, true}) {
        const std::uint64_t keys = test::effort(30'000, 6000, 200'000);
        test::broom_world<broom_filter> w{{.capacity = grows ? keys / 20 : keys,
                                           .rate = rate(),
                                           .history = history(),
                                           .grows = grows,
                                           .seed = 77 + history(),
                                           .universe = keys}};
        const std::uint64_t steps = test::effort(60'000, 8000, 1'500'000);
        test::drive(w, {.steps = steps,
                        .audit_every = 10'000,
                        .scan_every = steps / 70,
                        .hunt = 512,
                        .fault_share = 0,
                        .most_bins = 512,
                        .sweeps_per_million = 4'000'000 / steps + 1});
        EXPECT_TRUE(w.wrong.none()) << w.wrong.text();
        counts.add(w.counts);
    }
    test::record_figure("model_operations", counts.operations());
    test::record_figure("model_audits", counts.audits);
}

std::string name_of(const testing::TestParamInfo<std::tuple<unsigned, unsigned>>& tried) {
    return test::name_of_setting(std::get<0>(tried.param), std::get<1>(tried.param));
}

INSTANTIATE_TEST_SUITE_P(all, broom_model_sweep,
                         testing::Combine(testing::Values(8u, 10u, 13u, 20u, 24u), testing::Values(0u, 1u, 2u)),
                         name_of);

// ---- abuse --------------------------------------------------------------------------------------

// Operations in extreme numbers: absent keys erased by the million, one key inserted a million
// times, half a million adapts at full load, filling until there is no room, growing at every load,
// digests of few bits, keys of every length. Other filters failed some of these.

using test::broom_world;

void expect_sound(broom_world<broom_filter>& w) {
    w.scan();
    w.audit();
    EXPECT_TRUE(w.wrong.none()) << w.wrong.text();
}

TEST(broom_abuse, erasing_absent_keys_removes_no_stored_key) {
    for (unsigned history = 0; history < 3; ++history) {
        broom_world<broom_filter> w{{.capacity = 1000, .history = history, .seed = 21, .universe = 1000}};
        for (std::uint64_t key = 0; key < 1000; ++key) ASSERT_TRUE(w.insert(key));
        const std::uint64_t times = test::effort(334'000, 10'000, 10'000'000);
        for (std::uint64_t i = 0; i < times; ++i) {
            // Some of them are false positives: these match a stored key's slot.
            const auto key = i % 200 == 0 ? w.find_false_positive(1024) : 1'000'000'000 + i;
            if (key) w.erase(*key);
            if (!w.wrong.none()) break;
        }
        expect_sound(w);
    }
}

TEST(broom_abuse, one_key_inserted_a_million_times_takes_one_slot_and_grows_nothing) {
    broom_world<broom_filter> w{{.capacity = 100, .grows = true, .seed = 22, .universe = 100}};
    for (std::uint64_t key = 0; key < 50; ++key) ASSERT_TRUE(w.insert(key));
    const auto before = w.filter.details();
    const std::uint64_t bytes = w.filter.stats().local_bytes;
    const std::uint64_t times = test::effort(1'000'000, 30'000, 50'000'000);
    for (std::uint64_t i = 0; i < times && w.wrong.none(); ++i) ASSERT_TRUE(w.insert(7));
    EXPECT_EQ(w.filter.stats().keys, 50u);
    EXPECT_EQ(w.filter.details().bins, before.bins);
    EXPECT_EQ(w.filter.details().slots_used, before.slots_used);
    EXPECT_EQ(w.filter.details().growths, 0u);
    EXPECT_EQ(w.filter.stats().local_bytes, bytes);
    expect_sound(w);
}

TEST(broom_abuse, one_key_erased_and_inserted_in_turn_grows_nothing) {
    for (unsigned history = 0; history < 3; ++history) {
        broom_world<broom_filter> w{{.capacity = 100, .history = history, .grows = true, .seed = 23, .universe = 100}};
        for (std::uint64_t key = 0; key < 80; ++key) ASSERT_TRUE(w.insert(key));
        const std::uint64_t bins = w.filter.details().bins;
        const std::uint64_t times = test::effort(50'000, 3000, 2'000'000);
        for (std::uint64_t i = 0; i < times && w.wrong.none(); ++i) {
            w.erase(7);
            ASSERT_TRUE(w.insert(7));
        }
        EXPECT_EQ(w.filter.details().bins, bins);
        expect_sound(w);
    }
}

TEST(broom_abuse, half_a_million_adapts_at_full_load_lose_no_key) {
    broom_world<broom_filter> w{{.capacity = 1000, .seed = 24, .universe = 1000}};
    for (std::uint64_t key = 0; key < 1000; ++key) ASSERT_TRUE(w.insert(key));
    const std::uint64_t wanted = test::effort(500'000, 10'000, 10'000'000);
    for (std::uint64_t round = 0; w.counts.fixed < wanted && w.wrong.none(); ++round) {
        w.attack();
        if (round % 1000 == 0) w.scan();
    }
    expect_sound(w);
    const auto d = w.filter.details();
    EXPECT_LE(d.extended_slots, 8 * d.bins);
    EXPECT_LE(w.filter.stats().local_bytes, 64 * 1024u) << "an endless attack must not grow the filter";
    test::record_figure("adapts_at_full_load", w.counts.fixed);
}

TEST(broom_abuse, an_insert_that_finds_no_room_drops_no_other_key) {
    const std::uint64_t seeds = test::effort(1000, 60, 20'000);
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        broom_world<broom_filter> w{{.capacity = 1 + seed % 90,
                                     .rate = seed % 3 == 0 ? 0x1p-13 : 0x1p-8,
                                     .history = static_cast<unsigned>(seed % 3),
                                     .seed = seed,
                                     .universe = 400}};
        for (std::uint64_t key = 0; key < 400 && w.counts.full < 20; ++key) (void)w.insert(key);
        ASSERT_EQ(w.counts.full, 20u);
        expect_sound(w);
        // Room that an erase freed can be used again.
        const std::uint64_t members = w.members();
        for (std::uint64_t key = 0; key < 10; ++key) w.erase(key);
        for (std::uint64_t key = 0; key < 10; ++key) (void)w.insert(key);
        EXPECT_GE(w.members() + 10, members);
        expect_sound(w);
        if (HasFailure()) FAIL() << "seed " << seed;
    }
}

TEST(broom_abuse, growing_and_renewing_at_every_load_loses_no_key) {
    constexpr std::uint64_t slots = 10 * 48;
    for (const double rate : {0x1p-8, 0x1p-13}) {
        for (std::uint64_t percent = 1; percent <= 100; percent += test::sanitized ? 9 : 1) {
            broom_world<broom_filter> w{{.capacity = 450, .rate = rate, .seed = percent, .universe = 2 * slots}};
            const std::uint64_t keys = slots * percent / 100;
            for (std::uint64_t key = 0; key < keys; ++key) ASSERT_TRUE(w.insert(key));
            for (int i = 0; i < 5; ++i) {
                if (const auto found = w.find_false_positive(20'000); found) w.adapt(*found);
            }
            w.rebuild();
            w.audit();
            w.grow();
            w.audit();
            for (std::uint64_t key = slots; key < slots + keys; ++key) ASSERT_TRUE(w.insert(key));
            w.grow();
            w.rebuild();
            expect_sound(w);
            ASSERT_FALSE(HasFailure()) << percent << " %";
        }
    }
}

// Digests of only `bits` bits, spread over position and seed, so that keys share digests.
struct short_digests {
    hasher inner{hash_key::from_seed(25)};
    unsigned bits = 24;

    static digest make(const void* context, key_view key) noexcept {
        const auto& self = *static_cast<const short_digests*>(context);
        const std::uint64_t kept = self.inner(key).position >> (64 - self.bits);
        return digest{kept << (64 - self.bits), kept * 0x9e3779b97f4a7c15};
    }
};

TEST(broom_abuse, digests_of_few_bits_cost_false_positives_and_no_stored_key) {
    for (const unsigned bits : {24u, 14u}) {
        for (unsigned history = 0; history < 3; ++history) {
            short_digests few;
            few.bits = bits;
            const std::uint64_t universe = test::effort(20'000, 5000, 100'000);
            auto filter = *broom_filter::make({.capacity = universe / 8,
                                               .hash = hasher::custom(short_digests::make, &few),
                                               .history = static_cast<broom_history>(history),
                                               .random = repeatable(26)});
            memory_map remote;
            std::vector<bool> member(universe);
            test::splitmix chance{27};
            std::uint64_t true_positives = 0;
            const auto expect_all = [&] {
                for (std::uint64_t key = 0; key < universe; ++key) {
                    ASSERT_TRUE(!member[key] || filter.may_contain(key)) << "false negative";
                }
                const auto sound = filter.audit(remote);
                ASSERT_TRUE(sound) << sound.error().message();
            };
            for (std::uint64_t step = 0; step < 3 * universe; ++step) {
                const std::uint64_t key = chance.below(universe);
                const integer_key bytes{key};
                if (chance.below(3) != 0) {
                    ASSERT_TRUE(remote.put(filter.hash()(key), bytes.view()));
                    const auto outcome = filter.insert(key, remote);
                    ASSERT_TRUE(outcome) << outcome.error().message();
                    ASSERT_NE(*outcome, insert_outcome::full);
                    member[key] = true;
                } else {
                    const auto outcome = filter.erase(key, remote);
                    ASSERT_TRUE(outcome) << outcome.error().message();
                    ASSERT_EQ(*outcome == erase_outcome::erased, member[key]);
                    member[key] = false;
                    const auto adapted = filter.adapt(key, remote);
                    ASSERT_TRUE(adapted) << adapted.error().message();
                    true_positives += *adapted == adapt_outcome::true_positive ? 1u : 0u;
                }
                if (step % universe == universe / 2) expect_all();
            }
            expect_all();
            EXPECT_TRUE(bits > 20 || true_positives > 0) << "the digests were not short";
        }
    }
}

// All keys in one bin, as from an attacker who has the hash key: full or an error, and no key lost.
TEST(broom_abuse, keys_of_one_position_fill_one_bin_and_none_is_lost) {
    const auto one_position = [](const void*, key_view key) noexcept -> digest {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < key.size && i < 8; ++i)
            value |= std::to_integer<std::uint64_t>(key.data[i]) << (8 * i);
        return digest{12345, value * 0x9e3779b97f4a7c15};
    };
    for (const bool grows : {false, true}) {
        auto filter = *broom_filter::make(
            {.capacity = 40, .hash = hasher::custom(one_position, nullptr), .grows = grows, .random = repeatable(28)});
        memory_map remote;
        std::uint64_t members = 0;
        for (std::uint64_t key = 0; key < 300; ++key) {
            const integer_key bytes{key};
            ASSERT_TRUE(remote.put(filter.hash()(key), bytes.view()));
            const auto outcome = filter.insert(key, remote);
            if (outcome && *outcome != insert_outcome::full) {
                ++members;
            } else {
                ASSERT_TRUE(remote.erase(filter.hash()(key), bytes.view()));
            }
            for (std::uint64_t earlier = 0; earlier < members; ++earlier) ASSERT_TRUE(filter.may_contain(earlier));
        }
        EXPECT_EQ(members, 112u);
        EXPECT_LE(filter.details().bins, 64u) << "one crowded bin must not double the table for ever";
        const auto sound = filter.audit(remote);
        EXPECT_TRUE(sound) << sound.error().message();
    }
}

TEST(broom_abuse, keys_of_every_length_are_keys) {
    std::set<std::string> keys;
    test::splitmix chance{29};
    for (std::size_t length = 0; length <= 64; ++length) {
        for (int i = 0; i < (length == 0 ? 1 : 4); ++i) {
            const auto bytes = chance.bytes(length);
            keys.emplace(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        }
    }
    for (const std::size_t length : {100u, 1023u, 1024u, 1025u, 65'536u}) keys.insert(std::string(length, 'k'));
    keys.insert(std::string{"\0", 1});
    keys.insert(std::string{"\0\0", 2});
    auto filter =
        *broom_filter::make({.capacity = 40, .hash = hasher{hash_key::from_seed(30)}, .random = repeatable(31)});
    memory_map remote;
    for (const std::string& key : keys) {
        ASSERT_TRUE(remote.put(filter.hash()(key_view{key}), key_view{key}));
        const auto outcome = filter.insert(key_view{key}, remote);
        ASSERT_TRUE(outcome) << outcome.error().message();
        EXPECT_EQ(*outcome == insert_outcome::full, false);
    }
    const auto expect_all = [&] {
        for (const std::string& key : keys) EXPECT_TRUE(filter.may_contain(key_view{key})) << key.size() << " bytes";
        EXPECT_EQ(filter.stats().keys, keys.size());
        const auto sound = filter.audit(remote);
        EXPECT_TRUE(sound) << sound.error().message();
    };
    expect_all();
    ASSERT_TRUE(filter.grow(remote));
    ASSERT_TRUE(filter.rebuild(remote));
    expect_all();
    for (auto at = keys.begin(); at != keys.end();) {
        const auto outcome = filter.erase(key_view{*at}, remote);
        ASSERT_TRUE(outcome);
        EXPECT_EQ(*outcome, erase_outcome::erased);
        at = keys.erase(at);
        if (at != keys.end()) ++at;
    }
    expect_all();
}

}  // namespace
}  // namespace genista::broom_sweep_test
