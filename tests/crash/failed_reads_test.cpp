// A disk that writes but does not read. Puts reach the store, but an insert into the filter that
// must read the key's neighbours fails: their ranges then need repair (guard/range_states.hpp). No
// key is denied, no snapshot is taken that would deny one, and when reads work again a repair
// inserts every key.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/crash/either_store.hpp"
#include "tests/stores/scratch.hpp"
#include "tests/support/failing_files.hpp"

namespace genista::test::failed_reads_test {
namespace {

constexpr int keys = 4000;

std::string key_number(int number) {
    return "key-" + std::to_string(number);
}

class failed_reads : public testing::TestWithParam<rocks::layout> {};

TEST_P(failed_reads, leave_ranges_for_repair_and_deny_nothing) {
    const scratch place;
    io_fate fate;
    for (const char* each : {"Append", "Sync", "Fsync", "Close", "NewWritableFile", "NewDirectory", "RenameFile",
                             "DeleteFile", "FsyncWithDirOptions", "NewSequentialFile"})
        fate.spare(each, "");
    failing_env env{fate, std::make_shared<unsynced_files>()};
    auto opened = either_store::open(
        place.path(), {.arrangement = GetParam(), .snapshot_on_close = false, .env = &env, .cold = true});
    ASSERT_TRUE(opened) << opened.error().message();
    either_store& store = **opened;
    for (int i = 0; i < keys / 2; ++i) ASSERT_TRUE(store.put(key_number(i), "value"));
    ASSERT_TRUE(store.save());
    ASSERT_TRUE(store.base().Flush({}).ok());
    ASSERT_TRUE(store.base().Flush({}, &store.records().family()).ok());
    ASSERT_TRUE(store.base().PauseBackgroundWork().ok());  // a compaction that cannot read would end all writes

    fate.fail_from(fate.calls());
    int put = keys / 2;
    for (; put < 50 * keys && store.counters().ranges_pending_repair < 3; ++put)
        ASSERT_TRUE(store.put(key_number(put), "value"));
    ASSERT_GT(store.counters().ranges_pending_repair, 0u) << "the filter never had to read";
    EXPECT_FALSE(store.save());
    EXPECT_FALSE(store.repair());
    for (int i = 0; i < put; ++i) ASSERT_TRUE(store.may_contain(key_number(i))) << i;
    std::filesystem::copy(place.path(), place.path("copy"), std::filesystem::copy_options::recursive);

    fate.heal();
    ASSERT_TRUE(store.base().ContinueBackgroundWork().ok());
    EXPECT_TRUE(store.repair());
    EXPECT_EQ(store.counters().ranges_pending_repair, 0u);
    EXPECT_TRUE(store.audit());
    EXPECT_TRUE(store.save());

    // A process killed in this state leaves a store that opens well:
    auto copy = either_store::open(place.path("copy"), {.arrangement = GetParam()});
    ASSERT_TRUE(copy) << copy.error().message();
    for (int i = 0; i < put; ++i) ASSERT_TRUE(*(*copy)->get(key_number(i))) << i;
    EXPECT_TRUE((*copy)->audit());
}

INSTANTIATE_TEST_SUITE_P(of, failed_reads, testing::Values(rocks::layout::clustered, rocks::layout::indexed),
                         [](const auto& each) { return std::string{rocks::to_string(each.param)}; });

}  // namespace
}  // namespace genista::test::failed_reads_test
