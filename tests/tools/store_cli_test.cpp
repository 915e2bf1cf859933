// genista store: audits, reindexes and unguards a store; refusals; the lines in a log.
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "genista/stores/rocksdb/clustered_db.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"
#include "run_tool.hpp"

namespace genista::test::store_cli_test {
namespace {

constexpr int keys = 2000;

void make_guarded(const std::string& path) {
    auto db = rocks::guarded_db::open(path);
    ASSERT_TRUE(db) << db.error().message();
    rocksdb::WriteBatch all;
    for (int i = 0; i < keys; ++i) ASSERT_TRUE(all.Put("key-" + std::to_string(i), "v").ok());
    ASSERT_TRUE((*db)->Write({}, &all).ok());
    ASSERT_TRUE((*db)->Close().ok());
}

// A program without the guard: writes that no record goes with.
void write_behind_the_guard(const std::string& path) {
    auto opened = rocks::database::open(path, {.options = {}, .families = {}, .create_if_missing = false});
    ASSERT_TRUE(opened) << opened.error().message();
    ASSERT_TRUE(opened->base().Put({}, "foreign \x01", "v").ok());
    ASSERT_TRUE(opened->base().Delete({}, "key-7").ok());
    ASSERT_TRUE(opened->close().ok());
}

void expect_plain(const std::string& path) {
    rocksdb::DB* opened = nullptr;
    const auto status = rocksdb::DB::Open({}, path, &opened);  // the family `default` alone
    ASSERT_TRUE(status.ok()) << status.ToString();
    const std::unique_ptr<rocksdb::DB> db{opened};
    std::string value;
    for (int i = 0; i < keys; ++i) ASSERT_TRUE(db->Get({}, "key-" + std::to_string(i), &value).ok()) << i;
}

TEST(store_cli, audits_reindexes_and_unguards) {
    const scratch_folder scratch;
    const std::string store = scratch / "users";
    make_guarded(store);
    tool_run run = run_tool({"store", "audit", store});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_NE(run.out.find("sound: records and index agree"), std::string::npos) << run.out;
    EXPECT_NE(run.err.find("genista: reading the index: "), std::string::npos) << run.err;

    write_behind_the_guard(store);
    run = run_tool({"store", "audit", store, "--json"});
    EXPECT_EQ(run.status, 1);
    const auto found = run.json();
    EXPECT_EQ(found["sound"], false);
    EXPECT_EQ(found["layout"], "indexed");
    EXPECT_EQ(found["state"], "ready");
    EXPECT_EQ(found["keys"], keys);
    EXPECT_EQ(found["records"], keys);
    EXPECT_EQ(found["keys_without_record"], 1);
    EXPECT_EQ(found["records_without_key"], 1);
    EXPECT_EQ(found["bad_records"], 0);
    EXPECT_EQ(found["examples"], (nlohmann::json{"foreign \\x01", "key-7"}));
    EXPECT_EQ(found["snapshots"].size(), 1u);
    run = run_tool({"store", "audit", store});
    EXPECT_EQ(run.status, 1);
    EXPECT_NE(run.out.find("a guard denies keys: run genista store reindex"), std::string::npos) << run.out;

    run = run_tool({"store", "reindex", store});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_NE(run.out.find("2'000"), std::string::npos) << run.out;
    for (const char* line : {"genista: building the index: about ", "genista: building the index: done in "})
        EXPECT_NE(run.err.find(line), std::string::npos) << run.err;
    EXPECT_EQ(run_tool({"store", "audit", store}).status, 0);
    {
        auto db = rocks::guarded_db::open(store);
        ASSERT_TRUE(db) << db.error().message();
        EXPECT_EQ((*db)->origin(), rocks::filter_origin::snapshot) << "reindex left one";
        std::string value;
        EXPECT_TRUE((*db)->Get({}, "foreign \x01", &value).ok());
        ASSERT_TRUE((*db)->Put({}, "key-7", "v").ok());
    }

    run = run_tool({"store", "unguard", store, "--yes", "--json"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.json()["families_dropped"], (nlohmann::json{"genista.index", "genista.meta"}));
    expect_plain(store);
    run = run_tool({"store", "unguard", store, "--yes"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_NE(run.out.find("nothing to do: there is no guard"), std::string::npos) << run.out;
    EXPECT_FALSE(std::filesystem::exists(store + "/genista"));
}

TEST(store_cli, asks_before_it_unguards) {
    const scratch_folder scratch;
    const std::string store = scratch / "users";
    make_guarded(store);
    expect_refused({"store", "unguard", store}, store, "give --yes");
    EXPECT_EQ(run_tool({"store", "audit", store}).status, 0) << "nothing was changed";
}

TEST(store_cli, refuses_what_is_not_a_guarded_store) {
    const scratch_folder scratch;
    const std::string nothing = scratch / "nothing", plain = scratch / "plain", file = scratch / "file";
    put_contents(file, "x");
    {
        rocksdb::Options options;
        options.create_if_missing = true;
        rocksdb::DB* db = nullptr;
        ASSERT_TRUE(rocksdb::DB::Open(options, plain, &db).ok());
        delete db;
    }
    for (const char* what : {"audit", "reindex", "unguard"}) {
        const std::vector<std::string> yes =
            what == std::string{"unguard"} ? std::vector<std::string>{"--yes"} : std::vector<std::string>{};
        const auto with = [&](const std::string& path) {
            std::vector<std::string> line{"store", what, path};
            line.insert(line.end(), yes.begin(), yes.end());
            return line;
        };
        expect_refused(with(nothing), nothing, "there is no database");
        expect_refused(with(file), file, "is a file");
        EXPECT_FALSE(std::filesystem::exists(nothing));
    }
    expect_refused({"store", "audit", plain}, plain, "not a guarded one");
    expect_refused({"store", "reindex", plain}, plain, "not a guarded one");
    expect_refused({"store", "audit"}, "DIR", "genista store audit --help");
    expect_refused({"store", "audti", plain}, "audti", "audit, reindex, unguard");
    for (const char* what : {"audit", "reindex", "unguard"}) {
        const tool_run help = run_tool({"store", what, "--help"});
        EXPECT_EQ(help.status, 0);
        EXPECT_NE(help.out.find("Exit status: 0"), std::string::npos);
    }
}

TEST(store_cli, a_clustered_store_is_audited_but_has_no_index_and_cannot_be_unguarded) {
    const scratch_folder scratch;
    const std::string store = scratch / "users";
    {
        auto db = rocks::clustered_db::open(store, {.filter = {.capacity = 1000}});
        ASSERT_TRUE(db) << db.error().message();
        for (int i = 0; i < 100; ++i) ASSERT_TRUE((*db)->put("key-" + std::to_string(i), "v"));
    }
    const tool_run run = run_tool({"store", "audit", store, "--json"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.json()["layout"], "clustered");
    EXPECT_EQ(run.json()["keys"], 100);
    expect_refused({"store", "reindex", store}, store, "only the layout indexed can be reindexed");
    expect_refused({"store", "unguard", store, "--yes"}, store, "only the layout indexed can be unguarded");
}

// A store that a program has open is not changed.
TEST(store_cli, a_store_in_use_is_not_changed) {
    const scratch_folder scratch;
    const std::string store = scratch / "users";
    make_guarded(store);
    auto db = rocks::guarded_db::open(store);
    ASSERT_TRUE(db) << db.error().message();
    for (const std::vector<std::string>& line : {std::vector<std::string>{"store", "reindex", store},
                                                 std::vector<std::string>{"store", "unguard", store, "--yes"}}) {
        const tool_run run = run_tool(line);
        EXPECT_EQ(run.status, 1) << run.err;
        EXPECT_NE(run.err.find("is a program using it? stop it first"), std::string::npos) << run.err;
    }
    EXPECT_EQ(run_tool({"store", "audit", store}).status, 0) << "reading is fine";
    EXPECT_TRUE((*db)->audit());
}

}  // namespace
}  // namespace genista::test::store_cli_test
