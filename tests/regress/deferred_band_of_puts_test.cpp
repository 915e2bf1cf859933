// A hundred keys of class 0 were put ten million times. Every put counted as a key, and the
// deferred band that opened was a hundred thousand times too large.
#include <gtest/gtest.h>

#include "genista/filters/daisy_broom.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/daisy_classes.hpp"

namespace genista::deferred_band_of_puts_test {
namespace {

TEST(deferred_band_of_puts, is_sized_by_the_number_of_keys) {
    using filter_type = daisy_broom_filter<test::scripted_oracle>;
    const daisy_terms terms{1000, 1.0 / 256};
    constexpr std::uint64_t keys = 100;
    const auto oracle = std::make_shared<const test::scripted_oracle>(
        [terms](std::uint64_t) { return test::odds_of_class(0, terms); }, 1);
    const auto bytes_after = [&](std::uint64_t puts) {
        auto filter = *filter_type::make({.hash = hasher{hash_key::from_seed(1)}, .exception_bytes = 4096},
                                         test::plan_of(terms, {{0, {0.1, 0.1}}, {8, {0.9, 0.9}}}), oracle);
        memory_map remote;
        for (std::uint64_t i = 0; i < keys; ++i) EXPECT_TRUE(remote.put(filter.hash()(i), integer_key{i}.view()));
        for (std::uint64_t i = 0; i < puts; ++i) EXPECT_TRUE(filter.insert(i % keys, remote));
        for (std::uint64_t i = 0; filter.deferred() == nullptr && i < 100'000; ++i)
            EXPECT_TRUE(filter.adapt(1'000'000 + i, remote));
        EXPECT_NE(filter.deferred(), nullptr);
        for (std::uint64_t i = 0; i < keys; ++i) EXPECT_TRUE(filter.may_contain(i));
        return filter.stats().local_bytes;
    };
    EXPECT_LE(bytes_after(300'000), bytes_after(keys) + 65'536);
}

}  // namespace
}  // namespace genista::deferred_band_of_puts_test
