// After power loss RocksDB may discard a whole log, because the one before it ends in a torn
// record. The file stays in the archive, and its sequence numbers are used a second time. A filter
// that is brought up to date from the log must not read the discarded one instead of the new one:
// it would deny the keys of the new log.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/crash/either_store.hpp"
#include "tests/stores/scratch.hpp"

namespace genista::test::discarded_log_test {
namespace {

namespace fs = std::filesystem;

std::string newest_log(const std::string& folder) {
    std::string newest;
    for (const auto& each : fs::directory_iterator{folder}) {
        if (each.path().extension() == ".log") newest = std::max(newest, each.path().filename().string());
    }
    return newest;
}

void put_all(either_store& store, const std::string& prefix, int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(store.put(prefix + std::to_string(i), "value"));
}

class discarded_log : public testing::TestWithParam<rocks::layout> {};

TEST_P(discarded_log, is_not_mistaken_for_the_log_that_came_after) {
    const scratch place;
    const std::string image = place.path("image");
    const store_settings settings{.arrangement = GetParam(), .snapshot_on_close = false};
    std::uint64_t first_discarded = 0;
    {
        auto store = either_store::open(place.path(), settings);
        ASSERT_TRUE(store) << store.error().message();
        rocksdb::DB& db = (*store)->base();
        ASSERT_TRUE(db.PauseBackgroundWork().ok());
        put_all(**store, "kept-", 20);
        const std::string torn = newest_log(place.path());
        const std::uint64_t kept_bytes = fs::file_size(place.path() + "/" + torn);
        put_all(**store, "torn-", 10);
        rocksdb::FlushOptions later;
        later.wait = false;
        ASSERT_TRUE(db.Flush(later).ok());
        put_all(**store, "after-", 1);
        ASSERT_NE(newest_log(place.path()), torn);
        first_discarded = db.GetLatestSequenceNumber() - ((*store)->is_indexed() ? 1 : 0);
        put_all(**store, "discarded-", 30);
        fs::copy(place.path(), image, fs::copy_options::recursive);
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
        put_all(**store, "denied-", 5);
    }
    auto store = either_store::open(image, settings);
    ASSERT_TRUE(store) << store.error().message();
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(*(*store)->get("denied-" + std::to_string(i))) << i;
    const auto sound = (*store)->audit();
    EXPECT_TRUE(sound) << sound.error().message();
}

INSTANTIATE_TEST_SUITE_P(of, discarded_log, testing::Values(rocks::layout::clustered, rocks::layout::indexed),
                         [](const auto& each) { return std::string{rocks::to_string(each.param)}; });

}  // namespace
}  // namespace genista::test::discarded_log_test
