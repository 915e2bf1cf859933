// Filters without a remote map against reference models: random operations, compared after every
// step.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "bits/words.hpp"
#include "filters/filter_snapshots.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "genista/filters/bloomier.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/format/sink.hpp"
#include "tests/support/cleary_model.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::local_model_test {
namespace {

// ---- cuckoo_partial_filter ----------------------------------------------------------------------

// cuckoo_partial_filter against an exact multiset, and filled until it refuses: no key is ever lost
// (its I1 and I2).

cuckoo_partial_filter made(std::uint64_t capacity, double rate, std::uint64_t seed) {
    auto filter = cuckoo_partial_filter::make({capacity, rate, hasher{hash_key::from_seed(seed)}});
    EXPECT_TRUE(filter.has_value());
    return *std::move(filter);
}

std::vector<std::byte> saved(const cuckoo_partial_filter& filter) {
    vector_sink out;
    EXPECT_TRUE(filter.save(out).has_value());
    return std::move(out).take();
}

TEST(cuckoo_partial_model, stored_keys_stay_stored_under_inserts_and_erases) {
    for (const double rate : {0.01, 0.0005}) {
        for (const std::uint64_t capacity : {1u, 5u, 60u, 500u, 5000u}) {
            auto filter = made(capacity, rate, capacity);
            test::splitmix chance{capacity};
            std::map<std::uint64_t, unsigned> model;  // key → copies
            std::uint64_t total = 0;
            const std::uint64_t steps = test::scaled<std::uint64_t>(200'000, 20'000'000);
            for (std::uint64_t step = 0; step < steps; ++step) {
                const std::uint64_t key = chance.below(capacity + capacity / 2 + 2);
                if (chance.below(2) == 0) {
                    if (total < capacity && model[key] < 4) {
                        const bool took = filter.insert(key) == insert_outcome::inserted;
                        model[key] += took ? 1 : 0;
                        total += took ? 1 : 0;
                    }
                } else if (model[key] > 0) {
                    ASSERT_EQ(filter.erase(key), erase_outcome::erased);
                    --model[key];
                    --total;
                }
                if (chance.below(20'000) == 0) {
                    filter.clear();
                    model.clear();
                    total = 0;
                }
                ASSERT_EQ(filter.stats().keys, total);
                const std::uint64_t asked = chance.below(capacity + capacity / 2 + 2);
                if (const auto found = model.find(asked); found != model.end() && found->second > 0) {
                    ASSERT_TRUE(filter.may_contain(asked));
                }
                if (step % 10'000 == 0) {
                    for (const auto& [member, copies] : model) ASSERT_TRUE(copies == 0 || filter.may_contain(member));
                }
            }
        }
    }
}

TEST(cuckoo_partial_model, erasing_everything_leaves_an_empty_table) {
    auto filter = made(3000, 0.01, 1);
    const auto empty = saved(filter);
    for (std::uint64_t key = 0; key < 3000; ++key) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
    for (std::uint64_t key = 0; key < 3000; ++key) ASSERT_EQ(filter.erase(key), erase_outcome::erased);
    for (std::uint64_t key = 0; key < 3000; ++key) ASSERT_EQ(filter.erase(key), erase_outcome::absent);
    EXPECT_TRUE(saved(filter) == empty);
}

TEST(cuckoo_partial_model, filled_until_it_refuses_it_has_lost_no_key) {
    const std::uint64_t seeds = test::scaled<std::uint64_t>(1000, 100'000);
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const std::uint64_t capacity = 1 + seed % 700;
        auto filter = made(capacity, seed % 2 == 0 ? 0.01 : 0.0005, seed);
        std::vector<std::uint64_t> members;
        test::splitmix chance{seed};
        while (true) {
            const std::uint64_t key = chance();
            const auto before = seed % 50 == 0 ? saved(filter) : std::vector<std::byte>{};
            if (filter.insert(key) == insert_outcome::full) {
                ASSERT_TRUE(seed % 50 != 0 || saved(filter) == before) << "a refused insert must change nothing";
                break;
            }
            members.push_back(key);
            ASSERT_LE(members.size(), filter.slots());
        }
        ASSERT_GE(members.size(), capacity) << "full although below the capacity, seed " << seed;
        ASSERT_EQ(filter.stats().keys, members.size());
        for (const auto key : members) ASSERT_TRUE(filter.may_contain(key)) << "seed " << seed;
    }
}

TEST(cuckoo_partial_model, one_key_can_be_inserted_and_erased_eight_times) {
    auto filter = made(10'000, 0.01, 1);
    for (int copy = 0; copy < 8; ++copy) ASSERT_EQ(filter.insert("again"), insert_outcome::inserted);
    EXPECT_EQ(filter.insert("again"), insert_outcome::full);
    EXPECT_EQ(filter.stats().keys, 8u);
    for (int copy = 0; copy < 8; ++copy) {
        EXPECT_TRUE(filter.may_contain("again"));
        ASSERT_EQ(filter.erase("again"), erase_outcome::erased);
    }
    EXPECT_EQ(filter.erase("again"), erase_outcome::absent);
}

TEST(cuckoo_partial_model, tags_have_12_bits_where_they_keep_the_rate_and_16_below) {
    EXPECT_EQ(made(100, 0.5, 1).tag_bits(), 12u);
    EXPECT_EQ(made(100, 8.0 / 4095, 1).tag_bits(), 12u);
    EXPECT_EQ(made(100, 8.0 / 4095 - 1e-9, 1).tag_bits(), 16u);
    EXPECT_EQ(made(100, 8.0 / 65535, 1).tag_bits(), 16u);
}

TEST(cuckoo_partial_model, a_million_keys_fit_at_95_percent_of_the_slots) {
    for (const double rate : {0.01, 0.0005}) {
        auto filter = made(1'000'000, rate, 3);
        for (std::uint64_t key = 0; key < 1'000'000; ++key) ASSERT_EQ(filter.insert(key), insert_outcome::inserted);
        EXPECT_GT(1e6 / static_cast<double>(filter.slots()), 0.949);
        for (std::uint64_t key = 0; key < 1'000'000; ++key) ASSERT_TRUE(filter.may_contain(key));
    }
}

// ---- cleary_filter ------------------------------------------------------------------------------

// cleary_filter against a std::set of values: after every operation the same answer and the same
// bytes, in tables filled to the last cell, with clusters that wrap around the end and with offsets
// too large for their bits.

// `blocks` times 60 cells with remainders of so many bits.
cleary_filter made(std::uint64_t blocks, unsigned bits) {
    const double load = bits == cleary_filter::max_remainder_bits ? 0.97 : 0.75;
    auto filter = cleary_filter::make({.capacity = static_cast<std::uint64_t>(static_cast<double>(60 * blocks) * load),
                                       .false_positive_rate = std::ldexp(load, -static_cast<int>(bits)),
                                       .hash = hasher{hash_key::from_seed(1)},
                                       .load = load});
    EXPECT_TRUE(filter) << filter.error().message();
    EXPECT_EQ(filter->cells(), 60 * blocks);
    EXPECT_EQ(filter->remainder_bits(), bits);
    return *std::move(filter);
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::uint64_t index) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + 8 * index, sizeof word);
    return word;
}

std::uint64_t bits_at(std::span<const std::byte> bytes, std::uint64_t from, unsigned count) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
        const std::uint64_t bit = from + i;
        value |= std::uint64_t{std::to_integer<unsigned>(bytes[bit / 8]) >> bit % 8 & 1} << i;
    }
    return value;
}

