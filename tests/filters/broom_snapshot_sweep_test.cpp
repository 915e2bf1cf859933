// Snapshots of the broom filter, damaged and forged in bulk: the figures of snapshot_sweep_test.cpp for a filter with a
// remote map, in the middle of a growth and at rest.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/broom_snapshot_exercise.hpp"
#include "support/fix_checksums.hpp"
#include "support/scale.hpp"
#include "support/splitmix.hpp"

namespace genista {
namespace {

using bytes = std::vector<std::byte>;

// Members, dead slots, extensions and backyard entries. `growing`: stops in the middle of a growth.
bytes lived_in(std::uint64_t keys, double rate, bool growing) {
    auto filter = *broom_filter::make({.capacity = growing ? keys / 2 + 1 : keys,
                                       .false_positive_rate = rate,
                                       .hash = hasher{hash_key::from_seed(keys)},
                                       .key_is_new = keys % 2 == 0,
                                       .grows = growing,
                                       .repeatable = 3});
    memory_map remote;
    for (std::uint64_t key = 0; key < keys; ++key) {
        EXPECT_TRUE(remote.put(filter.hash()(key), key_view{reinterpret_cast<const std::byte*>(&key), sizeof key}));
        EXPECT_TRUE(filter.insert(key, remote));
        if (key % 8 == 3) {
            EXPECT_TRUE(filter.erase(key / 2, remote));
        }
        for (std::uint64_t stranger = 0; stranger < 20; ++stranger) {
            EXPECT_TRUE(filter.adapt((std::uint64_t{1} << 40) + 100 * key + stranger, remote));
        }
        if (growing && key > keys / 2 && filter.details().growth_done > 0.3) break;
    }
    if (growing) {
        EXPECT_GT(filter.details().growth_done, 0.0);
    }
    EXPECT_TRUE(filter.audit(remote));
    vector_sink out;
    EXPECT_TRUE(filter.save(out));
    return std::move(out).take();
}

TEST(broom_snapshot_sweep, every_truncation_is_refused) {
    const bytes file = lived_in(25'000, 1.0 / 256, false);
    ASSERT_GT(file.size(), 32'768u);
    for (std::size_t length = 0; length < file.size(); ++length) {
        const bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
        ASSERT_FALSE(broom_filter::load(cut)) << length;
    }
}

TEST(broom_snapshot_sweep, every_bit_flip_is_refused) {
    bytes file = lived_in(2'000, 1.0 / 1024, true);
    ASSERT_TRUE(broom_filter::load(file));
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
        const auto mask = static_cast<std::byte>(1u << bit % 8);
        file[bit / 8] ^= mask;
        ASSERT_FALSE(broom_filter::load(file)) << bit;
        file[bit / 8] ^= mask;
    }
}

TEST(broom_snapshot_sweep, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    test::splitmix chance{12};
    std::vector<bytes> originals;
    for (const double rate : {0.02, 1.0 / 256, 1.0 / 4096, 1e-7}) {
        originals.push_back(lived_in(2, rate, false));
        originals.push_back(lived_in(401, rate, false));
        originals.push_back(lived_in(600, rate, true));
    }
    const auto rounds = test::scaled<std::uint64_t>(30'000, 3'000'000);
    std::uint64_t accepted = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        bytes forged = originals[chance.below(originals.size())];
        for (auto edits = 1 + chance.below(3); edits > 0; --edits) {
            // Parameters, the header's lengths, or anywhere.
            const std::uint64_t where = chance.below(3);
            const std::size_t at = where == 0 ? 192 + chance.below(100) : 56 + chance.below(forged.size() - 64);
            const std::size_t width = std::size_t{1} << chance.below(4);
            if (at + width > forged.size() || (at >= 128 && at < 192)) continue;
            if (chance.below(2) == 0) {
                forged[at] ^= static_cast<std::byte>(1u << chance.below(8));
            } else {
                test::put_little_endian(forged, at, width, chance.below(3) == 0 ? chance() : chance.below(64));
            }
        }
        test::fit_lengths(forged);
        test::fix_key_id(forged);
        test::fix_envelope(forged);
        const test::exercise_outcome outcome = test::exercise_broom_snapshot(forged);
        ASSERT_EQ(outcome.broken, nullptr) << outcome.broken << ", round " << round;
        accepted += outcome.loaded ? 1 : 0;
    }
    EXPECT_GT(accepted, rounds / 50);
    EXPECT_LT(accepted, rounds * 49 / 50);
}

}  // namespace
}  // namespace genista
