// Snapshots of with_oracle: with the oracle that filled the filter every key is found; another
// oracle, another filter and damage are refused; a golden file.
//
// The golden file was written by this test with GENISTA_WRITE_GOLDEN=1, which writes only a file
// that does not exist.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/with_oracle.hpp"
#include "genista/oracles/exact_oracle.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::with_oracle_snapshot_test {
namespace {

using bytes = test::file_bytes;
using test::saved;
using shared = std::shared_ptr<const exact_oracle>;

constexpr daisy_terms terms{1000, 0x1p-8};
constexpr std::uint64_t keys = 600, asked_for = 5'000;

daisy_plan plan() {
    return test::plan_of_shares(terms, {{0, 0.2, 0.1}, {1, 0.4, 0.2}, {8, 0.4, 0.7}});
}

// Odds from logs in which each key has a count that depends on the day, absent keys only as
// queries.
shared trained(std::uint64_t day) {
    std::vector<integer_key> numbers;
    for (std::uint64_t i = 0; i < asked_for; ++i) numbers.push_back(integer_key{i});
    std::vector<counted_key> inserts, queries;
    for (std::uint64_t i = 0; i < asked_for; ++i) {
        if (i < keys) inserts.push_back({numbers[i].view(), 1 + (i + day) % 3});
        queries.push_back({numbers[i].view(), 1 + i * (day + 7) % 5000});
    }
    exact_oracle_options with;
    with.hash = hasher{hash_key::from_seed(3)};
    return std::make_shared<const exact_oracle>(*exact_oracle::from_counts(inserts, queries, with));
}

template <class Filter>
with_oracle<Filter, exact_oracle> filled(shared oracle) {
    with_oracle filter{*Filter::make({.plan = plan(), .hash = hasher{hash_key::from_seed(5)}}), std::move(oracle)};
    for (std::uint64_t key = 0; key < keys; ++key) EXPECT_NE(filter.insert(key), insert_outcome::full);
    return filter;
}

template <class Filter>
class with_oracle_snapshot : public testing::Test {};
using both = testing::Types<daisy_bloom_filter, daisy_fingerprint_filter>;
TYPED_TEST_SUITE(with_oracle_snapshot, both);

TYPED_TEST(with_oracle_snapshot, the_oracle_that_filled_it_finds_every_key) {
    using filter = with_oracle<TypeParam, exact_oracle>;
    const auto made = filled<TypeParam>(trained(1));
    const bytes file = saved(made);
    const auto loaded = filter::load(file, trained(1));
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_EQ(saved(*loaded), file);
    for (std::uint64_t key = 0; key < 2 * asked_for; ++key) {
        ASSERT_EQ(loaded->may_contain(key), made.may_contain(key)) << key;
        ASSERT_TRUE(key >= keys || loaded->may_contain(key)) << key;
    }
}

// Used with that oracle all the same, the filter would have false negatives: the classes of many
// keys differ.
TYPED_TEST(with_oracle_snapshot, an_oracle_of_another_training_is_refused) {
    using filter = with_oracle<TypeParam, exact_oracle>;
    const auto made = filled<TypeParam>(trained(1));
    const auto refused = filter::load(saved(made), trained(2));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::mismatch);
    EXPECT_NE(refused.error().message().find("another oracle"), std::string_view::npos) << refused.error().message();

    const with_oracle unmarked{*TypeParam::load(saved(made.filter())), trained(2)};
    std::uint64_t denied = 0;
    for (std::uint64_t key = 0; key < keys; ++key) denied += unmarked.may_contain(key) ? 0u : 1u;
    EXPECT_GT(denied, 0u) << "otherwise there would be no reason to refuse";
}

TYPED_TEST(with_oracle_snapshot, a_filter_without_marks_and_another_kind_of_filter_are_refused) {
    using filter = with_oracle<TypeParam, exact_oracle>;
    using other =
        std::conditional_t<std::is_same_v<TypeParam, daisy_bloom_filter>, daisy_fingerprint_filter, daisy_bloom_filter>;
    const auto made = filled<TypeParam>(trained(1));
    EXPECT_FALSE(filter::load(saved(made.filter()), trained(1)));
    EXPECT_FALSE(filter::load(saved(filled<other>(trained(1))), trained(1)));
    EXPECT_FALSE(TypeParam::load(saved(made)));
}

TYPED_TEST(with_oracle_snapshot, every_truncation_and_bit_flip_is_refused) {
    using filter = with_oracle<TypeParam, exact_oracle>;
    const bytes file = saved(filled<TypeParam>(trained(1)));
    const auto load = [oracle = trained(1)](std::span<const std::byte> of) {
        return static_cast<bool>(filter::load(of, oracle));
    };
    test::expect_truncations_refused(file, load);
    test::expect_bit_flips_refused(file, load, test::scaled<std::size_t>(31, 1));
}

TYPED_TEST(with_oracle_snapshot, a_filter_of_another_hash_key_inside_is_refused) {
    const auto made = filled<TypeParam>(trained(1));
    vector_sink forged;
    ASSERT_TRUE(write_marked(forged, hasher{hash_key::from_seed(6)},
                             *marks_of("test", *trained(1), std::nullopt, terms), saved(made.filter())));
    const auto refused = read_marked(forged.bytes());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::corrupt);
}

struct nameless_oracle {
    [[nodiscard]] key_odds odds(key_view) const noexcept { return test::odds_of_class(8, terms); }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return sizeof *this; }
};

TYPED_TEST(with_oracle_snapshot, an_oracle_without_an_identity_needs_one_from_the_caller) {
    using filter = with_oracle<TypeParam, nameless_oracle>;
    const auto oracle = std::make_shared<const nameless_oracle>();
    const filter made{*TypeParam::make({.plan = plan()}), oracle};
    vector_sink out;
    const auto refused = made.save(out);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::unsupported);
    const oracle_identity five{{std::byte{5}}}, six{{std::byte{6}}};
    ASSERT_TRUE(made.save(out, five));
    EXPECT_TRUE(filter::load(out.bytes(), oracle, five));
    EXPECT_FALSE(filter::load(out.bytes(), oracle, six));
    EXPECT_FALSE(filter::load(out.bytes(), oracle));
}

TEST(with_oracle_golden, answers_as_when_it_was_written) {
    using filter = with_oracle<daisy_bloom_filter, exact_oracle>;
    const bytes file = test::golden_bytes("with_oracle-v1-daisy_bloom.snapshot", 1 << 16,
                                          [] { return filled<daisy_bloom_filter>(trained(1)); });
    const auto golden = filter::load(file, trained(1));
    ASSERT_TRUE(golden) << golden.error().message();
    EXPECT_EQ(saved(*golden), file);
    std::uint64_t count = 0, sum = 0;
    for (std::uint64_t key = 0; key < asked_for; ++key) {
        if (!golden->may_contain(key)) continue;
        ++count;
        sum += key;
    }
    EXPECT_EQ(count, 600u);
    EXPECT_EQ(sum, 179'700u);
}

}  // namespace
}  // namespace genista::with_oracle_snapshot_test
