// memory_map against std::set under random operations. Their mix changes over time, so that the
// tree grows, shrinks and empties.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "genista/remote/memory_map.hpp"
#include "remote/remote_support.hpp"
#include "tests/support/scale.hpp"

namespace genista::test::memory_map_model_test {
namespace {

// Few distinct values, so that puts repeat, erases hit and digests collide; with both ends among
// them.
class chance {
  public:
    chance(std::uint64_t seed, std::uint64_t positions) : random_{seed}, positions_{positions} {}

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
void one_operation(Map& map, model& exact, chance& chances, std::uint64_t put_percent) {
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
    chance chances{told.seed, told.positions};
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
}  // namespace genista::test::memory_map_model_test
