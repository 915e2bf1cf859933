// perturbed_oracle: each kind of error is as documented, the same for the same key every time, and
// within its factor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "papers/perturbed_oracle.hpp"

namespace genista::perturbed_oracle_test {
namespace {

// Key i of 1000 is stored with probability (i + 1) / 10^6 and queried with twice that.
struct ramp {
    [[nodiscard]] key_odds odds(key_view key) const noexcept {
        std::uint64_t i = 0;
        if (key.size != sizeof i) return {1e-9, 1e-9};
        std::memcpy(&i, key.data, sizeof i);
        return {1e-6 * static_cast<double>(i + 1), 2e-6 * static_cast<double>(i + 1)};
    }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return 100; }
};
static_assert(key_oracle<perturbed_oracle<ramp>>);

const std::shared_ptr<const ramp> truth = std::make_shared<const ramp>();

perturbed_oracle<ramp> with(perturbed_options options) {
    return *perturbed_oracle<ramp>::make(truth, std::move(options));
}
key_odds right(std::uint64_t key) {
    return truth->odds(integer_key{key}.view());
}

TEST(perturbed_oracle, random_errors_stay_within_the_factor_and_use_all_of_it) {
    const auto oracle = with({.mistake = oracle_mistake::random, .factor = 4});
    double least = 1, most = 1, mean_log = 0, products = 0;
    constexpr std::uint64_t keys = 20'000;
    for (std::uint64_t key = 0; key < keys; ++key) {
        const key_odds odds = oracle.odds(key);
        const double stored = odds.stored / right(key).stored, asked = odds.asked / right(key).asked;
        for (const double error : {stored, asked}) {
            ASSERT_GE(error, 0.25);
            ASSERT_LE(error, 4);
            least = std::min(least, error), most = std::max(most, error);
            mean_log += std::log2(error) / (2 * keys);
        }
        products += std::log2(stored) * std::log2(asked) / keys;
        ASSERT_EQ(oracle.odds(key), odds) << "the same every time";
    }
    EXPECT_LT(least, 0.255);
    EXPECT_GT(most, 3.95);
    EXPECT_NEAR(mean_log, 0, 0.05) << "both directions are equally likely";
    EXPECT_NEAR(products, 0, 0.06) << "the errors of p and q are independent";
}

TEST(perturbed_oracle, the_worst_directions_are_exact) {
    for (const std::uint64_t key : {0u, 7u, 999u}) {
        EXPECT_EQ(with({.mistake = oracle_mistake::too_small, .factor = 4}).odds(key),
                  (key_odds{right(key).stored * 4, right(key).asked / 4}));
        EXPECT_EQ(with({.mistake = oracle_mistake::too_large, .factor = 4}).odds(key),
                  (key_odds{right(key).stored / 4, right(key).asked * 4}));
        EXPECT_EQ(with({.mistake = oracle_mistake::none}).odds(key), right(key));
        EXPECT_EQ(with({.mistake = oracle_mistake::swapped}).odds(key),
                  (key_odds{right(key).asked, right(key).stored}));
        EXPECT_EQ(with({.mistake = oracle_mistake::constant, .constant = {0.1, 0.2}}).odds(key), (key_odds{0.1, 0.2}));
    }
    EXPECT_EQ(with({.mistake = oracle_mistake::too_large, .factor = 1e9}).odds(std::uint64_t{5}).asked, 1.0)
        << "probabilities remain probabilities";
}

TEST(perturbed_oracle, a_shuffle_gives_out_the_same_odds_once_each) {
    const auto oracle = with({.mistake = oracle_mistake::shuffled, .seed = 2, .universe = 1000});
    std::multiset<double> dealt;
    std::uint64_t fixed_points = 0;
    for (std::uint64_t key = 0; key < 1000; ++key) {
        dealt.insert(oracle.odds(key).stored);
        fixed_points += oracle.odds(key) == right(key) ? 1u : 0u;
    }
    std::uint64_t key = 0;
    for (const double stored : dealt) EXPECT_EQ(stored, right(key++).stored);
    EXPECT_LT(fixed_points, 12u);
    EXPECT_EQ(oracle.odds(std::uint64_t{5'000}), right(5'000))
        << "a key outside of the universe, without a list to draw from";
}

TEST(perturbed_oracle, a_shuffle_of_other_keys_draws_from_the_list) {
    const std::vector<key_odds> others{{0.1, 0.2}, {0.3, 0.4}};
    const auto oracle = with({.mistake = oracle_mistake::shuffled, .others = others});
    std::set<double> seen;
    for (char c = 'a'; c <= 'z'; ++c) {
        const std::string key(3, c);
        seen.insert(oracle.odds(key).stored);
        EXPECT_EQ(oracle.odds(key), oracle.odds(key));
    }
    EXPECT_EQ(seen, (std::set<double>{0.1, 0.3}));
}

TEST(perturbed_oracle, refuses_invalid_options) {
    const auto message = [](perturbed_options options) {
        return std::string{perturbed_oracle<ramp>::make(truth, std::move(options)).error().message()};
    };
    EXPECT_EQ(message({.factor = 0.5}), "perturbed_oracle: the factor 0.5 is not in 1..2^64");
    EXPECT_EQ(message({.factor = std::nan("")}), "perturbed_oracle: the factor nan is not in 1..2^64");
    EXPECT_EQ(message({.mistake = oracle_mistake::constant, .constant = {2, 0}}),
              "perturbed_oracle: the odds 2 and 0 are not in 0..1");
    EXPECT_EQ(message({.mistake = oracle_mistake::shuffled}),
              "perturbed_oracle: to shuffle it needs a universe or a list of odds");
    EXPECT_EQ(message({.mistake = oracle_mistake::shuffled, .others = {{0.5, -1}}}),
              "perturbed_oracle: the odds 0.5 and -1, number 0, are not in 0..1");
    EXPECT_FALSE(perturbed_oracle<ramp>::make(nullptr, {}));
}

TEST(perturbed_oracle, counts_the_bytes_of_the_oracle_it_wraps) {
    EXPECT_GT(with({}).memory_bytes(), 100u + sizeof(perturbed_options));
}

}  // namespace
}  // namespace genista::perturbed_oracle_test
