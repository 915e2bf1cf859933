// The clustered layout with its filter and the filter's snapshots: what was put is found in the next life, without a
// rebuild.
#include "genista/stores/rocksdb/clustered_db.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "tests/stores/scratch.hpp"
#include "tests/stores/unsynced_env.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::clustered_db_test {
namespace {

using rocks::clustered_db;
using rocks::clustered_db_options;
using rocks::filter_origin;

clustered_db_options test_options() {
    clustered_db_options options;
    options.store.rocksdb.env = unsynced_env();
    options.store.key = hash_key::from_seed(3);
    options.filter = {.capacity = 1000, .repeatable = 4};
    options.keeper.every = std::chrono::milliseconds{10};
    return options;
}

TEST(clustered_db, lives_on_across_closing_from_its_snapshot) {
    const scratch here;
    std::map<std::string, std::string> model;
    splitmix chance{8};
    for (int life = 0; life < 3; ++life) {
        auto opened = clustered_db::open(here.path(), test_options());
        ASSERT_TRUE(opened) << opened.error().message();
        clustered_db& db = **opened;
        EXPECT_EQ(db.origin(), life == 0 ? filter_origin::rebuilt : filter_origin::snapshot);
        for (int step = 0; step < scaled(4000, 200000); ++step) {
            const std::string key = "key-" + std::to_string(chance.below(2000));
            if (chance.below(2) == 0) {
                ASSERT_TRUE(db.put(key, std::to_string(step)));
                model[key] = std::to_string(step);
            } else if (chance.below(2) == 0) {
                ASSERT_TRUE(db.erase(key));
                model.erase(key);
            }
            const auto got = db.get(key);
            ASSERT_TRUE(got);
            ASSERT_EQ(got->has_value(), model.contains(key)) << key;
            ASSERT_EQ(got->value_or(""), got->has_value() ? model[key] : "");
        }
        const auto audited = db.audit();
        EXPECT_TRUE(audited) << audited.error().message();
        EXPECT_EQ(db.counters().filter.keys, model.size());
        const auto closed = db.close();
        EXPECT_TRUE(closed) << closed.error().message();
    }
}

TEST(clustered_db, threads_put_and_erase_while_snapshots_are_taken) {
    const scratch here;
    const int steps = scaled(3000, 100000);
    for (int life = 0; life < 2; ++life) {
        auto opened = clustered_db::open(here.path(), test_options());
        ASSERT_TRUE(opened) << opened.error().message();
        clustered_db& db = **opened;
        std::vector<std::thread> threads;
        for (std::uint64_t who = 0; who < 3; ++who) {
            threads.emplace_back([&, who] {
                splitmix chance{who};
                std::map<std::string, bool> mine;
                for (int step = 0; step < steps; ++step) {
                    const std::string key = std::to_string(chance.below(300) * 3 + who);
                    const bool put = chance.below(2) == 0;
                    if (put)
                        EXPECT_TRUE(db.put(key, "v"));
                    else
                        EXPECT_TRUE(db.erase(key));
                    mine[key] = put;
                    EXPECT_EQ(db.get(key)->has_value(), put);
                }
                for (const auto& [key, there] : mine) EXPECT_EQ(db.get(key)->has_value(), there) << key;
            });
        }
        for (std::thread& each : threads) each.join();
        EXPECT_EQ(db.keeper().failures(), 0u);
        EXPECT_TRUE(db.audit());
    }
}

TEST(clustered_db, a_store_opened_for_reading_is_guarded_and_left_alone) {
    const scratch here;
    {
        auto opened = clustered_db::open(here.path(), test_options());
        ASSERT_TRUE(opened);
        ASSERT_TRUE((*opened)->put("ada", "1815"));
    }
    clustered_db_options options = test_options();
    options.store.read_only = true;
    auto opened = clustered_db::open(here.path(), options);
    ASSERT_TRUE(opened) << opened.error().message();
    EXPECT_EQ(**(*opened)->get("ada"), "1815");
    EXPECT_FALSE((*opened)->get("nobody")->has_value());
    EXPECT_EQ((*opened)->put("bob", "v").error().code(), error_code::unsupported);
    EXPECT_TRUE((*opened)->close());
}

}  // namespace
}  // namespace genista::test::clustered_db_test