// Compares the bytes of a snapshot with docs/format.md.
void expect_layout(const cleary_filter& filter, const test::cleary_model& model) {
    vector_sink out;
    ASSERT_TRUE(filter.save(out));
    const auto view = open_snapshot(out.bytes());
    ASSERT_TRUE(view);
    const test::cleary_layout laid = model.layout();
    const std::uint64_t blocks = filter.cells() / 60;
    for (std::uint64_t b = 0; b < blocks; ++b) {
        std::uint64_t occupied = 0, ends = 0;
        for (std::uint64_t i = 0; i < 60; ++i) {
            occupied |= std::uint64_t{laid.occupied[60 * b + i]} << i;
            ends |= std::uint64_t{laid.ends[60 * b + i]} << i;
        }
        ASSERT_EQ(word_at(view->sections[0], 2 * b), occupied | laid.offsets[b] << 60) << b;
        ASSERT_EQ(word_at(view->sections[0], 2 * b + 1), ends | laid.offsets[b] >> 4 << 60) << b;
    }
    const unsigned bits = filter.remainder_bits();
    for (std::uint64_t c = 0; c < filter.cells(); ++c)
        ASSERT_EQ(bits_at(view->sections[1], c * bits, bits), laid.remainders[c]) << c;
}

// Keys that are concentrated around one position, or spread evenly.
struct concentration {
    std::uint64_t centre = 0;
    unsigned shift = 0;  // the keys are spread over 2^(64 - shift) positions
};

