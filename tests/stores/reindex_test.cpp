// An index is completed while other threads write. A scan that has passed a key does not prove that
// the key's record exists: foreign writes found meanwhile start it over.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>

#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "genista/detail/base/fail_point.hpp"
#include "tests/stores/guarded_db_world.hpp"

namespace genista::test::reindex_test {
namespace {

constexpr std::uint64_t keys = 1000;

// Calls the test once, when the scan has passed the first keys, in the thread that scans.
struct beside_the_scan {
    static inline std::function<void()> call{};
    static void hook(const char* name) {
        if (std::string_view{name} != "index.batch" || !call) return;
        const auto once = std::exchange(call, {});
        once();
    }
    explicit beside_the_scan(std::function<void()> what) {
        call = std::move(what);
        at_fail_point = &hook;
    }
    beside_the_scan(const beside_the_scan&) = delete;
    beside_the_scan& operator=(const beside_the_scan&) = delete;
    ~beside_the_scan() {
        at_fail_point = nullptr;
        call = {};
    }
};

void fill(guarded_db& db) {
    for (std::uint64_t i = 0; i < keys; ++i) EXPECT_OK(db.Put({}, key_number(i), "v"));
}

void expect_found(guarded_db& db, const std::string& key) {
    std::string value;
    EXPECT_OK(db.Get({}, key, &value));
    expect_sound(db);
}

// "a" is before all other keys, so the scan has passed it.
TEST(reindex, starts_over_if_another_look_finds_a_foreign_write_behind_it) {
    using look = std::function<void(guarded_db&)>;
    const std::map<std::string, look> looks{
        {"look", [](guarded_db& db) { EXPECT_FALSE(db.look_for_foreign_writes()); }},
        {"save", [](guarded_db& db) { EXPECT_FALSE(db.snapshotter().save()); }},
    };
    for (const auto& each : looks) {
        SCOPED_TRACE(each.first);
        const scratch here;
        {
            const auto db = open_guarded(here.path());
            fill(*db);
            {
                const beside_the_scan meanwhile{[&] {
                    EXPECT_OK(db->base().Put({}, "a", "foreign"));
                    each.second(*db);
                }};
                EXPECT_FALSE(db->reindex()) << "the index lacks a key";
            }
            EXPECT_FALSE(beside_the_scan::call);
            std::string value;
            EXPECT_OK(db->Get({}, "a", &value));
            EXPECT_TRUE(db->repair());
            EXPECT_EQ(db->counters().ranges_pending_repair, 0u);
            expect_found(*db, "a");
        }
        expect_found(*open_guarded(here.path()), "a");
    }
}

// A table is removed that hid an older value of "a". No write shows this, and operations.md says to
// call reindex(). A second thread calls it, and takes its first step when the scan of another
// thread has passed the key.
TEST(reindex, that_is_asked_for_beside_another_scans_again) {
    const scratch here;
    auto options = test_options();
    options.rocksdb.disable_auto_compactions = true;
    const auto db = open_guarded(here.path(), options);
    fill(*db);
    EXPECT_OK(db->Put({}, "a", "old"));
    EXPECT_OK(db->Flush({}));
    rocksdb::CompactRangeOptions to_the_bottom;
    to_the_bottom.change_level = true;
    to_the_bottom.target_level = 6;
    EXPECT_OK(db->CompactRange(to_the_bottom, nullptr, nullptr));
    EXPECT_OK(db->Delete({}, "a"));
    EXPECT_OK(db->Flush({}));
    std::vector<rocksdb::LiveFileMetaData> tables;
    db->GetLiveFilesMetaData(&tables);
    for (const auto& each : tables) {
        if (each.column_family_name != rocksdb::kDefaultColumnFamilyName || each.level != 0) continue;
        EXPECT_OK(db->CompactFiles({}, {each.name}, 5));
    }
    std::string value;
    {
        const beside_the_scan meanwhile{[&] {
            const rocksdb::Slice begin{"a"}, end{"b"};
            EXPECT_OK(rocksdb::DeleteFilesInRange(&db->base(), db->DefaultColumnFamily(), &begin, &end));
            ASSERT_TRUE(db->base().Get({}, "a", &value).ok()) << "the older value did not come back";
            db->core().need_repair_everywhere(false);
        }};
        EXPECT_FALSE(db->reindex());
    }
    EXPECT_OK(db->Get({}, "a", &value));
    EXPECT_TRUE(db->repair());
    EXPECT_EQ(db->counters().ranges_pending_repair, 0u);
    expect_found(*db, "a");
}

}  // namespace
}  // namespace genista::test::reindex_test
