// Inserts of many keys leave the same bytes and the same count as inserts one by one, and stop at
// the first key that is refused as `full`.
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <vector>

#include "filters/filter_snapshots.hpp"
#include "genista/filters/lossy.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::insert_batch_test {
namespace {

// Distinct keys, of which every seventh comes a second time.
std::vector<std::uint64_t> keys_with_repetitions(std::size_t count) {
    std::vector<std::uint64_t> keys(count);
    test::splitmix chance{count};
    for (auto& key : keys) key = chance();
    for (std::size_t i = 7; i < count; i += 7) keys[i] = keys[i / 2];
    return keys;
}

// The same keys as views of their bytes and as digests.
struct key_forms {
    std::vector<std::uint64_t> integers;
    std::vector<integer_key> bytes;
    std::vector<key_view> views;
    std::vector<digest> digests;

    key_forms(std::vector<std::uint64_t> keys, const hasher& hash) : integers{std::move(keys)} {
        for (const std::uint64_t key : integers) bytes.emplace_back(key);
        for (const integer_key& key : bytes) views.push_back(key.view());
        for (const std::uint64_t key : integers) digests.push_back(hash(key));
    }
};

// What inserts one by one leave: the bytes, and how many keys came before the first refusal.
template <class Filter>
struct one_by_one {
    std::size_t taken = 0;
    std::uint64_t counted = 0;
    std::vector<std::byte> bytes;

    one_by_one(Filter filter, std::span<const std::uint64_t> keys) {
        using outcome = decltype(filter.insert(keys[0]));
        while (taken < keys.size() && filter.insert(keys[taken]) != outcome::full) ++taken;
        counted = filter.stats().keys;
        bytes = test::saved(filter);
    }
};

template <class Filter, class Make>
void expect_the_same(const Make& make, const key_forms& keys, std::size_t count) {
    const one_by_one<Filter> expected{make(), std::span{keys.integers}.first(count)};
    const auto check = [&](auto all) {
        Filter filter = make();
        ASSERT_EQ(filter.insert(all.first(count)), expected.taken);
        ASSERT_EQ(filter.stats().keys, expected.counted);
        ASSERT_EQ(test::saved(filter), expected.bytes);
    };
    check(std::span<const std::uint64_t>{keys.integers});
    check(std::span<const key_view>{keys.views});
    check(std::span<const digest>{keys.digests});
}

template <class Filter>
auto maker(std::uint64_t capacity, double rate, hash_kind kind) {
    return [=] { return *Filter::make({capacity, rate, hasher{hash_key::from_seed(capacity), kind}}); };
}

template <class Filter>
class insert_many : public testing::Test {};

TYPED_TEST_SUITE(insert_many, test::all_local_filters, test::filter_names);

TYPED_TEST(insert_many, leaves_what_inserts_one_by_one_leave_for_every_length) {
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        const auto make = maker<TypeParam>(200, 1.0 / 256, hash_kind::keyed);
        const key_forms keys{keys_with_repetitions(150), make().hash()};
        for (std::size_t count = 0; count <= keys.integers.size(); ++count) {
            expect_the_same<TypeParam>(make, keys, count);
            if (testing::Test::HasFatalFailure()) FAIL() << to_string(level) << ", " << count << " keys";
        }
    }
}

TYPED_TEST(insert_many, works_at_every_rate_and_with_every_hash) {
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        for (const hash_kind kind : {hash_kind::keyed, hash_kind::trusted}) {
            for (const double rate : {0.5, 0.1, 0.02, 1.0 / 256, 1.0 / 4096, 1.3e-4}) {
                const auto make = maker<TypeParam>(3000, rate, kind);
                const key_forms keys{keys_with_repetitions(3000), make().hash()};
                expect_the_same<TypeParam>(make, keys, 3000);
                if (testing::Test::HasFatalFailure()) FAIL() << to_string(level) << ' ' << rate;
            }
        }
    }
}

// Far beyond the capacity: filters that can be full refuse a key in the middle of the span.
TYPED_TEST(insert_many, stops_at_the_first_key_that_is_refused) {
    for (const std::uint64_t capacity : {1u, 40u, 1000u}) {
        const auto make = maker<TypeParam>(capacity, 1.0 / 256, hash_kind::keyed);
        const key_forms keys{keys_with_repetitions(static_cast<std::size_t>(3 * capacity + 100)), make().hash()};
        expect_the_same<TypeParam>(make, keys, keys.integers.size());
    }
}

TEST(insert_many_without_kernels, optimal_filter_and_lossy_filter) {
    for (const std::uint64_t capacity : {1u, 100u, 500u}) {
        const auto optimal = maker<optimal_filter>(capacity, 1.0 / 256, hash_kind::keyed);
        const key_forms keys{keys_with_repetitions(400), optimal().hash()};
        expect_the_same<optimal_filter>(optimal, keys, 400);
        const auto lossy = [=] {
            return *lossy_filter::make(
                {.capacity = capacity, .false_negative_share = 0.3, .hash = hasher{hash_key::from_seed(capacity)}});
        };
        expect_the_same<lossy_filter>(lossy, keys, 400);
    }
}

}  // namespace
}  // namespace genista::insert_batch_test
