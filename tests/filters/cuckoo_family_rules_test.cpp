// What a false positive changes in each filter of the cuckoo family, exactly as in [acf §2.3-2.5].
// R's index shows where the keys are.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "filters/cuckoo_family_filters.hpp"
#include "support/remote/counting_map.hpp"
#include "tests/support/cuckoo_world.hpp"

namespace genista::cuckoo_family_rules_test {
namespace {

// Which key is in which slot, without the generation.
using places = std::map<std::string, std::uint64_t>;
places places_in(const memory_map& index) {
    places found;
    EXPECT_TRUE(index.for_each(0, ~std::uint64_t{0}, [&](const digest& place, key_view key) {
        EXPECT_TRUE(found.emplace(key.text(), place.position & ((std::uint64_t{1} << 40) - 1)).second)
            << "one key in two slots";
        return true;
    }));
    return found;
}

struct move {
    std::string key;
    std::uint64_t from, to;
};
std::vector<move> moves_between(const places& before, const places& after) {
    EXPECT_EQ(before.size(), after.size());
    std::vector<move> moved;
    for (const auto& [key, from] : before) {
        const auto now = after.find(key);
        EXPECT_TRUE(now != after.end()) << "a key that has left all slots";
        if (now != after.end() && now->second != from) moved.push_back({key, from, now->second});
    }
    return moved;
}

template <class Filter>
unsigned table_of(const Filter& filter, std::uint64_t slot) {
    return static_cast<unsigned>(slot / filter.shape().bin_slots / filter.shape().bins);
}

TEST(plain_rule, adapts_nothing_and_reports_unfixed) {
    test::cuckoo_world<cuckoo_filter> w{test::cuckoo_made({4, 1, 0.95}, 100, 6)};
    for (std::uint64_t key = 0; key < 100; ++key) ASSERT_TRUE(w.insert(key));
    counting_map counted{w.plain_index};
    with_index remote{w.plain, counted};
    const auto before = w.contents();
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t absent_key = *w.find_false_positive();
        EXPECT_EQ(*w.filter.adapt(absent_key, remote), adapt_outcome::unfixed);
        EXPECT_TRUE(w.filter.may_contain(absent_key));
    }
    EXPECT_EQ(w.contents(), before);
    EXPECT_EQ(counted.counts().batches, 0u);
    EXPECT_EQ(w.filter.stats().adapts, 0u);
}

// At a third of the capacity the next table mostly has room, so that a repair is one move.
TEST(cuckooing_rule, moves_the_key_that_collided_to_its_next_table) {
    test::cuckoo_world<cuckooing_filter> w{test::cuckoo_made({4, 1, 0.3}, 200, 6)};
    for (std::uint64_t key = 0; key < 200; ++key) ASSERT_TRUE(w.insert(key));
    std::set<unsigned> from_tables;
    int single = 0;
    for (int i = 0; i < 300; ++i) {
        const std::uint64_t absent_key = *w.find_false_positive();
        const places before = places_in(w.plain_index);
        w.adapt(absent_key);
        const std::vector<move> moved = moves_between(before, places_in(w.plain_index));
        ASSERT_FALSE(moved.empty());
        bool to_the_next = false;
        for (const move& each : moved) {
            const unsigned from = table_of(w.filter, each.from);
            const bool next = table_of(w.filter, each.to) == (from + 1) % 4;
            to_the_next = to_the_next || next;
            if (moved.size() > 1) continue;
            ++single;
            EXPECT_TRUE(next) << from;
            from_tables.insert(from);
        }
        ASSERT_TRUE(to_the_next) << "of " << moved.size();
        ASSERT_TRUE(w.wrong.empty()) << w.text();
    }
    EXPECT_GT(single, 150);
    EXPECT_EQ(from_tables.size(), 4u) << "from the last one to the first";
    w.scan();
    w.audit();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
}

TEST(cuckooing_rule, displaces_the_key_in_that_slot_and_inserts_it_again) {
    test::cuckoo_world<cuckooing_filter> w{test::cuckoo_made({4, 1, 0.95}, 200, 6)};
    for (std::uint64_t key = 0; key < 200; ++key) ASSERT_TRUE(w.insert(key));
    int displaced = 0, new_functions = 0;
    for (int i = 0; i < 200; ++i) {
        const std::uint64_t absent_key = *w.find_false_positive();
        const places before = places_in(w.plain_index);
        const std::uint64_t rehashes = w.filter.rehashes();
        w.adapt(absent_key);
        if (w.filter.rehashes() != rehashes) {
            ++new_functions;
            continue;
        }
        const std::vector<move> moved = moves_between(before, places_in(w.plain_index));
        bool to_the_next = moved.empty();  // no free slot: the false positive stays
        for (const move& each : moved) {
            to_the_next = to_the_next || table_of(w.filter, each.to) == (table_of(w.filter, each.from) + 1) % 4;
        }
        EXPECT_TRUE(to_the_next);
        displaced += moved.size() > 1 ? 1 : 0;
        w.scan();
        w.audit();
        ASSERT_TRUE(w.wrong.empty()) << w.text();
    }
    EXPECT_GT(displaced, 100);
    EXPECT_LT(new_functions, 20);
    EXPECT_GT(w.fixed, 150u) << "most absent keys are fixed for now";
}

template <class F>
class cyclic_rule : public testing::Test {};
using cyclic_filters = testing::Types<cyclic_filter<1>, cyclic_filter<2>, cyclic_filter<3>>;
TYPED_TEST_SUITE(cyclic_rule, cyclic_filters, test::cuckoo_names);

TYPED_TEST(cyclic_rule, chooses_the_next_fingerprint_and_writes_nothing_to_the_store) {
    test::cuckoo_world<TypeParam> w{test::cuckoo_made({4, 1, 0.95}, 100, 6)};
    for (std::uint64_t key = 0; key < 100; ++key) ASSERT_TRUE(w.insert(key));
    counting_map counted{w.plain_index};
    with_index remote{w.plain, counted};
    const places before = places_in(w.plain_index);
    int fixed = 0;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t absent_key = *w.find_false_positive();
        const auto bytes = w.contents();
        const auto outcome = w.filter.adapt(absent_key, remote);
        EXPECT_EQ(*outcome, w.filter.may_contain(absent_key) ? adapt_outcome::unfixed : adapt_outcome::fixed);
        fixed += *outcome == adapt_outcome::fixed ? 1 : 0;
        EXPECT_NE(w.contents(), bytes) << "the selector must change even if the key still collides";
        w.scan();
        ASSERT_TRUE(w.wrong.empty()) << w.text();
    }
    EXPECT_GT(fixed, 85) << "another fingerprint collides again once in 63 times, and in other slots";
    EXPECT_EQ(counted.counts().batches, 0u);
    EXPECT_EQ(places_in(w.plain_index), before);
    EXPECT_GE(counted.counts().range_reads, 100u);
    EXPECT_LE(counted.counts().range_reads, 130u) << "one read per slot that collided";
    EXPECT_EQ(w.filter.stats().adapts, 100u);
    w.audit();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
}

