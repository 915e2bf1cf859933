// R over RocksDB: order, bounds, equal digests, damage, and the walk that builds a filter.
#include "genista/detail/stores/rocksdb/ordered_records.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "genista/detail/stores/rocksdb/database.hpp"
#include "tests/stores/scratch.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::ordered_records_test {
namespace {

using rocks::database;
using rocks::ordered_records;
using rocks::sequential_records;

constexpr std::uint64_t greatest = ~std::uint64_t{0};

using entry = std::pair<digest, std::string>;

class ordered_records_test : public ::testing::Test {
  protected:
    void SetUp() override {
        auto opened = database::open(here_.path(), {.options = rocks::default_rocksdb_options(), .families = {}});
        ASSERT_TRUE(opened) << opened.error().message();
        database_ = *std::move(opened);
    }
    rocksdb::DB& db() { return database_.base(); }
    rocksdb::ColumnFamilyHandle& family() { return *database_.family("default"); }

    template <class Records>
    std::vector<entry> range(Records& records, std::uint64_t first, std::uint64_t last) {
        std::vector<entry> all;
        const auto done = records.for_each(first, last, [&](const digest& d, key_view key) {
            all.emplace_back(d, std::string{key.text()});
            return true;
        });
        EXPECT_TRUE(done) << done.error().message();
        return all;
    }

    scratch here_;
    database database_;
};

// Few positions and seeds, so that all three parts of the order matter, and both ends of the range
// of positions.
digest few(splitmix& chance) {
    static constexpr std::uint64_t positions[] = {0, 1, 255, 256, std::uint64_t{1} << 63, greatest - 1, greatest};
    return digest{positions[chance.below(7)], chance.below(3) * 0x80};
}

TEST_F(ordered_records_test, records_agree_with_a_set_under_random_operations) {
    ordered_records records{db(), family()};
    std::set<entry> model;
    splitmix chance{3};
    for (int step = 0; step < 3000; ++step) {
        const digest d = few(chance);
        const std::string key(chance.below(4), static_cast<char>(chance.below(2) * 255));
        switch (chance.below(4)) {
            case 0:
                ASSERT_EQ(*records.erase(d, key), model.erase({d, key}) == 1);
                break;
            case 1:
                ASSERT_EQ(*records.contains(d, key), model.contains({d, key}));
                break;
            default:
                ASSERT_EQ(*records.put(d, key), model.insert({d, key}).second);
        }
        const std::uint64_t a = few(chance).position, b = few(chance).position;
        std::vector<entry> expected;
        for (const entry& each : model) {
            if (a <= each.first.position && each.first.position <= b) expected.push_back(each);
        }
        ASSERT_EQ(range(records, a, b), expected);
        sequential_records walk{db(), family()};
        ASSERT_EQ(range(walk, a, b), expected);
    }
}

TEST(record_density_test, predicts_a_range_from_earlier_ones) {
    constexpr std::uint64_t bin = std::uint64_t{1} << 44;
    rocks::record_density density;
    EXPECT_EQ(density.readahead(0, bin - 1), 0u) << "nothing is known";
    density.learn(0, bin - 1, 20'000);
    EXPECT_GE(density.readahead(7 * bin, 8 * bin - 1), 20'000u);
    EXPECT_LE(density.readahead(7 * bin, 8 * bin - 1), 30'000u);
    EXPECT_EQ(density.readahead(0, bin / 10), 0u) << "a block holds it";
    EXPECT_LE(density.readahead(0, greatest), 256u << 10) << "a read of everything is done in pieces";
    for (int i = 0; i < 200; ++i) density.learn(0, bin - 1, 80'000);
    EXPECT_GE(density.readahead(0, bin - 1), 80'000u) << "the store has grown";
    for (int i = 0; i < 200; ++i) density.learn(0, bin - 1, 0);
    EXPECT_EQ(density.readahead(0, bin - 1), 0u) << "and was emptied";
}

TEST_F(ordered_records_test, a_walk_over_neighbouring_ranges_reads_every_record_once) {
    ordered_records records{db(), family()};
    splitmix chance{4};
    std::set<entry> model;
    for (int i = 0; i < 500; ++i) {
        const digest d{chance(), chance()};
        ASSERT_TRUE(*records.put(d, std::to_string(i)));
        model.insert({d, std::to_string(i)});
    }
    for (const std::uint64_t bins : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1000}}) {
        sequential_records walk{db(), family()};
        std::vector<entry> all;
        for (std::uint64_t bin = 0; bin < bins; ++bin) {
            const position_range part = range_of_bin(bin, bins);
            const auto some = range(walk, part.first, part.last);
            all.insert(all.end(), some.begin(), some.end());
        }
        EXPECT_EQ(all, std::vector<entry>(model.begin(), model.end()));
        EXPECT_EQ(walk.records_read(), model.size());
        // And again from the beginning, after a visitor that stopped early.
        ASSERT_TRUE(walk.for_each(0, greatest, [](const digest&, key_view) { return false; }));
        EXPECT_EQ(range(walk, 0, greatest).size(), model.size());
    }
}

TEST_F(ordered_records_test, a_walk_only_reads) {
    sequential_records walk{db(), family()};
    EXPECT_EQ(walk.put({}, "ada").error().code(), error_code::unsupported);
    EXPECT_EQ(walk.erase({}, "ada").error().code(), error_code::unsupported);
    EXPECT_FALSE(*walk.contains({}, "ada"));
}

TEST_F(ordered_records_test, a_record_without_a_digest_is_damage) {
    ordered_records records{db(), family()};
    ASSERT_TRUE(*records.put(digest{5, 6}, "ada"));
    ASSERT_TRUE(db().Put({}, &family(), std::string(15, '\x01'), "").ok());
    const auto count = [](const digest&, key_view) { return true; };
    EXPECT_EQ(records.for_each(0, greatest, count).error().code(), error_code::corrupt);
    sequential_records walk{db(), family()};
    EXPECT_EQ(walk.for_each(0, greatest, count).error().code(), error_code::corrupt);
    EXPECT_TRUE(records.for_each(0, 5, count));  // the damage is beyond the range
}

TEST_F(ordered_records_test, put_keeps_the_value_of_a_record_that_is_there) {
    ordered_records records{db(), family()};
    const rocks::record_key name{digest{1, 2}, "ada"};
    ASSERT_TRUE(db().Put({}, &family(), name.slice(), "1815").ok());
    EXPECT_FALSE(*records.put(digest{1, 2}, "ada"));
    std::string value;
    ASSERT_TRUE(db().Get({}, &family(), name.slice(), &value).ok());
    EXPECT_EQ(value, "1815");
}

}  // namespace
}  // namespace genista::test::ordered_records_test
