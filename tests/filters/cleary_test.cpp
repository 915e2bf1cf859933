// cleary_filter by example: its size, bad options, a full table, and bytes that are not a valid
// table. The typed tests (local_filters, filter_snapshot, rates, snapshot_sweep) check what it has
// in common with other filters.
#include "genista/filters/cleary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "filters/filter_snapshots.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/fix_checksums.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::cleary_test {
namespace {

static_assert(local_filter<cleary_filter> && sized_filter<cleary_filter>);
static_assert(!locally_erasable_filter<cleary_filter> && !mergeable_filter<cleary_filter>);

// Decided by the type: no form of a key can be erased.
template <class Filter, class Key>
constexpr bool erases = requires(Filter& filter, const Key& key) {
    filter.erase(key);
};
static_assert(!erases<cleary_filter, std::uint64_t> && !erases<cleary_filter, key_view> &&
              !erases<cleary_filter, digest>);

cleary_filter made(const cleary_options& options) {
    auto filter = cleary_filter::make(options);
    EXPECT_TRUE(filter) << filter.error().message();
    return *std::move(filter);
}

cleary_filter filled_at(double load, std::uint64_t keys, std::uint64_t seed = 1) {
    cleary_filter filter = made({keys, 0x1p-8, hasher{hash_key::from_seed(seed)}, load});
    for (std::uint64_t key = 0; key < keys; ++key) EXPECT_NE(filter.insert(key), insert_outcome::full);
    return filter;
}

TEST(cleary, loads_outside_their_range_are_refused_by_name) {
    for (const double load : {0.0, -1.0, 0.4999, 0.9701, 1.0, 2.0, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()}) {
        const auto filter = cleary_filter::make({.load = load});
        ASSERT_FALSE(filter) << load;
        EXPECT_EQ(filter.error().code(), error_code::invalid_argument);
        EXPECT_NE(filter.error().message().find("load"), std::string_view::npos);
        EXPECT_NE(filter.error().message().find("[0.5, 0.97]"), std::string_view::npos) << filter.error().message();
        EXPECT_FALSE(cleary_filter::bits_for(1000, 0.01, load));
        EXPECT_FALSE(cleary_filter::keys_for_bits(1 << 20, 0.01, load));
        EXPECT_EQ(cleary_filter::fpr_for(1000, 1 << 20, load), 1);
    }
    EXPECT_NE(cleary_filter::make({.load = 0.98}).error().message().find("0.98"), std::string_view::npos);
}

TEST(cleary, remainders_have_as_many_bits_as_rate_and_load_need) {
    const auto bits = [](double rate, double load) {
        return made({.capacity = 1000, .false_positive_rate = rate, .load = load}).remainder_bits();
    };
    EXPECT_EQ(bits(0x1p-8, 0.95), 8u);
    EXPECT_EQ(bits(0x1p-8, 0.51), 8u);
    EXPECT_EQ(bits(0x1p-8, 0.5), 7u) << "twice as many homes as keys save one bit";
    EXPECT_EQ(bits(0.01, 0.95), 7u);
    EXPECT_EQ(bits(0.01, 0.6), 6u);
    EXPECT_EQ(bits(0.5, 0.97), 1u);
    EXPECT_EQ(bits(0x1p-32, 0.9), 32u);
    EXPECT_EQ(bits(cleary_filter::min_false_positive_rate, 0.97), 56u);
}

// (log2(1/ε) + 2 + 2/15) / load bits, and at most a page and the object more.
TEST(cleary, bits_per_key_are_those_of_the_formula) {
    for (const double load : {0.6, 0.8, 0.9, 0.95, 0.97}) {
        const cleary_filter filter = made({.capacity = 1'000'000, .false_positive_rate = 0x1p-8, .load = load});
        const double bits = 8 * static_cast<double>(filter.stats().local_bytes) / 1e6;
        EXPECT_LE(bits, (10 + 2.0 / 15) / load + 0.04) << load;
        EXPECT_GE(bits, (10 + 2.0 / 15) / load) << load;
    }
}

TEST(cleary, sizing_at_other_loads_is_inverse_too) {
    for (const double load : {0.5, 0.77, 0.97}) {
        for (const double rate : {0.3, 0.01, 0x1p-8, 1e-6}) {
            for (const std::uint64_t capacity : {1ull, 59ull, 60ull, 61ull, 12'345ull, 1'000'000'007ull}) {
                const auto bits = cleary_filter::bits_for(capacity, rate, load);
                ASSERT_TRUE(bits);
                EXPECT_LE(cleary_filter::fpr_for(capacity, *bits, load), rate);
                const auto back = cleary_filter::keys_for_bits(*bits, rate, load);
                ASSERT_TRUE(back);
                EXPECT_GE(*back, capacity);
                EXPECT_GT(*cleary_filter::bits_for(*back + 1, rate, load), *bits);
            }
        }
    }
}

TEST(cleary, a_repeated_insert_changes_nothing) {
    cleary_filter filter = made({.capacity = 100});
    EXPECT_EQ(filter.insert("once"), insert_outcome::inserted);
    const auto before = test::saved(filter);
    EXPECT_EQ(filter.insert("once"), insert_outcome::already_present);
    EXPECT_EQ(filter.stats().keys, 1u);
    EXPECT_EQ(test::saved(filter), before);
}

TEST(cleary, takes_keys_beyond_its_capacity_until_the_last_cell_is_full) {
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        cleary_filter filter = filled_at(0.95, 10'000);
        std::uint64_t key = 10'000;
        while (filter.insert(key) != insert_outcome::full) ++key;
        EXPECT_EQ(filter.stats().keys, filter.cells());
        const auto before = test::saved(filter);
        for (std::uint64_t each = 0; each < key; ++each) ASSERT_TRUE(filter.may_contain(each)) << each;
        EXPECT_EQ(filter.insert(key), insert_outcome::full);
        EXPECT_NE(filter.insert(key - 1), insert_outcome::inserted) << "a stored key is not refused";
        EXPECT_EQ(test::saved(filter), before) << "a refused insert changes nothing";
        const auto again = cleary_filter::load(before);
        ASSERT_TRUE(again) << again.error().message();
        test::expect_equal_answers(filter, *again, 50'000);
    }
}

TEST(cleary, the_order_of_insertion_does_not_matter) {
    std::vector<std::uint64_t> keys(5'000);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
    std::vector<test::file_bytes> files;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        test::splitmix chance{seed};
        for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[chance.below(i)]);
        cleary_filter filter = made({5'000, 0x1p-8, hasher{hash_key::from_seed(1)}, 0.97});
        for (const std::uint64_t key : keys) ASSERT_NE(filter.insert(key), insert_outcome::full);
        files.push_back(test::saved(filter));
    }
    EXPECT_EQ(files[0], files[1]);
    EXPECT_EQ(files[0], files[2]);
}

TEST(cleary, batches_equal_single_look_ups_at_every_load_and_width) {
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        for (const double load : {0.5, 0.8, 0.97}) {
            for (const double rate : {0.3, 0.01, 0x1p-8, 0x1p-12, 0x1p-16, 1e-7}) {
                cleary_filter filter = made({3'000, rate, hasher{hash_key::from_seed(2)}, load});
                for (std::uint64_t key = 0; key < 3'000; ++key) ASSERT_NE(filter.insert(key), insert_outcome::full);
                std::vector<std::uint64_t> asked(6'000), answers(words_for(asked.size()));
                for (std::size_t i = 0; i < asked.size(); ++i) asked[i] = i;
                filter.may_contain(asked, answers);
                for (std::size_t i = 0; i < asked.size(); ++i) {
                    ASSERT_EQ((answers[i / 64] >> i % 64 & 1) != 0, filter.may_contain(asked[i])) << i;
                    ASSERT_TRUE(i >= 3'000 || filter.may_contain(asked[i])) << i << ' ' << rate << ' ' << load;
                }
            }
        }
    }
}

// ---- bytes that are not a table
// --------------------------------------------------------------------

std::size_t place_of(std::span<const std::byte> part, const test::file_bytes& file) {
    return static_cast<std::size_t>(part.data() - file.data());
}

// A flipped bit makes a block contradict its neighbours.
TEST(cleary_snapshot, every_flipped_bit_of_the_blocks_is_refused) {
    for (const double load : {0.5, 0.97}) {
        const test::file_bytes file = test::saved(filled_at(load, 500));
        const auto view = open_snapshot(file);
        ASSERT_TRUE(view);
        const std::size_t first = place_of(view->sections[0], file);
        for (std::size_t bit = 0; bit < 8 * view->sections[0].size(); ++bit) {
            test::file_bytes damaged = file;
            damaged[first + bit / 8] ^= std::byte{1} << bit % 8;
            test::fix_checksums(damaged);
            const auto loaded = cleary_filter::load(damaged);
            ASSERT_FALSE(loaded) << bit;
            ASSERT_EQ(loaded.error().code(), error_code::corrupt);
        }
    }
}

// A flipped bit may turn a remainder into another one without breaking the order: the result is a
// valid table with as many values.
TEST(cleary_snapshot, flipped_bits_of_remainders_are_refused_or_give_another_set) {
    const test::file_bytes file = test::saved(filled_at(0.8, 500));
    const auto view = open_snapshot(file);
    ASSERT_TRUE(view);
    const std::size_t first = place_of(view->sections[1], file);
    std::size_t refused = 0, other = 0;
    for (std::size_t bit = 0; bit < 8 * view->sections[1].size(); ++bit) {
        test::file_bytes damaged = file;
        damaged[first + bit / 8] ^= std::byte{1} << bit % 8;
        test::fix_checksums(damaged);
        const auto loaded = cleary_filter::load(damaged);
        if (!loaded) {
            ++refused;
            continue;
        }
        ++other;
        ASSERT_EQ(test::saved(*loaded), damaged);
    }
    EXPECT_GT(refused, 900u) << "every bit of 120 free cells, and more";
    EXPECT_GT(other, 2'000u);
}

TEST(cleary_snapshot, parameters_that_contradict_each_other_are_refused) {
    const test::file_bytes file = test::saved(filled_at(0.8, 500));
    const auto with = [&](std::size_t at, std::size_t width, std::uint64_t value) {
        test::file_bytes changed = file;
        test::put_little_endian(changed, 192 + at, width, value);
        test::fix_checksums(changed);
        return cleary_filter::load(changed).has_value();
    };
    const auto keys = cleary_filter::load(file)->stats().keys;
    EXPECT_TRUE(with(16, 8, keys));
    for (const std::uint64_t wrong : {keys - 1, keys + 1, ~keys}) EXPECT_FALSE(with(16, 8, wrong)) << "keys";
    const auto bits_of = [](double number) { return std::bit_cast<std::uint64_t>(number); };
    EXPECT_TRUE(with(56, 8, bits_of(0.8)));
    for (const double wrong : {0.3, 0.5, 0.9, 0.99, std::nan("")}) EXPECT_FALSE(with(56, 8, bits_of(wrong))) << wrong;
    EXPECT_TRUE(with(64, 4, 8));
    for (const std::uint64_t wrong : {0u, 7u, 9u, 64u, ~0u}) EXPECT_FALSE(with(64, 4, wrong)) << "bits";
    EXPECT_TRUE(with(68, 8, 11));
    for (const std::uint64_t wrong : {0ull, 10ull, 12ull, 1ull << 60, ~0ull})
        EXPECT_FALSE(with(68, 8, wrong)) << "blocks";
}

// One block of 60 cells, all full, every run one cell further on than necessary: consistent, but no
// sequence of inserts gives it.
TEST(cleary_snapshot, a_full_table_rotated_by_one_cell_is_refused) {
    cleary_filter filter = made({57, 0x1p-8, hasher{hash_key::from_seed(3)}, 0.95});
    ASSERT_EQ(filter.cells(), 60u);
    for (std::uint64_t key = 0; filter.insert(key) != insert_outcome::full;) ++key;
    test::file_bytes file = test::saved(filter);
    const auto view = open_snapshot(file);
    ASSERT_TRUE(view);
    ASSERT_TRUE(cleary_filter::load(file));
    const std::span block{file.data() + place_of(view->sections[0], file), 16};
    std::uint64_t occupied = 0, ends = 0;
    std::memcpy(&occupied, block.data(), 8);
    std::memcpy(&ends, block.data() + 8, 8);
    constexpr std::uint64_t cells = (std::uint64_t{1} << 60) - 1;
    const std::uint64_t offset = (occupied >> 60 | ends >> 60 << 4) + 1;
    const std::uint64_t rotated = (ends << 1 | (ends & cells) >> 59) & cells;
    test::put_little_endian(block, 0, 8, (occupied & cells) | offset << 60);
    test::put_little_endian(block, 8, 8, rotated | offset >> 4 << 60);
    const auto remainders = file.begin() + static_cast<std::ptrdiff_t>(place_of(view->sections[1], file));
    std::rotate(remainders, remainders + 59, remainders + 60);
    test::fix_checksums(file);
    EXPECT_FALSE(cleary_filter::load(file));
}

// All offsets have the largest value, which means "or more": no block stores how far the runs
// before it reach.
TEST(cleary_snapshot, a_table_in_which_all_offsets_are_too_large_to_store_is_refused) {
    cleary_filter filter = made({.capacity = 600, .false_positive_rate = 0x1p-8, .load = 0.8});
    test::file_bytes file = test::saved(filter);
    const auto view = open_snapshot(file);
    ASSERT_TRUE(view);
    const std::size_t first = place_of(view->sections[0], file);
    for (std::size_t word = 0; word < view->sections[0].size(); word += 8) file[first + word + 7] |= std::byte{0xf0};
    test::fix_checksums(file);
    EXPECT_FALSE(cleary_filter::load(file));
}

}  // namespace
}  // namespace genista::cleary_test
