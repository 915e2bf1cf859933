// succinct::bin: a search through a window finds the same as a step-by-step search and a sorted
// list.
#include "filters/succinct/bin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "tests/support/every_isa.hpp"

namespace genista::succinct_bin_test {
namespace {

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

}  // namespace
}  // namespace genista::succinct_bin_test
