// The clustered layout: R is the data, a guard in front of it answers like a map, and a database
// that is not genista's is refused.
#include "genista/detail/stores/rocksdb/clustered_store.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "genista/detail/base/random_source.hpp"
#include "genista/filters/broom.hpp"
#include "genista/guard/guarded.hpp"
#include "tests/stores/scratch.hpp"
#include "tests/support/guard_exercise.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::clustered_store_test {
namespace {

using rocks::clustered_options;
using rocks::clustered_store;

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
        expect_a_map(guard, model, chance, {.steps = scaled(6000, 200000), .keys = 3000});
        if (HasFatalFailure()) return;
        EXPECT_EQ(guard.filter().stats().keys, model.size());
        const auto audited = guard.filter().audit(store->remote());
        EXPECT_TRUE(audited) << audited.error().message();
        std::uint64_t records = 0;
        ASSERT_TRUE(store->remote().for_each(0, ~std::uint64_t{0}, [&](const digest&, key_view key) {
            ++records;
            return model.contains(std::string{key.text()});
        }));
        EXPECT_EQ(records, model.size());
        for (std::uint64_t i = 3000; i < 6000; ++i) ASSERT_FALSE(guard.get(key_text(i))->has_value());
        EXPECT_GT(guard.counters().wasted_reads, 0u);
        EXPECT_GT(guard.counters().local_negatives, 2900u);
    }
}

TEST(clustered_store, a_key_seen_in_the_store_is_found_through_the_guard) {
    const scratch here;
    auto store = open_store(here.path());
    broom_guard guard = guard_of(*store);
    const std::uint64_t keys = scaled<std::uint64_t>(2000, 50000);
    std::string value;
    const auto is_there = [&](std::uint64_t i) {
        const auto there = store->read(store->hash()(key_text(i)), key_text(i), value);
        return there && *there;
    };
    const auto write = [&](std::uint64_t i) { EXPECT_TRUE(guard.put(key_text(i), "v")); };
    const unsigned threads = 2;
    EXPECT_EQ(denied_while_writing(guard, keys, threads, is_there, write), 0u);
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
