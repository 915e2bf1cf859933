// Where the filter comes from when a store is opened: from its snapshot and the log, or rebuilt
// from R if the snapshot cannot be used. In both cases every key is found and the audit passes, and
// a refused snapshot is removed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "genista/detail/base/fail_point.hpp"
#include "tests/crash/store_room.hpp"

namespace genista::test::reopening_test {
namespace {

namespace fs = std::filesystem;
using rocks::filter_origin;

class reopening : public store_room {
  protected:
    std::unique_ptr<either_store> open(const std::string& name = "db", bool snapshot_on_close = false) {
        return store_room::open(name, {.snapshot_on_close = snapshot_on_close, .wal_kept_mb = wal_mb_});
    }
    // A store with "a" in its one snapshot, and "b" in the log after it.
    void make_store(const std::string& name = "db") {
        const auto store = open(name);
        ASSERT_NE(store, nullptr);
        put_some(*store, "a");
        ASSERT_TRUE(store->save());
        put_some(*store, "b");
    }
    // Opens the store. Its one snapshot is refused and removed.
    void expect_rebuilt() {
        const auto before = snapshots_in(place_.path());
        const auto store = open();
        ASSERT_NE(store, nullptr);
        EXPECT_EQ(store->origin(), filter_origin::rebuilt);
        for (const std::string& each : before) EXPECT_FALSE(fs::exists(each)) << each;
        expect_all(*store, "a");
    }
    [[nodiscard]] std::string the_snapshot(const std::string& name = "db") {
        const auto all = snapshots_in(place_.path(name));
        EXPECT_EQ(all.size(), 1u);
        return all.empty() ? "" : *all.begin();
    }

