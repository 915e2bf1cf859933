// Two histories with one identity: a copy of the files is used beside the original, and both use
// the same sequence numbers for different writes. A filter saved by one must be refused by the
// other: it would deny the other's keys.
#include <gtest/gtest.h>

#include <filesystem>

#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "tests/crash/store_room.hpp"
#include "tests/stores/plain_program.hpp"

namespace genista::test::forked_history_test {
namespace {

namespace fs = std::filesystem;

class forked_history : public store_room {
  protected:
    void copy(const std::string& from, const std::string& to) {
        fs::remove_all(place_.path(to));
        fs::copy(place_.path(from), place_.path(to), fs::copy_options::recursive);
    }
    // Puts the snapshots of one copy in place of the other's.
    void copy_snapshots(const std::string& from, const std::string& to) {
        fs::remove_all(place_.path(to) + "/genista");
        fs::copy(place_.path(from) + "/genista", place_.path(to) + "/genista", fs::copy_options::recursive);
    }

    // Writes as a program without a guard. In the clustered layout it writes valid records.
    void write_plainly(const std::string& name, const std::string& prefix, const hasher& hash, int count = 300) {
        plain_program plain{place_.path(name), small_rocksdb_options(nullptr)};
        ASSERT_TRUE(plain.is_open());
        for (int i = 0; i < count; ++i) {
            const std::string key = prefix + std::to_string(i);
            const rocks::record_key record{hash(key), key};
            const bool is_record = GetParam() == rocks::layout::clustered;
            ASSERT_TRUE(plain->Put({}, is_record ? record.slice() : rocksdb::Slice{key}, "value").ok());
        }
    }

