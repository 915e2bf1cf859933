// succinct::sets: agrees with maps while both grow and shrink, in universes from 1 to 2^61, and
// with damaged words.
#include "filters/succinct/sets.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "tests/support/every_isa.hpp"

namespace genista::succinct_sets_test {
namespace {

using genista::succinct::sets;
using genista::succinct::sets_shape;

sets made(const sets_shape& shape) {
    auto one = sets::make(shape);
    EXPECT_TRUE(one.has_value());
    return *std::move(one);
}

// Three sets compared with three maps, growing and shrinking.
class model {
  public:
    model(const sets_shape& shape, std::uint64_t seed) : shape_{shape}, all_{made(shape)}, chance_{seed} {}

    void step(double growth) {
        const unsigned set = static_cast<unsigned>(chance_() % 3);
        std::map<std::uint64_t, unsigned>& mine = maps_[set];
        const double roll = std::uniform_real_distribution<>{0, 1}(chance_);
        if (roll < growth || mine.empty()) {
            const std::uint64_t x = chance_() % shape_.universe;
            const auto symbol = static_cast<unsigned>(chance_() % shape_.symbols);
            const auto there = all_.find(set, x);
            ASSERT_EQ(there.has_value(), mine.contains(x));
            ASSERT_EQ(all_.contains(set, x), mine.contains(x));
            if (there) {
                ASSERT_EQ(*there, mine[x]);
                all_.change(set, x, symbol);
            } else {
                ASSERT_EQ(all_.insert(set, x, symbol), genista::insert_outcome::inserted);
            }
            mine[x] = symbol;
            ASSERT_EQ(all_.find(set, x), symbol);
        } else {
            auto victim = mine.lower_bound(chance_() % shape_.universe);
            if (victim == mine.end()) victim = mine.begin();
            all_.erase(set, victim->first);
            ASSERT_FALSE(all_.find(set, victim->first).has_value());
            mine.erase(victim);
        }
    }
    void check() const {
        ASSERT_TRUE(all_.is_sound());
        for (unsigned set = 0; set < all_.count(); ++set) {
            const auto& mine = maps_[set];
            ASSERT_EQ(all_.size(set), mine.size());
            std::map<std::uint64_t, unsigned> seen;
            all_.each(set, [&](std::uint64_t x, unsigned symbol) { seen.emplace(x, symbol); });
            ASSERT_EQ(seen, mine);
            for (const auto& [x, symbol] : mine) {
                ASSERT_EQ(all_.find(set, x), symbol);
                ASSERT_TRUE(all_.contains(set, x));
                const std::uint64_t next = (x + 1) % shape_.universe;
                ASSERT_EQ(all_.contains(set, next), mine.contains(next));
            }
        }
    }
    void check_words() const {
        std::vector<std::uint64_t> words;
        all_.write_words(words);
        std::vector<sets::extent> extents;
        for (unsigned set = 0; set < all_.count(); ++set) extents.push_back(all_.extent_of(set));
        const auto back = sets::read_words(shape_, extents, std::as_bytes(std::span{words}));
        ASSERT_TRUE(back.has_value()) << back.error().message();
        for (unsigned set = 0; set < all_.count(); ++set) {
            ASSERT_EQ(back->size(set), all_.size(set));
            for (const auto& [x, symbol] : maps_[set]) ASSERT_EQ(back->find(set, x), symbol);
        }
        std::vector<std::uint64_t> again;
        back->write_words(again);
        ASSERT_EQ(words, again);
    }
    void play(std::uint64_t steps, double growth) {
        for (std::uint64_t i = 0; i < steps; ++i) {
            step(growth);
            if (::testing::Test::HasFatalFailure()) return;
        }
        check();
    }

  private:
    sets_shape shape_;
    sets all_;
    std::mt19937_64 chance_;
    std::array<std::map<std::uint64_t, unsigned>, 3> maps_{};
};

class succinct_sets : public ::testing::TestWithParam<sets_shape> {};

TEST_P(succinct_sets, agree_with_maps_while_they_grow_and_shrink) {
    model both{GetParam(), 11};
    for (const auto& [steps, growth] : {std::pair{20'000u, 0.9}, {20'000u, 0.5}, {30'000u, 0.2}, {10'000u, 0.8}}) {
        both.play(steps, growth);
        if (HasFatalFailure()) return;
        both.check_words();
        if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(shapes, succinct_sets,
                         ::testing::Values(sets_shape{1, 1}, sets_shape{2, 3}, sets_shape{100, 3}, sets_shape{1000, 1},
                                           sets_shape{100'003, 3}, sets_shape{1'000'000, 2},
                                           sets_shape{std::uint64_t{1} << 40, 3}, sets_shape{sets::most_universe, 3}));

TEST(succinct_sets, answer_alike_without_the_newer_instructions) {
    const genista::test::scoped_isa oldest{genista::isa::portable};
    model both{{100'003, 3}, 12};
    both.play(10'000, 0.8);
    if (HasFatalFailure()) return;
    both.play(5'000, 0.3);
}

TEST(succinct_sets, refuse_impossible_shapes) {
    EXPECT_FALSE(sets::make({0, 1}).has_value());
    EXPECT_FALSE(sets::make({sets::most_universe + 1, 1}).has_value());
    EXPECT_FALSE(sets::make({10, 0}).has_value());
    EXPECT_FALSE(sets::make({10, 4}).has_value());
}

// Damaged words are refused or give a valid collection.
TEST(succinct_sets, refuse_damaged_words_or_load_a_sound_collection) {
    std::mt19937_64 chance{5};
    const sets_shape shape{50'000, 3};
    sets all = made(shape);
    for (int i = 0; i < 2'000; ++i) {
        const std::uint64_t x = chance() % shape.universe;
        if (!all.find(0, x)) {
            ASSERT_EQ(all.insert(0, x, static_cast<unsigned>(chance() % 3)), genista::insert_outcome::inserted);
        }
    }
    std::vector<std::uint64_t> words;
    all.write_words(words);
    const std::array extents = {all.extent_of(0)};
    for (int i = 0; i < 3'000; ++i) {
        std::vector<std::uint64_t> damaged = words;
        damaged[chance() % damaged.size()] ^= std::uint64_t{1} << chance() % 64;
        const auto back = sets::read_words(shape, extents, std::as_bytes(std::span{damaged}));
        if (back) {
            ASSERT_TRUE(back->is_sound());
        }
    }
    for (const std::size_t size : {std::size_t{0}, words.size() / 2, words.size() - 1}) {
        EXPECT_FALSE(sets::read_words(shape, extents, std::as_bytes(std::span{words}.first(size))).has_value());
    }
}

}  // namespace
}  // namespace genista::succinct_sets_test