TYPED_TEST(cyclic_rule, returns_to_the_first_fingerprint_after_the_last) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        test::cuckoo_world<TypeParam> w{test::cuckoo_made({4, 1, 0.95}, 1, 5, seed)};
        ASSERT_TRUE(w.insert(0));
        const unsigned all = 1u << w.filter.shape().selector_bits;
        const auto first = w.contents();
        for (unsigned repairs = 1; repairs <= all; ++repairs) {
            w.adapt(*w.find_false_positive());
            ASSERT_TRUE(w.filter.may_contain(std::uint64_t{0}));
            ASSERT_EQ(w.contents() == first, repairs == all) << repairs << " of " << all;
        }
        w.audit();
        EXPECT_TRUE(w.wrong.empty()) << w.text();
    }
}

TYPED_TEST(cyclic_rule, a_key_that_moves_has_its_first_fingerprint_again) {
    test::cuckoo_world<TypeParam> w{test::cuckoo_made({4, 1, 0.95}, 1, 5)};
    ASSERT_TRUE(w.insert(0));
    const auto fresh = w.contents();
    w.adapt(*w.find_false_positive());
    ASSERT_NE(w.contents(), fresh);
    ASSERT_TRUE(w.rebuild());
    const auto rebuilt = w.contents();
    for (unsigned repairs = 1; repairs <= 1u << w.filter.shape().selector_bits; ++repairs) {
        w.adapt(*w.find_false_positive());
    }
    EXPECT_EQ(w.contents(), rebuilt) << "after all fingerprints the first one is back";
    EXPECT_TRUE(w.wrong.empty()) << w.text();
}