    // The copy gets other writes than the original, and then the original's snapshots.
    void expect_that_the_copy_refuses_them() {
        {
            const auto store = open("copy");
            put_some(*store, "copied-");
            put_some(*store, "more-");
        }
        copy_snapshots("db", "copy");
        const auto store = open("copy");
        EXPECT_EQ(store->origin(), rocks::filter_origin::rebuilt);
        for (const char* prefix : {"common-", "copied-", "more-"}) expect_all(*store, prefix);
    }
};

TEST_P(forked_history, a_snapshot_of_the_other_copy_is_not_taken) {
    {
        const auto store = open("db");
        put_some(*store, "common-");
    }
    copy("db", "copy");
    {
        const auto store = open("db");
        put_some(*store, "original-");
        ASSERT_TRUE(store->save());
    }
    expect_that_the_copy_refuses_them();
}

// The copy is of a running store, so both have recorded the life in which the snapshot is taken.
TEST_P(forked_history, a_snapshot_of_the_running_original_is_not_taken) {
    {
        const auto store = open("db");
        put_some(*store, "common-");
        copy("db", "copy");
        put_some(*store, "original-");
        ASSERT_TRUE(store->save());
    }
    expect_that_the_copy_refuses_them();
}

// A program without lives writes to the copy, so that the life of the snapshot seems
// to continue there. Original and copy have each counted one more generation, for different
// reasons, and the snapshot names the moment at which the copy was re-indexed.
TEST_P(forked_history, a_snapshot_of_the_running_original_is_not_taken_after_a_re_index) {
    if (GetParam() != rocks::layout::indexed) return;
    {
        const auto original = open("db");
        put_some(*original, "common-");
        copy("db", "copy");
        write_plainly("copy", "foreign-", original->hash());
        copy("copy", "trial");
        const std::uint64_t indexed_at = open("trial")->place().lives.back().first;
        ASSERT_TRUE(original->ingest(place_.path("table"), {{"table", "value"}}));
        for (int i = 0; original->base().GetLatestSequenceNumber() + 3 < indexed_at; ++i)
            ASSERT_TRUE(original->put("original-" + std::to_string(i), "value"));
        ASSERT_TRUE(original->save());
    }
    copy_snapshots("db", "copy");
    const auto store = open("copy");
    EXPECT_EQ(store->origin(), rocks::filter_origin::rebuilt);
    for (const char* prefix : {"common-", "foreign-"}) expect_all(*store, prefix);
}

// The copy gets as many writes as the original, so its snapshot is not newer than the copy. In the
// clustered layout a plain program's records look like all others: only the copy's own notes show
// that the snapshot is not its own.
TEST_P(forked_history, a_snapshot_of_the_running_original_is_not_taken_after_foreign_writes) {
    for (const bool saved_before : {false, true}) {
        {
            const auto original = open("db");
            put_some(*original, "common-");
            if (saved_before) {
                ASSERT_TRUE(original->save());
            }
            copy("db", "copy");
            write_plainly("copy", "foreign-", original->hash(), 700);
            put_some(*original, "original-");
            ASSERT_TRUE(original->save());
        }
        copy_snapshots("db", "copy");
        const auto store = open("copy");
        expect_all(*store, "common-");
        expect_all(*store, "foreign-", 700);
        fs::remove_all(place_.path("db"));
    }
}

// The store's own record of a snapshot is one more write. Neither the next snapshot nor the next
// opening counts it as new data.
TEST_P(forked_history, a_snapshot_is_no_reason_for_another_one) {
    std::uint64_t sequence = 0;
    {
        const auto store = open("db");
        put_some(*store, "key-");
        ASSERT_TRUE(store->save());
        const std::uint64_t taken = store->snapshotter().snapshots();
        sequence = store->base().GetLatestSequenceNumber();
        ASSERT_TRUE(store->save());
        EXPECT_EQ(store->snapshotter().snapshots(), taken);
        EXPECT_EQ(store->base().GetLatestSequenceNumber(), sequence);
    }
    const auto store = open("db");
    EXPECT_EQ(store->origin(), rocks::filter_origin::snapshot);
    expect_all(*store, "key-");
}

TEST_P(forked_history, a_snapshot_from_before_the_fork_serves_both) {
    {
        const auto store = open("db");
        put_some(*store, "common-");
        ASSERT_TRUE(store->save());
    }
    copy("db", "copy");
    for (const char* name : {"db", "copy"}) {
        for (int i = 0; i < 3; ++i) {
            const auto store = open(name);
            EXPECT_EQ(store->origin(), rocks::filter_origin::snapshot);
            put_some(*store, name + std::to_string(i));
            expect_all(*store, "common-");
        }
        const auto store = open(name);
        for (int i = 0; i < 3; ++i) expect_all(*store, name + std::to_string(i));
    }
}

// An older copy is put back, and gets more writes than the snapshots beside it show, while no
// filter checks them.
TEST_P(forked_history, a_clustered_store_without_its_filter_begins_a_life_too) {
    if (GetParam() != rocks::layout::clustered) return;
    {
        const auto store = open("db");
        put_some(*store, "common-");
    }
    copy("db", "copy");
    {
        const auto store = open("db");
        put_some(*store, "original-");
        ASSERT_TRUE(store->save());
    }
    copy_snapshots("db", "copy");
    {
        rocks::clustered_options options;
        options.rocksdb = small_rocksdb_options(nullptr);
        options.wal_kept_mb = 16;
        const auto store = rocks::clustered_store::open(place_.path("copy"), options);
        ASSERT_TRUE(store) << store.error().message();
        for (int i = 0; i < 600; ++i) {
            const std::string key = "copied-" + std::to_string(i);
            ASSERT_TRUE((*store)->write((*store)->hash()(key), key, "value"));
        }
        ASSERT_TRUE((*store)->close());
    }
    const auto store = open("copy");
    EXPECT_EQ(store->origin(), rocks::filter_origin::rebuilt);
    expect_all(*store, "copied-", 600);
}

INSTANTIATE_TEST_SUITE_P(of, forked_history, testing::Values(rocks::layout::clustered, rocks::layout::indexed),
                         [](const auto& each) { return std::string{rocks::to_string(each.param)}; });

}  // namespace
}  // namespace genista::test::forked_history_test
