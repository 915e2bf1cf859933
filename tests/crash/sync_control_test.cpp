// Why a snapshot syncs the store's log before it is published (rule 3, filter_snapshotter.hpp): the
// saved bytes show erases that happened after the snapshot's mark. If a loss of power removes them
// from the log, the keys are in the store again, and the snapshot denies them.
//
// The control is the snapshotter's sequence without the sync, and without the number of the store's
// last write in the file name (the second check against the same fault). It must lose keys, and the
// snapshotter must not.
#include <gtest/gtest.h>

#include "genista/detail/base/fail_point.hpp"
#include "stores/rocksdb/snapshot_files.hpp"
#include "tests/crash/either_store.hpp"
#include "tests/stores/scratch.hpp"
#include "tests/support/power_loss_files.hpp"

namespace genista::test::sync_control_test {
namespace {

constexpr int keys = 300;

std::string key_number(int number) {
    return "key-" + std::to_string(number);
}

// Erases half of the keys between mark and save, as another thread may.
either_store* erased_from = nullptr;
void erase_half(const char* point) {
    if (std::string_view{point} != "snapshotter.marked" || erased_from == nullptr) return;
    for (int i = 0; i < keys; i += 2) (void)erased_from->erase(key_number(i));
    erased_from = nullptr;
}

// mark, save, publish: everything except the sync of the log.
result<void> save_without_sync(either_store& store) {
    const rocks::snapshotter_place place = store.place();
    const store_mark mark{.identity = place.identity_now(), .sequence = place.db->GetLatestSequenceNumber()};
    erase_half("snapshotter.marked");
    auto file = rocks::published_file::create(*place.db->GetFileSystem(), place.folder());
    if (!file) return file.error();
    if (const auto saved = store.core().filter().save(**file, mark); !saved) return saved;
    return (*file)->publish(rocks::snapshot_path(place.folder(), mark.sequence));
}

struct outcome {
    int images = 0, with_snapshot = 0, denying = 0;
};

class sync_control : public testing::TestWithParam<rocks::layout> {
  protected:
    // The power of a store fails right after a snapshot. Draws many disks that may be left.
    outcome lose_power_after(result<void> (*save)(either_store&)) {
        const scratch place;
        disk_diary diary;
        const std::unique_ptr<rocksdb::Env> env =
            rocksdb::NewCompositeEnv(std::make_shared<power_loss_files>(diary, std::make_shared<unsynced_files>()));
        std::size_t moment = 0;
        {
            auto store = either_store::open(place.path(),
                                            {.arrangement = GetParam(), .snapshot_on_close = false, .env = env.get()});
            EXPECT_TRUE(store) << store.error().message();
            for (int i = 0; i < keys; ++i) EXPECT_TRUE((*store)->put(key_number(i), "value"));
            EXPECT_TRUE((*store)->sync());
            erased_from = store->get();
            at_fail_point.store(&erase_half);
            EXPECT_TRUE(save(**store));
            at_fail_point.store(nullptr);
            EXPECT_EQ(erased_from, nullptr);
            moment = diary.moments();
        }
        outcome seen;
        splitmix chance{31};
        for (; seen.images < 12; ++seen.images) {
            diary.draw(moment, chance, place.path(), place.path("image"));
            auto store = either_store::open(place.path("image"), {.arrangement = GetParam()});
            EXPECT_TRUE(store) << store.error().message();
            seen.with_snapshot += (*store)->origin() == rocks::filter_origin::snapshot ? 1 : 0;
            bool denies = false;
            EXPECT_TRUE((*store)->for_each_key(
                [&](const std::string& key) { denies = denies || !(*store)->may_contain(key); }));
            EXPECT_EQ(bool{(*store)->audit()}, !denies);
            seen.denying += denies ? 1 : 0;
        }
        return seen;
    }
};

TEST_P(sync_control, a_snapshotter_that_does_not_sync_the_log_loses_keys) {
    const outcome seen = lose_power_after(&save_without_sync);
    EXPECT_EQ(seen.with_snapshot, seen.images);
    EXPECT_GT(seen.denying, seen.images / 2);
}

TEST_P(sync_control, the_snapshotter_loses_none) {
    const outcome seen = lose_power_after([](either_store& store) { return store.save(); });
    EXPECT_EQ(seen.with_snapshot, seen.images);
    EXPECT_EQ(seen.denying, 0);
}

INSTANTIATE_TEST_SUITE_P(of, sync_control, testing::Values(rocks::layout::clustered, rocks::layout::indexed),
                         [](const auto& each) { return std::string{rocks::to_string(each.param)}; });

}  // namespace
}  // namespace genista::test::sync_control_test
