// The succinct filters with several threads: many query at the same time while none changes the
// filter, and all get the answers that a single thread gets.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "genista/filters/lossy.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "genista/filters/succinct_set.hpp"
#include "tests/support/scale.hpp"

namespace genista::succinct_threads_test {
namespace {

constexpr unsigned readers = 4;

// Calls look(key) for every key on every reader; each reader starts at another key.
template <class Look>
std::uint64_t wrong_answers(std::uint64_t keys, const std::vector<std::uint64_t>& answers, const Look& look) {
    std::atomic<std::uint64_t> wrong{0};
    std::vector<std::thread> all;
    for (unsigned reader = 0; reader < readers; ++reader) {
        all.emplace_back([&, reader] {
            std::uint64_t mine = 0;
            for (std::uint64_t i = 0; i < keys; ++i) {
                const std::uint64_t key = (i + reader * keys / readers) % keys;
                mine += look(key) == answers[key] ? 0u : 1u;
            }
            wrong += mine;
        });
    }
    for (std::thread& each : all) each.join();
    return wrong;
}

template <class Look>
void expect_same_answers(std::uint64_t keys, const Look& look) {
    std::vector<std::uint64_t> alone(keys);
    for (std::uint64_t key = 0; key < keys; ++key) alone[key] = look(key);
    EXPECT_EQ(wrong_answers(keys, alone, look), 0u);
}

template <class Filter>
class succinct_threads : public ::testing::Test {};
using counting = ::testing::Types<optimal_filter, spectral_filter>;
TYPED_TEST_SUITE(succinct_threads, counting);

TYPED_TEST(succinct_threads, readers_of_a_counting_filter_get_the_same_answers) {
    const auto keys = test::scaled<std::uint64_t>(20'000, 400'000);
    auto filter = *TypeParam::make({.capacity = 2 * keys, .hash = hasher{hash_key::from_seed(4)}});
    for (std::uint64_t key = 0; key < keys; ++key)
        for (std::uint64_t i = 0; i <= key % 3 % 2; ++i) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
    expect_same_answers(2 * keys, [&](std::uint64_t key) { return std::uint64_t{filter.may_contain(key)}; });
    expect_same_answers(2 * keys, [&](std::uint64_t key) { return filter.count(key); });
    expect_same_answers(2 * keys / 64, [&](std::uint64_t group) {
        std::vector<std::uint64_t> some(64);
        std::uint64_t answers = 0;
        for (std::uint64_t i = 0; i < some.size(); ++i) some[i] = 64 * group + i;
        filter.may_contain(std::span<const std::uint64_t>{some}, {&answers, 1});
        return answers;
    });
    for (std::uint64_t key = 0; key < keys; ++key) ASSERT_TRUE(filter.may_contain(key));
}

TEST(succinct_threads, readers_of_a_lossy_filter_get_the_same_answers) {
    const auto keys = test::scaled<std::uint64_t>(20'000, 400'000);
    auto filter = *lossy_filter::make({.capacity = keys, .hash = hasher{hash_key::from_seed(5)}});
    for (std::uint64_t key = 0; key < keys; ++key) ASSERT_NE(filter.insert(key), lossy_insert::full);
    expect_same_answers(2 * keys, [&](std::uint64_t key) { return std::uint64_t{filter.may_contain(key)}; });
}

TEST(succinct_threads, readers_of_a_set_and_a_multiset_get_the_same_answers) {
    const auto numbers = test::scaled<std::uint64_t>(20'000, 400'000);
    const succinct_options options{.universe = 2 * numbers, .hash = hasher{hash_key::from_seed(6)}};
    auto set = *succinct_set::make(options);
    auto multiset = *succinct_multiset::make(options);
    for (std::uint64_t x = 0; x < 2 * numbers; x += 2) {
        ASSERT_TRUE(set.insert(x).has_value());
        ASSERT_TRUE(multiset.insert(x).has_value());
    }
    expect_same_answers(2 * numbers, [&](std::uint64_t x) { return std::uint64_t{set.contains(x)}; });
    expect_same_answers(2 * numbers, [&](std::uint64_t x) { return multiset.count(x); });
    for (std::uint64_t x = 0; x < 2 * numbers; ++x) ASSERT_EQ(set.contains(x), x % 2 == 0);
}

}  // namespace
}  // namespace genista::succinct_threads_test
