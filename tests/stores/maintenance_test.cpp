// Work on closed stores: audits find planted faults and change nothing, and a store becomes a plain
// database again, also if that was cut short at any moment.
#include "genista/stores/rocksdb/maintenance.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "genista/detail/base/fail_point.hpp"
#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/stores/rocksdb/clustered_db.hpp"
#include "tests/stores/guarded_db_world.hpp"
#include "tests/stores/plain_program.hpp"

namespace genista::test::maintenance_test {
namespace {

using rocks::audit_store;
using rocks::maintenance_options;
using rocks::store_audit;
using rocks::store_state;
using rocks::unguard_store;
namespace files = std::filesystem;

constexpr int keys = 3000;

guarded_db_options plain_options() {
    guarded_db_options options = test_options();
    options.rocksdb.merge_operator = nullptr;  // the OPTIONS file can only name one
    return options;
}

void make_guarded(const std::string& path, guarded_db_options options = plain_options()) {
    options.rocksdb.create_missing_column_families = true;
    options.families = {{"cities", rocksdb::ColumnFamilyOptions{}}};
    auto db = open_guarded(path, options);
    ASSERT_NE(db, nullptr);
    for (int i = 0; i < keys; ++i) ASSERT_TRUE(db->Put({}, key_number(static_cast<std::uint64_t>(i)), "v").ok());
    ASSERT_TRUE(db->Put({}, db->family("cities"), "turin", "1").ok());
    ASSERT_TRUE(db->Close().ok());
}

// A write without the guard, as by `ldb put` or by a program that was rolled back.
template <class Write>
void behind_the_guard(const std::string& path, Write&& write) {
    rocksdb::Options options;
    options.env = unsynced_env();
    auto opened = rocks::database::open(path, {.options = options, .families = {}, .create_if_missing = false});
    ASSERT_TRUE(opened) << opened.error().message();
    ASSERT_TRUE(write(*opened).ok());
    ASSERT_TRUE(opened->close().ok());
}

std::map<std::string, std::pair<std::uintmax_t, files::file_time_type>> everything_in(const std::string& path) {
    std::map<std::string, std::pair<std::uintmax_t, files::file_time_type>> found;
    for (const auto& each : files::recursive_directory_iterator{path}) {
        if (each.is_regular_file()) found[each.path()] = {each.file_size(), each.last_write_time()};
    }
    return found;
}

store_audit audited(const std::string& path, const maintenance_options& options = {}) {
    auto found = audit_store(path, options);
    if (!found) {
        ADD_FAILURE() << found.error().message();
        return {};
    }
    return *std::move(found);
}

// What a program without genista sees: the user's data, and nothing else.
void expect_plain(const std::string& path) {
    std::vector<std::string> names;
    rocksdb::Options options;
    options.env = unsynced_env();
    ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(options, path, &names).ok());
    EXPECT_EQ(names, (std::vector<std::string>{"default", "cities"}));
    plain_program db{path, options};
    ASSERT_TRUE(db.is_open());
    std::string value;
    for (int i = 0; i < keys; ++i)
        ASSERT_TRUE(db->Get({}, key_number(static_cast<std::uint64_t>(i)), &value).ok()) << i;
    EXPECT_TRUE(db->Get({}, db.family("cities"), "turin", &value).ok());
}

TEST(store_audit, of_a_sound_store_finds_nothing_and_changes_nothing) {
    const scratch here;
    make_guarded(here.path());
    const auto before = everything_in(here.path());
    std::string last_stage;
    std::uint64_t reports = 0;
    const store_audit found =
        audited(here.path(), {.progress = [&](std::string_view stage, std::uint64_t done, std::uint64_t all) {
                    EXPECT_LE(done, all);
                    last_stage = stage;
                    ++reports;
                }});
    EXPECT_TRUE(found.is_sound());
    EXPECT_EQ(found.keys, static_cast<std::uint64_t>(keys));
    EXPECT_EQ(found.records, static_cast<std::uint64_t>(keys));
    EXPECT_EQ(found.arrangement, rocks::layout::indexed);
    ASSERT_EQ(found.snapshots.size(), 1u);
    EXPECT_EQ(found.snapshots[0].trouble, "");
    EXPECT_EQ(last_stage, "reading the index");
    EXPECT_GE(reports, 4u);
    EXPECT_EQ(everything_in(here.path()), before);
}

TEST(store_audit, names_keys_and_records_that_the_other_side_lacks) {
    const scratch here;
    make_guarded(here.path());
    behind_the_guard(here.path(), [](rocks::database& db) {
        rocksdb::Status done;
        for (int i = 0; i < 7 && done.ok(); ++i) done = db.base().Put({}, "foreign-" + std::to_string(i), "v");
        for (std::uint64_t i = 0; i < 3 && done.ok(); ++i) done = db.base().Delete({}, key_number(i));
        rocksdb::ColumnFamilyHandle* const index = db.family(rocks::index_family_name);
        if (done.ok()) done = db.base().Put({}, index, "short", {});
        const digest wrong{1, 2};
        if (done.ok()) done = db.base().Put({}, index, rocks::record_key{wrong, "ada"}.slice(), {});
        return done;
    });
    const store_audit found = audited(here.path());
    EXPECT_FALSE(found.is_sound());
    EXPECT_EQ(found.keys, static_cast<std::uint64_t>(keys) + 4);
    EXPECT_EQ(found.records, static_cast<std::uint64_t>(keys) + 2);
    EXPECT_EQ(found.keys_without_record, 7u);
    EXPECT_EQ(found.records_without_key, 3u);
    EXPECT_EQ(found.bad_records, 2u);
    EXPECT_EQ(found.examples.size(), store_audit::examples_kept);
    EXPECT_EQ(found.examples[0], "ada");
    EXPECT_EQ(found.examples[1], "foreign-0");
    // A new index repairs it all.
    auto options = plain_options();
    options.rebuild_index = true;
    ASSERT_NE(open_guarded(here.path(), options), nullptr);
    EXPECT_TRUE(audited(here.path()).is_sound());
}

// As many missing records as extra ones, so the numbers alone do not show the damage.
TEST(store_audit, finds_damage_that_leaves_the_numbers_equal) {
    const scratch here;
    make_guarded(here.path());
    behind_the_guard(here.path(), [](rocks::database& db) {
        rocksdb::Status done = db.base().Put({}, "foreign", "v");
        return done.ok() ? db.base().Delete({}, key_number(8)) : done;
    });
    const store_audit found = audited(here.path());
    EXPECT_EQ(found.keys, found.records);
    EXPECT_EQ(found.keys_without_record, 1u);
    EXPECT_EQ(found.records_without_key, 1u);
}

TEST(store_audit, sees_a_clustered_store_and_a_damaged_snapshot) {
    const scratch here;
    rocks::clustered_db_options options;
    options.store.rocksdb.env = unsynced_env();
    options.filter.capacity = 1000;
    {
        auto db = rocks::clustered_db::open(here.path(), options);
        ASSERT_TRUE(db);
        for (int i = 0; i < 500; ++i) ASSERT_TRUE((*db)->put("key-" + std::to_string(i), "v"));
    }
    store_audit found = audited(here.path());
    EXPECT_TRUE(found.is_sound());
    EXPECT_EQ(found.arrangement, rocks::layout::clustered);
    EXPECT_EQ(found.keys, 500u);
    ASSERT_EQ(found.snapshots.size(), 1u);
    std::fstream file{found.snapshots[0].path, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(100);
    file.put('\x5a');
    file.close();
    behind_the_guard(here.path(), [](rocks::database& db) { return db.base().Put({}, "a plain key of a user", "v"); });
    found = audited(here.path());
    EXPECT_FALSE(found.is_sound());
    EXPECT_EQ(found.bad_records, 1u);
    EXPECT_NE(found.snapshots[0].trouble, "");
    const auto refused = unguard_store(here.path());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("has the layout clustered"), std::string_view::npos);
}

TEST(store_audit, refuses_a_path_without_a_guarded_store) {
    const scratch here;
    const auto message_of = [](const std::string& path) {
        const auto found = audit_store(path);
        return found ? "sound" : std::string{found.error().message()};
    };
    EXPECT_NE(message_of(here.path("nothing")).find("there is no database at"), std::string::npos);
    EXPECT_FALSE(files::exists(here.path("nothing")));
    files::create_directory(here.path("other"));
    std::ofstream{here.path("other") + "/a.txt"} << "x";
    EXPECT_NE(message_of(here.path("other")).find(": not a RocksDB database, and the directory is not empty"),
              std::string::npos);
    std::ofstream{here.path("file")} << "x";
    EXPECT_NE(message_of(here.path("file")).find("is a file"), std::string::npos);
    make_guarded(here.path());
    ASSERT_TRUE(unguard_store(here.path()));
    EXPECT_NE(message_of(here.path()).find("is a RocksDB database, but not a guarded one"), std::string::npos);
}

// Files of a guarded store whose log is in another folder. An opening of the copy must not use the
// log of the original.
TEST(store_settings, a_log_outside_of_the_store_must_be_named) {
    const scratch here;
    auto options = plain_options();
    options.rocksdb.wal_dir = here.path("logs");
    make_guarded(here.path(), options);
    files::copy(here.path(), here.path("copy"), files::copy_options::recursive);
    const auto before = everything_in(here.path("logs"));
    for (const std::string& each : {here.path(), here.path("copy")}) {
        const auto refused = unguard_store(each);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().message().find("keeps its log in " + here.path("logs")), std::string_view::npos)
            << refused.error().message();
    }
    EXPECT_EQ(everything_in(here.path("logs")), before);
    EXPECT_TRUE(audited(here.path(), {.wal_dir = here.path("logs")}).is_sound());
}

