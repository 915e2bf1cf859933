// The bench's own slots: flat_slots beside memory_slots, which is the reference: both give the
// same answers; and the meter around them.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <vector>

#include "genista/filters/cuckooing.hpp"
#include "genista/remote/memory_map.hpp"
#include "genista/remote/memory_slots.hpp"
#include "lab/workloads/flat_slots.hpp"
#include "tools/genista/bench/clocked_map.hpp"

namespace genista::test::bench_flat_slots_test {
namespace {

using lab::flat_slots;
using tool::bench::clocked_map;
using tool::bench::clocked_slots;
using tool::bench::remote_meter;

constexpr std::uint64_t generation = std::uint64_t{1} << 40;

template <slot_map Slots>
std::map<std::uint64_t, std::string> all_of(Slots& slots, std::uint64_t first, std::uint64_t last) {
    std::map<std::uint64_t, std::string> seen;
    const auto read = slots.for_each_slot(first, last, [&](std::uint64_t slot, key_view key) {
        EXPECT_TRUE(seen.empty() || seen.rbegin()->first < slot);
        seen.emplace(slot, key.text());
        return true;
    });
    EXPECT_TRUE(read);
    return seen;
}

template <slot_map Slots>
std::optional<std::string> at(Slots& slots, std::uint64_t slot) {
    std::optional<std::string> shown;
    const auto found = slots.read_slot(slot, [&](key_view key) { shown = std::string{key.text()}; });
    EXPECT_TRUE(found);
    EXPECT_EQ(*found, shown.has_value());
    return shown;
}

TEST(bench_flat_slots, answer_as_memory_slots_do_with_and_without_a_meter) {
    flat_slots flat;
    clocked_slots<flat_slots> clocked{flat};
    memory_slots tree;
    std::mt19937_64 chance{5};
    const auto any_slot = [&] { return chance() % 4 * generation + chance() % 300; };
    for (int step = 0; step < 4000; ++step) {
        if (chance() % 20 == 0) {
            const std::uint64_t first = any_slot(), last = chance() % 10 == 0 ? UINT64_MAX : any_slot();
            ASSERT_TRUE(clocked.clear_slots(first, last));
            if (first <= last) {
                ASSERT_TRUE(tree.clear_slots(first, last));
            }
        } else {
            std::vector<integer_key> keys;
            std::vector<slot_change> changes(chance() % 4);
            keys.reserve(changes.size());
            for (slot_change& each : changes) {
                each.slot = any_slot();
                if (chance() % 3 != 0) each.key = keys.emplace_back(chance() % 3 == 0 ? 0 : chance()).view();
            }
            ASSERT_TRUE(clocked.write_slots(changes));
            ASSERT_TRUE(tree.write_slots(changes));
        }
        const std::uint64_t asked = any_slot(), first = any_slot(), last = any_slot();
        ASSERT_EQ(at(flat, asked), at(tree, asked));
        ASSERT_EQ(at(clocked, asked), at(tree, asked));
        ASSERT_EQ(all_of(flat, 0, UINT64_MAX), all_of(tree, 0, UINT64_MAX));
        if (first <= last) {
            ASSERT_EQ(all_of(clocked, first, last), all_of(tree, first, last));
        } else {
            ASSERT_TRUE(all_of(clocked, first, last).empty());
        }
    }
}

TEST(bench_flat_slots, a_visit_ends_when_the_visitor_returns_false) {
    flat_slots flat;
    clocked_slots<flat_slots> clocked{flat};
    const integer_key one{1u};
    const slot_change changes[] = {{3, one.view()}, {5, one.view()}, {generation, one.view()}};
    ASSERT_TRUE(flat.write_slots(changes));
    int seen = 0;
    ASSERT_TRUE(flat.for_each_slot(0, UINT64_MAX, [&](std::uint64_t, key_view) { return ++seen < 2; }));
    ASSERT_TRUE(clocked.for_each_slot(0, UINT64_MAX, [&](std::uint64_t, key_view) { return ++seen < 4; }));
    EXPECT_EQ(seen, 4);
}

TEST(bench_flat_slots, a_key_of_another_length_is_refused_and_nothing_written) {
    flat_slots flat;
    const integer_key one{1u};
    const slot_change changes[] = {{3, one.view()}, {4, key_view{"short"}}};
    EXPECT_FALSE(flat.write_slots(changes));
    EXPECT_FALSE(at(flat, 3));
}

TEST(bench_flat_slots, their_meter_counts_what_a_filter_reads) {
    flat_slots flat;
    clocked_slots<flat_slots> clocked{flat};
    memory_map records;
    with_slots remote{records, clocked};
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
}  // namespace genista::test::bench_flat_slots_test
