// A filter that cannot hold all keys, or holds none yet: the store opens, every key that the filter
// may lack is "maybe", and counters say how many ranges wait. The snapshotter's thread repairs them
// as far as the keys fit, and does not spin.
#include <gmock/gmock.h>

#include <condition_variable>
#include <filesystem>
#include <thread>

#include "genista/stores/rocksdb/clustered_db.hpp"
#include "tests/stores/guarded_db_world.hpp"
#include "tests/stores/plain_program.hpp"
#include "tests/support/scale.hpp"

namespace genista::test::partial_opening_test {
namespace {

void fill(guarded_db& db, std::uint64_t keys) {
    for (std::uint64_t i = 0; i < keys;) {
        rocksdb::WriteBatch batch;
        for (std::uint64_t end = std::min(keys, i + 1000); i < end; ++i) EXPECT_OK(batch.Put(key_number(i), "value"));
        ASSERT_TRUE(db.Write({}, &batch).ok());
    }
}

// Makes a store with so many keys, and closes it.
void make_store(const std::string& path, const guarded_db_options& options, std::uint64_t keys) {
    const auto db = open_guarded(path, options);
    fill(*db, keys);
    EXPECT_OK(db->Close());
}

// Stops the thread that reports until the test lets it continue.
class pause_point {
  public:
    void pass() {
        std::unique_lock held{mutex_};
        arrived_ = true;
        changed_.notify_all();
        changed_.wait(held, [this] { return open_; });
    }
    void wait_for_arrival() {
        std::unique_lock held{mutex_};
        changed_.wait(held, [this] { return arrived_; });
    }
    void open() {
        const std::lock_guard held{mutex_};
        open_ = true;
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool arrived_ = false, open_ = false;
};

TEST(partial_opening, keeps_what_fits_into_the_memory_limit) {
    if (thread_sanitized) GTEST_SKIP() << "one thread: the other presets run it";
    constexpr std::uint64_t keys = 30'000;
    const scratch folder;
    auto options = test_options();
    make_store(folder.path(), options, keys);
    const std::uint64_t own = rocks::rocks_guard_core::own_bytes();
    for (const std::uint64_t limit : {own + 50'000}) {
        options.filter.memory_limit = limit;
        const auto db = open_guarded(folder.path(), options);
        ASSERT_NE(db, nullptr);
        EXPECT_EQ(db->origin(), rocks::filter_origin::partial);
        const auto now = db->counters();
        EXPECT_GT(now.ranges_pending_repair, 0u);
        EXPECT_LE(now.local_bytes, limit);
        EXPECT_EQ(denied_of(*db, keys), 0u);
        // The store still takes writes, and closes.
        EXPECT_OK(db->Put({}, "new", "value"));
        EXPECT_TRUE(db->may_contain("new"));
        EXPECT_FALSE(db->snapshotter().save());
        EXPECT_OK(db->Close());
    }
    options.filter.memory_limit = own / 2;
    const auto refused = guarded_db::open(folder.path(), options);
    ASSERT_FALSE(refused);
    EXPECT_THAT(std::string{refused.error().message()}, testing::HasSubstr(std::to_string(own)));
    // No memory is left for a filter: the message names the limit that was given, not what the
    // guard leaves of it.
    options.filter.memory_limit = own + 1;
    const auto too_small = guarded_db::open(folder.path(), options);
    ASSERT_FALSE(too_small);
    EXPECT_THAT(std::string{too_small.error().message()}, testing::HasSubstr(std::to_string(own + 1)));
    options.filter.memory_limit.reset();
    const auto db = open_guarded(folder.path(), options);
    EXPECT_EQ(db->counters().ranges_pending_repair, 0u);
    expect_sound(*db);
}

// Puts keys aimed at one bin, as an adversary with the hash key can.
void put_aimed(guarded_db& db, std::uint64_t count) {
    std::uint64_t put = 0;
    for (std::uint64_t i = 0; put < count; ++i) {
        const std::string key = "aimed-" + std::to_string(i);
        if (db.core().hash()(key).position >> 54 != 3) continue;  // 4 of 4096 ranges
        ASSERT_TRUE(db.Put({}, key, "value").ok());
        ++put;
    }
}

TEST(partial_opening, leaves_out_a_bin_that_cannot_hold_its_keys) {
    const scratch folder;
    auto options = test_options();
    options.filter.grows = false;
    options.snapshotter.on_close = false;
    {
        const auto db = open_guarded(folder.path(), options);
        fill(*db, 1000);
        put_aimed(*db, 130);
        EXPECT_OK(db->Close());
    }
    // The thread tries again with growing delays, so the number of tries is bounded, however long
    // it runs.
    options.snapshotter.every = std::chrono::hours{1};
    options.snapshotter.watch = std::chrono::milliseconds{1};
    const auto db = open_guarded(folder.path(), options);
    ASSERT_NE(db, nullptr);
    EXPECT_EQ(db->origin(), rocks::filter_origin::partial);
    const auto pending = db->counters().ranges_pending_repair;
    EXPECT_GT(pending, 0u);
    EXPECT_LT(pending, range_states::number_of_ranges / 8);
    EXPECT_EQ(denied_of(*db, 1000), 0u);
    const auto before = db->counters().filter.remote_reads;
    std::this_thread::sleep_for(std::chrono::milliseconds{250});
    // The first try meets every such range. The later ones, after 1, 2, 4 ... 128 ms and so on,
    // take eight each. A bin is tried a few times each. Without the delays there would be 250
    // tries.
    EXPECT_LE(db->counters().filter.remote_reads - before, (pending + 10 * 8) * 8);
    EXPECT_EQ(db->counters().ranges_pending_repair, pending);
    std::uint64_t read = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) read += db->may_contain("absent-" + std::to_string(i)) ? 1u : 0u;
    EXPECT_LT(read, 2000 * pending / range_states::number_of_ranges + 200) << "the other ranges answer";
}

TEST(partial_opening, build_behind_builds_the_filter_after_the_opening) {
    constexpr std::uint64_t keys = 3000;
    const scratch folder;
    auto options = test_options();
    options.snapshotter.on_close = false;
    make_store(folder.path(), options, keys);
    pause_point stop;
    options.build_behind = true;
    options.progress = [&](rocks::opening_stage stage, std::uint64_t, std::uint64_t all) {
        EXPECT_EQ(stage, rocks::opening_stage::filtering);
        EXPECT_EQ(all, range_states::number_of_ranges);
        stop.pass();
    };
    const auto db = open_guarded(folder.path(), options);
    stop.wait_for_arrival();
    EXPECT_EQ(db->origin(), rocks::filter_origin::partial);
    EXPECT_GE(db->counters().ranges_pending_repair, range_states::number_of_ranges - 1);
    EXPECT_EQ(denied_of(*db, keys), 0u);
    EXPECT_FALSE(db->snapshotter().save());
    EXPECT_OK(db->Put({}, "beside it", "value"));
    EXPECT_OK(db->Delete({}, key_number(0)));
    EXPECT_TRUE(db->may_contain("beside it"));
    stop.open();
    while (db->counters().ranges_pending_repair > 0) std::this_thread::yield();
    std::string value;
    for (std::uint64_t i = 1; i < keys; ++i) EXPECT_OK(db->Get({}, key_number(i), &value));
    EXPECT_OK(db->Get({}, "beside it", &value));
    expect_sound(*db);
    EXPECT_TRUE(db->snapshotter().save());
}

TEST(partial_opening, build_behind_can_be_closed_and_cut_short) {
    constexpr std::uint64_t keys = 3000;
    const scratch folder;
    {
        const auto db = open_plain(folder.path(), std::make_shared<appending>());
        ASSERT_NE(db, nullptr);
        for (std::uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(db->Put({}, key_number(i), "value").ok());
    }
    for (int pieces = 0; pieces < 3; ++pieces) {
        const std::string closed = folder.path("closed-" + std::to_string(pieces));
        const std::string killed = folder.path("killed-" + std::to_string(pieces));
        std::filesystem::copy(folder.path(), closed, std::filesystem::copy_options::recursive);
        pause_point stop;
        auto options = test_options();
        options.build_behind = true;
        int seen = 0;
        options.progress = [&](rocks::opening_stage stage, std::uint64_t, std::uint64_t) {
            if (seen++ != pieces) return;
            EXPECT_EQ(stage, rocks::opening_stage::indexing);
            stop.pass();
        };
        const auto db = open_guarded(closed, options);
        ASSERT_NE(db, nullptr);
        stop.wait_for_arrival();
        EXPECT_EQ(denied_of(*db, keys), 0u);
        std::filesystem::copy(closed, killed, std::filesystem::copy_options::recursive);
        // Mostly Close() is first, and cuts the indexing short; if not, it waits for a piece more.
        std::thread closing{[&] { EXPECT_OK(db->Close()); }};
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        stop.open();
        closing.join();
        for (const std::string& each : {closed, killed}) {
            const auto again = open_guarded(each);
            EXPECT_EQ(denied_of(*again, keys), 0u);
            expect_sound(*again);
        }
    }
    auto options = test_options();
    options.build_behind = true;
    const auto db = open_guarded(folder.path(), options);
    while (db->counters().ranges_pending_repair > 0) std::this_thread::yield();
    EXPECT_EQ(denied_of(*db, keys), 0u);
    expect_sound(*db);
}

TEST(partial_opening, build_behind_beside_writers_denies_nothing) {
    constexpr std::uint64_t keys = 3000;
    const scratch folder;
    auto options = test_options();
    options.snapshotter.on_close = false;
    make_store(folder.path(), options, keys);
    options.build_behind = true;
    options.filter.capacity = 100;
    const auto db = open_guarded(folder.path(), options);
    std::string value;
    for (std::uint64_t i = 0; i < keys; ++i) {
        EXPECT_OK(db->Put({}, key_number(keys + i), "more"));
        EXPECT_OK(db->Get({}, key_number(keys + i), &value));
        EXPECT_OK(db->Get({}, key_number(i), &value));
        if (i % 3 == 0) EXPECT_OK(db->Delete({}, key_number(i)));
    }
    while (db->counters().ranges_pending_repair > 0) std::this_thread::yield();
    for (std::uint64_t i = 0; i < 2 * keys; ++i) {
        if (i >= keys || i % 3 != 0) EXPECT_OK(db->Get({}, key_number(i), &value));
    }
    expect_sound(*db);
}

TEST(partial_opening, ranges_that_need_repair_are_repaired_by_the_thread) {
    const scratch folder;
    const auto db = open_guarded(folder.path(), watched_options(std::chrono::milliseconds{2}));
    fill(*db, 500);
    for (int times = 0; times < 3; ++times) {
        db->core().need_repair_everywhere();
        while (db->counters().ranges_pending_repair > 0) std::this_thread::yield();
        EXPECT_EQ(denied_of(*db, 500), 0u);
    }
    expect_sound(*db);
}

TEST(partial_opening, of_the_clustered_layout) {
    if (thread_sanitized) GTEST_SKIP() << "one thread: the other presets run it";
    const scratch folder;
    rocks::clustered_db_options options;
    options.store.rocksdb.env = unsynced_env();
    options.store.key = hash_key::from_seed(3);
    options.filter.capacity = 1000;
    options.snapshotter = {.every = std::chrono::milliseconds{0}, .on_close = false};
    constexpr std::uint64_t keys = 8000;
    {
        auto db = rocks::clustered_db::open(folder.path(), options);
        ASSERT_TRUE(db);
        for (std::uint64_t i = 0; i < keys; ++i) ASSERT_TRUE((*db)->put(key_number(i), "value"));
        // Records that are written past the guard.
        EXPECT_TRUE((*db)->snapshotter().look());
        const std::string past = "past the guard";
        ASSERT_TRUE((*db)->store().write((*db)->store().hash()(past), past, "value"));
        EXPECT_FALSE((*db)->snapshotter().look());
        EXPECT_EQ((*db)->counters().foreign_writes, 1u);
        EXPECT_TRUE((*db)->may_contain(past));
        EXPECT_TRUE((*db)->repair());
        EXPECT_EQ((*db)->counters().ranges_pending_repair, 0u);
        EXPECT_TRUE((*db)->may_contain(past));
        EXPECT_TRUE((*db)->audit());
        EXPECT_TRUE((*db)->close());
    }
    options.filter.memory_limit = rocks::rocks_guard_core::own_bytes() + 36'000;
    {
        auto db = rocks::clustered_db::open(folder.path(), options);
        ASSERT_TRUE(db) << db.error().message();
        EXPECT_EQ((*db)->origin(), rocks::filter_origin::partial);
        EXPECT_LE((*db)->counters().local_bytes, *options.filter.memory_limit);
        EXPECT_EQ(denied_of(**db, keys), 0u);
        EXPECT_TRUE((*db)->close());
    }
    options.filter.memory_limit.reset();
    options.build_behind = true;
    auto db = rocks::clustered_db::open(folder.path(), options);
    ASSERT_TRUE(db) << db.error().message();
    EXPECT_EQ(denied_of(**db, keys), 0u);
    while ((*db)->counters().ranges_pending_repair > 0) std::this_thread::yield();
    EXPECT_EQ(denied_of(**db, keys), 0u);
    EXPECT_TRUE((*db)->audit());
}

}  // namespace
}  // namespace genista::test::partial_opening_test
