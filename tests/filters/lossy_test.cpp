// lossy_filter: exactly the keys that it reports are left out, erases stay correct, bad options,
// snapshots.
#include "genista/filters/lossy.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

#include "filters/filter_snapshots.hpp"
#include "tests/support/fix_checksums.hpp"

namespace genista::lossy_test {
namespace {

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
}  // namespace genista::lossy_test
