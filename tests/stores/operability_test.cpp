// What both layouts report to operators: events of openings, snapshots and repairs, and one page of
// metrics.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>

#include "genista/stores/rocksdb/clustered_db.hpp"
#include "tests/stores/guarded_db_world.hpp"
#include "tests/stores/plain_program.hpp"
#include "tests/support/exposition.hpp"

namespace genista::test::operability_test {
namespace {

using rocks::clustered_db;
using rocks::clustered_db_options;
using rocks::filter_origin;

class listener {
  public:
    [[nodiscard]] event_hook hook() {
        return [this](const guard_event& event) {
            const std::lock_guard held{mutex_};
            all_.emplace_back(event.kind, std::string{to_string(event.level)} + ": " + std::string{event.text});
        };
    }
    // The texts of events of one kind.
    [[nodiscard]] std::vector<std::string> of(event_kind kind) const {
        const std::lock_guard held{mutex_};
        std::vector<std::string> found;
        for (const auto& [each, text] : all_) {
            if (each == kind) found.push_back(text);
        }
        return found;
    }
    [[nodiscard]] bool heard(event_kind kind, const std::string& part) const {
        const auto all = of(kind);
        return std::any_of(all.begin(), all.end(),
                           [&](const std::string& text) { return text.find(part) != std::string::npos; });
    }
    void forget() {
        const std::lock_guard held{mutex_};
        all_.clear();
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::pair<event_kind, std::string>> all_;
};

guarded_db_options quiet_options(listener& heard) {
    guarded_db_options options = test_options();
    options.snapshotter.every = std::chrono::milliseconds{0};
    options.log = heard.hook();
    return options;
}
clustered_db_options quiet_clustered_options(listener& heard) {
    clustered_db_options options;
    options.store.rocksdb.env = unsynced_env();
    options.filter.capacity = 1000;
    options.snapshotter.every = std::chrono::milliseconds{0};
    options.log = heard.hook();
    return options;
}

void make_plain(const std::string& path, int keys) {
    const auto db = open_plain(path);
    ASSERT_NE(db, nullptr);
    for (int i = 0; i < keys; ++i) ASSERT_TRUE(db->Put({}, "key-" + std::to_string(i), "v").ok());
}

std::vector<std::string> snapshots_of(const std::string& path) {
    std::vector<std::string> found;
    for (const auto& each : std::filesystem::directory_iterator{path + "/genista"}) found.push_back(each.path());
    return found;
}

void damage(const std::string& path) {
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(300);
    file.put('\x5a');
    file.put('\xa5');
}

TEST(operability, an_indexed_store_reports_how_it_was_opened_and_saved) {
    const scratch here;
    listener heard;
    make_plain(here.path(), 2000);
    {
        auto db = guarded_db::open(here.path(), quiet_options(heard));
        ASSERT_TRUE(db) << db.error().message();
        EXPECT_EQ(heard.of(event_kind::indexing_begun).size(), 1u);
        EXPECT_TRUE(heard.heard(event_kind::indexing_ended, "was built with 2000 keys in "));
        EXPECT_EQ(heard.of(event_kind::rebuild_begun).size(), 1u);
        EXPECT_TRUE(heard.heard(event_kind::rebuild_ended, "info: the filter was built with 2000 keys in "));
        EXPECT_TRUE(heard.heard(event_kind::opened, "2000 keys, built from the records"));
        EXPECT_EQ((*db)->store_figures().origin, filter_origin::rebuilt);
        EXPECT_GT((*db)->store_figures().opening_seconds, 0.0);
        EXPECT_FALSE((*db)->store_figures().snapshot_age_seconds);
        ASSERT_TRUE((*db)->snapshotter().save());
        EXPECT_TRUE(heard.heard(event_kind::snapshot_taken, "snapshot of a filter of 2000 keys taken in "));
        EXPECT_EQ((*db)->store_figures().snapshots, 1u);
        EXPECT_TRUE((*db)->store_figures().snapshot_age_seconds);
        ASSERT_TRUE((*db)->snapshotter().save()) << "nothing is new: no second one";
        EXPECT_EQ(heard.of(event_kind::snapshot_taken).size(), 1u);
        EXPECT_EQ((*db)->store_figures().snapshots, 1u);
    }
    heard.forget();
    auto db = guarded_db::open(here.path(), quiet_options(heard));
    ASSERT_TRUE(db) << db.error().message();
    EXPECT_TRUE(heard.heard(event_kind::opened, "2000 keys, from a snapshot"));
    EXPECT_TRUE(heard.of(event_kind::rebuild_begun).empty());
    EXPECT_TRUE(heard.of(event_kind::indexing_begun).empty());
    EXPECT_EQ((*db)->store_figures().origin, filter_origin::snapshot);
    EXPECT_TRUE((*db)->store_figures().snapshot_age_seconds) << "of the file that was loaded";
}

TEST(operability, a_snapshot_that_is_refused_is_named_with_the_reason) {
    const scratch here;
    listener heard;
    {
        auto db = clustered_db::open(here.path(), quiet_clustered_options(heard));
        ASSERT_TRUE(db) << db.error().message();
        for (int i = 0; i < 500; ++i) ASSERT_TRUE((*db)->put("key-" + std::to_string(i), "v"));
    }
    const auto files = snapshots_of(here.path());
    ASSERT_EQ(files.size(), 1u);
    damage(files[0]);
    heard.forget();
    auto db = clustered_db::open(here.path(), quiet_clustered_options(heard));
    ASSERT_TRUE(db) << db.error().message();
    const auto refused = heard.of(event_kind::snapshot_refused);
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_NE(refused[0].find("warning: the snapshot " + files[0] + " is not used: "), std::string::npos) << refused[0];
    EXPECT_TRUE(heard.heard(event_kind::rebuild_ended, "built with 500 keys"));
    EXPECT_EQ((*db)->store_figures().snapshots_refused, 1u);
    EXPECT_EQ((*db)->store_figures().origin, filter_origin::rebuilt);
}

TEST(operability, a_snapshot_that_fails_is_reported_and_counted) {
    const scratch here;
    listener heard;
    auto options = quiet_options(heard);
    options.snapshotter.on_close = false;
    auto db = guarded_db::open(here.path(), options);
    ASSERT_TRUE(db) << db.error().message();
    ASSERT_TRUE((*db)->Put({}, "ada", "1815").ok());
    std::filesystem::remove_all(here.path() + "/genista");
    std::ofstream{here.path() + "/genista"} << "a file where the folder should be";
    EXPECT_FALSE((*db)->snapshotter().save());
    EXPECT_TRUE(heard.heard(event_kind::snapshot_failed, "error: no snapshot was taken: "));
    EXPECT_EQ((*db)->store_figures().snapshot_failures, 1u);
    EXPECT_FALSE((*db)->store_figures().snapshot_age_seconds);
    std::filesystem::remove(here.path() + "/genista");

    // While keys wait for the filter there is none either.
    { const rocks::rocks_guard_core::entering lost{(*db)->core(), {(*db)->core().hash(), "grace"}}; }
    EXPECT_EQ(heard.of(event_kind::ranges_pending).size(), 1u);
    EXPECT_FALSE((*db)->snapshotter().save());
    EXPECT_TRUE(heard.heard(event_kind::snapshot_failed, "warning: no snapshot was taken: "));
    EXPECT_EQ((*db)->store_figures().snapshot_failures, 2u);
    ASSERT_TRUE((*db)->repair());
    EXPECT_TRUE(heard.heard(event_kind::ranges_repaired, "info: 1 ranges repaired in "));
    EXPECT_TRUE((*db)->snapshotter().save());
}

TEST(operability, stores_of_both_layouts_share_one_page) {
    const scratch here;
    listener heard;
    auto users = guarded_db::open(here.path("users"), quiet_options(heard));
    auto orders = clustered_db::open(here.path("orders"), quiet_clustered_options(heard));
    ASSERT_TRUE(users && orders);
    ASSERT_TRUE((*orders)->put("1", "one"));
    ASSERT_TRUE((*orders)->snapshotter().save());
    (*users)->core().on_foreign_writes("planted by a test");
    metrics_page page;
    ASSERT_TRUE((*users)->add_metrics(page, {{"store", "users \"of\" C:\\"}}));
    ASSERT_TRUE((*orders)->add_metrics(page, {{"store", "orders"}}));
    const std::string text = page.text();
    const exposition read = exposition::read(text);
    ASSERT_EQ(read.trouble, "") << text;
    const exposition::label_set of_users{{"store", "users \"of\" C:\\"}}, of_orders{{"store", "orders"}};
    EXPECT_EQ(read.value("genista_guard_foreign_writes_total", of_users), 1.0);
    EXPECT_EQ(read.value("genista_guard_foreign_writes_total", of_orders), 0.0);
    EXPECT_EQ(read.value("genista_store_snapshots_total", of_orders), 1.0);
    EXPECT_EQ(read.value("genista_store_snapshots_total", of_users), 0.0);
    EXPECT_EQ(read.value("genista_store_snapshot_failures_total", of_users), 0.0);
    EXPECT_TRUE(read.value("genista_store_snapshot_age_seconds", of_orders));
    EXPECT_FALSE(read.value("genista_store_snapshot_age_seconds", of_users)) << "there is no snapshot";
    EXPECT_GT(*read.value("genista_store_opening_seconds", of_users), 0.0);
    EXPECT_EQ(read.value("genista_store_opened_from", {{"store", "orders"}, {"origin", "rebuilt"}}), 1.0);
    EXPECT_EQ(read.value("genista_store_opened_from", {{"store", "orders"}, {"origin", "snapshot"}}), 0.0);
    EXPECT_FALSE((*users)->add_metrics(page, {{"store", "orders"}}));
}

// A scrape may arrive while the store is closed.
TEST(operability, figures_of_a_closed_store_can_be_read) {
    const scratch here;
    listener heard;
    auto db = clustered_db::open(here.path(), quiet_clustered_options(heard));
    ASSERT_TRUE(db);
    ASSERT_TRUE((*db)->put("ada", "1815"));
    ASSERT_TRUE((*db)->close());
    EXPECT_EQ((*db)->store_figures().snapshots, 1u);
    EXPECT_EQ(exposition::read(*(*db)->metrics_text()).value("genista_store_snapshots_total"), 1.0);
    auto indexed = guarded_db::open(here.path("indexed"), quiet_options(heard));
    ASSERT_TRUE(indexed);
    ASSERT_TRUE((*indexed)->Put({}, "ada", "1815").ok());
    ASSERT_TRUE((*indexed)->Close().ok());
    EXPECT_EQ((*indexed)->store_figures().snapshots, 1u);
    EXPECT_EQ(exposition::read(*(*indexed)->metrics_text()).trouble, "");
}

// The snapshotter's thread reports too, and a log function that throws does not end it.
TEST(operability, a_log_that_throws_does_not_stop_snapshots_in_the_background) {
    const scratch here;
    clustered_db_options options;
    options.store.rocksdb.env = unsynced_env();
    options.filter.capacity = 1000;
    options.snapshotter.every = std::chrono::milliseconds{2};
    options.log = [](const guard_event&) { throw std::runtime_error{"no room for a line"}; };
    auto db = clustered_db::open(here.path(), options);
    ASSERT_TRUE(db) << db.error().message();
    for (int i = 0; (*db)->store_figures().snapshots < 3; ++i)
        ASSERT_TRUE((*db)->put("key-" + std::to_string(i % 900), "v"));
    EXPECT_EQ((*db)->store_figures().snapshot_failures, 0u);
    EXPECT_TRUE((*db)->audit());
}

}  // namespace
}  // namespace genista::test::operability_test