digest draw(test::splitmix& chance, const concentration& where) {
    return digest{where.centre + (chance() >> where.shift), chance()};
}

void fill(std::uint64_t blocks, unsigned bits, const concentration& where, std::uint64_t seed) {
    cleary_filter filter = made(blocks, bits);
    test::cleary_model model{filter.cells(), bits};
    test::splitmix chance{seed};
    const std::uint64_t tries = 3 * filter.cells() + 30;
    for (std::uint64_t i = 0; i < tries; ++i) {
        // Evenly spread towards the end: concentrated keys may have fewer values than there are
        // cells.
        const digest d = draw(chance, i < 2 * filter.cells() ? where : concentration{});
        const insert_outcome expected = model.contains(d) ? insert_outcome::already_present
                                        : model.is_full() ? insert_outcome::full
                                                          : insert_outcome::inserted;
        ASSERT_EQ(filter.may_contain(d), model.contains(d));
        ASSERT_EQ(filter.insert(d), expected) << i;
        if (expected == insert_outcome::inserted) model.insert(d);
        ASSERT_EQ(filter.stats().keys, model.values().size());
        ASSERT_EQ(filter.may_contain(d), expected != insert_outcome::full);
        const digest other = draw(chance, where);
        ASSERT_EQ(filter.may_contain(other), model.contains(other));
        if (i % (1 + filter.cells() / 60) != 0) continue;
        ASSERT_NO_FATAL_FAILURE(expect_layout(filter, model)) << i;
    }
    ASSERT_NO_FATAL_FAILURE(expect_layout(filter, model));
    for (std::uint64_t home = 0; home < filter.cells(); ++home) {
        // The first position of the home, computed without rounding errors.
        const auto position =
            static_cast<std::uint64_t>(((static_cast<uint128>(home) << 64) + filter.cells() - 1) / filter.cells());
        for (std::uint64_t r = 0; r < std::min<std::uint64_t>(std::uint64_t{1} << bits, 64); ++r) {
            const digest d{position, r << (64 - bits)};
            ASSERT_EQ(filter.may_contain(d), model.contains(d)) << home << ' ' << r;
        }
    }
    filter.clear();
    test::cleary_model again{filter.cells(), bits};
    for (std::uint64_t i = 0; i < filter.cells() / 2; ++i) {
        const digest d = draw(chance, where);
        ASSERT_EQ(filter.insert(d) == insert_outcome::inserted, !again.contains(d)) << i;
        again.insert(d);
    }
    ASSERT_NO_FATAL_FAILURE(expect_layout(filter, again)) << "after clear()";
}

TEST(cleary_model, agrees_for_every_width_of_remainders_until_the_last_cell_is_full) {
    for (unsigned bits = 1; bits <= cleary_filter::max_remainder_bits; ++bits) {
        ASSERT_NO_FATAL_FAILURE(fill(1 + bits % 3, bits, {}, bits)) << bits;
    }
}

TEST(cleary_model, agrees_on_every_instruction_set_for_any_number_of_blocks) {
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        for (const std::uint64_t blocks : {1u, 2u, 3u, 4u, 7u, 16u}) {
            for (const unsigned bits : {5u, 8u, 12u, 16u})
                ASSERT_NO_FATAL_FAILURE(fill(blocks, bits, {}, blocks)) << to_string(level) << blocks << ' ' << bits;
        }
    }
}

// Offsets far beyond 255, and clusters over the whole table and around its end.
TEST(cleary_model, agrees_for_clusters_over_the_whole_table) {
    for (const std::uint64_t blocks : {1u, 2u, 5u, 6u, 13u}) {
        for (const unsigned bits : {12u, 17u}) {
            for (const unsigned shift : {1u, 3u, 6u, 30u}) {
                for (const std::uint64_t centre : {0ull, 0x7fffffffffffffffull, 0xf000000000000000ull, ~0ull})
                    ASSERT_NO_FATAL_FAILURE(fill(blocks, bits, {centre, shift}, shift)) << blocks << ' ' << shift;
            }
        }
    }
}

