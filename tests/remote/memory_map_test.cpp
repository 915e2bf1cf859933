// The promises of memory_map: order, idempotence, equal digests, keys of every length, ends of
// ranges, accounting.
#include "genista/remote/memory_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "remote/remote_support.hpp"

namespace genista::test::memory_map_test {
namespace {

TEST(memory_map, is_empty_at_first_in_every_answer) {
    memory_map map;
    EXPECT_EQ(map.size(), 0u);
    EXPECT_EQ(map.bytes(), sizeof map);
    EXPECT_FALSE(*map.contains(digest{1, 2}, "a"));
    EXPECT_FALSE(*map.erase(digest{1, 2}, "a"));
    EXPECT_TRUE(read_all(map).empty());
    EXPECT_TRUE(map.audit());
}

TEST(memory_map, reports_whether_a_record_is_new_and_keeps_one_of_each) {
    memory_map map;
    EXPECT_TRUE(*map.put(digest{1, 2}, "a"));
    EXPECT_FALSE(*map.put(digest{1, 2}, "a"));
    EXPECT_EQ(map.size(), 1u);
    EXPECT_TRUE(*map.contains(digest{1, 2}, "a"));
    EXPECT_FALSE(*map.contains(digest{1, 3}, "a"));
    EXPECT_FALSE(*map.contains(digest{0, 2}, "a"));
    EXPECT_FALSE(*map.contains(digest{1, 2}, "b"));
    EXPECT_TRUE(*map.erase(digest{1, 2}, "a"));
    EXPECT_FALSE(*map.erase(digest{1, 2}, "a"));
    EXPECT_EQ(map.size(), 0u);
}

TEST(memory_map, lets_equal_digests_coexist_and_sorts_them_by_unsigned_bytes_with_prefixes_first) {
    memory_map map;
    const std::vector<std::string> sorted = {"",          std::string(1, '\0'), "a", "aa",   "ab",   "b",   "bbbbbbbb",
                                             "bbbbbbbbb", "bbbbbbbbc",          "c", "\x7f", "\x80", "\xff"};
    std::vector<std::string> shuffled = sorted;
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937{3});
    for (const auto& key : shuffled) EXPECT_TRUE(*map.put(digest{5, 5}, key));
    for (const auto& key : shuffled) EXPECT_FALSE(*map.put(digest{5, 5}, key));
    std::vector<std::string> read;
    for (const auto& each : read_range(map, 5, 5)) read.push_back(each.key);
    EXPECT_EQ(read, sorted);
    EXPECT_TRUE(*map.erase(digest{5, 5}, "bbbbbbbb"));
    EXPECT_FALSE(*map.contains(digest{5, 5}, "bbbbbbbb"));
    EXPECT_TRUE(*map.contains(digest{5, 5}, "bbbbbbbbb"));
}

TEST(memory_map, distinguishes_an_empty_key_from_none_and_eight_zero_bytes_from_seven) {
    memory_map map;
    EXPECT_FALSE(*map.contains(digest{0, 0}, key_view{}));
    EXPECT_TRUE(*map.put(digest{0, 0}, key_view{}));
    EXPECT_FALSE(*map.put(digest{0, 0}, ""));
    EXPECT_TRUE(*map.put(digest{0, 0}, std::string(7, '\0')));
    EXPECT_TRUE(*map.put(digest{0, 0}, std::string(8, '\0')));
    EXPECT_TRUE(*map.put(digest{0, 0}, std::string(9, '\0')));
    EXPECT_EQ(map.size(), 4u);
}

TEST(memory_map, keeps_every_byte_of_keys_of_every_length_up_to_300_and_of_a_mebibyte) {
    memory_map map;
    std::mt19937_64 random{11};
    model exact;
    std::vector<std::size_t> lengths(301);
    std::iota(lengths.begin(), lengths.end(), std::size_t{0});
    lengths.insert(lengths.end(), {4096, 65535, 65536, 1 << 20, (1 << 20) + 1});
    for (const std::size_t length : lengths) {
        std::string key(length, '\0');
        for (char& byte : key) byte = static_cast<char>(random());
        const digest where{random() % 7, random() % 2};
        EXPECT_TRUE(*map.put(where, key));
        exact.insert({where, key});
    }
    EXPECT_TRUE(std::ranges::equal(read_all(map), exact));
    EXPECT_TRUE(map.audit());
}

TEST(memory_map, reaches_position_0_and_the_last_position_and_takes_both_ends_of_a_range) {
    memory_map map;
    for (const std::uint64_t position : {std::uint64_t{0}, std::uint64_t{1}, last_position - 1, last_position}) {
        EXPECT_TRUE(*map.put(digest{position, last_position}, "first"));
        EXPECT_TRUE(*map.put(digest{position, 0}, "second"));
    }
    EXPECT_EQ(read_all(map).size(), 8u);
    EXPECT_EQ(read_range(map, 0, 0).size(), 2u);
    EXPECT_EQ(read_range(map, last_position, last_position).size(), 2u);
    EXPECT_EQ(read_range(map, 1, last_position - 1).size(), 4u);
    EXPECT_EQ(read_range(map, 2, last_position - 2).size(), 0u);
    EXPECT_EQ(read_range(map, last_position, 0).size(), 0u) << "first > last is the empty range";
    EXPECT_EQ(read_range(map, 0, 0).front().key, "second") << "the seed decides among equal positions";
}

TEST(memory_map, stops_when_the_visitor_says_so_and_calls_that_a_success) {
    memory_map map;
    for (std::uint64_t position = 0; position < 1000; ++position) ASSERT_TRUE(*map.put(digest{position, 0}, "k"));
    for (const std::size_t wanted : {1u, 63u, 64u, 65u, 500u, 1000u}) {
        std::size_t seen = 0;
        EXPECT_TRUE(map.for_each(0, last_position, [&](const digest& where, key_view) {
            EXPECT_EQ(where.position, seen);
            return ++seen < wanted;
        }));
        EXPECT_EQ(seen, wanted);
    }
}

TEST(memory_map, releases_its_lock_when_a_visitor_throws) {
    memory_map map;
    ASSERT_TRUE(*map.put(digest{1, 1}, "a"));
    EXPECT_THROW((void)map.for_each(0, 9, [](const digest&, key_view) -> bool { throw std::runtime_error{"visitor"}; }),
                 std::runtime_error);
    EXPECT_TRUE(*map.put(digest{2, 2}, "b"));
}

TEST(memory_map, accepts_any_callable_as_visitor) {
    memory_map map;
    ASSERT_TRUE(*map.put(digest{1, 1}, "a"));
    int seen = 0;
    struct mutable_visitor {
        int& count;
        int operator()(const digest&, key_view) { return ++count; }
    } visitor{seen};
    EXPECT_TRUE(map.for_each(0, 9, visitor));
    EXPECT_TRUE(map.for_each(0, 9, mutable_visitor{seen}));
    const std::function<bool(const digest&, key_view)> wrapped = [&](const digest&, key_view) { return ++seen > 0; };
    EXPECT_TRUE(map.for_each(0, 9, wrapped));
    EXPECT_EQ(seen, 3);
}

// Grows and shrinks at one end, at the other end, and in the middle: every split and merge of a
// tree of tiny nodes.
template <class Map>
class tiny_memory_map : public testing::Test {};
using tiny_maps = testing::Types<basic_memory_map<2, 4>, basic_memory_map<3, 4>, basic_memory_map<4, 5>,
                                 basic_memory_map<5, 7>, basic_memory_map<64, 64>>;
TYPED_TEST_SUITE(tiny_memory_map, tiny_maps);

TYPED_TEST(tiny_memory_map, stays_a_valid_tree_at_every_step_of_growing_and_shrinking_in_every_order) {
    constexpr std::size_t count = 300;
    std::vector<std::size_t> ascending(count);
    std::iota(ascending.begin(), ascending.end(), std::size_t{0});
    std::vector<std::size_t> descending(ascending.rbegin(), ascending.rend());
    std::vector<std::size_t> outward;
    for (std::size_t i = 0; i < count / 2; ++i) outward.insert(outward.end(), {count / 2 + i, count / 2 - 1 - i});
    std::vector<std::size_t> shuffled = ascending;
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937{5});
    const std::vector orders = {ascending, descending, outward, shuffled};