    std::uint64_t wal_mb_ = 16;
};

TEST_P(reopening, after_a_clean_close_takes_the_snapshot) {
    {
        const auto store = open("db", true);
        put_some(*store, "a");
        ASSERT_TRUE(store->close());
    }
    const auto store = open();
    EXPECT_EQ(store->origin(), filter_origin::snapshot);
    expect_all(*store, "a");
}

TEST_P(reopening, repeats_the_log_since_the_snapshot) {
    make_store();
    const auto store = open();
    EXPECT_EQ(store->origin(), filter_origin::snapshot);
    expect_all(*store, "a");
    expect_all(*store, "b");
}

TEST_P(reopening, with_a_copy_of_a_running_store_takes_the_snapshot) {
    {
        const auto store = open();
        put_some(*store, "a");
        ASSERT_TRUE(store->save());
        put_some(*store, "b");
        fs::copy(place_.path(), place_.path("copy"), fs::copy_options::recursive);  // as a kill would leave it
    }
    const auto store = open("copy");
    EXPECT_EQ(store->origin(), filter_origin::snapshot);
    expect_all(*store, "a");
    expect_all(*store, "b");
}

TEST_P(reopening, rebuilds_if_the_snapshot_is_damaged) {
    make_store();
    const std::string path = the_snapshot();
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
    const auto middle = static_cast<std::streamoff>(fs::file_size(path) / 2);
    file.seekg(middle);
    const char byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(middle);
    file.put(byte);
    file.close();
    expect_rebuilt();
}

TEST_P(reopening, rebuilds_if_the_snapshot_is_cut_short) {
    make_store();
    fs::resize_file(the_snapshot(), fs::file_size(the_snapshot()) - 1);
    expect_rebuilt();
}

TEST_P(reopening, rebuilds_if_there_is_no_snapshot) {
    make_store();
    fs::remove(the_snapshot());
    expect_rebuilt();
}

TEST_P(reopening, rebuilds_if_the_snapshot_is_of_another_database) {
    make_store();
    make_store("other");
    fs::copy_file(the_snapshot("other"), the_snapshot(), fs::copy_options::overwrite_existing);
    expect_rebuilt();
}

TEST_P(reopening, takes_the_snapshot_before_if_the_newest_is_damaged) {
    make_store();
    {
        const auto store = open();
        ASSERT_TRUE(store->save());
    }
    const auto all = snapshots_in(place_.path());
    ASSERT_EQ(all.size(), 2u);
    fs::resize_file(*all.rbegin(), 100);
    const auto store = open();
    EXPECT_EQ(store->origin(), filter_origin::snapshot);
    EXPECT_EQ(snapshots_in(place_.path()), std::set<std::string>{*all.begin()});
    expect_all(*store, "a");
    expect_all(*store, "b");
}

// Puts an older copy of the database back, and keeps the folder of the snapshots unchanged.
void restore(const std::string& copy, const std::string& to) {
    for (const auto& each : fs::directory_iterator{to}) {
        if (each.path().filename() != "genista") fs::remove_all(each.path());
    }
    for (const auto& each : fs::directory_iterator{copy}) {
        if (each.path().filename() != "genista")
            fs::copy(each.path(), fs::path{to} / each.path().filename(), fs::copy_options::recursive);
    }
}

TEST_P(reopening, rebuilds_if_the_snapshot_is_newer_than_the_store) {
    {
        const auto store = open();
        put_some(*store, "a");
    }
    fs::copy(place_.path(), place_.path("copy"), fs::copy_options::recursive);
    {
        const auto store = open();
        for (int i = 0; i < 300; ++i) ASSERT_TRUE(store->erase("a" + std::to_string(i)));
        ASSERT_TRUE(store->save());
    }
    restore(place_.path("copy"), place_.path());
    expect_rebuilt();
}

// The mark of a snapshot is the moment before it was saved, and its bytes show later writes too. A
// store between the two has keys that the saved filter denies.
either_store* saving = nullptr;
std::string saving_from, saving_to;
void erase_after_the_mark(const char* name) {
    if (std::string_view{name} != "snapshotter.marked") return;
    at_fail_point.store(nullptr);
    for (int i = 0; i < 100; ++i) (void)saving->erase("a" + std::to_string(i));
    fs::copy(saving_from, saving_to, fs::copy_options::recursive);
    for (int i = 100; i < 300; ++i) (void)saving->erase("a" + std::to_string(i));
}

TEST_P(reopening, rebuilds_if_the_snapshot_shows_more_than_the_store) {
    {
        const auto store = open();
        put_some(*store, "a");
        put_some(*store, "b");
        saving = store.get();
        saving_from = place_.path();
        saving_to = place_.path("copy");
        at_fail_point.store(&erase_after_the_mark);
        ASSERT_TRUE(store->save());
        ASSERT_EQ(at_fail_point.load(), nullptr);
    }
    restore(place_.path("copy"), place_.path());
    const auto store = open();
    EXPECT_EQ(store->origin(), filter_origin::rebuilt);
    for (int i = 100; i < 300; ++i) EXPECT_TRUE(*store->get("a" + std::to_string(i))) << i;
    expect_all(*store, "b");
}

TEST_P(reopening, rebuilds_if_the_log_does_not_reach_back_to_the_snapshot) {
    wal_mb_ = 1;
    make_store();
    const std::string path = the_snapshot();
    {
        const auto store = open();
        const std::string value(4000, 'x');
        for (int i = 0; i < 1200; ++i) ASSERT_TRUE(store->put("b" + std::to_string(i % 300), value));
        ASSERT_TRUE(store->base().Flush({}).ok());
        for (const auto& each : fs::directory_iterator{place_.path() + "/archive"}) {
            fs::remove(each.path());  // RocksDB itself does it every ten minutes at most
        }
    }
    expect_rebuilt();
}

// Ingests are not in the log. Where the tables overlap nothing, not even a sequence number shows
// them.
TEST_P(reopening, rebuilds_if_tables_were_ingested_after_the_snapshot) {
    if (GetParam() == rocks::layout::clustered) return;
    {
        const auto store = open();
        ASSERT_TRUE(store->save());
        std::map<std::string, std::string> entries;
        for (int i = 0; i < 300; ++i) entries["a" + std::to_string(i)] = "ingested";
        ASSERT_TRUE(store->ingest(place_.path("table"), entries));
    }
    expect_rebuilt();
}

TEST_P(reopening, refuses_nothing_twice) {
    make_store();
    fs::remove(the_snapshot());
    expect_rebuilt();
    {
        const auto store = open("db", true);
        ASSERT_TRUE(store->close());
    }
    const auto store = open();
    EXPECT_EQ(store->origin(), filter_origin::snapshot);
    expect_all(*store, "b");
}

INSTANTIATE_TEST_SUITE_P(of, reopening, testing::Values(rocks::layout::clustered, rocks::layout::indexed),
                         [](const auto& each) { return std::string{rocks::to_string(each.param)}; });

}  // namespace
}  // namespace genista::test::reopening_test
