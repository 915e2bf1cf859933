// Fills filters of the cuckoo family a thousand times: up to its capacity a filter is never full,
// and beyond it always; a refused insert changes nothing (reliability: "a failed insert drops
// another key").
#include <gtest/gtest.h>

#include <cstdint>

#include "filters/cuckoo_family_filters.hpp"
#include "tests/support/cuckoo_world.hpp"
#include "tests/support/scale.hpp"

namespace genista::cuckoo_family_fill_sweep_test {
namespace {

template <class F>
class cuckoo_family_fill_sweep : public testing::Test {};
TYPED_TEST_SUITE(cuckoo_family_fill_sweep, test::cuckoo_family, test::cuckoo_names);

TYPED_TEST(cuckoo_family_fill_sweep, is_never_full_early_and_loses_no_key_when_full) {
    const auto forms = test::cuckoo_forms<TypeParam>();
    std::uint64_t rehashes = 0;
    const auto seeds = test::scaled<std::uint64_t>(1'000, 100'000);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const test::cuckoo_form& form = forms[seed % forms.size()];
        const std::uint64_t capacity = 1 + seed % 150;
        test::cuckoo_world<TypeParam> w{test::cuckoo_made(form, capacity, 10, seed)};
        std::uint64_t key = 0;
        auto before = w.contents();
        for (; w.insert(key); ++key) {
            ASSERT_LT(key, w.filter.shape().slots());
            before = w.contents();
        }
        rehashes += w.filter.rehashes();
        ASSERT_EQ(key, capacity) << "full early or late, seed " << seed;
        ASSERT_EQ(w.contents(), before) << "a refused insert changed something, seed " << seed;
        // Further keys are refused as well and change nothing.
        for (std::uint64_t other = key + 1; other < key + 10; ++other) {
            if (w.insert(other)) before = w.contents();
        }
        ASSERT_EQ(w.contents(), before);
        w.scan();
        w.audit();
        ASSERT_TRUE(w.wrong.empty()) << w.text() << "seed " << seed;
    }
    EXPECT_GT(rehashes, seeds / 100);
}

}  // namespace
}  // namespace genista::cuckoo_family_fill_sweep_test
