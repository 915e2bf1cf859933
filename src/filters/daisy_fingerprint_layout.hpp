// The tables of a daisy_fingerprint_filter: which classes share a table, and its planned size.
// Nothing here depends on keys or memory (I3 of genista/filters/daisy_fingerprint.hpp), so a
// snapshot need not store it.
//
// A table of its own costs a class a record, an end and three deviations of its size; in the table
// of a longer class it pays for bits that it does not need. So the classes are cut into stretches,
// each kept with as many bits as its last class, and of all cuts the one with the fewest bytes is
// taken: with at most 48 classes all of them can be compared, the shorter ones first.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "filters/cleary_shape.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/filter.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

// One table.
struct fingerprint_layout_table {
    std::uint64_t blocks = 0;
    unsigned bits = 0;

    [[nodiscard]] std::uint64_t cells() const noexcept { return blocks * cleary::block_cells; }
    // The number of cells that may be taken, in integers: 99 %. Only chance fills a planned table
    // so far.
    [[nodiscard]] std::uint64_t room() const noexcept {
        constexpr std::uint64_t percent = 99;
        return cells() / 100 * percent + cells() % 100 * percent / 100;
    }
    // Whole blocks, so that tables can lie one behind the other. The bytes that a look-up may read
    // behind them are not included.
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        const std::uint64_t used = (blocks + 1) * sizeof(cleary_block) + cleary::remainder_bytes(blocks, bits);
        return (used + sizeof(cleary_block) - 1) / sizeof(cleary_block) * sizeof(cleary_block);
    }
};

struct fingerprint_layout {
    using table = fingerprint_layout_table;
    static constexpr unsigned most_class = daisy_fingerprint_filter::most_class;
    static constexpr double planned_load = 0.99;
    // An insert moves at most this many cells; a key that would need more goes to the growing table
    // of the chain.
    static constexpr std::uint64_t most_cells_moved = 2048;
    static constexpr double deviations = 3;
    static constexpr std::uint64_t record_bytes = 64;  // the filter's record of a table, beside its bytes

    unsigned largest = 0;  // the largest class
    bool unknown_size = false;
    std::uint64_t tops = 0;                               // a bit for each class that is the last of its stretch
    std::array<std::uint64_t, most_class + 1> planned{};  // N by chain, named by its last class; 0: no table

    // The most keys to plan for, given the expected number, except with small probability. The
    // variance is at most that of a Poisson variable, whose deviation is the root of its mean.
    [[nodiscard]] static std::uint64_t keys_for(double expected, double log_draws) noexcept {
        if (expected <= 0) return 0;
        const double most = std::ceil(expected + std::max(expected / log_draws, deviations * std::sqrt(expected)));
        return std::min(max_capacity, static_cast<std::uint64_t>(most));
    }

    [[nodiscard]] static fingerprint_layout of(const daisy_plan& plan, bool unknown_size) noexcept {
        fingerprint_layout made;
        made.largest = plan.largest_class();
        made.unknown_size = unknown_size;
        if (unknown_size) {
            made.tops = bits::low_mask(made.largest + 1) & ~std::uint64_t{1};
        } else {
            made.cut(plan);
        }
        return made;
    }

    // The chain of a class, 1 .. largest.
    [[nodiscard]] unsigned chain_of(unsigned its_class) const noexcept {
        return its_class + static_cast<unsigned>(std::countr_zero(tops >> its_class));
    }
    [[nodiscard]] bool is_chain(unsigned its_class) const noexcept {
        return its_class <= largest && (tops >> its_class & 1) != 0;
    }

    // The planned table of a chain that has one.
    [[nodiscard]] table shape(unsigned chain) const noexcept {
        return {cleary::blocks_for(planned[chain], planned_load), chain};
    }
    // A key that finds no place there is kept at a quarter of the chain's rate; without a plan, at
    // the rate itself.
    [[nodiscard]] unsigned growing_bits(unsigned chain) const noexcept {
        return planned[chain] != 0 ? chain + 2 : chain;
    }

    // All planned tables one behind the other, and the bytes that a look-up may read behind the
    // last.
    [[nodiscard]] std::uint64_t planned_bytes() const noexcept {
        std::uint64_t bytes = 0, spare = 0;
        for (unsigned chain = 1; chain <= largest; ++chain) {
            if (planned[chain] == 0) continue;
            bytes += shape(chain).bytes();
            spare = cleary::spare_bytes(chain);
        }
        return bytes + spare;
    }

  private:
    // Of cuts with equal cost, the one with the longest stretches; classes without keys join the
    // next class that has some.
    void cut(const daisy_plan& plan) noexcept {
        const double draws = plan.terms.draws, log_draws = std::max(1.0, std::log2(draws));
        struct stretch {
            std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();  // of this one and all before it
            std::uint64_t keys = 0;
            unsigned first = 1;
        };
        std::array<stretch, most_class + 1> best{};  // by its last class
        best[0].cost = 0;
        for (unsigned last = 1; last <= largest; ++last) {
            double expected = 0;
            for (unsigned first = last; first > 0; --first) {
                expected += draws * plan.stored_share[first];
                const std::uint64_t keys = keys_for(expected, log_draws);
                const table shape{cleary::blocks_for(keys, planned_load), last};
                const std::uint64_t cost = best[first - 1].cost + (keys == 0 ? 0 : shape.bytes() + record_bytes);
                if (cost <= best[last].cost) best[last] = {cost, keys, first};
            }
        }
        for (unsigned last = largest; last > 0; last = best[last].first - 1) {
            tops |= std::uint64_t{1} << last;
            planned[last] = best[last].keys;
        }
    }
};

}  // namespace genista
