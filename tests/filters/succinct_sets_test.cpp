// The tables under the succinct filters against simple ones: a bin, and a collection of bins.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "filters/succinct/bin.hpp"
#include "filters/succinct/sets.hpp"
#include "tests/support/every_isa.hpp"

namespace genista::succinct_sets_test {
namespace {

// ---- succinct::bin ------------------------------------------------------------------------------

// succinct::bin: a search through a window finds the same as a step-by-step search and a sorted
// list.

using genista::isa;
using genista::succinct::arena;
using genista::succinct::bin;
using genista::succinct::bin_code;
namespace bits = genista::bits;

// The words of one bin, `spare` words more than necessary, between two words of ones that do not
// belong to it.
class block {
  public:
    block(const std::vector<std::uint64_t>& numbers, std::uint64_t limit, std::size_t spare)
        : code_{bin_code::for_limit(limit)},
          words_(bin::words_for(code_, numbers.size()) + spare + 2, ~std::uint64_t{0}) {
        std::fill(words_.begin() + 1, words_.end() - 1, std::uint64_t{0});
        words_[1] = (words_.size() - 2) << arena::words_place;
        view().write(numbers);
    }
    [[nodiscard]] bin view() { return {std::span{words_}.subspan(1, words_.size() - 2), code_}; }

  private:
    bin_code code_;
    std::vector<std::uint64_t> words_;
};

template <class Words>
void expect_searches_agree(bin here, const std::vector<std::uint64_t>& numbers, std::uint64_t least,
                           std::uint64_t range) {
    const bin::found seen = here.find<Words>(least, range), plain = here.find_step_by_step<Words>(least, range);
    const auto next = std::ranges::lower_bound(numbers, least);
    const bool is_there = next != numbers.end() && *next - least < range;
    ASSERT_EQ(plain.is_there, is_there) << least;
    ASSERT_EQ(seen.is_there, is_there) << least;
    ASSERT_EQ(plain.at.index, static_cast<std::uint64_t>(next - numbers.begin())) << least;
    ASSERT_EQ(seen.at.index, plain.at.index) << least;
    ASSERT_EQ(seen.at.position, plain.at.position) << least;
    if (is_there) {
        ASSERT_EQ(plain.number, *next);
        ASSERT_EQ(seen.number, *next);
    }
    const bin::window window = here.look<Words>(least, range);
    if (window.is_whole) {
        ASSERT_EQ(here.equal_lanes(window, least, range) != 0, is_there) << least;
    }
}

std::vector<std::uint64_t> some_numbers(std::uint64_t limit, std::uint64_t count, std::mt19937_64& chance) {
    std::set<std::uint64_t> chosen;
    // One in four is next to another number, so that several numbers share an upper part, and
    // neighbours have different ones.
    while (chosen.size() < std::min(count, limit))
        chosen.insert(chosen.empty() || chance() % 4 != 0 ? chance() % limit : (*chosen.rbegin() + limit - 1) % limit);
    return {chosen.begin(), chosen.end()};
}

void play(isa level, std::uint64_t limit, std::uint64_t count, std::size_t spare, std::mt19937_64& chance) {
    const std::vector<std::uint64_t> numbers = some_numbers(limit, count, chance);
    if (numbers.empty()) return;
    block mine{numbers, limit, spare};
    for (int i = 0; i < 400; ++i) {
        const std::uint64_t range = 1 + chance() % 3;
        if (range > limit) continue;
        std::uint64_t least = chance() % limit;
        if (i % 2 == 0) least = numbers[chance() % numbers.size()] - std::min(numbers[0], chance() % 4);
        least = std::min(least, limit - range);
        bits::with_word_kernel(
            level, [&](auto words) { expect_searches_agree<decltype(words)>(mine.view(), numbers, least, range); });
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(succinct_bin, a_window_finds_what_a_step_by_step_search_finds) {
    std::mt19937_64 chance{1};
    for (const isa level : genista::test::usable_isas()) {
        for (const std::uint64_t limit : {1u, 3u, 200u, 256u, 257u, 600u, 5'000u, 40'000u, 122'880u, 200'000u}) {
            for (const std::uint64_t count : {1u, 20u, 67u, 100u, 160u, 244u, 320u, 700u, 1000u}) {
                for (const std::size_t spare : {0u, 1u, 9u}) play(level, limit, count, spare, chance);
                if (HasFatalFailure()) return;
            }
        }
        for (unsigned log = 20; log <= 62; log += 3) play(level, std::uint64_t{3} << log, 160, 0, chance);
    }
}

// All numbers in one upper part, or in the last one: more than a window holds.
TEST(succinct_bin, many_numbers_in_one_part_are_found_too) {
    constexpr std::uint64_t limit = 122'880;
    for (const isa level : genista::test::usable_isas()) {
        for (const std::uint64_t from : {std::uint64_t{0}, std::uint64_t{512}, limit - 200}) {
            std::vector<std::uint64_t> numbers(200);
            for (std::uint64_t i = 0; i < numbers.size(); ++i) numbers[i] = from + i;
            block mine{numbers, limit, 0};
            for (std::uint64_t least = from > 300 ? from - 300 : 0; least < std::min(limit - 3, from + 600); ++least) {
                bits::with_word_kernel(
                    level, [&](auto words) { expect_searches_agree<decltype(words)>(mine.view(), numbers, least, 3); });
                if (HasFatalFailure()) return;
            }
        }
    }
}

// ---- succinct::sets -----------------------------------------------------------------------------

// succinct::sets: agrees with maps while both grow and shrink, in universes from 1 to 2^61, and
// with damaged words.

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
