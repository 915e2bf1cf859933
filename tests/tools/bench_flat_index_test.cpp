// The bench's own index: flat_index beside memory_map, which is the reference: both give the same
// answers while a place has one key; and the meter around it.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <vector>

#include "genista/filters/cuckooing.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "lab/workloads/flat_index.hpp"
#include "tests/remote/remote_support.hpp"
#include "tools/genista/bench/clocked_map.hpp"

namespace genista::test::bench_flat_index_test {
namespace {

using lab::flat_index;
using tool::bench::clocked_map;
using tool::bench::remote_meter;
using tool::bench::single_places;

constexpr std::uint64_t generation = std::uint64_t{1} << 40;
using clocked_index = clocked_map<flat_index, single_places::are_slots>;

TEST(bench_flat_index, answers_as_memory_map_does_with_and_without_a_meter) {
    flat_index flat;
    clocked_index clocked{flat};
    memory_map tree;
    std::mt19937_64 chance{5};
    const auto any_place = [&] { return chance() % 4 * generation + chance() % 300; };
    const auto keys_at = [&](std::uint64_t place) { return read_range(tree, place, place); };
    for (int step = 0; step < 4000; ++step) {
        if (chance() % 20 == 0) {
            const std::uint64_t first = any_place(), last = chance() % 10 == 0 ? UINT64_MAX : any_place();
            ASSERT_TRUE(clocked.erase_range(first, last));
            ASSERT_TRUE(tree.erase_range(first, last));
        } else {
            std::map<std::uint64_t, std::pair<std::vector<record>, std::optional<integer_key>>> places;
            for (std::uint64_t count = chance() % 4; count > 0; --count) {
                auto& [former, next] = places[any_place()];
                if (chance() % 3 != 0) next.emplace(chance() % 3 == 0 ? 0 : chance());
            }
            std::vector<record_change> changes;
            for (auto& [place, keys] : places) {
                keys.first = keys_at(place);
                for (const record& each : keys.first) changes.push_back({each.where, key_view{each.key}, false});
                if (keys.second) changes.push_back({digest{place, 0}, keys.second->view(), true});
            }
            ASSERT_TRUE(clocked.apply(changes));
            ASSERT_TRUE(tree.apply(changes));
        }
        const std::uint64_t asked = any_place(), first = any_place(), last = any_place();
        const integer_key other{chance()};
        ASSERT_EQ(read_range(flat, asked, asked), keys_at(asked));
        ASSERT_EQ(read_range(clocked, asked, asked), keys_at(asked));
        ASSERT_EQ(read_all(flat), read_all(tree));
        ASSERT_EQ(read_range(clocked, first, last), read_range(tree, first, last));
        ASSERT_EQ(*clocked.contains(digest{asked, 0}, other.view()), *tree.contains(digest{asked, 0}, other.view()));
        for (const record& each : keys_at(asked)) ASSERT_TRUE(*clocked.contains(each.where, each.key));
    }
}

TEST(bench_flat_index, takes_single_records_too) {
    flat_index flat;
    clocked_index clocked{flat};
    const integer_key one{1u}, two{2u};
    EXPECT_TRUE(*clocked.put(digest{3, 0}, one.view()));
    EXPECT_FALSE(*clocked.put(digest{3, 0}, one.view()));
    EXPECT_FALSE(*clocked.erase(digest{3, 0}, two.view())) << "another key is there";
    EXPECT_FALSE(*clocked.erase(digest{generation, 0}, one.view()));
    EXPECT_TRUE(*clocked.contains(digest{3, 0}, one.view()));
    EXPECT_TRUE(*clocked.erase(digest{3, 0}, one.view()));
    EXPECT_FALSE(*clocked.erase(digest{3, 0}, one.view()));
    EXPECT_FALSE(*clocked.contains(digest{3, 0}, one.view()));
}

TEST(bench_flat_index, a_visit_ends_when_the_visitor_returns_false) {
    flat_index flat;
    clocked_index clocked{flat};
    const integer_key one{1u};
    const record_change changes[] = {
        {digest{3, 0}, one.view()}, {digest{5, 0}, one.view()}, {digest{generation, 0}, one.view()}};
    ASSERT_TRUE(flat.apply(changes));
    int seen = 0;
    ASSERT_TRUE(flat.for_each(0, UINT64_MAX, [&](const digest&, key_view) { return ++seen < 2; }));
    ASSERT_TRUE(clocked.for_each(0, UINT64_MAX, [&](const digest&, key_view) { return ++seen < 4; }));
    EXPECT_EQ(seen, 4);
}

TEST(bench_flat_index, a_key_of_another_length_or_a_place_with_a_seed_is_refused_and_nothing_written) {
    flat_index flat;
    const integer_key one{1u};
    const record_change short_key[] = {{digest{3, 0}, one.view()}, {digest{4, 0}, key_view{"short"}}};
    const record_change with_seed[] = {{digest{3, 0}, one.view()}, {digest{4, 1}, one.view()}};
    EXPECT_FALSE(flat.apply(short_key));
    EXPECT_FALSE(flat.apply(with_seed));
    EXPECT_TRUE(read_all(flat).empty());
}

TEST(bench_flat_index, its_meter_counts_what_a_filter_reads) {
    flat_index flat;
    clocked_index clocked{flat};
    memory_map records;
    with_index remote{records, clocked};
    auto filter =
        cuckooing_filter::make({.capacity = 500, .hash = hasher{hash_key::from_seed(8)}, .random = repeatable(1)});
    ASSERT_TRUE(filter);
    const remote_meter before = remote_meter::of_this_thread();
    for (std::uint64_t key = 0; key < 500; ++key) {
        ASSERT_TRUE(records.put(filter->hash()(integer_key{key}.view()), integer_key{key}.view()));
        ASSERT_EQ(*filter->insert(key, remote), insert_outcome::inserted);
    }
    const remote_meter after = remote_meter::of_this_thread();
    EXPECT_EQ(after.slot_reads - before.slot_reads, filter->stats().remote_reads);
    EXPECT_GT(after.slot_reads, before.slot_reads);
    EXPECT_GT(after.spent, before.spent);
    EXPECT_TRUE(filter->audit(remote));
}

}  // namespace
}  // namespace genista::test::bench_flat_index_test
