// No memory: daisy_fingerprint_filter and sampled_filter with each of their allocations failing
// once. The result is an error or `full`, nothing changes, and no key is lost. The operators new
// and delete are those of allocation_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/daisy_sampling.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/failing_allocations.hpp"

namespace genista::daisy_fingerprint_allocation_test {
namespace {

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
    EXPECT_GE(test::fail_each_allocation([&] {
                  vector_sink out;
                  return filter.save(out);
              }),
              3u);
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
}  // namespace genista::daisy_fingerprint_allocation_test