TEST(swapping_rule, swaps_the_key_with_another_of_its_bin) {
    for (const unsigned bin_slots : {2u, 4u, 8u}) {
        test::cuckoo_world<swapping_filter> w{test::cuckoo_made({2, bin_slots, 0.6}, 200, 7)};
        for (std::uint64_t key = 0; key < 200; ++key) ASSERT_TRUE(w.insert(key));
        int swapped = 0, to_empty_slots = 0;
        std::set<std::uint64_t> distances;
        for (int i = 0; i < 300; ++i) {
            const std::uint64_t absent_key = *w.find_false_positive();
            const places before = places_in(w.plain_index);
            const std::uint64_t reads = w.filter.stats().remote_reads;
            w.adapt(absent_key);
            const std::vector<move> moved = moves_between(before, places_in(w.plain_index));
            ASSERT_FALSE(moved.empty());
            for (const move& each : moved) {
                EXPECT_EQ(each.from / bin_slots, each.to / bin_slots) << "another bin";
                distances.insert((each.to - each.from) % bin_slots);
            }
            if (w.filter.stats().remote_reads - reads > 2) continue;  // two keys collided
            if (moved.size() == 1) ++to_empty_slots;
            if (moved.size() == 2 && moved[0].from == moved[1].to) {
                EXPECT_EQ(moved[0].to, moved[1].from) << "the other takes its place";
                ++swapped;
            }
            ASSERT_TRUE(w.wrong.empty()) << w.text();
        }
        EXPECT_GT(swapped, 50);
        EXPECT_GT(to_empty_slots, 50);
        EXPECT_EQ(distances.size(), bin_slots - 1) << "every other slot, and never its own";
        w.scan();
        w.audit();
        EXPECT_TRUE(w.wrong.empty()) << w.text();
    }
}

// Digests of which only twelve bits differ: many keys share a digest, and no fingerprint separates
// them. R does.
digest twelve_bits(const void*, key_view key) noexcept {
    const digest whole = hasher{hash_key::from_seed(1)}(key);
    return digest{whole.position & 0xfff0'0000'0000'0000, 0x1234'5678'9abc'def1};
}

template <class F>
class cuckoo_rules : public testing::Test {};
TYPED_TEST_SUITE(cuckoo_rules, test::cuckoo_family, test::cuckoo_names);

TYPED_TEST(cuckoo_rules, keys_with_one_digest_are_distinguished_by_the_store) {
    cuckoo_options options = test::cuckoo_made(test::cuckoo_forms<TypeParam>().back(), 300, 8);
    options.hash = hasher::custom(&twelve_bits, nullptr);
    test::cuckoo_world<TypeParam> w{options, 400};
    std::uint64_t shared = 0;
    std::set<std::uint64_t> digests;
    for (std::uint64_t key = 0; key < 250; ++key) {
        ASSERT_TRUE(w.insert(key));
        shared += digests.insert(w.filter.hash()(key).position).second ? 0u : 1u;
    }
    EXPECT_GT(shared, 3u) << "nothing was tested";
    for (int step = 0; step < 600; ++step) {
        const std::uint64_t kind = w.chance.below(4);
        if (kind == 0) w.erase(w.any_key());
        if (kind == 1) w.forget(w.any_key());
        if (kind == 2) (void)w.insert(w.any_key());
        if (step % 50 == 0) (void)w.rebuild();
        w.scan();
        w.audit();
        ASSERT_TRUE(w.wrong.empty()) << w.text() << step;
    }
}

}  // namespace
}  // namespace genista::cuckoo_family_rules_test
