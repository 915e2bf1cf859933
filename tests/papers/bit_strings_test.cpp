// bit_strings.hpp: every operation on every small sequence agrees with the scalar version, and the
// cases in which strings cross the edge of a word are listed by hand.
#include "papers/bit_strings/bit_strings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lab/scalar/bit_strings_workloads.hpp"
#include "papers/bit_strings/bit_strings_parallel.hpp"
#include "tests/support/scale.hpp"

namespace genista::bits::bit_strings_test {
namespace {

using namespace genista::lab;

template <class Strings>
void expect_no_mismatch(const bit_strings_driver<Strings>& driver) {
    EXPECT_GT(driver.counts.cases(), 0u);
    for (std::size_t i = 0; i < driver.counts.of.size(); ++i)
        EXPECT_EQ(driver.counts.of[i].mismatches, 0u) << bit_strings_operation_names[i];
}

TEST(bit_strings, the_layout_is_the_one_drawn_in_the_header) {
    bit_strings<1> strings;
    ASSERT_EQ(strings.insert(0, bit_string<1>::of(0b101, 3)), edit::done);
    ASSERT_EQ(strings.insert(1, bit_string<1>::of(0, 0)), edit::done);
    ASSERT_EQ(strings.insert(2, bit_string<1>::of(0b10, 2)), edit::done);
    EXPECT_EQ(strings.data().words[0], 0b1000101u);
    EXPECT_EQ(strings.ends().words[0], 0b10011000u);
    EXPECT_EQ(strings.count(), 3u);
    EXPECT_EQ(strings.used_slots(), 8u);
    EXPECT_EQ(strings.free_slots(), 56u);
    EXPECT_EQ(strings.length(0), 3u);
    EXPECT_EQ(strings.length(1), 0u);
    EXPECT_EQ(strings.at(2), bit_string<1>::of(0b10, 2));
    EXPECT_EQ(nonempty(strings).words[0], 0b101u);
}

TEST(bit_strings, every_query_over_every_range_of_every_small_sequence_agrees_with_the_scalar_version) {
    bit_strings_driver<bit_strings<1>> driver;
    const std::size_t most_slots = test::sanitized ? 6 : 8;
    for (std::size_t slots = 0; slots <= most_slots; ++slots)
        for (const auto& texts : all_sequences(slots)) exhaust_queries(driver, texts, 6);
    expect_no_mismatch(driver);
}

TEST(bit_strings, every_edit_of_every_small_sequence_agrees_with_the_scalar_version) {
    bit_strings_driver<bit_strings<1>> driver;
    for (std::size_t slots = 0; slots <= 8; ++slots)
        for (const auto& texts : all_sequences(slots)) exhaust_edits(driver, texts);
    expect_no_mismatch(driver);
}

TEST(bit_strings, every_parallel_edit_of_every_small_sequence_agrees_with_the_scalar_version) {
    bit_strings_driver<bit_strings<1>> driver;
    for (std::size_t slots = 0; slots <= 7; ++slots)
        for (const auto& texts : all_sequences(slots)) exhaust_parallel_edits(driver, texts, 3);
    expect_no_mismatch(driver);
}

TEST(bit_strings, every_parallel_query_of_every_pair_of_small_sequences_agrees_with_the_scalar_version) {
    bit_strings_driver<bit_strings<1>> driver;
    exhaust_parallel_queries(driver, 6);
    expect_no_mismatch(driver);
}

// One string before the edge, one across it, one after: all operations where two words meet.
TEST(bit_strings, strings_across_the_edges_of_words_agree_with_the_scalar_version) {
    bit_strings_driver<bit_strings<3>> driver;
    for (const std::size_t lead : {60u, 61u, 62u, 63u, 64u, 65u, 124u, 125u, 126u, 127u, 128u, 129u}) {
        const std::vector<std::string> texts{std::string(lead, '1'), "", "0110", "1", "", "01101"};
        driver.reset(texts);
        for (const std::string& query : {std::string{}, std::string{"0110"}, std::string{"011011"},
                                         std::string(192, '1'), std::string(lead, '1'), std::string(lead - 1, '1')}) {
            driver.prefix_match(query, 0, 6);
            driver.prefix_match(query, 2, 5);
            driver.prefix_lengths(query, 0, 6);
        }
        exhaust_parallel_edits(driver, texts, 2);
        for (std::size_t rank = 1; rank < texts.size(); ++rank) {
            driver.reset(texts);
            driver.append(rank, "1011");
            driver.splice(rank, 1, 2, "000");
            driver.concatenate(rank - 1);
            driver.erase(rank - 1);
        }
    }
    expect_no_mismatch(driver);
}

TEST(bit_strings, one_string_may_take_every_slot_but_its_terminator) {
    const auto expect_for = [](auto strings) {
        using strings_type = decltype(strings);
        const std::size_t longest = strings_type::slots - 1;
        for (const std::size_t length : {longest - 1, longest}) {
            strings_type one;
            const auto s = to_string_of<strings_type>(std::string(length, '1'));
            ASSERT_EQ(one.insert(0, s), edit::done);
            EXPECT_EQ(one.at(0), s);
            EXPECT_TRUE(one.prefix_match(s).test(0));
            const auto longer = to_string_of<strings_type>(std::string(strings_type::slots, '1'));
            EXPECT_TRUE(one.prefix_match(longer).test(0));
            EXPECT_EQ(one.prefix_lengths(longer)[0], length);
            const auto shorter = to_string_of<strings_type>(std::string(length - 1, '1'));
            EXPECT_FALSE(one.prefix_match(shorter).test(0));
            EXPECT_EQ(one.prefix_lengths(shorter)[0], length - 1);
        }
    };
    expect_for(bit_strings<1>{});
    expect_for(bit_strings<2>{});
    expect_for(bit_strings<3>{});
    expect_for(bit_strings<4>{});
}

TEST(bit_strings, an_edit_that_does_not_fit_is_refused_and_changes_nothing) {
    bit_strings<1> strings;
    for (int i = 0; i < 64; ++i) ASSERT_EQ(strings.insert(0, bit_string<1>::of(0, 0)), edit::done);  // 64 empty ones
    const auto before = strings;
    EXPECT_EQ(strings.insert(3, bit_string<1>::of(0, 0)), edit::full);
    EXPECT_EQ(strings.append(3, bit_string<1>::of(1, 1)), edit::full);
    bit_strings<1> one;
    ASSERT_EQ(one.insert(0, bit_string<1>::of(0, 0)), edit::done);
    EXPECT_EQ(insert_all(strings, wide_word<1>::of(1), one), edit::full);
    EXPECT_EQ(strings.ends(), before.ends());
    EXPECT_EQ(strings.count(), 64u);
    EXPECT_EQ(strings.prefix_match(bit_string<1>::of(0, 0)).words[0], ~std::uint64_t{0});
}

}  // namespace
}  // namespace genista::bits::bit_strings_test
