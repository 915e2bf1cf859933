// daisy_fingerprint_filter by example: the tables for a plan, what is stored of a key, input that
// is not as planned, and bad options.
#include "genista/filters/daisy_fingerprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "genista/filters/with_oracle.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/every_isa.hpp"

namespace genista::daisy_fingerprint_test {
namespace {

static_assert(class_filter<daisy_fingerprint_filter>);

using verdict = drift_verdict;

daisy_fingerprint_filter made(const daisy_plan& plan, std::uint64_t seed = 1, bool unknown_size = false) {
    auto filter = daisy_fingerprint_filter::make({plan, hasher{hash_key::from_seed(seed)}, unknown_size});
    EXPECT_TRUE(filter) << filter.error().message();
    return *std::move(filter);
}

// Half of the draws are in class 0, a quarter in class 3, a quarter in 8; class 5 is very rare.
daisy_plan usual(double draws = 10'000) {
    return test::plan_of(draws, 0x1p-8, {0.5, 0, 0, 0.25, 0, 0.001, 0, 0, 0.249});
}

TEST(daisy_fingerprint, frequent_classes_have_a_table_each_and_rare_ones_share_the_next_longer) {
    const auto filter = made(usual());
    const auto tables = filter.tables();
    ASSERT_EQ(tables.size(), 2u);
    EXPECT_EQ(tables[0].its_class, 3u);
    EXPECT_EQ(tables[0].bits, 3u);
    EXPECT_EQ(tables[1].its_class, 8u);
    EXPECT_EQ(tables[1].bits, 8u);
    for (const unsigned shorter : {1u, 2u, 3u}) EXPECT_EQ(filter.kept_as(shorter), 3u) << shorter;
    for (const unsigned shorter : {4u, 5u, 6u, 7u, 8u}) EXPECT_EQ(filter.kept_as(shorter), 8u) << shorter;
    EXPECT_EQ(filter.kept_as(64), 8u) << "treated as the largest";
    EXPECT_EQ(filter.kept_as(0), 0u);
}

// N = m + max(m / log n, 3 √m) for the m keys of all classes that share a table, in whole blocks of
// which 99 % may be full.
TEST(daisy_fingerprint, tables_are_as_large_as_in_the_paper) {
    for (const double draws : {10'000.0, 100'000.0, 1'000'000.0}) {
        const daisy_plan plan = usual(draws);
        const auto filter = made(plan);
        for (const auto& table : filter.tables()) {
            double expected = 0;
            for (unsigned j = 1; j <= 8; ++j)
                expected += filter.kept_as(j) == table.its_class ? draws * plan.stored_share[j] : 0;
            const double most = expected + std::max(expected / std::log2(draws), 3 * std::sqrt(expected));
            EXPECT_GE(static_cast<double>(table.room), most - 1) << table.its_class;
            EXPECT_LE(static_cast<double>(table.room), most + 61) << table.its_class;
            EXPECT_EQ(table.room, table.cells * 99 / 100);
        }
    }
    EXPECT_EQ(made(usual(1'000'000)).kept_as(5), 5u) << "a thousand keys are worth a table";
}

// All ways to divide the classes into stretches, by the sizes in the header: none takes fewer bytes
// than the chosen one.
TEST(daisy_fingerprint, no_other_way_to_share_tables_takes_fewer_bytes) {
    const auto bytes_of = [](double keys, unsigned bits, double draws) {
        if (keys == 0) return 0.0;
        const double most = std::ceil(keys + std::max(keys / std::log2(draws), 3 * std::sqrt(keys)));
        const double blocks = std::ceil(most / 0.99 / 60);
        const double remainders = 8 * std::ceil(60 * blocks * bits / 64);
        return 16 * std::ceil((16 * (blocks + 1) + remainders) / 16) + 64;
    };
    for (const double draws : {300.0, 3'000.0, 30'000.0, 300'000.0}) {
        const daisy_plan plan = test::plan_of(draws, 0x1p-8, {0.3, 0.2, 0.1, 0, 0.2, 0.05, 0.04, 0.01, 0.1});
        const auto filter = made(plan);
        double least = std::numeric_limits<double>::infinity(), chosen = 0;
        for (unsigned way = 0; way < 128; ++way) {  // a bit for each class but the last: does a stretch end here?
            double sum = 0, keys = 0;
            bool is_chosen = true;
            for (unsigned j = 1; j <= 8; ++j) {
                keys += draws * plan.stored_share[j];
                const bool ends = j == 8 || (way >> (j - 1) & 1) != 0;
                is_chosen = is_chosen && ends == (filter.kept_as(j) == j);
                if (!ends) continue;
                sum += bytes_of(keys, j, draws);
                keys = 0;
            }
            least = std::min(least, sum);
            if (is_chosen) chosen = sum;
        }
        EXPECT_EQ(chosen, least) << draws;
    }
}

TEST(daisy_fingerprint, a_plan_of_few_draws_puts_all_classes_together) {
    const auto filter = made(usual(100));
    ASSERT_EQ(filter.tables().size(), 1u);
    EXPECT_EQ(filter.tables()[0].its_class, 8u);
    EXPECT_EQ(filter.tables()[0].bits, 8u);
    for (const double draws : {1.0, 1.5, 2.0, 3.0}) EXPECT_LE(made(usual(draws)).tables().size(), 1u) << draws;
}

TEST(daisy_fingerprint, finds_inserted_keys_and_stores_nothing_for_class_0) {
    const auto plan = usual();
    auto filter = made(plan);
    for (std::uint64_t key = 0; key < 10'000; ++key) {
        const unsigned its_class = test::class_by(plan, key);
        const auto outcome = filter.insert(key, its_class);
        ASSERT_NE(outcome, insert_outcome::full);
        if (its_class == 0) {
            ASSERT_EQ(outcome, insert_outcome::already_present);
        }
        ASSERT_TRUE(filter.may_contain(key, its_class));
        ASSERT_EQ(filter.insert(key, its_class), insert_outcome::already_present) << "the second time";
    }
    for (std::uint64_t key = 0; key < 10'000; ++key) ASSERT_TRUE(filter.may_contain(key, test::class_by(plan, key)));
    EXPECT_TRUE(filter.may_contain(std::uint64_t{1} << 40, 0)) << "class 0: always maybe";
    EXPECT_LT(filter.stats().keys, 5'100u);
    EXPECT_GT(filter.stats().keys, 4'000u);
    EXPECT_EQ(filter.stats().capacity, 10'000u);
    EXPECT_EQ(filter.stats().false_positive_rate, plan.expected_rate());
}

TEST(daisy_fingerprint, integers_texts_and_digests_are_the_same_keys) {
    auto filter = made(usual());
    EXPECT_EQ(filter.insert(std::uint64_t{7}, 3), insert_outcome::inserted);
    EXPECT_TRUE(filter.may_contain(integer_key{7u}.view(), 3));
    EXPECT_TRUE(filter.may_contain(filter.hash()(std::uint64_t{7}), 3));
    EXPECT_EQ(filter.insert(key_view{"a text of more than fifteen bytes"}, 8), insert_outcome::inserted);
    EXPECT_TRUE(filter.may_contain(key_view{"a text of more than fifteen bytes"}, 8));
    EXPECT_FALSE(filter.may_contain(std::uint64_t{8}, 3));
    EXPECT_FALSE(filter.may_contain(std::uint64_t{7}, 8)) << "another class, another table";
}

TEST(daisy_fingerprint, classes_above_the_largest_are_treated_as_the_largest) {
    auto filter = made(usual());
    for (const unsigned its_class : {9u, 64u, 65u, 1'000u, ~0u}) {
        EXPECT_NE(filter.insert(std::uint64_t{its_class}, its_class), insert_outcome::full);
        for (const unsigned asked : {8u, 9u, 64u, 70u, ~0u})
            EXPECT_TRUE(filter.may_contain(std::uint64_t{its_class}, asked)) << asked;
    }
    EXPECT_EQ(filter.drift().inserts[8], 5u);
}

TEST(daisy_fingerprint, batches_answer_as_single_look_ups_do) {
    const auto plan = usual();
    auto filter = made(plan);
    for (std::uint64_t key = 0; key < 12'000; ++key) (void)filter.insert(key, test::class_by(plan, key));
    for (const std::size_t count : {0u, 1u, 63u, 64u, 65u, 1'023u, 1'024u, 1'025u, 5'000u}) {
        std::vector<std::uint64_t> keys(count), out(words_for(count) + 1, ~std::uint64_t{0}), again(words_for(count));
        std::vector<std::uint8_t> classes(count);
        std::vector<key_view> views(count);
        for (std::size_t i = 0; i < count; ++i) {
            keys[i] = 10'000 + i;
            classes[i] = static_cast<std::uint8_t>(i % 97 == 0 ? 200 : test::class_by(plan, keys[i]));
            views[i] = key_view{reinterpret_cast<const std::byte*>(&keys[i]), 8};
        }
        filter.may_contain(std::span<const std::uint64_t>{keys}, classes, out);
        filter.may_contain(std::span<const key_view>{views}, classes, again);
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ((out[i / 64] >> i % 64 & 1) != 0, filter.may_contain(keys[i], classes[i]))
                << i << " of " << count;
        ASSERT_TRUE(std::equal(again.begin(), again.end(), out.begin()));
        EXPECT_EQ(out.back(), ~std::uint64_t{0}) << "no word too many is written";
        if (count % 64 != 0) {
            EXPECT_EQ(out[count / 64] >> count % 64, 0u) << "unused bits are zero";
        }
    }
}

TEST(daisy_fingerprint, every_instruction_set_answers_the_same) {
    const auto plan = usual(3'000);
    std::vector<std::uint64_t> sums;
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        auto filter = made(plan, 5);
        std::uint64_t sum = 0;
        for (std::uint64_t key = 0; key < 3'000; ++key) (void)filter.insert(key, test::class_by(plan, key));
        for (std::uint64_t key = 0; key < 30'000; ++key)
            sum += filter.may_contain(key, 1 + static_cast<unsigned>(key % 8)) ? key : 0;
        sums.push_back(sum);
    }
    ASSERT_FALSE(sums.empty());
    EXPECT_EQ(std::ranges::count(sums, sums.front()), static_cast<std::ptrdiff_t>(sums.size()));
}

TEST(daisy_fingerprint, input_as_planned_needs_no_more_tables) {
    const auto plan = usual(20'000);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        auto filter = made(plan, seed);
        for (std::uint64_t i = 0; i < 20'000; ++i) {
            const std::uint64_t key = seed << 32 | i;
            (void)filter.insert(key, test::class_by(plan, key));
        }
        EXPECT_EQ(filter.drift().verdict, verdict::as_planned) << seed;
        EXPECT_EQ(filter.drift().extra_tables, 0u) << seed;
        for (unsigned j = 1; j <= 8; ++j) EXPECT_LE(filter.let_through(j), std::ldexp(1, -static_cast<int>(j)));
    }
}

TEST(daisy_fingerprint, ten_times_too_many_keys_are_all_kept_and_reported) {
    const auto plan = usual(2'000);
    auto filter = made(plan);
    const auto at_first = filter.tables();
    for (std::uint64_t key = 0; key < 20'000; ++key)
        ASSERT_NE(filter.insert(key, test::class_by(plan, key)), insert_outcome::full);
    for (std::uint64_t key = 0; key < 20'000; ++key) ASSERT_TRUE(filter.may_contain(key, test::class_by(plan, key)));
    const auto drift = filter.drift();
    EXPECT_EQ(drift.verdict, verdict::fuller_than_planned);
    EXPECT_EQ(drift.extra_tables, at_first.size()) << "one more for each table, for any number of keys";
    EXPECT_EQ(drift.extra_tables + at_first.size(), filter.tables().size());
    EXPECT_NEAR(drift.planned[3], 500, 1e-9);
    EXPECT_NEAR(static_cast<double>(drift.inserts[3]), 5'000, 300);
    // In each chain the growing table has a quarter of the planned one's rate.
    for (unsigned j = 1; j <= 8; ++j) EXPECT_LE(filter.let_through(j), 1.25 * std::ldexp(1, -static_cast<int>(j))) << j;
    for (const auto& table : filter.tables()) EXPECT_LE(table.values, table.room);
}

TEST(daisy_fingerprint, keys_of_an_unplanned_class_are_kept_and_reported) {
    auto filter = made(usual());
    for (std::uint64_t key = 0; key < 10'000; ++key) {
        ASSERT_NE(filter.insert(key, key % 2 == 0 ? 6 : 1), insert_outcome::full);
    }
    for (std::uint64_t key = 0; key < 10'000; ++key) ASSERT_TRUE(filter.may_contain(key, key % 2 == 0 ? 6 : 1));
    EXPECT_EQ(filter.drift().verdict, verdict::classes_differ);
    EXPECT_LE(filter.let_through(6), 1.25 * 0x1p-8) << "kept as class 8, at most 5/4 of its rate";
}

TEST(daisy_fingerprint, a_class_above_all_planned_ones_gets_a_table_when_needed) {
    auto filter = made(test::plan_of(10'000, 0x1p-6, {0, 0, 0, 0, 1}));
    EXPECT_EQ(filter.tables().size(), 1u);
    EXPECT_FALSE(filter.may_contain(std::uint64_t{1}, 2));
    EXPECT_EQ(filter.insert(std::uint64_t{1}, 2), insert_outcome::inserted);
    EXPECT_TRUE(filter.may_contain(std::uint64_t{1}, 2));
    EXPECT_EQ(filter.tables().size(), 1u) << "shorter ones are kept as class 4";
    EXPECT_FALSE(filter.may_contain(std::uint64_t{2}, 5));
    EXPECT_EQ(filter.insert(std::uint64_t{2}, 5), insert_outcome::inserted);
    EXPECT_TRUE(filter.may_contain(std::uint64_t{2}, 5));
    EXPECT_EQ(filter.kept_as(5), 6u);
    EXPECT_EQ(filter.tables().size(), 2u);
    EXPECT_EQ(filter.drift().extra_tables, 1u);
    EXPECT_EQ(filter.drift().verdict, verdict::as_planned) << "two keys are not enough to judge";
}

// Tables lie next to each other in memory, and a look-up may read beyond its own table into the
// next: full tables must not change the answers of others.
TEST(daisy_fingerprint, full_tables_answer_and_do_not_disturb_their_neighbours) {
    const daisy_plan plan = test::plan_of(4'000, 0x1p-8, {0, 0, 0.3, 0, 0.3, 0, 0, 0, 0.4});
    auto filter = made(plan);
    ASSERT_EQ(filter.tables().size(), 3u);
    std::vector<std::pair<std::uint64_t, unsigned>> members;
    for (std::uint64_t key = 0; filter.drift().extra_tables == 0; ++key) {
        const auto tables = filter.tables();
        const auto& least = *std::ranges::min_element(
            tables, {}, [](const auto& t) { return static_cast<double>(t.values) / static_cast<double>(t.room); });
        ASSERT_NE(filter.insert(key, least.its_class), insert_outcome::full);
        members.emplace_back(key, least.its_class);
        if (key % 97 != 0) continue;
        for (const auto& [each, its_class] : members) ASSERT_TRUE(filter.may_contain(each, its_class));
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(filter.tables()[i].values, filter.tables()[i].room);
    for (const auto& [each, its_class] : members) ASSERT_TRUE(filter.may_contain(each, its_class));
}

TEST(daisy_fingerprint, of_unknown_size_it_begins_empty_and_keeps_its_rates) {
    auto filter = made({.terms = {1'000'000, 0x1p-8}}, 1, true);
    EXPECT_TRUE(filter.tables().empty());
    EXPECT_FALSE(filter.may_contain(std::uint64_t{1}, 8));
    EXPECT_TRUE(filter.may_contain(std::uint64_t{1}, 0));
    for (std::uint64_t key = 0; key < 60'000; ++key)
        ASSERT_NE(filter.insert(key, 1 + static_cast<unsigned>(key % 8)), insert_outcome::full);
    for (std::uint64_t key = 0; key < 60'000; ++key)
        ASSERT_TRUE(filter.may_contain(key, 1 + static_cast<unsigned>(key % 8)));
    for (unsigned j = 1; j <= 8; ++j) {
        EXPECT_LE(filter.let_through(j), std::ldexp(1, -static_cast<int>(j))) << "not twice the rate, class " << j;
        EXPECT_EQ(filter.kept_as(j), j);
    }
    EXPECT_EQ(filter.drift().verdict, verdict::as_planned) << "there was no plan";
    EXPECT_TRUE(filter.unknown_size());
}

// A former design took twice as much memory just above a power of two, and a look-up read log n
// tables.
TEST(daisy_fingerprint, of_unknown_size_it_has_one_table_per_class_and_few_bits_at_every_moment) {
    auto filter = made({.terms = {1'000'000, 0x1p-8}}, 1, true);
    double worst = -100;
    for (std::uint64_t key = 1; key <= 70'000; ++key) {
        ASSERT_NE(filter.insert(key, 8), insert_outcome::full);
        if (key < 1'000) continue;
        const auto n = static_cast<double>(key);
        const double bits = 8 * (static_cast<double>(filter.stats().local_bytes) - 1'536) / n;
        worst = std::max(worst, bits - (8 + 2 + 2.0 / 15) - 2 * std::log2(std::log2(n)) - 4);
    }
    EXPECT_LE(worst, 0);
    EXPECT_EQ(filter.tables().size(), 1u);
    EXPECT_TRUE(filter.tables()[0].growing);
    EXPECT_LE(filter.let_through(8), 0x1p-8);
}

// A key that would have to move more than 2,048 cells goes to the growing table. So no value is
// further from its home and no operation passes more cells, even in a table that is 99 % full.
TEST(daisy_fingerprint, crowded_keys_go_to_the_growing_table_before_the_planned_one_is_full) {
    auto filter = made(test::plan_of(200'000, 0x1p-8, {0, 0, 0, 0, 0, 0, 0, 0, 1}));
    const std::uint64_t room = filter.tables()[0].room;
    std::uint64_t key = 0;
    for (; filter.tables()[0].values < room - room / 500; ++key) ASSERT_NE(filter.insert(key, 8), insert_outcome::full);
    ASSERT_EQ(filter.drift().extra_tables, 1u);
    EXPECT_GT(filter.tables()[1].values, 0u);
    EXPECT_LT(filter.tables()[1].values, room / 10);
    for (std::uint64_t each = 0; each < key; ++each) ASSERT_TRUE(filter.may_contain(each, 8));
    for (std::uint64_t each = 0; each < key; each += 7)
        ASSERT_EQ(filter.insert(each, 8), insert_outcome::already_present);
    EXPECT_LE(filter.let_through(8), 1.25 * 0x1p-8);
}

TEST(daisy_fingerprint, stats_count_every_byte) {
    auto filter = made(usual(100'000));
    std::uint64_t least = sizeof filter;
    for (const auto& table : filter.tables()) least += table.cells * (table.bits + 2) / 8;
    const std::uint64_t before = filter.stats().local_bytes;
    EXPECT_GE(before, least);
    EXPECT_LE(before, least + least / 50 + 1'000);
    const auto sized = daisy_fingerprint_filter::bits_for(usual(100'000));
    ASSERT_TRUE(sized);
    EXPECT_NEAR(static_cast<double>(*sized) / 8, static_cast<double>(before), 1'500);
    for (std::uint64_t key = 0; key < 200'000; ++key) (void)filter.insert(key, 3);
    EXPECT_GT(filter.stats().local_bytes, before + 150'000 * 5 / 8);
}

TEST(daisy_fingerprint, a_moved_filter_answers_as_before) {
    auto filter = made(usual());
    EXPECT_EQ(filter.insert(std::uint64_t{1}, 8), insert_outcome::inserted);
    EXPECT_EQ(filter.insert(std::uint64_t{2}, 5), insert_outcome::inserted);
    auto other = std::move(filter);
    EXPECT_TRUE(other.may_contain(std::uint64_t{1}, 8) && other.may_contain(std::uint64_t{2}, 5));
    auto third = made(usual(), 2);
    third = std::move(other);
    EXPECT_TRUE(third.may_contain(std::uint64_t{1}, 8) && third.may_contain(std::uint64_t{2}, 5));
}

TEST(daisy_fingerprint, bad_plans_are_refused_by_name) {
    const auto refused = [](const daisy_plan& plan, const char* word, bool unknown = false) {
        const auto filter = daisy_fingerprint_filter::make({plan, std::nullopt, unknown});
        ASSERT_FALSE(filter) << word;
        EXPECT_EQ(filter.error().code(), error_code::invalid_argument);
        EXPECT_NE(filter.error().message().find(word), std::string_view::npos) << filter.error().message();
        EXPECT_EQ(daisy_fingerprint_filter::bits_for(plan).has_value(), unknown);
    };
    const auto with = [](auto change) {
        daisy_plan plan = usual();
        change(plan);
        return plan;
    };
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    for (const double draws : {0.0, -1.0, 0.5, 0x1p41, nan, infinity})
        refused(with([&](daisy_plan& p) { p.terms.draws = draws; }), "draws");
    for (const double rate : {0.0, -1.0, 0.6, 0x1p-49, nan})
        refused(with([&](daisy_plan& p) { p.terms.rate = rate; }), "rate");
    for (const double share : {-0.1, 1.5, nan, infinity})
        refused(with([&](daisy_plan& p) { p.stored_share[3] = share; }), "class 3");
    for (const double share : {-0.1, 1.5, nan})
        refused(with([&](daisy_plan& p) { p.asked_share[8] = share; }), "class 8");
    refused(with([](daisy_plan& p) { p.stored_share[9] = 0.001; }), "class 9");
    refused(with([](daisy_plan& p) { p.stored_share[3] = 0; }), "sum");
    refused(with([](daisy_plan& p) { p.stored_share[3] = 0.5; }), "sum");
    refused(with([&](daisy_plan& p) { p.mean_bits = nan; }), "bits");
    refused(with([&](daisy_plan& p) { p.overlap = nan; }), "overlap");
    refused({}, "sum");
    EXPECT_TRUE(daisy_fingerprint_filter::make({{}, std::nullopt, true})) << "without shares the size is unknown";
}

TEST(daisy_fingerprint, works_at_the_ends_of_its_range) {
    for (const double rate : {0.5, 0.3, 0x1p-2, 0x1p-47, 0x1p-48}) {
        const daisy_plan plan = [&] {
            daisy_plan made{.terms = {500, rate}};
            made.stored_share[made.largest_class()] = 1;
            return made;
        }();
        auto filter = made(plan);
        for (std::uint64_t key = 0; key < 50'000; ++key) ASSERT_NE(filter.insert(key, 64), insert_outcome::full);
        for (std::uint64_t key = 0; key < 50'000; ++key) ASSERT_TRUE(filter.may_contain(key, 64)) << rate;
        EXPECT_LE(filter.let_through(64), 1.25 * rate);
    }
}

}  // namespace
}  // namespace genista::daisy_fingerprint_test