TEST(unguard, leaves_the_database_as_it_was_before_the_guard) {
    const scratch here;
    make_guarded(here.path());
    std::ofstream{here.path() + "/genista/my-notes.txt"} << "of the user";
    const auto done = unguard_store(here.path());
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_EQ(done->families, (std::vector<std::string>{"genista.index", "genista.meta"}));
    EXPECT_EQ(done->files.size(), 1u);
    EXPECT_EQ(done->kept, (std::vector<std::string>{here.path() + "/genista/my-notes.txt"}));
    EXPECT_TRUE(files::exists(here.path() + "/genista/my-notes.txt"));
    expect_plain(here.path());
    files::remove(here.path() + "/genista/my-notes.txt");
    const auto again = unguard_store(here.path());
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_TRUE(again->families.empty() && again->files.empty() && again->kept.empty());
    EXPECT_FALSE(files::exists(here.path() + "/genista"));
    // The database can be guarded again.
    auto options = plain_options();
    options.families = {{"cities", rocksdb::ColumnFamilyOptions{}}};
    const auto db = open_guarded(here.path(), options);
    ASSERT_NE(db, nullptr);
    EXPECT_TRUE(db->audit());
}

struct unguard_images {
    static inline std::string from, to;
    static inline std::vector<std::string> taken;
    static void hook(const char* name) {
        if (!std::string_view{name}.starts_with("unguard.")) return;
        taken.push_back(to + "-" + std::to_string(taken.size()) + "-" + name);
        files::copy(from, taken.back(), files::copy_options::recursive);
    }
};

