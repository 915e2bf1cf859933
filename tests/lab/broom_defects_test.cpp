// broom-space, broom-rotation and local-lower-bound see the defects that their pages name: each
// planted defect changes the verdict.
#include <gtest/gtest.h>

#include <string>

#include "genista/filters/broom.hpp"
#include "lab/adversaries/rounds.hpp"
#include "lab/controls/controls.hpp"
#include "lab/experiments/broom_rotation.hpp"
#include "lab/games/remembering_bloom.hpp"
#include "lab/workloads/broom_runs.hpp"

namespace genista::lab::broom_defects_test {
namespace {

attack_added added(double first, double step) {
    attack_added made{.keys = 1'000'000};
    for (std::uint64_t i = 0; i < attack_checkpoints; ++i) made.added.push_back(first + step * static_cast<double>(i));
    return made;
}

TEST(broom_space_defects, fifteen_percent_of_all_bits_and_a_slow_leak_are_seen) {
    EXPECT_TRUE(added(1.0, 0).kept());
    EXPECT_FALSE(added(0.15 * 12, 0).kept());  // of the 12 bits a key of a full filter
    EXPECT_TRUE(added(0.5, 0.004).kept());
    EXPECT_FALSE(added(0.5, 0.012).kept());  // 0.12 bits a key more in every third
}

TEST(broom_space_defects, a_broom_filter_that_leaks_side_memory_is_detected) {
    const attack_added whole = attack_broom<broom_filter, broom_options>(
        100'000, 0.05, 1, [](std::uint64_t, const attack_added&, const broom_filter&) {});
    EXPECT_TRUE(whole.kept()) << whole.most() << ", drift " << whole.drift();
    const attack_added leaking = attack_leaking_broom(100'000, 0.05, 1);
    EXPECT_TRUE(leaking.sound);
    EXPECT_FALSE(leaking.stays_small()) << leaking.most();
    EXPECT_FALSE(leaking.stops()) << leaking.drift();
}

rotation_seen rotated(double share_of_law) {
    rotation_seen made{.keys = 99'999, .longest_phase = 33'334, .least_moved = 99'999, .phases = phases_played};
    made.bits_per_key = share_of_law * made.lawful_bits();
    made.fullest = static_cast<std::uint64_t>(4.5 * made.log());
    return made;
}

TEST(broom_rotation_defects, fifteen_percent_more_bits_a_phase_too_long_and_a_full_group_are_seen) {
    EXPECT_TRUE(rotated(1).kept());
    EXPECT_FALSE(rotated(1.16).kept());
    rotation_seen slow = rotated(1);
    slow.longest_phase = 33'335;
    EXPECT_FALSE(slow.kept());
    rotation_seen left_behind = rotated(1);
    left_behind.least_moved = 99'998;
    EXPECT_FALSE(left_behind.kept());
    rotation_seen crowded = rotated(1);
    crowded.fullest = static_cast<std::uint64_t>(6.5 * crowded.log());
    EXPECT_FALSE(crowded.kept());
}

// ---- local-lower-bound: universes are real -----------------------------------------------------

TEST(universes, keys_are_drawn_from_them_and_kept_whole) {
    for (const unsigned bits : {20u, 32u, 64u, 256u}) {
        remembering_arena at{{.keys = 500, .total_bits = 8'000, .universe_bits = bits}, 0.25};
        insert_uniformly(at, 500, 1, bits);
        for (std::uint64_t key = 0; key < 100; ++key) EXPECT_EQ(at.filter().text_of(key).size(), (bits + 7) / 8);
        if (bits < 64) {
            EXPECT_FALSE(at.is_member(std::uint64_t{1} << bits));
        }
    }
    const remembering_bloom filter{{.keys = 500, .total_bits = 8'000, .universe_bits = 20}};
    EXPECT_EQ(filter.text_of(0xabcde), (std::string{'\xab', '\xcd', '\xe0'}));
    const remembering_bloom large{{.keys = 500, .total_bits = 8'000, .universe_bits = 256}};
    EXPECT_NE(large.text_of(1).substr(8), large.text_of(2).substr(8));
}

std::uint64_t denied(unsigned kept_bits) {
    std::uint64_t all = 0;
    for (std::uint64_t game = 1; game <= 5; ++game) {
        remembering_arena at{
            {.keys = 1'000, .total_bits = 12'000, .bloom_share = 0.25, .universe_bits = 20, .kept_bits = kept_bits},
            0.25};
        insert_uniformly(at, 1'000, 2 * game, 20);
        (void)attack_in_rounds(at, {.seed = 2 * game + 1, .universe_bits = 20});
        for (std::uint64_t key = 0; key < std::uint64_t{1} << 20; ++key) {
            if (at.is_member(key)) (void)at.query(key);
        }
        all += at.counted().false_negatives;
    }
    return all;
}

TEST(universes, a_cache_that_keeps_15_percent_less_of_a_key_denies_stored_keys) {
    EXPECT_EQ(denied(20), 0u);
    EXPECT_GT(denied(17), 0u);
}

}  // namespace
}  // namespace genista::lab::broom_defects_test
