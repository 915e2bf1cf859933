// Random builds, updates, saves and loads on bloomier_filter and a std::map: every key has its
// value, and an absent key is reported absent or has the value of some key.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "bits/words.hpp"
#include "filters/filter_snapshots.hpp"
#include "genista/filters/bloomier.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::bloomier_model_test {
namespace {

struct world {
    std::map<std::uint64_t, std::uint64_t> truth;
    std::optional<bloomier_filter> filter;
    unsigned value_bits = 0;

    // Updates are tried on stored keys only: an absent key that passes the check would change a
    // stored key's value, and the caller guarantees that there is none.
    void expect_agreement(std::uint64_t universe) const {
        std::set<std::uint64_t> values;
        for (const auto& [key, value] : truth) {
            ASSERT_EQ(filter->find(key), value) << key;
            values.insert(value);
        }
        for (std::uint64_t key = 0; key < universe; ++key) {
            if (truth.contains(key)) continue;
            const auto found = filter->find(key);
            ASSERT_TRUE(!found || values.contains(*found)) << key << " has a value that no key has";
        }
    }
};

void run_random_operations(std::uint64_t seed) {
    test::splitmix chance{seed};
    world w;
    w.value_bits = static_cast<unsigned>(chance.below(65));
    const std::uint64_t universe = 1 + chance.below(6'000);
    const double rate = std::ldexp(1.0, -static_cast<int>(1 + chance.below(12)));
    std::vector<std::uint64_t> keys, values;
    for (auto wanted = chance.below(universe + 1); wanted > 0; --wanted) {
        const std::uint64_t key = chance.below(universe);
        const auto [at, is_new] = w.truth.try_emplace(key, chance() & bits::low_mask(w.value_bits));
        keys.push_back(key);  // a repetition has the value of the first
        values.push_back(at->second);
    }
    auto built = bloomier_filter::build(
        {.false_positive_rate = rate, .value_bits = w.value_bits, .hash = hasher{hash_key::from_seed(seed)}},
        std::span<const std::uint64_t>{keys}, values, static_cast<unsigned>(1 + chance.below(3)));
    ASSERT_TRUE(built) << built.error().message();
    ASSERT_EQ(built->stats().keys, w.truth.size());
    w.filter.emplace(*std::move(built));
    for (int round = 0; round < 4; ++round) {
        w.expect_agreement(universe);
        if (testing::Test::HasFatalFailure() || w.truth.empty()) return;
        for (int i = 0; i < 200; ++i) {
            auto at = w.truth.lower_bound(chance.below(universe));
            if (at == w.truth.end()) at = w.truth.begin();
            at->second = chance() & bits::low_mask(w.value_bits);
            const auto outcome = w.filter->update(at->first, at->second);
            ASSERT_TRUE(outcome);
            ASSERT_EQ(*outcome, update_outcome::updated);
        }
        if (chance.below(2) != 0) continue;
        auto loaded = bloomier_filter::load(test::saved(*w.filter));
        ASSERT_TRUE(loaded) << loaded.error().message();
        w.filter.emplace(*std::move(loaded));
    }
}

TEST(bloomier_model, agrees_with_a_map_through_updates_and_snapshots) {
    for (std::uint64_t seed = 0; seed < test::scaled(60u, 2'000u); ++seed) {
        SCOPED_TRACE(seed);
        run_random_operations(seed);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace genista::bloomier_model_test
