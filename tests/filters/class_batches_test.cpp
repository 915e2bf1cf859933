// Batches of with_oracle and sampled_filter: the answers of single look-ups for every size and
// instruction set, computed by the filter's own batch and not key by key.
#include "genista/detail/filters/asked_with_key.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/daisy_sampling.hpp"
#include "tests/support/daisy_plans.hpp"
#include "tests/support/every_isa.hpp"

namespace genista::class_batches_test {
namespace {

// The last bits of a key choose its class: class 0, a middle one, or the largest.
struct bits_oracle {
    [[nodiscard]] static key_odds odds(key_view key) noexcept {
        std::uint64_t number = 0;
        std::memcpy(&number, key.data, std::min(key.size, sizeof number));
        if (number % 4 == 0) return {.stored = 1e-3, .asked = 1e-9};
        return {.stored = 1e-7, .asked = number % 4 == 1 ? 1e-8 : 1e-4};
    }
    [[nodiscard]] static std::uint64_t memory_bytes() noexcept { return 0; }
};

daisy_plan usual() {
    return test::plan_of(3'000, 0x1p-8, {0.25, 0, 0, 0, 0.25, 0, 0, 0, 0.5});
}

// A filter with classes that counts the calls.
struct counting_stub {
    static constexpr std::string_view name = "counting";
    daisy_bloom_filter inside;
    mutable std::uint64_t singles = 0, batches = 0;

    insert_outcome insert(const digest& d, unsigned its_class) noexcept { return inside.insert(d, its_class); }
    [[nodiscard]] bool may_contain(const digest& d, unsigned its_class) const noexcept {
        ++singles;
        return inside.may_contain(d, its_class);
    }
    template <class Key>
    void may_contain(std::span<const Key> keys, std::span<const std::uint8_t> classes,
                     std::span<std::uint64_t> out_bits) const noexcept {
        ++batches;
        inside.may_contain(keys, classes, out_bits);
    }
    [[nodiscard]] const daisy_terms& terms() const noexcept { return inside.terms(); }
    [[nodiscard]] daisy_plan plan() const noexcept { return inside.plan(); }
    [[nodiscard]] const hasher& hash() const noexcept { return inside.hash(); }
    [[nodiscard]] filter_stats stats() const noexcept { return inside.stats(); }
    [[nodiscard]] std::uint64_t size() const noexcept { return inside.size(); }
    [[nodiscard]] bool empty() const noexcept { return inside.empty(); }
    void clear() noexcept { inside.clear(); }
};

template <class Filter>
void expect_batches_as_singles(const Filter& filter) {
    for (std::size_t count = 0; count <= 1'100; count = count < 70 ? count + 1 : count + 343) {
        std::vector<std::uint64_t> keys(count), out(words_for(count) + 1, ~std::uint64_t{0}), again = out;
        std::vector<key_view> views(count);
        for (std::size_t i = 0; i < count; ++i) {
            keys[i] = 2'500 + i * 3;
            views[i] = key_view{reinterpret_cast<const std::byte*>(&keys[i]), 8};
        }
        filter.may_contain(std::span<const std::uint64_t>{keys}, out);
        filter.may_contain(std::span<const key_view>{views}, again);
        ASSERT_EQ(out, again) << count;
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ((out[i / 64] >> i % 64 & 1) != 0, filter.may_contain(keys[i])) << i << " of " << count;
        ASSERT_EQ(out.back(), ~std::uint64_t{0}) << "no word too many is written";
        if (count % 64 != 0) {
            ASSERT_EQ(out[count / 64] >> count % 64, 0u) << "unused bits are zero";
        }
    }
}

template <class Filter>
void expect_for_every_isa() {
    const auto oracle = std::make_shared<const bits_oracle>();
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        with_oracle planned{*Filter::make({.plan = usual(), .hash = hasher{hash_key::from_seed(1)}}), oracle};
        auto sampled = *sampled_filter<Filter, bits_oracle>::make(
            {.terms = {3'000, 0x1p-8}, .samples = 1'000, .hash = hasher{hash_key::from_seed(2)}}, oracle);
        for (std::uint64_t key = 0; key < 3'000; ++key) {
            if (key == 900) expect_batches_as_singles(sampled);  // while it samples
            ASSERT_NE(planned.insert(key), insert_outcome::full);
            ASSERT_NE(sampled.insert(key), insert_outcome::full);
        }
        ASSERT_FALSE(sampled.is_sampling());
        expect_batches_as_singles(planned);
        expect_batches_as_singles(sampled);
    }
}

TEST(class_batches, answer_as_single_look_ups_do) {
    expect_for_every_isa<daisy_bloom_filter>();
    expect_for_every_isa<daisy_fingerprint_filter>();
}

TEST(class_batches, call_the_batch_of_the_filter) {
    auto made = daisy_bloom_filter::make({.plan = usual(), .hash = hasher{hash_key::from_seed(3)}});
    ASSERT_TRUE(made);
    const with_oracle filter{counting_stub{*std::move(made)}, std::make_shared<const bits_oracle>()};
    std::vector<std::uint64_t> keys(1'000), out(words_for(keys.size()));
    const std::vector<key_view> views(1'000, key_view{"a key"});
    filter.may_contain(std::span<const std::uint64_t>{keys}, out);
    filter.may_contain(std::span<const key_view>{views}, out);
    EXPECT_EQ(filter.filter().singles, 0u);
    EXPECT_EQ(filter.filter().batches, 4u) << "two chunks of at most 512 keys, twice";
}

}  // namespace
}  // namespace genista::class_batches_test
