// cleary_filter against a std::set of values: after every operation the same answer and the same
// bytes, in tables filled to the last cell, with clusters that wrap around the end and with offsets
// too large for their bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "genista/detail/format/snapshot.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/format/sink.hpp"
#include "tests/support/cleary_model.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::cleary_model_test {
namespace {

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

}  // namespace
}  // namespace genista::cleary_model_test
