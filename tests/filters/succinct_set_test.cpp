// succinct_set and succinct_multiset, and lossy_filter, which is built on them: contents, bad
// options, snapshots, and their size against the bound.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "filters/filter_snapshots.hpp"
#include "genista/filters/lossy.hpp"
#include "genista/filters/succinct_set.hpp"
#include "tests/support/fix_checksums.hpp"

namespace genista::succinct_set_test {
namespace {

// ---- sets and multisets -------------------------------------------------------------------------

// succinct_set and succinct_multiset: their contents, bad options, snapshots, and their size
// against the bound. The collection underneath has its model in succinct_sets_test.cpp; failing
// memory is in local_allocation_test.cpp.

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

// ---- lossy_filter -------------------------------------------------------------------------------

// lossy_filter: exactly the keys that it reports are left out, erases stay correct, bad options,
// snapshots.

lossy_filter seeded(std::uint64_t capacity, double share) {
    return *lossy_filter::make(
        {.capacity = capacity, .false_negative_share = share, .hash = hasher{hash_key::from_seed(capacity)}});
}

TEST(lossy, leaves_out_exactly_the_keys_it_reports) {
    auto filter = seeded(20'000, 0.25);
    std::uint64_t omitted = 0;
    for (std::uint64_t key = 0; key < 20'000; ++key) {
        const bool left_out = filter.omits(key);
        omitted += left_out ? 1u : 0u;
        ASSERT_EQ(filter.insert(key), left_out ? lossy_insert::omitted : lossy_insert::stored);
    }
    EXPECT_NEAR(static_cast<double>(omitted), 5000, 6 * 61);
    EXPECT_EQ(filter.insert(20'000u), lossy_insert::full);
    for (std::uint64_t key = 0; key < 20'000; ++key) {
        if (!filter.omits(key)) {
            ASSERT_TRUE(filter.may_contain(key));
        }
    }
    // Erasing all omitted keys removes no stored key.
    for (std::uint64_t key = 0; key < 20'000; ++key) {
        if (filter.omits(key)) {
            ASSERT_EQ(filter.erase(key), lossy_erase::omitted);
        }
    }
    EXPECT_EQ(filter.stats().keys, 20'000 - omitted);
    for (std::uint64_t key = 0; key < 20'000; ++key) {
        if (!filter.omits(key)) {
            ASSERT_TRUE(filter.may_contain(key));
            ASSERT_EQ(filter.erase(key), lossy_erase::erased);
        }
    }
    EXPECT_EQ(filter.stats().keys, 0u);
    for (std::uint64_t key = 0; key < 100; ++key) {
        if (!filter.omits(key)) {
            ASSERT_EQ(filter.erase(key), lossy_erase::absent);
        }
    }
}

// Inserts, erases of the omitted keys, and further inserts, until the filter refuses. Only stored
// keys remain, and the rate must hold for all of them. 2^19 queries at 2^-8 give 2,048 false
// positives; 10 % more are 4.5 standard deviations.
TEST(lossy, erasing_the_omitted_and_inserting_more_does_not_raise_the_rate) {
    for (const double share : {0.5, 0.9, 0.99}) {
        auto filter = seeded(100'000, share);
        std::uint64_t next = 0;
        lossy_insert last = lossy_insert::omitted;
        while (last != lossy_insert::full) {
            last = filter.insert(next);
            if (last == lossy_insert::omitted) {
                EXPECT_EQ(filter.erase(next), lossy_erase::omitted);
            }
            ++next;
        }
        // As many keys as the filter may hold.
        EXPECT_GE(static_cast<double>(filter.stats().keys), 100'000 * (1 - share));
        std::uint64_t let_through = 0;
        for (std::uint64_t key = 0; key < (1u << 19); ++key)
            let_through += filter.may_contain((std::uint64_t{1} << 40) + key) ? 1u : 0u;
        EXPECT_LE(let_through, 2'048u * 11 / 10) << share;
    }
}

TEST(lossy, omits_no_key_at_a_share_of_zero) {
    auto filter = seeded(1000, 0);
    for (std::uint64_t key = 0; key < 1000; ++key) ASSERT_EQ(filter.insert(key), lossy_insert::stored);
    for (std::uint64_t key = 0; key < 1000; ++key) ASSERT_TRUE(filter.may_contain(key));
}

TEST(lossy, refuses_impossible_shares) {
    for (const double share : {-0.1, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
        const auto made = lossy_filter::make({.false_negative_share = share});
        ASSERT_FALSE(made.has_value());
        EXPECT_NE(made.error().message().find("allowed are 0 to 0.99"), std::string_view::npos);
    }
}

TEST(lossy, is_loaded_as_it_was_saved) {
    auto filter = seeded(3000, 0.5);
    for (std::uint64_t key = 0; key < 2000; ++key) (void)filter.insert(key);
    const auto file = test::saved(filter);
    auto back = lossy_filter::load(file);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    for (std::uint64_t key = 0; key < 4000; ++key) {
        ASSERT_EQ(back->omits(key), filter.omits(key));
        ASSERT_EQ(back->may_contain(key), filter.may_contain(key));
    }
    for (std::uint64_t key = 2000; key < 3000; ++key) ASSERT_NE(back->insert(key), lossy_insert::full);
    EXPECT_EQ(back->insert(3000u), lossy_insert::full) << "keys omitted before saving count";
    std::mt19937_64 chance{3};
    for (int i = 0; i < 500; ++i) {
        std::vector<std::byte> bytes = file;
        bytes[192 + chance() % (bytes.size() - 192)] ^= static_cast<std::byte>(1u << chance() % 8);
        test::fix_checksums(bytes);
        auto loaded = lossy_filter::load(bytes);
        if (loaded) (void)loaded->insert(1u);
    }
}

// A filter that omits nothing, forged into one that should hold at most half as many keys at half
// the rate: the universe is the same, and the true rate would be twice that in the file.
TEST(lossy, refuses_snapshots_of_more_keys_than_the_rate_allows) {
    auto filter = *lossy_filter::make({.capacity = 10'000,
                                       .false_positive_rate = 1.0 / 64,
                                       .false_negative_share = 0,
                                       .hash = hasher{hash_key::from_seed(1)}});
    for (std::uint64_t key = 0; key < 10'000; ++key) ASSERT_EQ(filter.insert(key), lossy_insert::stored);
    const auto file = test::saved(filter);
    auto forged = file;
    test::put_little_endian(forged, 192 + 8, 8, std::bit_cast<std::uint64_t>(1.0 / 128));
    test::put_little_endian(forged, 192 + 56, 8, std::bit_cast<std::uint64_t>(0.53));  // at most 5,000 stored keys
    test::fix_checksums(forged);
    EXPECT_FALSE(lossy_filter::load(forged));
    // Omitted keys count towards the capacity.
    forged = file;
    test::put_little_endian(forged, 192 + 64, 8, 1);
    test::fix_checksums(forged);
    EXPECT_FALSE(lossy_filter::load(forged));
}

}  // namespace
}  // namespace genista::succinct_set_test