// The disk as a kill at each step leaves it: a second call continues, and a guard that is opened
// instead denies nothing.
TEST(unguard, that_was_cut_short_goes_on) {
    const scratch here;
    make_guarded(here.path());
    unguard_images::from = here.path();
    unguard_images::to = here.path("image");
    unguard_images::taken.clear();
    at_fail_point = &unguard_images::hook;
    const auto done = unguard_store(here.path());
    at_fail_point = nullptr;
    ASSERT_TRUE(done) << done.error().message();
    ASSERT_EQ(unguard_images::taken.size(), 4u);  // files, two families, done
    for (const std::string& image : unguard_images::taken) {
        SCOPED_TRACE(image);
        files::copy(image, image + "-guarded", files::copy_options::recursive);
        const auto resumed = unguard_store(image);
        ASSERT_TRUE(resumed) << resumed.error().message();
        expect_plain(image);
        auto options = plain_options();
        options.families = {{"cities", rocksdb::ColumnFamilyOptions{}}};
        const auto db = open_guarded(image + "-guarded", options);
        ASSERT_NE(db, nullptr);
        std::string value;
        for (std::uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(db->Get({}, key_number(i), &value).ok()) << i;
        EXPECT_TRUE(db->audit());
    }
}

TEST(unguard, waits_for_no_store_that_is_open) {
    const scratch here;
    auto options = plain_options();
    options.rocksdb.env = rocksdb::Env::Default();
    auto db = open_guarded(here.path(), options);
    ASSERT_NE(db, nullptr);
    ASSERT_TRUE(db->Put({}, "ada", "1815").ok());
    const auto refused = unguard_store(here.path());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("lock"), std::string_view::npos) << refused.error().message();
    std::string value;
    EXPECT_TRUE(db->Get({}, "ada", &value).ok());
    EXPECT_TRUE(db->audit());
}