    // One position for all (records differ in their keys only), four records a position, one record
    // a position.
    for (const std::uint64_t records_per_position : {count, std::size_t{4}, std::size_t{1}}) {
        const auto record_of = [&](std::size_t index) {
            const std::string text = std::to_string(1000 + index);
            return record{digest{index / records_per_position, index % records_per_position / 2},
                          index % 2 ? text : text + " and more"};
        };
        for (const auto& in : orders) {
            for (const auto& out : orders) {
                TypeParam map;
                model exact;
                for (const std::size_t index : in) {
                    const record next = record_of(index);
                    ASSERT_TRUE(*map.put(next.where, next.key));
                    exact.insert(next);
                    const auto valid = map.audit();
                    ASSERT_TRUE(valid) << valid.error().message();
                }
                ASSERT_TRUE(std::ranges::equal(read_all(map), exact));
                for (const std::size_t index : out) {
                    const record next = record_of(index);
                    ASSERT_TRUE(*map.erase(next.where, next.key));
                    ASSERT_FALSE(*map.contains(next.where, next.key));
                    exact.erase(next);
                    const auto valid = map.audit();
                    ASSERT_TRUE(valid) << valid.error().message();
                }
                ASSERT_EQ(map.size(), 0u);
            }
        }
    }
}

TEST(memory_map, holds_a_million_records_in_the_memory_it_promises) {
    memory_map map;
    std::mt19937_64 random{9};
    constexpr std::size_t count = 1'000'000;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t key = i;
        ASSERT_TRUE(
            *map.put(digest{random(), random()}, key_view{reinterpret_cast<const std::byte*>(&key), sizeof key}));
    }
    EXPECT_EQ(map.size(), count);
    // 25 bytes a slot. Leaves of a B+ tree under random inserts are ln 2 = 69 % full, and inner
    // nodes add 1/45 of 16 bytes.
    const double bytes_per_record = static_cast<double>(map.bytes()) / static_cast<double>(count);
    EXPECT_GT(bytes_per_record, 25.0);
    EXPECT_LT(bytes_per_record, 40.0);
    EXPECT_TRUE(map.audit());
}

}  // namespace
}  // namespace genista::test::memory_map_test
