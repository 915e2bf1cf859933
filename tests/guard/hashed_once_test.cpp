// Each call of a guard hashes its key once, whatever filter and store do with it: inserts that
// collide or find no room, false positives, erases, growth.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/filters/with_oracle.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/guard/memory_store.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/guard/indexed_store.hpp"
#include "tests/support/counting_hash.hpp"
#include "tests/support/daisy_classes.hpp"

namespace genista::test::hashed_once_test {
namespace {

constexpr daisy_terms terms{2'000, 0x1p-12};

// By the first byte of the key: a third each has class 0, 9 and 12.
std::shared_ptr<const scripted_oracle> by_first_byte() {
    return std::make_shared<scripted_oracle>([](std::uint64_t key) {
        constexpr unsigned classes[] = {0, 9, 12};
        return odds_of_class(classes[(key & 0xff) % 3], terms);
    });
}
daisy_plan three_classes() {
    return plan_of(terms, {{0, {0.34, 0.1}}, {9, {0.33, 0.4}}, {12, {0.33, 0.5}}});
}

// Long enough for the hash of long keys.
std::string name(std::uint64_t number) {
    return std::string(1, static_cast<char>('a' + number % 26)) + "/a key of about forty bytes/" +
           std::to_string(number);
}

template <class Guard>
void expect_one_hash_a_call(counting_hash& counting, Guard& users, std::uint64_t keys) {
    std::uint64_t others = 0;
    const auto check = [&](const std::string& key, auto&& call) {
        others += counting.during(key, call) == 1 ? 0u : 1u;
        users.core().drain();
    };
    const auto put = [&](std::uint64_t number) {
        const std::string key = name(number);
        check(key, [&] { ASSERT_TRUE(users.put(key, "value")); });
    };
    const auto get = [&](std::uint64_t number, bool there) {
        const std::string key = name(number);
        check(key, [&] { ASSERT_EQ(users.get(key)->has_value(), there) << key; });
        check(key, [&] { ASSERT_TRUE(users.may_contain(key) || !there) << key; });
    };
    const auto erase = [&](std::uint64_t number) {
        const std::string key = name(number);
        check(key, [&] { ASSERT_TRUE(users.erase(key)); });
    };
    for (std::uint64_t number = 0; number < keys; ++number) put(number);
    for (std::uint64_t number = 0; number < keys; number += 7) put(number);
    EXPECT_EQ(std::exchange(others, 0), 0u) << "a put";
    for (std::uint64_t number = 0; number < keys; number += 3) get(number, true);
    EXPECT_EQ(std::exchange(others, 0), 0u) << "a get of a stored key";
    for (std::uint64_t number = keys; number < 10 * keys; ++number) get(number, false);
    EXPECT_EQ(std::exchange(others, 0), 0u) << "a get of an absent key";
    for (std::uint64_t number = 0; number < 2 * keys; number += 2) erase(number);
    EXPECT_EQ(std::exchange(others, 0), 0u) << "an erase";
    for (std::uint64_t number = 1; number < keys; number += 2) get(number, true);
    const integer_key seven{7u};
    const std::string bytes{seven.view().text()};
    check(bytes, [&] { ASSERT_TRUE(users.put(7u, "value")); });
    check(bytes, [&] { ASSERT_TRUE(users.get(7u)->has_value()); });
    check(bytes, [&] { ASSERT_TRUE(users.may_contain(7u)); });
    check(bytes, [&] { ASSERT_TRUE(users.erase(7u)); });
    EXPECT_EQ(others, 0u) << "with an integer";
    const guard_counters seen = users.counters();
    EXPECT_GT(seen.wasted_reads, 10u) << "there were false positives";
    EXPECT_GT(seen.local_negatives, keys);
}

TEST(hashed_once, with_the_broom_filter_while_it_grows_and_collides) {
    for (const adapting when : {adapting::on_read, adapting::in_background, adapting::off}) {
        counting_hash counting;
        memory_store store{counting.hash()};
        guarded users{*broom_filter::make({.capacity = 300, .hash = counting.hash(), .random = repeatable(7)}),
                      store,
                      {.adapt = when, .queued_adapts = 4096}};
        expect_one_hash_a_call(counting, users, 3'000);
        EXPECT_GT(users.filter().stats().capacity, 300u);
        EXPECT_GT(users.filter().stats().remote_reads, 100u);
        EXPECT_EQ(users.counters().adapts > 10, when != adapting::off);
    }
}

TEST(hashed_once, with_filters_that_do_not_learn_and_one_that_is_full) {
    counting_hash counting;
    memory_store one{counting.hash()}, other{counting.hash()};
    guarded bloom{*bloom_filter::make({.capacity = 2'000, .hash = counting.hash()}), one};
    expect_one_hash_a_call(counting, bloom, 2'000);
    guarded full{*cuckoo_partial_filter::make({.capacity = 200, .hash = counting.hash()}), other};
    expect_one_hash_a_call(counting, full, 1'000);
    EXPECT_GT(full.counters().late_inserts, 100u) << "their ranges were marked";
}

TEST(hashed_once, with_filters_that_ask_an_oracle) {
    counting_hash counting;
    memory_store one{counting.hash()}, other{counting.hash()};
    daisy_broom_options options;
    options.hash = counting.hash();
    guarded daisy{*daisy_broom_filter<scripted_oracle>::make(options, three_classes(), by_first_byte()), one};
    expect_one_hash_a_call(counting, daisy, 2'000);
    EXPECT_NE(daisy.filter().deferred(), nullptr) << "keys of class 0 got a band of their own";
    guarded bloom{
        with_oracle{*daisy_bloom_filter::make({.plan = three_classes(), .hash = counting.hash()}), by_first_byte()},
        other};
    expect_one_hash_a_call(counting, bloom, 2'000);
}

TEST(hashed_once, with_a_filter_of_the_cuckoo_family) {
    counting_hash counting;
    memory_store records{counting.hash()};
    memory_map index;
    indexed_store store{records, index};
    guarded users{*cuckooing_filter::make({.capacity = 4'000, .hash = counting.hash(), .random = repeatable(7)}),
                  store};
    expect_one_hash_a_call(counting, users, 2'000);
    EXPECT_EQ(users.filter().rehashes(), 0u) << "new hash functions read all of R, and hash what they read";
    EXPECT_GT(users.counters().adapts, 10u);
}

// The control: the counter sees what the guard must not do.
TEST(hashed_once, the_control_is_hashed_twice) {
    counting_hash counting;
    memory_store store{counting.hash()};
    guarded users{*broom_filter::make({.capacity = 300, .hash = counting.hash(), .random = repeatable(7)}), store};
    const std::string key = name(1);
    EXPECT_EQ(counting.during(key,
                              [&] {
                                  const hashed_key hashed{users.filter().hash(), key};
                                  decltype(users)::core_type::entering in{users.core(), hashed};
                                  ASSERT_TRUE(store.write(hashed.where(), key, "value"));
                                  ASSERT_TRUE(users.filter().insert(key, store.remote()));
                                  in.skip();
                              }),
              2u);
    EXPECT_EQ(counting.during(key, [&] { EXPECT_TRUE(users.filter().may_contain(key)); }), 1u) << "in a kernel";
}

}  // namespace
}  // namespace genista::test::hashed_once_test
