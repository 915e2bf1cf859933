// R in memory: memory_map, alone and against a reference model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "genista/remote/memory_map.hpp"
#include "remote/remote_support.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::memory_map_test {
namespace {

// The promises of memory_map: order, idempotence, equal digests, keys of every length, ends of
// ranges, accounting.

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

// ---- memory_map against a model -----------------------------------------------------------------

// memory_map against std::set under random operations. Their mix changes over time, so that the
// tree grows, shrinks and empties.

// Few distinct values, so that puts repeat, erases hit and digests collide; with both ends among
// them.
class random_choice {
  public:
    random_choice(std::uint64_t seed, std::uint64_t positions) : random_{seed}, positions_{positions} {}

    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

    std::uint64_t position() {
        switch (below(8)) {
            case 0:
                return 0;
            case 1:
                return last_position;
            case 2:
                return last_position - below(4);
            default:
                return below(positions_) * (last_position / positions_);
        }
    }

    std::string key() {
        const std::uint64_t which = below(40);
        const std::uint64_t shape = below(16);
        if (below(100'000) == 0) return std::string(1 << 20, 'm');
        if (shape == 0) return "";
        if (shape < 10) return std::string(1 + which % 8, static_cast<char>('a' + which % 3));
        return "a longer key, number " + std::to_string(which) + std::string(which, '.');
    }

    record next() { return {digest{position(), below(3)}, key()}; }

  private:
    std::mt19937_64 random_;
    std::uint64_t positions_;
};

struct script {
    std::uint64_t operations;
    std::uint64_t positions;
    std::uint64_t seed;
};

template <class Map>
void one_operation(Map& map, model& exact, random_choice& chances, std::uint64_t put_percent) {
    const std::uint64_t roll = chances.below(100);
    if (roll < 70) {
        const record which = chances.next();
        if (chances.below(100) < put_percent) {
            ASSERT_EQ(*map.put(which.where, which.key), exact.insert(which).second);
        } else {
            ASSERT_EQ(*map.erase(which.where, which.key), exact.erase(which) == 1);
        }
    } else if (roll < 78 && !exact.empty()) {  // a record that is present, or was a moment ago
        auto at = exact.lower_bound(chances.next());
        if (at == exact.end()) at = exact.begin();
        const record which = *at;
        exact.erase(at);
        ASSERT_TRUE(*map.erase(which.where, which.key));
    } else if (roll < 95) {
        const record which = chances.next();
        ASSERT_EQ(*map.contains(which.where, which.key), exact.contains(which));
    } else {
        const std::uint64_t first = chances.position();
        const std::uint64_t last = chances.below(4) == 0 ? first : chances.position();  // often first > last
        const std::size_t wanted = 1 + chances.below(50);
        std::vector<record> seen;
        ASSERT_TRUE(map.for_each(first, last, [&](const digest& where, key_view key) {
            seen.push_back({where, std::string{key.text()}});
            return seen.size() < wanted;
        }));
        ASSERT_EQ(seen, range_of(exact, first, last, wanted));
    }
}

template <class Map>
void run(const script& told) {
    Map map;
    model exact;
    random_choice chances{told.seed, told.positions};
    const std::uint64_t phase = told.operations / 20;
    for (std::uint64_t i = 0; i < told.operations; ++i) {
        const std::uint64_t put_percent = i / phase % 4 == 3 ? 5 : (i / phase % 2 == 0 ? 75 : 50);
        one_operation(map, exact, chances, put_percent);
        if (testing::Test::HasFatalFailure()) return;
        if (i % (told.operations / 40) == 0) {
            const auto valid = map.audit();
            ASSERT_TRUE(valid) << valid.error().message();
            ASSERT_EQ(map.size(), exact.size());
            ASSERT_EQ(read_all(map), std::vector<record>(exact.begin(), exact.end()));
        }
    }
}

TEST(memory_map_model, agrees_with_a_set_for_leaves_of_2_and_nodes_of_4) {
    run<basic_memory_map<2, 4>>({.operations = effort(400'000, 50'000, 8'000'000), .positions = 5, .seed = 1});
}

TEST(memory_map_model, agrees_with_a_set_for_leaves_of_3_and_nodes_of_5) {
    run<basic_memory_map<3, 5>>({.operations = effort(400'000, 50'000, 8'000'000), .positions = 200, .seed = 2});
}

TEST(memory_map_model, agrees_with_a_set_for_leaves_of_8_and_nodes_of_6) {
    run<basic_memory_map<8, 6>>({.operations = effort(400'000, 50'000, 8'000'000), .positions = 1000, .seed = 3});
}

TEST(memory_map_model, agrees_with_a_set_at_its_real_size) {
    run<memory_map>({.operations = effort(600'000, 100'000, 12'000'000), .positions = 1000, .seed = 4});
}

TEST(memory_map_model, agrees_with_a_set_when_one_digest_holds_thousands_of_keys) {
    memory_map map;
    model exact;
    std::mt19937_64 random{5};
    for (int i = 0; i < 200'000; ++i) {
        const std::string key = std::to_string(random() % 20'000);
        const digest where{last_position, last_position};
        if (random() % 5 < 3) {
            ASSERT_EQ(*map.put(where, key), exact.insert({where, key}).second);
        } else {
            ASSERT_EQ(*map.erase(where, key), exact.erase({where, key}) == 1);
        }
    }
    EXPECT_GT(exact.size(), 5'000u);
    EXPECT_EQ(read_range(map, last_position, last_position), std::vector<record>(exact.begin(), exact.end()));
    EXPECT_TRUE(map.audit());
}

}  // namespace
}  // namespace genista::test::memory_map_test
