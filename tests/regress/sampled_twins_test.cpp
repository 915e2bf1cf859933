// Two keys with one digest and different classes: while sampling, the dictionary held them as one
// key, and the filter that took over had only the first one's class. The second key, found until
// then, became a false negative. With the trusted hash equal digests do occur (tests/hash).
#include <gtest/gtest.h>

#include <memory>

#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/daisy_sampling.hpp"

namespace genista::sampled_twins_test {
namespace {

digest one_digest_for_both(const void*, key_view key) noexcept {
    static const hasher hash{hash_key::from_seed(1)};
    return key.text() == "second" ? hash(key_view{"first"}) : hash(key);
}

// "first" is hardly ever queried and "second" is; of the numbers every other one is.
struct odds_by_name {
    [[nodiscard]] key_odds odds(key_view key) const noexcept {
        const bool is_rare =
            key.text() == "first" || (key.size == 8 && std::to_integer<unsigned>(key.data[0]) % 2 == 1);
        return {1e-12, is_rare ? 1e-14 : 1.0};
    }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return 0; }
};

template <class Filter>
void expect_both_found() {
    auto filter = *sampled_filter<Filter, odds_by_name>::make(
        {.terms = {1e6, 1.0 / 256}, .samples = 1000, .hash = hasher::custom(one_digest_for_both, nullptr)},
        std::make_shared<const odds_by_name>());
    EXPECT_EQ(filter.insert(key_view{"first"}), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(key_view{"second"}), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(key_view{"second"}), insert_outcome::already_present);
    for (std::uint64_t i = 0; filter.is_sampling(); ++i) {
        ASSERT_TRUE(filter.may_contain(key_view{"first"}) && filter.may_contain(key_view{"second"}));
        ASSERT_NE(filter.insert(i), insert_outcome::full);
    }
    EXPECT_TRUE(filter.may_contain(key_view{"first"}));
    EXPECT_TRUE(filter.may_contain(key_view{"second"}));
}

TEST(sampled_twins, with_one_digest_are_found_before_and_after_the_filter_takes_over) {
    expect_both_found<daisy_bloom_filter>();
    expect_both_found<daisy_fingerprint_filter>();
}

}  // namespace
}  // namespace genista::sampled_twins_test
