// The clustered layout: R is the data, a guard in front of it answers like a map, and a database
// that is not genista's is refused.
#include "genista/detail/stores/rocksdb/clustered_store.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "genista/detail/base/random_source.hpp"
#include "genista/filters/broom.hpp"
#include "genista/guard/guarded.hpp"
#include "tests/stores/scratch.hpp"
#include "tests/stores/unsynced_env.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::clustered_store_test {
namespace {

using rocks::clustered_options;
using rocks::clustered_store;

std::string key_number(std::uint64_t number) {
    return "key-" + std::to_string(number);
}

clustered_options test_options() {
    clustered_options options;
    options.key = hash_key::from_seed(11);
    options.rocksdb.env = unsynced_env();
    return options;
}

std::unique_ptr<clustered_store> open_store(const std::string& path) {
    auto opened = clustered_store::open(path, test_options());
    EXPECT_TRUE(opened) << opened.error().message();
    return *std::move(opened);
}

using broom_guard = guarded<broom_filter, clustered_store>;

broom_guard guard_of(clustered_store& store) {
    auto filter =
        broom_filter::build({.capacity = 5000, .hash = store.hash(), .random = repeatable(7)}, store.remote());
    EXPECT_TRUE(filter);
    return broom_guard{*std::move(filter), store};
}

TEST(clustered_store, a_guard_agrees_with_a_map_under_random_operations_across_reopening) {
    const scratch here;
    std::map<std::string, std::string> model;
    splitmix chance{1};
    for (int life = 0; life < 3; ++life) {
        auto store = open_store(here.path());
        broom_guard guard = guard_of(*store);
        for (int step = 0; step < scaled(6000, 200000); ++step) {
            const std::string key = key_number(chance.below(3000));
            const std::uint64_t what = chance.below(10);
            if (what < 4) {
                const std::string value = std::to_string(chance());
                ASSERT_TRUE(guard.put(key, value));
                model[key] = value;
            } else if (what < 6) {
                ASSERT_TRUE(guard.erase(key));
                model.erase(key);
            } else {
                const auto got = guard.get(key);
                ASSERT_TRUE(got);
                const auto there = model.find(key);
                ASSERT_EQ(got->has_value(), there != model.end()) << key;
                if (got->has_value()) {
                    ASSERT_EQ(**got, there->second);
                }
            }
        }
        EXPECT_EQ(guard.filter().stats().keys, model.size());
        const auto audited = guard.filter().audit(store->remote());
        EXPECT_TRUE(audited) << audited.error().message();
        std::uint64_t records = 0;
        ASSERT_TRUE(store->remote().for_each(0, ~std::uint64_t{0}, [&](const digest&, key_view key) {
            ++records;
            return model.contains(std::string{key.text()});
        }));
        EXPECT_EQ(records, model.size());
        for (std::uint64_t i = 3000; i < 6000; ++i) ASSERT_FALSE(guard.get(key_number(i))->has_value());
        EXPECT_GT(guard.counters().wasted_reads, 0u);
        EXPECT_GT(guard.counters().local_negatives, 2900u);
    }
}

TEST(clustered_store, a_key_seen_in_the_store_is_found_through_the_guard) {
    const scratch here;
    auto store = open_store(here.path());
    broom_guard guard = guard_of(*store);
    const std::uint64_t keys = scaled<std::uint64_t>(2000, 50000);
    std::atomic<std::uint64_t> denied{0}, seen{0};
    std::atomic<bool> done{false};
    std::thread reader{[&] {
        std::string value;
        while (!done.load()) {
            for (std::uint64_t i = 0; i < keys; ++i) {
                const std::string key = key_number(i);
                const auto there = store->read(store->hash()(key), key, value);
                if (!there || !*there) continue;
                ++seen;
                if (!guard.get(key)->has_value()) ++denied;
            }
        }
    }};
    std::vector<std::thread> writers;
    for (unsigned w = 0; w < 2; ++w) {
        writers.emplace_back([&, w] {
            for (std::uint64_t i = w; i < keys; i += 2) EXPECT_TRUE(guard.put(key_number(i), "v"));
        });
    }
    for (std::thread& each : writers) each.join();
    done = true;
    reader.join();
    EXPECT_EQ(denied.load(), 0u);
    EXPECT_TRUE(guard.filter().audit(store->remote()));
}

TEST(clustered_store, the_hash_key_is_random_and_kept) {
    const scratch here;
    hash_key first;
    {
        auto store = clustered_store::open(here.path("a"));
        ASSERT_TRUE(store);
        EXPECT_TRUE((*store)->is_new());
        first = (*store)->hash().key();
        EXPECT_NE(first, hash_key{});
    }
    auto again = clustered_store::open(here.path("a"));
    auto other = clustered_store::open(here.path("b"));
    ASSERT_TRUE(again && other);
    EXPECT_FALSE((*again)->is_new());
    EXPECT_EQ((*again)->hash().key(), first);
    EXPECT_NE((*other)->hash().key(), first);
    EXPECT_NE((*again)->identity(), (*other)->identity());
}

TEST(clustered_store, empty_and_long_keys_and_values_are_kept) {
    const scratch here;
    auto store = open_store(here.path());
    broom_guard guard = guard_of(*store);
    const std::string long_key(5000, 'k'), zeros(3, '\0');
    for (const std::string& key : {std::string{}, long_key, zeros}) {
        ASSERT_TRUE(guard.put(key, key + "!"));
        EXPECT_EQ(**guard.get(key), key + "!");
    }
    EXPECT_TRUE(guard.filter().audit(store->remote()));
    ASSERT_TRUE(store->flush());
    ASSERT_TRUE(store->sync());
    ASSERT_TRUE(store->close());
}

TEST(clustered_store, a_store_opened_for_reading_refuses_to_write) {
    const scratch here;
    {
        auto store = open_store(here.path());
        ASSERT_TRUE(store->write(store->hash()("ada"), "ada", "1815"));
    }
    clustered_options options;
    options.read_only = true;
    auto opened = clustered_store::open(here.path(), options);
    ASSERT_TRUE(opened) << opened.error().message();
    clustered_store& store = **opened;
    std::string value;
    EXPECT_TRUE(*store.read(store.hash()("ada"), "ada", value));
    EXPECT_EQ(value, "1815");
    EXPECT_EQ(store.write(store.hash()("bob"), "bob", "v").error().code(), error_code::unsupported);
    EXPECT_FALSE(clustered_store::open(here.path("nothing"), options));
}

}  // namespace
}  // namespace genista::test::clustered_store_test