TEST(cleary_model, a_walk_ends_where_the_model_ends_it) {
    cleary_filter filter = made(6, 12);
    test::cleary_model model{filter.cells(), 12};
    test::splitmix chance{9};
    while (model.values().size() + 1 < filter.cells()) {
        const digest d = draw(chance, model.values().size() % 3 == 0 ? concentration{} : concentration{~0ull, 3});
        const test::cleary_layout laid = model.layout();
        const std::uint64_t home = model.value_of(d).first, cells = filter.cells();
        std::uint64_t to_gap = 1;
        while (laid.taken[(home + to_gap - 1) % cells]) ++to_gap;
        ASSERT_EQ(filter.walk_of(d).insert_cells, to_gap);
        const cleary_walk walk = filter.walk_of(d);
        if (!laid.occupied[home]) {
            ASSERT_EQ(walk.lookup_cells, 1u);
        } else {
            ASSERT_TRUE(laid.ends[(home + walk.lookup_cells - 1) % cells]);
        }
        (void)filter.insert(d);
        model.insert(d);
    }
}

// ---- bloomier_filter ----------------------------------------------------------------------------

// Random builds, updates, saves and loads on bloomier_filter and a std::map: every key has its
// value, and an absent key is reported absent or has the value of some key.

struct world {
    std::map<std::uint64_t, std::uint64_t> truth;
    std::optional<bloomier_filter> filter;
    unsigned value_bits = 0;

    // Updates are tried on stored keys only: an absent key that passes the check would change a
    // stored key's value, and the caller guarantees that there is none.
    void expect_agreement(std::uint64_t universe) const {
        std::set<std::uint64_t> values;
        for (const auto& [key, value] : truth) {
            ASSERT_EQ(filter->find(key), value) << key;
            values.insert(value);
        }
        for (std::uint64_t key = 0; key < universe; ++key) {
            if (truth.contains(key)) continue;
            const auto found = filter->find(key);
            ASSERT_TRUE(!found || values.contains(*found)) << key << " has a value that no key has";
        }
    }
};

void run_random_operations(std::uint64_t seed) {
    test::splitmix chance{seed};
    world w;
    w.value_bits = static_cast<unsigned>(chance.below(65));
    const std::uint64_t universe = 1 + chance.below(6'000);
    const double rate = std::ldexp(1.0, -static_cast<int>(1 + chance.below(12)));
    std::vector<std::uint64_t> keys, values;
    for (auto wanted = chance.below(universe + 1); wanted > 0; --wanted) {
        const std::uint64_t key = chance.below(universe);
        const auto [at, is_new] = w.truth.try_emplace(key, chance() & bits::low_mask(w.value_bits));
        keys.push_back(key);  // a repetition has the value of the first
        values.push_back(at->second);
    }
    auto built = bloomier_filter::build(
        {.false_positive_rate = rate, .value_bits = w.value_bits, .hash = hasher{hash_key::from_seed(seed)}},
        std::span<const std::uint64_t>{keys}, values, static_cast<unsigned>(1 + chance.below(3)));
    ASSERT_TRUE(built) << built.error().message();
    ASSERT_EQ(built->stats().keys, w.truth.size());
    w.filter.emplace(*std::move(built));
    for (int round = 0; round < 4; ++round) {
        w.expect_agreement(universe);
        if (testing::Test::HasFatalFailure() || w.truth.empty()) return;
        for (int i = 0; i < 200; ++i) {
            auto at = w.truth.lower_bound(chance.below(universe));
            if (at == w.truth.end()) at = w.truth.begin();
            at->second = chance() & bits::low_mask(w.value_bits);
            const auto outcome = w.filter->update(at->first, at->second);
            ASSERT_TRUE(outcome);
            ASSERT_EQ(*outcome, update_outcome::updated);
        }
        if (chance.below(2) != 0) continue;
        auto loaded = bloomier_filter::load(test::saved(*w.filter));
        ASSERT_TRUE(loaded) << loaded.error().message();
        w.filter.emplace(*std::move(loaded));
    }
}

TEST(bloomier_model, agrees_with_a_map_through_updates_and_snapshots) {
    for (std::uint64_t seed = 0; seed < test::scaled(60u, 2'000u); ++seed) {
        SCOPED_TRACE(seed);
        run_random_operations(seed);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace genista::local_model_test
