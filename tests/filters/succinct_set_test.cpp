// succinct_set and succinct_multiset: their contents, bad options, snapshots, and their size
// against the bound. The collection underneath has its model in succinct_sets_test.cpp; failing
// memory is in allocation_test.cpp.
#include "genista/filters/succinct_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "filters/filter_snapshots.hpp"
#include "tests/support/fix_checksums.hpp"

namespace genista::succinct_set_test {
namespace {

succinct_options seeded(std::uint64_t universe) {
    return {.universe = universe, .hash = hasher{hash_key::from_seed(universe)}};
}

std::vector<std::byte> damaged(const std::vector<std::byte>& file, std::mt19937_64& chance) {
    std::vector<std::byte> bytes = file;
    bytes[192 + chance() % (bytes.size() - 192)] ^= static_cast<std::byte>(1u << chance() % 8);
    test::fix_checksums(bytes);
    return bytes;
}

TEST(succinct_set, agrees_with_a_set) {
    for (const std::uint64_t universe :
         {std::uint64_t{1}, std::uint64_t{50}, std::uint64_t{5000}, std::uint64_t{1} << 61}) {
        auto all = *succinct_set::make(seeded(universe));
        std::set<std::uint64_t> model;
        std::mt19937_64 chance{universe};
        for (int i = 0; i < 6000; ++i) {
            // Neighbouring numbers, which an adversary would choose if bins were ranges.
            const std::uint64_t x = chance() % std::min<std::uint64_t>(universe, 3000);
            if (chance() % 3 != 0) {
                ASSERT_EQ(*all.insert(x),
                          model.insert(x).second ? insert_outcome::inserted : insert_outcome::already_present);
            } else {
                ASSERT_EQ(*all.erase(x), model.erase(x) == 1 ? erase_outcome::erased : erase_outcome::absent);
            }
            if (i % 2'500 == 2'000) {
                all.clear();
                model.clear();
            }
            ASSERT_EQ(all.size(), model.size());
        }
        std::set<std::uint64_t> seen;
        all.each([&](std::uint64_t x) { seen.insert(x); });
        EXPECT_EQ(seen, model);
        for (std::uint64_t x = 0; x < 3000; ++x) ASSERT_EQ(all.contains(x), model.contains(x));
        EXPECT_FALSE(all.contains(universe));
    }
}

TEST(succinct_set, refuses_numbers_outside_its_universe) {
    EXPECT_EQ(succinct_set::make({.universe = 0}).error().message(), "succinct_set: universe 0, allowed are 1 to 2^61");
    auto all = *succinct_set::make(seeded(10));
    EXPECT_EQ(all.insert(10).error().message(), "succinct_set: number 10, allowed are 0 to 9");
    EXPECT_FALSE(all.erase(10).has_value());
    EXPECT_EQ(all.size(), 0u);
}

TEST(succinct_set, is_loaded_as_saved_and_refuses_damage) {
    auto all = *succinct_set::make(seeded(100'000));
    for (std::uint64_t x = 0; x < 2000; ++x) ASSERT_TRUE(all.insert(x * 37));
    const auto file = test::saved(all);
    const auto back = succinct_set::load(file);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    for (std::uint64_t x = 0; x < 100'000; ++x) ASSERT_EQ(back->contains(x), all.contains(x));
    EXPECT_EQ(test::saved(*back), file);
    std::mt19937_64 chance{9};
    for (int i = 0; i < 500; ++i) {
        const auto loaded = succinct_set::load(damaged(file, chance));
        if (loaded) {
            std::uint64_t seen = 0;
            loaded->each([&](std::uint64_t x) { seen += loaded->contains(x) ? 1u : 0u; });
            ASSERT_EQ(seen, loaded->size());
        } else {
            ASSERT_FALSE(loaded.error().message().empty());
        }
    }
}

TEST(succinct_set, takes_about_two_bits_a_number_above_the_bound) {
    const std::uint64_t n = 200'000, universe = n * 1000;
    auto all = *succinct_set::make({.universe = universe, .hash = hasher{hash_key::from_seed(1)}});
    std::uint64_t peak = 0;
    for (std::uint64_t x = 0; x < n; ++x) {
        ASSERT_TRUE(all.insert(x));
        if (x % 1000 == 0) peak = std::max(peak, all.stats().local_bytes);
    }
    const double bits = 8.0 * static_cast<double>(all.stats().local_bytes);
    EXPECT_LE(bits, succinct_set::bound_bits(universe, n) + 2.5 * static_cast<double>(n));
    EXPECT_LE(static_cast<double>(peak), 1.25 * static_cast<double>(all.stats().local_bytes));
    for (std::uint64_t x = 0; x + 1000 < n; ++x) ASSERT_EQ(*all.erase(x), erase_outcome::erased);
    // Down to the memory of the thousand numbers that are left, and two or three pieces.
    EXPECT_LE(all.stats().local_bytes, 5000u + 3u * 8192u);
}

TEST(succinct_set, the_bound_is_the_logarithm_of_a_binomial_coefficient) {
    EXPECT_NEAR(succinct_set::bound_bits(10, 3), std::log2(120.0), 1e-9);
    EXPECT_EQ(succinct_set::bound_bits(10, 0), 0);
    EXPECT_EQ(succinct_set::bound_bits(10, 10), 0);
    // Both formulas agree where one takes over from the other.
    const double far = succinct_set::bound_bits(10'000'000, 999), near = succinct_set::bound_bits(10'000'000, 1001);
    EXPECT_NEAR(near - far, 2 * std::log2(1e7 / 1000), 0.05);
    EXPECT_NEAR(succinct_multiset::bound_bits(10, 3), std::log2(286.0), 1e-9);
}

TEST(succinct_multiset, an_insert_of_a_count_equals_as_many_inserts) {
    auto all = *succinct_multiset::make(seeded(400));
    std::map<std::uint64_t, std::uint64_t> model;
    std::mt19937_64 chance{14};
    std::uint64_t size = 0;
    for (int i = 0; i < 30'000; ++i) {
        const std::uint64_t x = std::min<std::uint64_t>(chance() % 400, chance() % 400);
        if (chance() % 4 == 0) {
            const std::uint64_t times = chance() >> (64 - 1 - chance() % 40);
            ASSERT_EQ(*all.insert(x, times), insert_outcome::inserted);
            model[x] += times, size += times;
        } else {
            ASSERT_EQ(*all.erase(x), model[x] > 0 ? erase_outcome::erased : erase_outcome::absent);
            if (model[x] > 0) --model[x], --size;
        }
        if (chance() % 20'000 == 0) {
            all.clear();
            model.clear();
            size = 0;
        }
        ASSERT_EQ(all.count(x), model[x]);
        ASSERT_EQ(all.contains(x), model[x] > 0);
        ASSERT_EQ(all.size(), size);
    }
    EXPECT_EQ(all.insert(400, 3).error().message(), "multiset: number 400, allowed are 0 to 399");
    EXPECT_EQ(*all.insert(1, ~std::uint64_t{0}), insert_outcome::full);
    EXPECT_EQ(all.count(1), model[1]);
    const auto back = succinct_multiset::load(test::saved(all));
    ASSERT_TRUE(back.has_value()) << back.error().message();
    for (std::uint64_t x = 0; x < 400; ++x) ASSERT_EQ(back->count(x), model[x]);
}

TEST(succinct_multiset, agrees_with_a_map) {
    const std::uint64_t universe = 400;
    auto all = *succinct_multiset::make(seeded(universe));
    std::map<std::uint64_t, std::uint64_t> model;
    std::mt19937_64 chance{4};
    std::uint64_t size = 0;
    for (int i = 0; i < 60'000; ++i) {
        const std::uint64_t x = std::min<std::uint64_t>(chance() % universe, chance() % universe);
        const bool up = chance() % 100 < (i < 30'000 ? 60u : 40u);
        if (up) {
            ASSERT_EQ(*all.insert(x), insert_outcome::inserted);
            ++model[x];
            ++size;
        } else {
            ASSERT_EQ(*all.erase(x), model[x] > 0 ? erase_outcome::erased : erase_outcome::absent);
            if (model[x] > 0) --model[x], --size;
        }
        ASSERT_EQ(all.count(x), model[x]);
        ASSERT_EQ(all.contains(x), model[x] > 0);
        ASSERT_EQ(all.size(), size);
    }
    std::map<std::uint64_t, std::uint64_t> seen;
    all.each([&](std::uint64_t x, std::uint64_t count) { seen[x] = count; });
    std::erase_if(model, [](const auto& each) { return each.second == 0; });
    EXPECT_EQ(seen, model);
    EXPECT_EQ(all.distinct(), model.size());

    const auto file = test::saved(all);
    const auto back = succinct_multiset::load(file);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    for (std::uint64_t x = 0; x < universe; ++x) ASSERT_EQ(back->count(x), all.count(x));
    EXPECT_EQ(back->size(), all.size());
    for (int i = 0; i < 1000; ++i) {
        auto loaded = succinct_multiset::load(damaged(file, chance));
        if (!loaded) continue;
        // Any multiset that loads can be emptied by erasing each number as often as its count.
        std::map<std::uint64_t, std::uint64_t> held;
        loaded->each([&](std::uint64_t x, std::uint64_t count) { held[x] = count; });
        for (const auto& [x, count] : held)
            for (std::uint64_t j = 0; j < std::min<std::uint64_t>(count, 100); ++j)
                ASSERT_EQ(*loaded->erase(x), erase_outcome::erased);
    }
}

TEST(succinct_multiset, a_large_count_takes_few_digits) {
    auto all = *succinct_multiset::make(seeded(1000));
    for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(all.insert(7));
    EXPECT_EQ(all.count(7), 100'000u);
    EXPECT_EQ(all.digits_in_use(0), 1u);
    EXPECT_EQ(all.digits_in_use(18), 0u);
    EXPECT_LE(all.stats().local_bytes, 8192u);
}

}  // namespace
}  // namespace genista::succinct_set_test
