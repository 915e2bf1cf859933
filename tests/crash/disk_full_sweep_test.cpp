// A disk that fills up: writes return errors, acknowledged writes stay, and a snapshot without room
// leaves the former one. When there is room again and the store has been opened again, writes work.
#include <gtest/gtest.h>

#include "tests/crash/script.hpp"
#include "tests/crash/store_room.hpp"
#include "tests/support/failing_files.hpp"
#include "tests/support/scale.hpp"

namespace genista::test::disk_full_sweep_test {
namespace {

class disk_full : public testing::TestWithParam<rocks::layout> {};

TEST_P(disk_full, loses_and_denies_nothing_and_passes) {
    for (std::uint64_t seed = 1; seed <= scaled<std::uint64_t>(6, 200); ++seed) {
        const scratch place;
        io_fate fate;
        failing_env env{fate, std::make_shared<unsynced_files>()};
        script history{seed, place.path("table"), {.ranges_and_tables = false}};
        const std::string story = "seed " + std::to_string(seed);
        {
            auto store = either_store::open(place.path(), {.arrangement = GetParam(), .capacity = 150, .env = &env});
            ASSERT_TRUE(store) << store.error().message();
            for (std::uint64_t i = 0; i < 150 + 40 * seed % 200; ++i) ASSERT_TRUE(history.step(**store)) << story;
            fate.fill_disk();
            history.stop_flushing();
            std::uint64_t failed = 0;
            for (std::uint64_t i = 0; i < 60; ++i) failed += history.step(**store) ? 0u : 1u;
            EXPECT_GT(failed, 20u) << "the disk was not full enough, " << story;
            expect_possible(**store, history.possible(), "full, " + story);
            if (HasFatalFailure()) return;
        }
        fate.heal();
        auto again = either_store::open(place.path(), {.arrangement = GetParam(), .capacity = 150, .env = &env});
        ASSERT_TRUE(again) << again.error().message() << story;
        expect_possible(**again, history.possible(), "room again, " + story);
        for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(history.step(**again)) << story;
        expect_possible(**again, history.possible(), "going on, " + story);
        if (HasFatalFailure()) return;
    }
}

TEST_P(disk_full, leaves_the_former_snapshot) {
    const scratch place;
    io_fate fate;
    failing_env env{fate, std::make_shared<unsynced_files>()};
    {
        auto store = either_store::open(place.path(), {.arrangement = GetParam(), .env = &env});
        ASSERT_TRUE(store) << store.error().message();
        ASSERT_TRUE((*store)->put("ada", "1815"));
        ASSERT_TRUE((*store)->save());
        const auto before = snapshots_in(place.path(), "filter");
        ASSERT_EQ(before.size(), 1u);
        ASSERT_TRUE((*store)->put("grace", "1906"));
        fate.fill_disk();
        EXPECT_FALSE((*store)->save());
        EXPECT_EQ((*store)->snapshotter().failures(), 1u);
        EXPECT_EQ(snapshots_in(place.path(), "filter"), before);
        EXPECT_FALSE((*store)->close());  // it could not save, and reports so
        EXPECT_EQ(snapshots_in(place.path(), "filter"), before);
    }
    fate.heal();
    auto again = either_store::open(place.path(), {.arrangement = GetParam(), .env = &env});
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ((*again)->origin(), rocks::filter_origin::snapshot);
    EXPECT_TRUE(*(*again)->get("ada"));
    EXPECT_TRUE(*(*again)->get("grace"));
    EXPECT_TRUE((*again)->audit());
}

INSTANTIATE_TEST_SUITE_P(of, disk_full, testing::Values(rocks::layout::clustered, rocks::layout::indexed),
                         [](const auto& each) { return std::string{rocks::to_string(each.param)}; });

}  // namespace
}  // namespace genista::test::disk_full_sweep_test
