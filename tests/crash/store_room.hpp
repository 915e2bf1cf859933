// A room for stores of one layout: opening, keys by their prefix, and what is beside a database.
// For tests that close a store and open it again.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "tests/crash/either_store.hpp"
#include "tests/stores/scratch.hpp"

namespace genista::test {

// The paths of the snapshots beside a database. With "filter" those that were never finished, too.
[[nodiscard]] inline std::set<std::string> snapshots_in(const std::string& database,
                                                        const std::string& prefix = "filter-") {
    std::set<std::string> paths;
    for (const auto& each : std::filesystem::directory_iterator{database + "/genista"}) {
        if (each.path().filename().string().starts_with(prefix)) paths.insert(each.path().string());
    }
    return paths;
}

class store_room : public testing::TestWithParam<rocks::layout> {
  protected:
    std::unique_ptr<either_store> open(const std::string& name = "db", store_settings settings = no_snapshot_on_close) {
        settings.arrangement = GetParam();
        auto opened = either_store::open(place_.path(name), settings);
        if (!opened) {
            ADD_FAILURE() << opened.error().message();
            return nullptr;
        }
        return *std::move(opened);
    }
    static void put_some(either_store& store, const std::string& prefix, int count = 300) {
        for (int i = 0; i < count; ++i) ASSERT_TRUE(store.put(prefix + std::to_string(i), "value"));
    }
    static void expect_all(either_store& store, const std::string& prefix, int count = 300) {
        int denied = 0;
        for (int i = 0; i < count; ++i) {
            const auto got = store.get(prefix + std::to_string(i));
            denied += got && *got ? 0 : 1;
        }
        EXPECT_EQ(denied, 0) << prefix;
        const auto sound = store.audit();
        EXPECT_TRUE(sound) << sound.error().message();
    }

    inline static const store_settings no_snapshot_on_close{.snapshot_on_close = false};
    scratch place_;
};

}  // namespace genista::test
