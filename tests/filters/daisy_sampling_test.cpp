// sampled_filter by example: its answers before, while and after the filter takes over, the plan
// that it makes, and bad options.
#include "genista/filters/daisy_sampling.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <thread>
#include <unordered_set>
#include <vector>

#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::daisy_sampling_test {
namespace {

// Keys below a thousand are stored almost always; even keys are queried, odd ones hardly ever.
struct simple_oracle {
    [[nodiscard]] key_odds odds(key_view key) const noexcept {
        std::uint64_t number = 0;
        if (key.size != sizeof number) return {0, 1e-3};
        std::memcpy(&number, key.data, sizeof number);
        if (number < 1'000) return {.stored = 1e-3, .asked = 1e-6};
        return {.stored = 1e-7, .asked = number % 2 == 0 ? 1e-5 : 1e-9};
    }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return 100; }
};
using sampled = sampled_filter<daisy_fingerprint_filter, simple_oracle>;

sampled made(const sampled_options& options) {
    auto filter = sampled::make(options, std::make_shared<const simple_oracle>());
    EXPECT_TRUE(filter) << filter.error().message();
    return *std::move(filter);
}

sampled_options usual(std::uint64_t samples, double draws = 10'000) {
    return {.terms = {draws, 0x1p-8}, .samples = samples, .hash = hasher{hash_key::from_seed(1)}};
}

TEST(daisy_sampling, is_exact_while_it_samples) {
    auto filter = made(usual(500));
    EXPECT_TRUE(filter.is_sampling());
    EXPECT_EQ(filter.filter(), nullptr);
    for (std::uint64_t key = 0; key < 400; ++key) ASSERT_EQ(filter.insert(10 * key), insert_outcome::inserted);
    for (std::uint64_t key = 0; key < 4'000; ++key) ASSERT_EQ(filter.may_contain(key), key % 10 == 0) << key;
    EXPECT_TRUE(filter.is_sampling());
    EXPECT_EQ(filter.stats().keys, 400u);
    EXPECT_GT(filter.stats().local_bytes, 400u * 32);
    EXPECT_EQ(filter.stats().false_positive_rate, 0);
}

TEST(daisy_sampling, the_last_sample_makes_the_filter_and_no_key_is_lost) {
    auto filter = made(usual(500));
    for (std::uint64_t key = 0; key < 499; ++key) ASSERT_EQ(filter.insert(3 * key), insert_outcome::inserted);
    ASSERT_TRUE(filter.is_sampling());
    ASSERT_EQ(filter.insert(3 * std::uint64_t{499}), insert_outcome::inserted);
    ASSERT_FALSE(filter.is_sampling());
    ASSERT_NE(filter.filter(), nullptr);
    for (std::uint64_t key = 0; key < 500; ++key) ASSERT_TRUE(filter.may_contain(3 * key)) << key;
    for (std::uint64_t key = 500; key < 5'000; ++key) {
        ASSERT_NE(filter.insert(3 * key), insert_outcome::full);
        ASSERT_TRUE(filter.may_contain(3 * key));
    }
    for (std::uint64_t key = 0; key < 5'000; ++key) ASSERT_TRUE(filter.may_contain(3 * key)) << key;
    EXPECT_LT(filter.stats().local_bytes, 30'000u) << "the dictionary is released";
    EXPECT_TRUE(filter.finish()) << "the filter exists already";
}

TEST(daisy_sampling, repeated_inserts_are_draws_of_one_key) {
    auto filter = made(usual(100));
    for (int i = 0; i < 60; ++i) (void)filter.insert(std::uint64_t{5});
    EXPECT_EQ(filter.insert(std::uint64_t{5}), insert_outcome::already_present);
    EXPECT_EQ(filter.stats().keys, 1u);
    for (std::uint64_t key = 0; key < 39; ++key) EXPECT_EQ(filter.insert(2'000 + 2 * key), insert_outcome::inserted);
    ASSERT_FALSE(filter.is_sampling());
    const daisy_plan& plan = filter.filter()->plan();
    EXPECT_NEAR(plan.stored_share[0], 0.61, 1e-9) << "key 5 is stored anyway: class 0";
    EXPECT_NEAR(plan.stored_share[8], 0.39, 1e-9);
    for (std::uint64_t key = 0; key < 39; ++key) EXPECT_TRUE(filter.may_contain(2'000 + 2 * key));
    EXPECT_TRUE(filter.may_contain(std::uint64_t{5}));
}

TEST(daisy_sampling, queries_are_samples_of_the_queried_keys) {
    auto filter = made(usual(100));
    for (std::uint64_t key = 0; key < 75; ++key) (void)filter.may_contain(100'000 + 2 * key);
    for (std::uint64_t key = 0; key < 25; ++key) (void)filter.may_contain(100'001 + 2 * key);
    for (std::uint64_t key = 0; key < 500; ++key)
        (void)filter.may_contain(100'001 + 2 * key);  // after the last query that is counted
    for (std::uint64_t key = 0; key < 100; ++key) (void)filter.insert(2'000 + 2 * key);
    ASSERT_FALSE(filter.is_sampling());
    EXPECT_NEAR(filter.filter()->plan().asked_share[8], 0.75, 0.01);
}

TEST(daisy_sampling, without_queries_it_plans_for_the_largest_class) {
    auto filter = made(usual(100));
    for (std::uint64_t key = 0; key < 100; ++key) (void)filter.insert(2'000 + 2 * key);
    ASSERT_FALSE(filter.is_sampling());
    EXPECT_EQ(filter.filter()->plan().asked_share[8], 1);
}

TEST(daisy_sampling, finishes_early_when_asked_to) {
    auto filter = made(usual(32'000));
    EXPECT_FALSE(filter.finish()) << "there is no sample yet";
    EXPECT_TRUE(filter.is_sampling());
    (void)filter.insert(std::uint64_t{4'000});
    ASSERT_TRUE(filter.finish());
    EXPECT_FALSE(filter.is_sampling());
    EXPECT_TRUE(filter.may_contain(std::uint64_t{4'000}));
    (void)filter.insert(key_view{"a text of more than fifteen bytes"});
    EXPECT_TRUE(filter.may_contain(key_view{"a text of more than fifteen bytes"}));
}

TEST(daisy_sampling, tuned_it_takes_the_largest_parameter_that_keeps_the_rate) {
    sampled_options options = usual(1'000);
    options.tuned = true;
    options.terms.rate = 0.01;  // not a power of two: class 7 is rounded up, so ε itself suffices
    auto filter = made(options);
    for (std::uint64_t key = 0; key < 3'000; ++key) (void)filter.may_contain(100'000 + key);
    for (std::uint64_t key = 0; key < 1'000; ++key) (void)filter.insert(2'000 + key);
    ASSERT_FALSE(filter.is_sampling());
    EXPECT_LE(filter.filter()->plan().expected_rate(), 0.01);
    for (std::uint64_t key = 0; key < 1'000; ++key) ASSERT_TRUE(filter.may_contain(2'000 + key));
}

// Random inserts, repetitions and queries from the first sample on; the model is a set.
TEST(daisy_sampling, a_model_finds_no_key_missing_at_any_time) {
    for (std::uint64_t seed = 0; seed < test::scaled(20u, 500u); ++seed) {
        test::splitmix chance{seed};
        auto filter = made(usual(1 + chance.below(700), 1 + static_cast<double>(chance.below(5'000))));
        std::unordered_set<std::uint64_t> model;
        std::vector<std::uint64_t> keys;
        for (int step = 0; step < 3'000; ++step) {
            const bool again = !keys.empty() && chance.below(4) == 0;
            const std::uint64_t key = again ? keys[chance.below(keys.size())] : chance.below(1'000'000);
            const bool was_sampling = filter.is_sampling();
            if (chance.below(3) != 0) {
                const auto outcome = filter.insert(key);
                ASSERT_NE(outcome, insert_outcome::full);
                if (was_sampling) {
                    ASSERT_EQ(outcome == insert_outcome::inserted, !model.contains(key));
                }
                if (model.insert(key).second) keys.push_back(key);
            }
            ASSERT_TRUE(filter.may_contain(key) || !model.contains(key)) << seed << ", step " << step;
            if (chance.below(500) == 0 && !keys.empty()) {
                ASSERT_TRUE(filter.finish());
            }
            if (was_sampling != filter.is_sampling() || step % 500 == 499) {
                for (const std::uint64_t member : keys) ASSERT_TRUE(filter.may_contain(member)) << seed << ", " << step;
            }
        }
        std::vector<std::uint64_t> answers(words_for(keys.size()));
        filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
        for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_TRUE(answers[i / 64] >> i % 64 & 1);
    }
}

TEST(daisy_sampling, hands_over_to_a_daisy_bloom_filter_as_well) {
    auto filter =
        *sampled_filter<daisy_bloom_filter, simple_oracle>::make(usual(500), std::make_shared<const simple_oracle>());
    for (std::uint64_t key = 0; key < 2'000; ++key) {
        ASSERT_NE(filter.insert(7 * key), insert_outcome::full);
        ASSERT_EQ(filter.is_sampling(), key < 499);
    }
    for (std::uint64_t key = 0; key < 2'000; ++key) ASSERT_TRUE(filter.may_contain(7 * key)) << key;
}

TEST(daisy_sampling, many_threads_may_query_while_it_samples) {
    auto filter = made(usual(4'000));
    for (std::uint64_t key = 0; key < 3'000; ++key) (void)filter.insert(2 * key);
    std::vector<std::thread> threads;
    std::atomic<std::uint64_t> wrong{0};
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint64_t key = t; key < 6'000; key += 4)
                wrong += filter.may_contain(key) == (key % 2 == 0) ? 0u : 1u;
        });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(wrong, 0u);
    ASSERT_TRUE(filter.finish());
    double asked = 0;
    for (const double share : filter.filter()->plan().asked_share) asked += share;
    EXPECT_GT(asked, 0.5);
    EXPECT_LE(asked, 1.0001);
}

TEST(daisy_sampling, moves_in_both_states) {
    auto filter = made(usual(10));
    (void)filter.insert(std::uint64_t{2'000});
    auto moved = std::move(filter);
    EXPECT_TRUE(moved.may_contain(std::uint64_t{2'000}));
    ASSERT_TRUE(moved.finish());
    auto again = std::move(moved);
    EXPECT_TRUE(again.may_contain(std::uint64_t{2'000}));
    EXPECT_FALSE(again.is_sampling());
}

// An oracle that gives invalid odds: no plan can be made, and still no key is lost.
struct broken_oracle {
    [[nodiscard]] static key_odds odds(key_view) noexcept { return {.stored = -1, .asked = 7}; }
    [[nodiscard]] static std::uint64_t memory_bytes() noexcept { return 0; }
};
TEST(daisy_sampling, invalid_odds_leave_it_sampling_and_are_named) {
    auto filter = *sampled_filter<daisy_fingerprint_filter, broken_oracle>::make(
        usual(100), std::make_shared<const broken_oracle>());
    for (std::uint64_t key = 0; key < 1'000; ++key) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
    EXPECT_TRUE(filter.is_sampling());
    for (std::uint64_t key = 0; key < 1'000; ++key) ASSERT_TRUE(filter.may_contain(key));
    const auto planned = filter.finish();
    ASSERT_FALSE(planned);
    EXPECT_NE(planned.error().message().find("-1"), std::string_view::npos) << planned.error().message();
}

TEST(daisy_sampling, bad_options_are_refused_by_name) {
    const auto refused = [](const sampled_options& options, const char* word) {
        const auto filter = sampled::make(options, std::make_shared<const simple_oracle>());
        ASSERT_FALSE(filter) << word;
        EXPECT_EQ(filter.error().code(), error_code::invalid_argument);
        EXPECT_NE(filter.error().message().find(word), std::string_view::npos) << filter.error().message();
    };
    refused(usual(0), "0 samples");
    refused(usual((std::uint64_t{1} << 24) + 1), "16777217 samples");
    refused(usual(10, 0), "draws");
    refused(usual(10, std::numeric_limits<double>::quiet_NaN()), "draws");
    sampled_options options = usual(10);
    options.terms.rate = 0.7;
    refused(options, "rate");
}

}  // namespace
}  // namespace genista::daisy_sampling_test
