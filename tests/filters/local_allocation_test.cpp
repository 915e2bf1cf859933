// No memory for the filters without a remote map: every allocation of make, save and load fails
// once; the result is an error, and no object is half made. An insert without memory is refused and
// changes nothing. The operators new and delete are those of allocation_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "filters/filter_snapshots.hpp"
#include "genista/filters/bloomier.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/daisy_sampling.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/failing_allocations.hpp"

namespace genista::local_allocation_test {
namespace {

template <class Filter>
std::uint64_t fail_each_allocation_of_save(const Filter& filter) {
    return test::fail_each_allocation([&] {
        vector_sink out;
        return filter.save(out);
    });
}

// ---- bloom, blocked_bloom, cuckoo_partial, cleary -----------------------------------------------

template <class F>
class filter_allocations : public testing::Test {};
TYPED_TEST_SUITE(filter_allocations, test::all_local_filters, test::filter_names);

TYPED_TEST(filter_allocations, make_save_and_load_report_the_lack_of_memory) {
    const auto filter = test::filled<TypeParam>(1000, 1.0 / 256);
    const test::file_bytes file = test::saved(filter);
    EXPECT_GE(test::fail_each_allocation([&] { return TypeParam::make({.capacity = 1000}); }), 1u);
    EXPECT_GE(fail_each_allocation_of_save(filter), 1u);
    EXPECT_GE(test::fail_each_allocation([&] { return TypeParam::load(file); }), 1u);
}

TYPED_TEST(filter_allocations, queries_and_inserts_allocate_nothing) {
    auto filter = test::filled<TypeParam>(1000, 1.0 / 256);
    std::array<std::uint64_t, 100> keys{};
    std::array<std::uint64_t, 2> answers{};
    const std::uint64_t before = test::this_thread_allocations.allocations;
    for (std::uint64_t key = 0; key < keys.size(); ++key) {
        keys[key] = key;
        (void)filter.may_contain(key);
        (void)filter.insert(5000 + key);
    }
    filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
    EXPECT_EQ(test::this_thread_allocations.allocations, before);
}

// ---- bloomier -----------------------------------------------------------------------------------

TEST(bloomier_allocations, build_save_and_load_report_the_lack_of_memory) {
    std::array<std::uint64_t, 5'000> keys{}, values{};
    for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = i, values[i] = i % 100;
    keys[4'999] = 99;  // twice, with one value
    const bloomier_options options{.value_bits = 7, .hash = hasher{hash_key::from_seed(9)}};
    const auto build = [&] { return bloomier_filter::build(options, std::span<const std::uint64_t>{keys}, values); };
    EXPECT_GE(test::fail_each_allocation(build), 15u);
    auto filter = *build();
    vector_sink file;
    ASSERT_TRUE(filter.save(file));
    EXPECT_GE(fail_each_allocation_of_save(filter), 2u);
    EXPECT_GE(test::fail_each_allocation([&] { return bloomier_filter::load(file.bytes()); }), 2u);
    const std::uint64_t before = test::this_thread_allocations.allocations;
    std::array<std::uint64_t, words_for(5'000)> bits{};
    for (std::uint64_t key = 0; key < 2'000; ++key) {
        (void)filter.find(key);
        (void)*filter.update(key, key % 100);
    }
    filter.find(std::span<const std::uint64_t>{keys}, values, bits);
    EXPECT_EQ(test::this_thread_allocations.allocations, before) << "look-ups and updates allocate nothing";
}

// ---- the counting filters -----------------------------------------------------------------------

// Some inserts of the counting filters allocate: without memory they return `full`, and no key is
// lost.
TEST(counting_filter_allocations, an_insert_without_memory_changes_nothing) {
    constexpr std::uint64_t keys = 3000;
    for (std::uint64_t n = 0; n < 60; ++n) {
        auto filter = *optimal_filter::make({.capacity = keys, .hash = hasher{hash_key::from_seed(n)}});
        std::uint64_t inserted = 0;
        {
            const test::failing_allocations armed{n};
            while (inserted < keys && filter.insert(inserted) == insert_outcome::inserted) ++inserted;
            if (!armed.failed()) {
                EXPECT_EQ(inserted, keys);
                EXPECT_GE(n, 5u);
                return;
            }
        }
        EXPECT_EQ(filter.stats().keys, inserted);
        for (std::uint64_t key = 0; key < inserted; ++key) ASSERT_TRUE(filter.may_contain(key)) << n;
        for (std::uint64_t key = inserted; key < keys; ++key) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
        for (std::uint64_t key = 0; key < keys; ++key) ASSERT_EQ(filter.erase(key), erase_outcome::erased) << n;
        EXPECT_EQ(filter.stats().keys, 0u);
    }
}

// An insert of a large count sets several digits, each in a set of its own: all of them or none,
// whichever allocation fails.
TEST(counting_filter_allocations, an_insert_of_many_without_memory_changes_nothing) {
    for (std::uint64_t n = 0;; ++n) {
        auto filter = *spectral_filter::make({.capacity = 3000, .hash = hasher{hash_key::from_seed(7)}});
        for (std::uint64_t key = 0; key < 150; ++key) ASSERT_EQ(filter.insert(key, key % 4), insert_outcome::inserted);
        std::vector<std::uint64_t> before;
        for (std::uint64_t key = 0; key < 150; ++key) before.push_back(filter.count(key));
        const std::uint64_t keys = filter.stats().keys;
        insert_outcome outcome{};
        bool failed = false;
        {
            const test::failing_allocations armed{n};
            outcome = filter.insert(5u, std::uint64_t{1} << 50 | 12345);
            failed = armed.failed();
        }
        if (outcome == insert_outcome::full) {
            ASSERT_TRUE(failed) << n;
            ASSERT_EQ(filter.stats().keys, keys);
            for (std::uint64_t key = 0; key < 150; ++key) ASSERT_EQ(filter.count(key), before[key]) << n;
            for (unsigned digit = 2; digit < 62; ++digit) ASSERT_EQ(filter.digits_in_use(digit), 0u) << n;
            ASSERT_EQ(filter.insert(5u, std::uint64_t{1} << 50 | 12345), insert_outcome::inserted);
        }
        ASSERT_EQ(filter.count(5u), before[5] + (std::uint64_t{1} << 50 | 12345)) << n;
        if (!failed) {
            EXPECT_GE(n, 50u);
            return;
        }
    }
}

// ---- daisy_bloom --------------------------------------------------------------------------------

class daisy_bloom_allocations : public testing::TestWithParam<bool> {
  protected:
    daisy_bloom_options options{
        .plan = test::plan_of_shares({1000, 1.0 / 256}, {{2, 0.5, 0.1}, {8, 0.5, 0.9}}),
        .hash = hasher{hash_key::from_seed(1)},
        .blocked = GetParam(),
    };
};
INSTANTIATE_TEST_SUITE_P(layouts, daisy_bloom_allocations, testing::Bool(),
                         [](const auto& one) { return one.param ? "blocked" : "scattered"; });

TEST_P(daisy_bloom_allocations, make_save_and_load_report_the_lack_of_memory) {
    const auto filter = *daisy_bloom_filter::make(options);
    vector_sink file;
    ASSERT_TRUE(filter.save(file));
    EXPECT_GE(test::fail_each_allocation([&] { return daisy_bloom_filter::make(options); }), GetParam() ? 3u : 1u);
    EXPECT_GE(fail_each_allocation_of_save(filter), 1u);
    EXPECT_GE(test::fail_each_allocation([&] { return daisy_bloom_filter::load(file.bytes()); }), 1u);
    EXPECT_EQ(test::fail_each_allocation([&] { return filter.expected_rate(); }), GetParam() ? 1u : 0u);
}

TEST_P(daisy_bloom_allocations, lookups_inserts_and_drift_allocate_nothing) {
    auto filter = *daisy_bloom_filter::make(options);
    std::array<std::uint64_t, 100> keys{};
    std::array<std::uint8_t, 100> classes{};
    std::array<std::uint64_t, 2> answers{};
    const std::uint64_t before = test::this_thread_allocations.allocations;
    for (std::uint64_t key = 0; key < keys.size(); ++key) {
        keys[key] = key;
        classes[key] = static_cast<std::uint8_t>(key % 9);
        (void)filter.may_contain(key, 8);
        (void)filter.insert(key, classes[key]);
    }
    filter.may_contain(keys, classes, answers);
    (void)filter.drift();
    EXPECT_EQ(test::this_thread_allocations.allocations, before);
}

// ---- daisy_fingerprint and sampled filters ------------------------------------------------------

daisy_plan usual() {
    return test::plan_of(500, 0x1p-8, {0.3, 0.2, 0, 0.25, 0, 0.001, 0, 0, 0.249});
}

TEST(daisy_fingerprint_allocations, make_save_and_load_report_the_lack_of_memory) {
    const daisy_fingerprint_options options{usual(), hasher{hash_key::from_seed(1)}};
    EXPECT_GE(test::fail_each_allocation([&] { return daisy_fingerprint_filter::make(options); }), 2u);
    auto filter = *daisy_fingerprint_filter::make(options);
    for (std::uint64_t key = 0; key < 5'000; ++key) (void)filter.insert(key, static_cast<unsigned>(key % 9));
    vector_sink file;
    ASSERT_TRUE(filter.save(file));
    EXPECT_GE(fail_each_allocation_of_save(filter), 3u);
    EXPECT_GE(test::fail_each_allocation([&] { return daisy_fingerprint_filter::load(file.bytes()); }), 10u);
    EXPECT_GE(test::fail_each_allocation([&] { return daisy_fingerprint_filter::bits_for(usual()); }), 0u);
}

TEST(daisy_fingerprint_allocations, an_insert_without_memory_is_full_and_changes_nothing) {
    for (const bool unknown : {false, true}) {
        for (std::uint64_t n = 0;; ++n) {
            auto filter = *daisy_fingerprint_filter::make({usual(), hasher{hash_key::from_seed(2)}, unknown});
            std::uint64_t refused = 0;
            {
                const test::failing_allocations armed{n};
                for (std::uint64_t key = 0; key < 4'000; ++key) {
                    const auto its_class = static_cast<unsigned>(key % 9);
                    if (filter.insert(key, its_class) != insert_outcome::full) continue;
                    ++refused;
                    EXPECT_NE(filter.insert(key, its_class), insert_outcome::full) << "memory is back";
                }
                if (!armed.failed()) {
                    EXPECT_EQ(refused, 0u);
                    EXPECT_GE(n, 10u);
                    break;
                }
            }
            EXPECT_EQ(refused, 1u);
            std::uint64_t draws = 0;
            for (const std::uint64_t each : filter.drift().inserts) draws += each;
            EXPECT_EQ(draws, 4'000u) << "a refused insert is not counted";
            for (std::uint64_t key = 0; key < 4'000; ++key)
                ASSERT_TRUE(filter.may_contain(key, static_cast<unsigned>(key % 9))) << n;
        }
    }
}

TEST(daisy_fingerprint_allocations, look_ups_and_inserts_as_planned_allocate_nothing) {
    const daisy_plan plan = usual();
    auto filter = *daisy_fingerprint_filter::make({plan, hasher{hash_key::from_seed(3)}});
    std::array<std::uint64_t, 100> keys{};
    std::array<std::uint8_t, 100> classes{};
    std::array<std::uint64_t, 2> answers{};
    const std::uint64_t before = test::this_thread_allocations.allocations;
    for (std::uint64_t key = 0; key < 400; ++key) {
        (void)filter.insert(key, test::class_by(plan, key));
        (void)filter.may_contain(key, test::class_by(plan, key));
    }
    filter.may_contain(std::span<const std::uint64_t>{keys}, classes, answers);
    (void)filter.drift();
    (void)filter.stats();
    EXPECT_EQ(test::this_thread_allocations.allocations, before);
}

// Odds by the parity of a key: queried often, or hardly ever.
struct parity_oracle {
    [[nodiscard]] static key_odds odds(key_view key) noexcept {
        std::uint64_t number = 0;
        std::memcpy(&number, key.data, std::min(key.size, sizeof number));
        return {.stored = 1e-7, .asked = number % 2 == 0 ? 1e-5 : 1e-9};
    }
    [[nodiscard]] static std::uint64_t memory_bytes() noexcept { return 0; }
};

// Memory may run out while the filter samples, while the real filter takes over, and afterwards.
TEST(daisy_sampling_allocations, a_key_is_refused_or_found) {
    using sampled = sampled_filter<daisy_fingerprint_filter, parity_oracle>;
    const sampled_options options{.terms = {300, 0x1p-8}, .samples = 200, .hash = hasher{hash_key::from_seed(4)}};
    const auto oracle = std::make_shared<const parity_oracle>();
    EXPECT_GE(test::fail_each_allocation([&] { return sampled::make(options, oracle); }), 2u);
    for (std::uint64_t n = 0;; ++n) {
        auto filter = *sampled::make(options, oracle);
        std::uint64_t refused = 0;
        bool failed = false;
        {
            const test::failing_allocations armed{n};
            for (std::uint64_t key = 0; key < 1'000; ++key) {
                if (filter.insert(key) != insert_outcome::full) continue;
                ++refused;
                EXPECT_NE(filter.insert(key), insert_outcome::full) << "memory is back";
            }
            failed = armed.failed();
        }
        for (std::uint64_t key = 0; key < 1'000; ++key) ASSERT_TRUE(filter.may_contain(key)) << n;
        EXPECT_FALSE(filter.is_sampling()) << "the second attempt is made at twice the samples";
        EXPECT_LE(refused, 1u);
        if (!failed) {
            EXPECT_GE(n, 12u);
            return;
        }
    }
}

}  // namespace
}  // namespace genista::local_allocation_test
