// Opening an existing path: a plain database is indexed, an incomplete index is built again, and
// anything that is not a database is left unchanged, with the reason.
#include <gtest/gtest.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/comparator.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/wal_filter.h>

#include <filesystem>
#include <fstream>

#include "genista/detail/base/fail_point.hpp"
#include "genista/detail/stores/rocksdb/clustered_store.hpp"
#include "tests/stores/guarded_db_world.hpp"
#include "tests/stores/plain_program.hpp"

namespace genista::test::opening_test {
namespace {

using rocks::clustered_options;
using rocks::clustered_store;
using ::testing::Test;

// A database without genista.
void make_plain(const std::string& path, std::uint64_t keys, const std::vector<std::string>& families = {}) {
    const auto db = open_plain(path);
    ASSERT_NE(db, nullptr);
    for (const std::string& name : families) {
        rocksdb::ColumnFamilyHandle* family = nullptr;
        ASSERT_TRUE(db->CreateColumnFamily({}, name, &family).ok());
        ASSERT_TRUE(db->Put({}, family, name, "v").ok());
        ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
    }
    for (std::uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(db->Put({}, key_number(i), std::to_string(i)).ok());
    for (std::uint64_t i = 0; i < keys; i += 3) ASSERT_TRUE(db->Delete({}, key_number(i)).ok());
}

void expect_all_there(guarded_db& db, std::uint64_t keys) {
    std::string value;
    for (std::uint64_t i = 0; i < keys; ++i) {
        ASSERT_EQ(db.Get({}, key_number(i), &value).ok(), i % 3 != 0) << i;
    }
    expect_sound(db);
}

clustered_options clustered_test_options() {
    clustered_options options;
    options.rocksdb.env = unsynced_env();
    return options;
}

std::string message_of(const std::string& path, guarded_db_options options = test_options()) {
    const auto opened = guarded_db::open(path, std::move(options));
    return opened ? "opened" : std::string{opened.error().message()};
}
std::string clustered_message_of(const std::string& path, clustered_options options = clustered_test_options()) {
    const auto opened = clustered_store::open(path, std::move(options));
    return opened ? "opened" : std::string{opened.error().message()};
}

std::vector<std::string> names_in(const std::string& path) {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator{path}) names.push_back(each.path().filename().string());
    return names;
}

TEST(opening, a_plain_database_is_indexed_with_progress_and_only_once) {
    const scratch here;
    make_plain(here.path(), 30000, {"cities", "streets"});
    guarded_db_options options = test_options();
    std::uint64_t indexed = 0, filtered = 0;
    options.progress = [&](rocks::opening_stage stage, std::uint64_t done, std::uint64_t all) {
        EXPECT_LE(done, all);
        (stage == rocks::opening_stage::indexing ? indexed : filtered) = done;
    };
    auto db = open_guarded(here.path(), options);
    ASSERT_NE(db, nullptr);
    EXPECT_EQ(indexed, 20000u);
    EXPECT_GE(db->counters().filter.capacity, 20000u);
    expect_all_there(*db, 30000);
    std::string value;
    EXPECT_OK(db->Get({}, db->family("cities"), "cities", &value));
    indexed = 0;
    db.reset();
    db = open_guarded(here.path(), options);
    EXPECT_EQ(indexed, 0u);
    expect_all_there(*db, 30000);
}

struct image_taker {
    static inline std::string from, to;
    static inline std::vector<std::string> taken;
    static void hook(const char* name) {
        if (!std::string_view{name}.starts_with("index.")) return;
        taken.push_back(to + "-" + std::to_string(taken.size()) + "-" + name);
        std::filesystem::copy(from, taken.back(), std::filesystem::copy_options::recursive);
    }
};

TEST(opening, indexing_that_was_cut_short_starts_over) {
    const scratch here;
    make_plain(here.path(), 9000);
    image_taker::from = here.path();
    image_taker::to = here.path("image");
    image_taker::taken.clear();
    at_fail_point = &image_taker::hook;
    ASSERT_NE(open_guarded(here.path()), nullptr);
    at_fail_point = nullptr;
    ASSERT_GE(image_taker::taken.size(), 4u);
    for (const std::string& image : image_taker::taken) {
        SCOPED_TRACE(image);
        guarded_db_options options = test_options();
        bool again = false;
        options.progress = [&](rocks::opening_stage stage, std::uint64_t, std::uint64_t) {
            again = again || stage == rocks::opening_stage::indexing;
        };
        const auto db = open_guarded(image, options);
        ASSERT_NE(db, nullptr);
        EXPECT_EQ(again, !image.ends_with("ready"));
        expect_all_there(*db, 9000);
    }
}

TEST(opening, a_missing_index_is_built_again) {
    const scratch here;
    {
        const auto db = open_guarded(here.path());
        for (std::uint64_t i = 1; i < 300; i += 3) ASSERT_TRUE(db->Put({}, key_number(i), "v").ok());
        for (std::uint64_t i = 2; i < 300; i += 3) ASSERT_TRUE(db->Put({}, key_number(i), "v").ok());
    }
    {
        auto opened = rocks::database::open(here.path(), {.options = test_options().rocksdb, .families = {}});
        ASSERT_TRUE(opened);
        ASSERT_TRUE(opened->drop_family(opened->family(rocks::index_family_name)));
    }
    const auto db = open_guarded(here.path());
    ASSERT_NE(db, nullptr);
    expect_all_there(*db, 300);
}

TEST(opening, catches_up_from_a_log_with_every_kind_of_write) {
    const scratch here;
    guarded_db_options options = test_options();
    options.snapshotter.on_close = false;
    {
        const auto db = open_guarded(here.path(), options);
        ASSERT_NE(db, nullptr);
        ASSERT_TRUE(db->snapshotter().save());
        ASSERT_TRUE(db->Put({}, "put", "v").ok());
        ASSERT_TRUE(db->Merge({}, "merged", "v").ok());
        ASSERT_TRUE(db->PutEntity({}, db->DefaultColumnFamily(), "entity", {{"x", "y"}}).ok());
        ASSERT_TRUE(db->Put({}, "deleted", "v").ok());
        ASSERT_TRUE(db->Delete({}, "deleted").ok());
    }
    const auto db = open_guarded(here.path(), options);
    ASSERT_NE(db, nullptr);
    EXPECT_EQ(db->origin(), rocks::filter_origin::snapshot);
    for (const char* key : {"put", "merged", "entity"}) EXPECT_TRUE(db->may_contain(key)) << key;
    expect_sound(*db);
}

TEST(opening, paths_without_a_database_are_named_and_left_unchanged) {
    const scratch here;
    const std::string nothing = here.path("nothing"), file = here.path("file"), folder = here.path("folder"),
                      empty = here.path("empty");
    std::ofstream{file} << "text";
    std::filesystem::create_directory(folder);
    std::ofstream{folder + "/letter.txt"} << "text";
    std::filesystem::create_directory(empty);

    guarded_db_options existing = test_options();
    existing.create_if_missing = false;
    clustered_options clustered_existing = clustered_test_options();
    clustered_existing.create_if_missing = false;
    EXPECT_EQ(message_of(nothing, existing), "there is no database at " + nothing);
    EXPECT_EQ(clustered_message_of(nothing, clustered_existing), "there is no database at " + nothing);
    EXPECT_EQ(message_of(empty, existing), empty + ": not a RocksDB database, and the directory is empty");
    for (const std::string& message : {message_of(file), clustered_message_of(file)})
        EXPECT_EQ(message, file + " is a file, not the directory of a database");
    for (const std::string& message : {message_of(folder), clustered_message_of(folder)})
        EXPECT_EQ(message, folder + ": not a RocksDB database, and the directory is not empty");
    EXPECT_FALSE(std::filesystem::exists(nothing));
    EXPECT_EQ(names_in(folder), std::vector<std::string>{"letter.txt"});
    EXPECT_TRUE(names_in(empty).empty());
    EXPECT_EQ(message_of(empty), "opened");
}

TEST(opening, a_database_whose_creation_was_cut_short_is_made_again) {
    const scratch here;
    std::filesystem::create_directory(here.path());
    for (const char* name : {"LOCK", "LOG", "IDENTITY", "MANIFEST-000001", "000001.dbtmp"})
        std::ofstream{here.path() + "/" + name} << "";
    EXPECT_EQ(message_of(here.path()), "opened");
}

TEST(opening, the_other_layout_is_refused_both_ways) {
    const scratch here;
    const std::string clustered = here.path("clustered"), indexed = here.path("indexed"), plain = here.path("plain");
    EXPECT_EQ(clustered_message_of(clustered), "opened");
    EXPECT_EQ(message_of(indexed), "opened");
    make_plain(plain, 10);
    EXPECT_EQ(message_of(clustered), clustered + " has the layout clustered, indexed was asked for");
    EXPECT_EQ(clustered_message_of(indexed), indexed + " has the layout indexed, clustered was asked for");
    EXPECT_EQ(clustered_message_of(plain), plain +
                                               " is a RocksDB database with data of its own: it can be guarded in "
                                               "the indexed layout, clustered was asked for");
    clustered_options reading = clustered_test_options();
    reading.read_only = true;
    EXPECT_EQ(clustered_message_of(indexed, reading), indexed + " has the layout indexed, clustered was asked for");
    guarded_db_options indexed_already = test_options();
    indexed_already.index_existing = false;
    EXPECT_EQ(message_of(plain, indexed_already),
              plain + " is a RocksDB database without an index, and index_existing is off");
    // None of the refused openings did damage.
    EXPECT_EQ(clustered_message_of(clustered), "opened");
    EXPECT_EQ(message_of(indexed), "opened");
    EXPECT_EQ(message_of(plain), "opened");
}

// Changes one entry of genista.meta.
void set_meta(const std::string& path, const std::string& name, const std::optional<std::string>& value) {
    auto opened = rocks::database::open(path, {.options = test_options().rocksdb, .families = {}});
    ASSERT_TRUE(opened) << opened.error().message();
    rocksdb::ColumnFamilyHandle* const meta = opened->family(rocks::meta_family_name);
    EXPECT_OK(value ? opened->base().Put({}, meta, name, *value) : opened->base().Delete({}, meta, name));
}

TEST(opening, a_newer_format_and_a_damaged_description_are_refused) {
    const scratch here;
    const std::string path = here.path();
    ASSERT_EQ(message_of(path), "opened");
    set_meta(path, "format", std::string{"\x07\0\0\0", 4});
    EXPECT_EQ(message_of(path), path + " was written by a newer version (format 7, this one knows 1 to 2)");
    EXPECT_EQ(clustered_message_of(path), path + " was written by a newer version (format 7, this one knows 1 to 2)");
    set_meta(path, "format", std::string{"\x01\0\0\0", 4});
    ASSERT_EQ(message_of(path), "opened");

    for (const auto& [name, bad] : std::map<std::string, std::string>{{"layout", "heap"},
                                                                      {"hash_kind", std::string(4, '\0')},
                                                                      {"hash_key", "short"},
                                                                      {"state", "dreaming"},
                                                                      {"generation", "x"},
                                                                      {"format", "x"}}) {
        std::string good;
        {
            auto opened = rocks::database::open(path, {.options = test_options().rocksdb, .families = {}});
            ASSERT_TRUE(opened);
            EXPECT_OK(opened->base().Get({}, opened->family(rocks::meta_family_name), name, &good));
        }
        set_meta(path, name, bad);
        EXPECT_NE(message_of(path).find(path + ": the entry " + name + " of genista.meta"), std::string::npos)
            << message_of(path);
        if (name != "format") {
            set_meta(path, name, std::nullopt);
            EXPECT_EQ(message_of(path), path + ": the entry " + name + " of genista.meta is missing");
        }
        set_meta(path, name, good);
        ASSERT_EQ(message_of(path), "opened");
    }
}

class nothing_dropped final : public rocksdb::CompactionFilter {
    const char* Name() const override { return "genista.test.nothing_dropped"; }
};

// A comparator that may treat different bytes as equal keys (it does not say that it does not),
// with or without timestamps.
class loose_order final : public rocksdb::Comparator {
  public:
    explicit loose_order(std::size_t timestamp_bytes) : Comparator{timestamp_bytes} {}
    const char* Name() const override { return "genista.test.loose_order"; }
    int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override { return a.compare(b); }
    void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
    void FindShortSuccessor(std::string*) const override {}
};

class first_wins final : public rocksdb::AssociativeMergeOperator {
    const char* Name() const override { return "genista.test.first_wins"; }
    bool Merge(const rocksdb::Slice&, const rocksdb::Slice* first, const rocksdb::Slice& more, std::string* made,
               rocksdb::Logger*) const override {
        *made = (first != nullptr ? *first : more).ToString();
        return true;
    }
};

class no_log_filter final : public rocksdb::WalFilter {
    const char* Name() const override { return "genista.test.no_log_filter"; }
};

TEST(opening, settings_that_cannot_be_guarded_are_named) {
    const scratch here;
    const loose_order timed{8}, loose{0};
    const nothing_dropped filter;
    no_log_filter log_filter;
    const auto with = [&](auto change) {
        guarded_db_options options = test_options();
        change(options.rocksdb);
        return message_of(here.path(), std::move(options));
    };
    using rocksdb::Options;
    const std::map<std::string, std::string> messages{
        {"compaction filter", with([&](Options& o) { o.compaction_filter = &filter; })},
        {"FIFO", with([](Options& o) { o.compaction_style = rocksdb::kCompactionStyleFIFO; })},
        {"different bytes", with([&](Options& o) { o.comparator = &loose; })},
        {"timestamps", with([&](Options& o) { o.comparator = &timed; })},
        {"unordered_write", with([](Options& o) { o.unordered_write = true; })},
        {"two-phase", with([](Options& o) { o.allow_2pc = true; })},
        {"best_efforts", with([](Options& o) { o.best_efforts_recovery = true; })},
        {"wal_filter", with([&](Options& o) { o.wal_filter = &log_filter; })},
        {"kSkipAny",
         with([](Options& o) { o.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords; })},
    };
    for (const auto& [word, message] : messages) {
        EXPECT_NE(message.find("a guarded database cannot have"), std::string::npos) << message;
        EXPECT_NE(message.find(word), std::string::npos) << message;
    }
    // The index is R: if it lost records or their order, keys would be denied.
    const auto with_index = [&](auto change) {
        guarded_db_options options = test_options();
        options.index.emplace();
        change(*options.index);
        return message_of(here.path(), std::move(options));
    };
    using index_options = rocksdb::ColumnFamilyOptions;
    const std::map<std::string, std::string> of_index{
        {"compaction filter on its index", with_index([&](index_options& o) { o.compaction_filter = &filter; })},
        {"FIFO compaction of its index",
         with_index([](index_options& o) { o.compaction_style = rocksdb::kCompactionStyleFIFO; })},
        {"bytewise", with_index([](index_options& o) { o.comparator = rocksdb::ReverseBytewiseComparator(); })},
        {"merge operator", with_index([](index_options& o) { o.merge_operator = std::make_shared<first_wins>(); })},
    };
    for (const auto& [word, message] : of_index) {
        EXPECT_NE(message.find("a guarded database cannot have"), std::string::npos) << message;
        EXPECT_NE(message.find(word), std::string::npos) << message;
    }
    clustered_options reversed = clustered_test_options();
    reversed.rocksdb.comparator = rocksdb::ReverseBytewiseComparator();
    EXPECT_NE(clustered_message_of(here.path(), reversed).find("bytewise"), std::string::npos);
    clustered_options unlogged = clustered_test_options();
    unlogged.writes.disableWAL = true;
    EXPECT_NE(clustered_message_of(here.path(), unlogged).find("disableWAL"), std::string::npos);

    guarded_db_options families = test_options();
    families.families.emplace_back("cities", rocksdb::ColumnFamilyOptions{});
    EXPECT_EQ(message_of(here.path(), families), here.path() + " has no column family cities");
    families.families.front().name = "genista.mine";
    EXPECT_EQ(message_of(here.path(), families), "the column family genista.mine belongs to genista");
    families.families.front().name = "default";
    EXPECT_NE(message_of(here.path(), families).find("guarded_db_options::rocksdb"), std::string::npos);
}

// RocksDB 7.8 opens a database without its merge operator, and loses everything in its log from the
// operands on: also keys that were put, and those of other families.
TEST(opening, without_a_merge_operator_that_the_database_has_is_refused_and_loses_nothing) {
    const scratch here;
    guarded_db_options with = test_options();
    with.families.emplace_back("cities", rocksdb::ColumnFamilyOptions{with.rocksdb});
    with.rocksdb.create_missing_column_families = true;
    {
        const auto db = open_guarded(here.path(), with);
        EXPECT_OK(db->Put({}, "ada", "18"));
        EXPECT_OK(db->Merge({}, "ada", "15"));
        EXPECT_OK(db->Put({}, "grace", "1906"));
        EXPECT_OK(db->Merge({}, db->family("cities"), "paris", "f"));
    }
    guarded_db_options without = test_options();
    without.rocksdb.merge_operator = nullptr;
    EXPECT_EQ(message_of(here.path(), without),
              here.path() +
                  ": the column family default has the merge operator genista.test.appending, and none is given: "
                  "RocksDB would lose operands");
    without = test_options();
    without.families.emplace_back("cities", rocksdb::ColumnFamilyOptions{});
    EXPECT_NE(message_of(here.path(), without).find("the column family cities has the merge operator"),
              std::string::npos);
    const auto db = open_guarded(here.path(), with);
    ASSERT_NE(db, nullptr);
    std::string value;
    EXPECT_OK(db->Get({}, "ada", &value));
    EXPECT_EQ(value, "1815");
    EXPECT_OK(db->Get({}, "grace", &value));
    EXPECT_OK(db->Get({}, db->family("cities"), "paris", &value));
    EXPECT_EQ(value, "f");
}

// The hash key is in the database and in every snapshot. With it an adversary can aim at the
// filter.
TEST(opening, files_with_the_hash_key_are_private_to_their_owner) {
    using std::filesystem::perms;
    const auto mode_of = [](const std::filesystem::path& path) { return std::filesystem::status(path).permissions(); };
    const scratch here;
    {
        const auto db = open_guarded(here.path());
        ASSERT_TRUE(db->Put({}, "a", "b").ok());
        ASSERT_TRUE(db->snapshotter().save());
    }
    EXPECT_EQ(mode_of(here.path()), perms::owner_all);
    const std::filesystem::path folder = here.path() + "/genista";
    EXPECT_EQ(mode_of(folder), perms::owner_all);
    unsigned files = 0;
    for (const auto& each : std::filesystem::directory_iterator{folder}) {
        ++files;
        EXPECT_EQ(mode_of(each.path()), perms::owner_read | perms::owner_write) << each.path();
    }
    EXPECT_GE(files, 1u);
    // An existing directory keeps the mode that its owner chose.
    const std::string theirs = here.path("theirs");
    std::filesystem::create_directory(theirs);
    std::filesystem::permissions(theirs, perms::owner_all | perms::group_read | perms::group_exec);
    (void)open_guarded(theirs);
    EXPECT_EQ(mode_of(theirs), perms::owner_all | perms::group_read | perms::group_exec);
}

TEST(opening, a_database_in_use_says_so) {
    const scratch here;
    const auto db = open_guarded(here.path());
    EXPECT_NE(message_of(here.path()).find("cannot open the database " + here.path()), std::string::npos);
}

}  // namespace
}  // namespace genista::test::opening_test
