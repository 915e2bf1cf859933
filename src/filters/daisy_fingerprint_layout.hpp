// Which tables a daisy_fingerprint_filter has: for each chain, its first one by the plan and all that may follow. Nothing here depends
// on keys or memory (I3 of genista/filters/daisy_fingerprint.hpp), so that a snapshot needs to say no more than how many there are.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "filters/cleary_shape.hpp"
#include "genista/filters/filter.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

// One of them.
struct fingerprint_layout_table {
    std::uint64_t blocks = 0;
    unsigned bits = 0;
    [[nodiscard]] std::uint64_t cells() const noexcept { return blocks * cleary::block_cells; }
    // The load in whole numbers: 97 % of the cells.
    [[nodiscard]] std::uint64_t room() const noexcept { return cells() / 100 * 97 + cells() % 100 * 97 / 100; }
    // Whole lines, so that tables can lie one behind the other.
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        return (cleary::table_bytes(blocks, bits) + buffer::alignment - 1) / buffer::alignment * buffer::alignment;
    }
    // What a snapshot keeps of it.
    [[nodiscard]] std::uint64_t saved_bytes() const noexcept {
        return blocks * sizeof(cleary_block) + cleary::remainder_bytes(blocks, bits);
    }
};

struct fingerprint_layout {
    using table = fingerprint_layout_table;
    static constexpr double load = cleary_filter::max_load;  // N_j has its margin; more of it would be paid twice
    static constexpr double rare_exponent = 2.5;             // c > 2 [daisy §4.1]
    static constexpr double deviations = 3;
    static constexpr std::uint64_t least_keys = 58;  // what one block takes at that load
    static constexpr unsigned most_tables = 64;      // in a chain; each is twice the one before

    unsigned largest = 0;  // class
    bool unknown_size = false;
    std::uint64_t rare = 0;                                    // a bit for each class of F_r
    std::uint64_t least_extra = least_keys;                    // keys of the first table that nobody planned
    std::array<std::uint64_t, max_daisy_class + 1> planned{};  // N_j by chain, 0 for the rare one; 0: no table

    // What so many expected keys need at most, but for bad luck. Chance is Poisson's at the most, whose deviation is the root.
    [[nodiscard]] static std::uint64_t keys_for(double expected, double log_draws) noexcept {
        if (expected <= 0) return 0;
        const double most = std::ceil(expected + std::max(expected / log_draws, deviations * std::sqrt(expected)));
        return std::min(max_capacity, static_cast<std::uint64_t>(most));
    }

    [[nodiscard]] static fingerprint_layout of(const daisy_plan& plan, bool unknown_size) noexcept {
        fingerprint_layout made;
        made.largest = plan.largest_class();
        made.unknown_size = unknown_size;
        if (unknown_size) return made;
        const double draws = plan.terms.draws, log_draws = std::max(1.0, std::log2(draws));
        // For small n, log^c n may be more than n: a table for less than its smallest size would be of no use.
        const double least = std::max(draws / std::pow(log_draws, rare_exponent), double{least_keys});
        double rare_draws = 0;
        for (unsigned j = 1; j <= made.largest; ++j) {
            const double expected = draws * plan.stored_share[j];
            if (expected >= least) {
                made.planned[j] = keys_for(expected, log_draws);
            } else {
                made.rare |= std::uint64_t{1} << j;
                rare_draws += expected;
            }
        }
        made.planned[0] = keys_for(rare_draws, log_draws);
        made.least_extra = std::max(least_keys, static_cast<std::uint64_t>(draws / 1024));
        return made;
    }

    [[nodiscard]] unsigned base_bits(unsigned chain) const noexcept { return chain == 0 ? largest : chain; }

    // Table number `index` of a chain, from 0. The planned one at its rate; then an eighth of it (or n/1024), and each twice the last, with
    // rates that halve from table to table. Where sizes are unknown: i-th table with rate 2^-j / (i (i + 1)), whole bits.
    [[nodiscard]] table nth(unsigned chain, unsigned index) const noexcept {
        unsigned bits = base_bits(chain);
        std::uint64_t keys = planned[chain];
        if (unknown_size) {
            const unsigned i = index + 1;
            bits += static_cast<unsigned>(std::bit_width(i * (i + 1) - 1));  // ⌈log⌉
            keys = doubled(least_keys, index);
        } else {
            bits += index;
            if (keys == 0)
                keys = doubled(least_extra, index);
            else if (index > 0)
                keys = doubled(std::max(least_extra, keys / 8), index - 1);
        }
        return {cleary::blocks_for(keys, load), std::min(bits, unsigned{cleary_filter::max_remainder_bits})};
    }

  private:
    [[nodiscard]] static std::uint64_t doubled(std::uint64_t keys, unsigned times) noexcept {
        return times > 40 ? max_capacity
                          : std::min(max_capacity, keys << times >> times == keys ? keys << times : max_capacity);
    }
};

}  // namespace genista
