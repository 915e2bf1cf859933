// Sequence numbers that stand in the store's logs twice. A filter that is brought up to date from
// the log, and the look for foreign writes, must read the later of the two: the keys of the other
// would be denied.
//
//     discarded_log   after a loss of power RocksDB may discard a whole log, because the one before
//                     it ends in a torn record. The file stays in the archive
//     unsynced_batch  a batch that was appended to a log and could not be synced has failed, but
//                     its bytes stay in the file. When RocksDB continues (a full disk has room
//                     again), it begins a new log with the same numbers
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/crash/store_room.hpp"
#include "tests/support/failing_files.hpp"

namespace genista::test::reused_numbers_test {
namespace {

namespace fs = std::filesystem;

std::string newest_log(const std::string& folder) {
    std::string newest;
    for (const auto& each : fs::directory_iterator{folder}) {
        if (each.path().extension() == ".log") newest = std::max(newest, each.path().filename().string());
    }
    return newest;
}

class discarded_log : public store_room {};

TEST_P(discarded_log, is_not_mistaken_for_the_log_that_came_after) {
    const std::string image = place_.path("image");
    const store_settings settings{.arrangement = GetParam(), .snapshot_on_close = false};
    std::uint64_t first_discarded = 0;
    {
        auto store = either_store::open(place_.path(), settings);
        ASSERT_TRUE(store) << store.error().message();
        rocksdb::DB& db = (*store)->base();
        ASSERT_TRUE(db.PauseBackgroundWork().ok());
        put_some(**store, "kept-", 20);
        const std::string torn = newest_log(place_.path());
        const std::uint64_t kept_bytes = fs::file_size(place_.path() + "/" + torn);
        put_some(**store, "torn-", 10);
        rocksdb::FlushOptions later;
        later.wait = false;
        ASSERT_TRUE(db.Flush(later).ok());
        put_some(**store, "after-", 1);
        ASSERT_NE(newest_log(place_.path()), torn);
        first_discarded = db.GetLatestSequenceNumber() - ((*store)->is_indexed() ? 1 : 0);
        put_some(**store, "discarded-", 30);
        fs::copy(place_.path(), image, fs::copy_options::recursive);
        fs::resize_file(image + "/" + torn, kept_bytes + 9);  // in the middle of a record
        ASSERT_TRUE(db.ContinueBackgroundWork().ok());
    }
    {
        auto store = either_store::open(image, settings);
        ASSERT_TRUE(store) << store.error().message();
        rocksdb::DB& db = (*store)->base();
        ASSERT_LT(db.GetLatestSequenceNumber(), first_discarded) << "RocksDB did not discard the log";
        ASSERT_FALSE(*(*store)->get("torn-0"));
        ASSERT_FALSE(*(*store)->get("discarded-0"));
        // An indexed put takes two numbers. If an odd count is left, a deletion of an absent key
        // takes one.
        if ((*store)->is_indexed() && (first_discarded - db.GetLatestSequenceNumber()) % 2 == 0) {
            ASSERT_TRUE(db.Delete({}, "nothing").ok());
        }
        for (int i = 0; db.GetLatestSequenceNumber() + 1 < first_discarded; ++i)
            ASSERT_TRUE((*store)->put("new-" + std::to_string(i), "value"));
        ASSERT_EQ(db.GetLatestSequenceNumber() + 1, first_discarded);
        ASSERT_TRUE((*store)->save());
        put_some(**store, "denied-", 5);
    }
    auto store = either_store::open(image, settings);
    ASSERT_TRUE(store) << store.error().message();
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(*(*store)->get("denied-" + std::to_string(i))) << i;
    const auto sound = (*store)->audit();
    EXPECT_TRUE(sound) << sound.error().message();
}

INSTANTIATE_TEST_SUITE_P(of, discarded_log, testing::Values(rocks::layout::clustered, rocks::layout::indexed),
                         [](const auto& each) { return std::string{rocks::to_string(each.param)}; });

struct story {
    rocks::layout arrangement;
    bool first_in_its_log;
    int batch;  // keys of the batch that fails
    int after;  // keys that are put when RocksDB continues, one by one
    bool past_the_guard;
};

class unsynced_batch : public testing::TestWithParam<story> {};

void resume(either_store& store) {
    for (int tries = 0; tries < 1000 && !store.resume(); ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds{1});  // RocksDB itself may be resuming
}

result<void> fail_a_batch(either_store& store, int keys) {
    if (keys == 1) return store.put("failed-0", "value");
    std::vector<change> all;
    for (int i = 0; i < keys; ++i) all.emplace_back("failed-" + std::to_string(i), "value");
    return store.write(all);
}

TEST_P(unsynced_batch, is_not_mistaken_for_the_writes_after_it) {
    const story told = GetParam();
    const scratch place;
    const std::string image = place.path("image");
    io_fate fate;
    failing_env env{fate, std::make_shared<unsynced_files>()};
    const store_settings settings{
        .arrangement = told.arrangement, .snapshot_on_close = false, .sync = true, .env = &env};
    {
        auto store = either_store::open(place.path(), settings);
        ASSERT_TRUE(store) << store.error().message();
        for (int i = 0; i < 20; ++i) ASSERT_TRUE((*store)->put("before-" + std::to_string(i), "value"));
        ASSERT_TRUE((*store)->save());
        ASSERT_TRUE((*store)->put("last", "value"));
        if (told.first_in_its_log) {
            ASSERT_TRUE((*store)->base().Flush({}).ok());
        }
        fate.fail_next("Sync", ".log");
        EXPECT_FALSE(fail_a_batch(**store, told.batch));
        EXPECT_EQ(fate.failed(), 1u);
        resume(**store);
        for (int i = 0; i < told.after; ++i) {
            const std::string key = "after-" + std::to_string(i);
            const bool done = told.past_the_guard ? (*store)->base().Put({}, key, "value").ok()
                                                  : (*store)->put(key, "value").has_value();
            ASSERT_TRUE(done);
        }
        fs::copy(place.path(), image, fs::copy_options::recursive);
    }
    auto store = either_store::open(image, settings);
    ASSERT_TRUE(store) << store.error().message();
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(*(*store)->get("before-" + std::to_string(i))) << i;
    for (int i = 0; i < told.after; ++i) EXPECT_TRUE(*(*store)->get("after-" + std::to_string(i))) << i;
    EXPECT_FALSE(*(*store)->get("failed-0"));
    const auto sound = (*store)->audit();
    EXPECT_TRUE(sound) << sound.error().message();
}

constexpr auto clustered = rocks::layout::clustered, indexed = rocks::layout::indexed;
INSTANTIATE_TEST_SUITE_P(of, unsynced_batch,
                         testing::Values(story{clustered, false, 1, 1, false}, story{clustered, true, 1, 1, false},
                                         story{indexed, false, 1, 1, false}, story{indexed, true, 1, 1, false},
                                         story{indexed, false, 50, 20, false}, story{indexed, true, 50, 20, false},
                                         story{indexed, false, 1, 2, true}, story{indexed, true, 50, 20, true}),
                         [](const auto& each) {
                             return std::string{rocks::to_string(each.param.arrangement)} +
                                    (each.param.first_in_its_log ? "_first" : "_last") + "_of_" +
                                    std::to_string(each.param.batch) + "_before_" + std::to_string(each.param.after) +
                                    (each.param.past_the_guard ? "_foreign" : "");
                         });

}  // namespace
}  // namespace genista::test::reused_numbers_test
