// Snapshots of the broom filter, damaged and forged as often as in snapshot_sweep_test.cpp: during
// a growth and without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/broom_snapshot_exercise.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::broom_snapshot_sweep_test {
namespace {

using bytes = test::file_bytes;

// Stored keys, tombstones, extensions and backyard entries. `growing`: stops during a growth.
bytes after_use(std::uint64_t keys, double rate, bool growing) {
    auto filter = *broom_filter::make({.capacity = growing ? keys / 2 + 1 : keys,
                                       .false_positive_rate = rate,
                                       .hash = hasher{hash_key::from_seed(keys)},
                                       .key_is_new = keys % 2 == 0,
                                       .grows = growing,
                                       .random = repeatable(3)});
    memory_map remote;
    for (std::uint64_t key = 0; key < keys; ++key) {
        EXPECT_TRUE(remote.put(filter.hash()(key), key_view{reinterpret_cast<const std::byte*>(&key), sizeof key}));
        EXPECT_TRUE(filter.insert(key, remote));
        if (key % 8 == 3) {
            EXPECT_TRUE(filter.erase(key / 2, remote));
        }
        for (std::uint64_t absent_key = 0; absent_key < 20; ++absent_key) {
            EXPECT_TRUE(filter.adapt((std::uint64_t{1} << 40) + 100 * key + absent_key, remote));
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
    const bytes file = after_use(25'000, 1.0 / 256, false);
    ASSERT_GT(file.size(), 32'768u);
    test::expect_truncations_refused<broom_filter>(file);
}

TEST(broom_snapshot_sweep, every_bit_flip_is_refused) {
    test::expect_bit_flips_refused<broom_filter>(after_use(2'000, 1.0 / 1024, true));
}

TEST(broom_snapshot_sweep, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    std::vector<bytes> originals;
    for (const double rate : {0.02, 1.0 / 256, 1.0 / 4096, 1e-7}) {
        originals.push_back(after_use(2, rate, false));
        originals.push_back(after_use(401, rate, false));
        originals.push_back(after_use(600, rate, true));
    }
    test::expect_edits_refused_or_sound({originals, 12, test::scaled<std::uint64_t>(30'000, 3'000'000)}, 100,
                                        test::exercise_broom_snapshot);
}

}  // namespace
}  // namespace genista::broom_snapshot_sweep_test
