// Ingested tables: their keys are found at once, also if the process dies in the middle. Tables
// with entries other than puts are refused.
#include <gtest/gtest.h>

#include <filesystem>

#include "genista/detail/base/fail_point.hpp"
#include "tests/stores/guarded_db_world.hpp"

namespace genista::test::guarded_db_ingest_test {
namespace {

std::map<std::string, std::string> numbers(std::uint64_t begin, std::uint64_t end) {
    std::map<std::string, std::string> made;
    for (std::uint64_t i = begin; i < end; ++i) made[key_number(i)] = std::to_string(i);
    return made;
}

TEST(guarded_db_ingest, keys_of_a_table_are_found_and_the_generation_moves_on) {
    const scratch here;
    auto db = open_guarded(here.path());
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(db->Put({}, key_number(i), "old").ok());
    const std::uint64_t before = db->generation();
    write_table(here.path("table"), numbers(50, 5000));
    EXPECT_OK(db->IngestExternalFile({here.path("table")}, {}));
    EXPECT_EQ(db->generation(), before + 1);
    for (int life = 0; life < 2; ++life) {
        std::string value;
        for (std::uint64_t i = 0; i < 5000; ++i) {
            ASSERT_TRUE(db->Get({}, key_number(i), &value).ok()) << i;
            ASSERT_EQ(value, i < 50 ? "old" : std::to_string(i));
        }
        expect_sound(*db);
        EXPECT_EQ(db->counters().filter.keys, 5000u);
        EXPECT_EQ(db->counters().late_inserts, 0u);
        EXPECT_FALSE(std::filesystem::exists(here.path() + "/genista/ingest-0.sst"));
        if (life == 0) {
            db.reset();
            db = open_guarded(here.path());
            EXPECT_EQ(db->origin(), rocks::filter_origin::snapshot);
        }
    }
}

TEST(guarded_db_ingest, a_snapshot_does_not_see_what_came_later) {
    const scratch here;
    const auto db = open_guarded(here.path());
    EXPECT_OK(db->Put({}, key_number(1), "old"));
    const rocksdb::Snapshot* const then = db->GetSnapshot();
    write_table(here.path("table"), numbers(1, 3));
    EXPECT_OK(db->IngestExternalFile({here.path("table")}, {}));
    rocksdb::ReadOptions past;
    past.snapshot = then;
    std::string value;
    EXPECT_OK(db->Get(past, key_number(1), &value));
    EXPECT_EQ(value, "old");
    EXPECT_TRUE(db->Get(past, key_number(2), &value).IsNotFound());
    EXPECT_OK(db->Get({}, key_number(2), &value));
    db->ReleaseSnapshot(then);
}

// The generation has changed before RocksDB refuses, so snapshots saved afterwards must have the
// new one.
TEST(guarded_db_ingest, a_refused_one_does_not_void_later_snapshots) {
    const scratch here;
    {
        const auto db = open_guarded(here.path());
        for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(db->Put({}, key_number(i), "v").ok());
        rocksdb::ColumnFamilyHandle* other = nullptr;
        ASSERT_TRUE(db->CreateColumnFamily({}, "other", &other).ok());
        write_table(here.path("table"), numbers(200, 300));
        std::vector<rocksdb::IngestExternalFileArg> both(2);
        both[0].column_family = db->DefaultColumnFamily();
        both[0].external_files = {here.path("table")};
        both[1].column_family = other;
        both[1].external_files = {here.path("there is no such table")};
        const std::uint64_t before = db->generation();
        EXPECT_FALSE(db->IngestExternalFiles(both).ok());
        EXPECT_GT(db->generation(), before);
        std::string value;
        EXPECT_TRUE(db->Get({}, key_number(250), &value).IsNotFound());
        ASSERT_TRUE(db->Put({}, key_number(500), "v").ok());
        const auto saved = db->snapshotter().save();
        EXPECT_TRUE(saved) << saved.error().message();
        ASSERT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
    }
    const auto db = open_guarded(here.path());
    EXPECT_EQ(db->origin(), rocks::filter_origin::snapshot);
    std::string value;
    EXPECT_OK(db->Get({}, key_number(500), &value));
    expect_sound(*db);
}

// A file is ingested past the guard, then one through the guard, and a third is refused. If the
// process dies now, no mark may cover the first file.
TEST(guarded_db_ingest, leaves_no_mark_that_covers_a_foreign_one_before_it) {
    const scratch here;
    const std::string image = here.path("image");
    {
        const auto db = open_guarded(here.path());
        // One key each: a file that overlaps nothing gets no sequence number, so the log has no
        // gap.
        EXPECT_OK(db->Put({}, key_number(1), "v"));
        write_table(here.path("foreign"), numbers(2, 3));
        write_table(here.path("ours"), numbers(3, 4));
        write_table(here.path("refused"), numbers(1, 2));
        EXPECT_OK(db->base().IngestExternalFile({here.path("foreign")}, {}));
        EXPECT_OK(db->IngestExternalFile({here.path("ours")}, {}));
        rocksdb::IngestExternalFileOptions without_numbers;
        without_numbers.allow_global_seqno = false;
        EXPECT_FALSE(db->IngestExternalFile({here.path("refused")}, without_numbers).ok());
        std::filesystem::copy(here.path(), image, std::filesystem::copy_options::recursive);
    }
    const auto db = open_guarded(image);
    std::string value;
    for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_OK(db->Get({}, key_number(i), &value));
    expect_sound(*db);
}

TEST(guarded_db_ingest, tables_with_more_than_puts_are_refused) {
    const scratch here;
    const auto db = open_guarded(here.path());
    EXPECT_OK(db->Put({}, "ada", "v"));
    using change = void (*)(rocksdb::SstFileWriter&);
    const change changes[] = {
        [](rocksdb::SstFileWriter& to) { EXPECT_OK(to.Delete("ada")); },
        [](rocksdb::SstFileWriter& to) { EXPECT_OK(to.DeleteRange("a", "b")); },
        [](rocksdb::SstFileWriter& to) { EXPECT_OK(to.Merge("ada", "more")); },
    };
    rocksdb::Options options;
    options.merge_operator = std::make_shared<appending>();
    for (const change each : changes) {
        rocksdb::SstFileWriter writer{rocksdb::EnvOptions{}, options};
        ASSERT_TRUE(writer.Open(here.path("table")).ok());
        each(writer);
        EXPECT_OK(writer.Put("zoe", "v"));
        ASSERT_TRUE(writer.Finish().ok());
        EXPECT_TRUE(db->IngestExternalFile({here.path("table")}, {}).IsNotSupported());
    }
    write_table(here.path("table"), numbers(0, 3));
    rocksdb::IngestExternalFileOptions behind;
    behind.ingest_behind = true;
    EXPECT_TRUE(db->IngestExternalFile({here.path("table")}, behind).IsNotSupported());
    EXPECT_FALSE(db->IngestExternalFile({here.path("missing")}, {}).ok());
    EXPECT_FALSE(db->IngestExternalFile({}, {}).ok());
    rocksdb::IngestExternalFileOptions picky;  // RocksDB itself refuses, after the guard has prepared everything
    picky.allow_global_seqno = false;
    EXPECT_OK(db->Put({}, key_number(1), "there"));
    EXPECT_FALSE(db->IngestExternalFile({here.path("table")}, picky).ok());
    std::string value;
    EXPECT_TRUE(db->Get({}, "zoe", &value).IsNotFound());
    EXPECT_TRUE(db->Get({}, key_number(2), &value).IsNotFound());
    EXPECT_EQ(db->counters().filter.keys, 2u);
    expect_sound(*db);
}

// Copies of the directory while the process runs, as a kill would leave it: what RocksDB has
// written is in the files.
struct image_taker {
    static inline std::string from, to;
    static inline std::vector<std::string> taken;
    static void hook(const char* name) {
        if (!std::string_view{name}.starts_with("ingest.")) return;
        taken.push_back(to + "-" + name);
        std::filesystem::copy(from, taken.back(), std::filesystem::copy_options::recursive);
    }
};

TEST(guarded_db_ingest, a_process_that_dies_in_the_middle_leaves_all_or_nothing_and_no_stale_filter) {
    const scratch here;
    auto db = open_guarded(here.path());
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(db->Put({}, key_number(i), "old").ok());
    ASSERT_TRUE(db->snapshotter().save());
    write_table(here.path("table"), numbers(50, 500));
    image_taker::from = here.path();
    image_taker::to = here.path("image");
    image_taker::taken.clear();
    at_fail_point = &image_taker::hook;
    EXPECT_OK(db->IngestExternalFile({here.path("table")}, {}));
    at_fail_point = nullptr;
    db.reset();
    ASSERT_EQ(image_taker::taken.size(), 2u);
    for (const std::string& image : image_taker::taken) {
        SCOPED_TRACE(image);
        db = open_guarded(image);
        ASSERT_NE(db, nullptr);
        EXPECT_EQ(db->origin(), rocks::filter_origin::rebuilt);
        EXPECT_EQ(db->counters().filter.keys, image.ends_with("done") ? 500u : 100u);
        expect_sound(*db);
        for (const auto& each : std::filesystem::directory_iterator{image + "/genista"})
            EXPECT_EQ(each.path().filename().string().find("ingest-"), std::string::npos) << each.path();
    }
}

}  // namespace
}  // namespace genista::test::guarded_db_ingest_test
