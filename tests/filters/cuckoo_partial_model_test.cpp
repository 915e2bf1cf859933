// cuckoo_partial_filter against an exact multiset, and filled until it refuses: no key is ever lost
// (its I1 and I2).
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "genista/filters/cuckoo_partial.hpp"
#include "genista/format/sink.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::cuckoo_partial_model_test {
namespace {

cuckoo_partial_filter made(std::uint64_t capacity, double rate, std::uint64_t seed) {
    auto filter = cuckoo_partial_filter::make({capacity, rate, hasher{hash_key::from_seed(seed)}});
    EXPECT_TRUE(filter.has_value());
    return *std::move(filter);
}

std::vector<std::byte> saved(const cuckoo_partial_filter& filter) {
    vector_sink out;
    EXPECT_TRUE(filter.save(out).has_value());
    return std::move(out).take();
}

TEST(cuckoo_partial_model, stored_keys_stay_stored_under_inserts_and_erases) {
    for (const double rate : {0.01, 0.0005}) {
        for (const std::uint64_t capacity : {1u, 5u, 60u, 500u, 5000u}) {
            auto filter = made(capacity, rate, capacity);
            test::splitmix chance{capacity};
            std::map<std::uint64_t, unsigned> model;  // key → copies
            std::uint64_t total = 0;
            const std::uint64_t steps = test::scaled<std::uint64_t>(200'000, 20'000'000);
            for (std::uint64_t step = 0; step < steps; ++step) {
                const std::uint64_t key = chance.below(capacity + capacity / 2 + 2);
                if (chance.below(2) == 0) {
                    if (total < capacity && model[key] < 4) {
                        const bool took = filter.insert(key) == insert_outcome::inserted;
                        model[key] += took ? 1 : 0;
                        total += took ? 1 : 0;
                    }
                } else if (model[key] > 0) {
                    ASSERT_EQ(filter.erase(key), erase_outcome::erased);
                    --model[key];
                    --total;
                }
                if (chance.below(20'000) == 0) {
                    filter.clear();
                    model.clear();
                    total = 0;
                }
                ASSERT_EQ(filter.stats().keys, total);
                const std::uint64_t asked = chance.below(capacity + capacity / 2 + 2);
                if (const auto found = model.find(asked); found != model.end() && found->second > 0) {
                    ASSERT_TRUE(filter.may_contain(asked));
                }
                if (step % 10'000 == 0) {
                    for (const auto& [member, copies] : model) ASSERT_TRUE(copies == 0 || filter.may_contain(member));
                }
            }
        }
    }
}

TEST(cuckoo_partial_model, erasing_everything_leaves_an_empty_table) {
    auto filter = made(3000, 0.01, 1);
    const auto empty = saved(filter);
    for (std::uint64_t key = 0; key < 3000; ++key) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
    for (std::uint64_t key = 0; key < 3000; ++key) ASSERT_EQ(filter.erase(key), erase_outcome::erased);
    for (std::uint64_t key = 0; key < 3000; ++key) ASSERT_EQ(filter.erase(key), erase_outcome::absent);
    EXPECT_TRUE(saved(filter) == empty);
}

TEST(cuckoo_partial_model, filled_until_it_refuses_it_has_lost_no_key) {
    const std::uint64_t seeds = test::scaled<std::uint64_t>(1000, 100'000);
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const std::uint64_t capacity = 1 + seed % 700;
        auto filter = made(capacity, seed % 2 == 0 ? 0.01 : 0.0005, seed);
        std::vector<std::uint64_t> members;
        test::splitmix chance{seed};
        while (true) {
            const std::uint64_t key = chance();
            const auto before = seed % 50 == 0 ? saved(filter) : std::vector<std::byte>{};
            if (filter.insert(key) == insert_outcome::full) {
                ASSERT_TRUE(seed % 50 != 0 || saved(filter) == before) << "a refused insert must change nothing";
                break;
            }
            members.push_back(key);
            ASSERT_LE(members.size(), filter.slots());
        }
        ASSERT_GE(members.size(), capacity) << "full although below the capacity, seed " << seed;
        ASSERT_EQ(filter.stats().keys, members.size());
        for (const auto key : members) ASSERT_TRUE(filter.may_contain(key)) << "seed " << seed;
    }
}

TEST(cuckoo_partial_model, one_key_can_be_inserted_and_erased_eight_times) {
    auto filter = made(10'000, 0.01, 1);
    for (int copy = 0; copy < 8; ++copy) ASSERT_EQ(filter.insert("again"), insert_outcome::inserted);
    EXPECT_EQ(filter.insert("again"), insert_outcome::full);
    EXPECT_EQ(filter.stats().keys, 8u);
    for (int copy = 0; copy < 8; ++copy) {
        EXPECT_TRUE(filter.may_contain("again"));
        ASSERT_EQ(filter.erase("again"), erase_outcome::erased);
    }
    EXPECT_EQ(filter.erase("again"), erase_outcome::absent);
}

TEST(cuckoo_partial_model, tags_have_12_bits_where_they_keep_the_rate_and_16_below) {
    EXPECT_EQ(made(100, 0.5, 1).tag_bits(), 12u);
    EXPECT_EQ(made(100, 8.0 / 4095, 1).tag_bits(), 12u);
    EXPECT_EQ(made(100, 8.0 / 4095 - 1e-9, 1).tag_bits(), 16u);
    EXPECT_EQ(made(100, 8.0 / 65535, 1).tag_bits(), 16u);
}

TEST(cuckoo_partial_model, a_million_keys_fit_at_95_percent_of_the_slots) {
    for (const double rate : {0.01, 0.0005}) {
        auto filter = made(1'000'000, rate, 3);
        for (std::uint64_t key = 0; key < 1'000'000; ++key) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
        EXPECT_GT(1e6 / static_cast<double>(filter.slots()), 0.949);
        for (std::uint64_t key = 0; key < 1'000'000; ++key) ASSERT_TRUE(filter.may_contain(key));
    }
}

}  // namespace
}  // namespace genista::cuckoo_partial_model_test