// Operands that only the user's operator can merge, in the log and in tables. Without the operator
// nothing may be lost, and with it the call succeeds.
TEST(unguard, without_the_merge_operator_loses_nothing) {
    for (const bool in_tables : {false, true}) {
        SCOPED_TRACE(in_tables);
        const scratch here;
        {
            auto db = open_guarded(here.path());  // with an operator
            ASSERT_NE(db, nullptr);
            ASSERT_TRUE(db->Put({}, "ada", "18").ok());
            ASSERT_TRUE(!in_tables || db->Flush({}).ok());
            ASSERT_TRUE(db->Merge({}, "ada", "1").ok());
            ASSERT_TRUE(!in_tables || db->Flush({}).ok());
            ASSERT_TRUE(db->Merge({}, "ada", "5").ok());
            ASSERT_TRUE(!in_tables || db->Flush({}).ok());
        }
        // Found while this was written: RocksDB opened the database all the same, and "15" was
        // lost.
        const auto refused = unguard_store(here.path());
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().message().find("genista.test.appending"), std::string_view::npos)
            << refused.error().message();
        EXPECT_FALSE(audit_store(here.path()));
        EXPECT_FALSE(rocks::can_reindex(here.path()));
        // A program that has the operator.
        const maintenance_options own{.settings = rocks::store_settings{.rocksdb = test_options().rocksdb}};
        EXPECT_TRUE(audited(here.path(), own).is_sound());
        const auto done = unguard_store(here.path(), own);
        ASSERT_TRUE(done) << done.error().message();
        rocksdb::Options options;
        options.merge_operator = std::make_shared<appending>();
        const auto db = open_plain(here.path(), options);
        ASSERT_NE(db, nullptr);
        std::string value;
        ASSERT_TRUE(db->Get({}, "ada", &value).ok());
        EXPECT_EQ(value, "1815");
    }
}

TEST(store_audit, an_index_that_is_not_ready_is_reported_and_not_compared) {
    const scratch here;
    make_guarded(here.path());
    behind_the_guard(here.path(), [](rocks::database& db) {
        return db.base().Put({}, db.family(rocks::meta_family_name), "state", "indexing");
    });
    const store_audit found = audited(here.path());
    EXPECT_FALSE(found.is_sound());
    EXPECT_EQ(found.state, store_state::indexing);
    EXPECT_EQ(found.keys, static_cast<std::uint64_t>(keys));
    EXPECT_EQ(found.keys_without_record, 0u);
}

}  // namespace
}  // namespace genista::test::maintenance_test
