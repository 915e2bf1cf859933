// Which tables a daisy_fingerprint_filter has: which classes share one, how large it is by the plan, and all that may follow it. Nothing
// here depends on keys or memory (I3 of genista/filters/daisy_fingerprint.hpp), so that a snapshot needs to say no more than how many
// there are.
//
// A table of its own costs a class a record, an end and three deviations of its size; a longer class's table costs it the bits that it
// does not need. So the classes are cut into stretches, each kept with as many bits as its last class, and of all ways to cut them the
// one of the fewest bytes is taken: 48 classes at most, so all of them can be compared, the shorter ones first.
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

// One of them.
struct fingerprint_layout_table {
    std::uint64_t blocks = 0;
    unsigned bits = 0;
    bool planned = false;

    [[nodiscard]] std::uint64_t cells() const noexcept { return blocks * cleary::block_cells; }
    // How many cells it lets be taken, in whole numbers: a planned one 99 %, which bad luck alone brings about; one that came by need is
    // full in the end, and look-ups there shall take no longer: 97 %.
    [[nodiscard]] std::uint64_t room() const noexcept {
        const std::uint64_t percent = planned ? 99 : 97;
        return cells() / 100 * percent + cells() % 100 * percent / 100;
    }
    // Whole blocks, so that tables can lie one behind the other. What a look-up may read behind them is not among them.
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        const std::uint64_t used = (blocks + 1) * sizeof(cleary_block) + cleary::remainder_bytes(blocks, bits);
        return (used + sizeof(cleary_block) - 1) / sizeof(cleary_block) * sizeof(cleary_block);
    }
    // In a buffer of its own.
    [[nodiscard]] std::uint64_t bytes_alone() const noexcept { return bytes() + cleary::spare_bytes(bits); }
};

struct fingerprint_layout {
    using table = fingerprint_layout_table;
    static constexpr unsigned most_class = daisy_fingerprint_filter::most_class;
    static constexpr double planned_load = 0.99, load = cleary_filter::max_load;
    static constexpr double deviations = 3;
    static constexpr std::uint64_t record_bytes = 64;  // what the filter keeps of a table beside its bytes
    static constexpr std::uint64_t least_keys = 58;    // what one block takes at 97 %
    static constexpr unsigned most_tables = 64;        // in a chain; each is twice the one before

    unsigned largest = 0;  // class
    bool unknown_size = false;
    std::uint64_t tops = 0;                               // a bit for each class that is the last of its stretch
    std::uint64_t least_extra = least_keys;               // keys of the first table of a chain without a plan
    std::array<std::uint64_t, most_class + 1> planned{};  // N by chain, which is that last class; 0: no table

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
        if (unknown_size) {
            made.tops = bits::low_mask(made.largest + 1) & ~std::uint64_t{1};
        } else {
            made.cut(plan);
            made.least_extra = std::max(least_keys, static_cast<std::uint64_t>(plan.terms.draws / 1024));
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

    // Table number `index` of a chain, from 0. The planned one at its rate; then a 32nd of it, since most plans that are wrong are so by little
    // (without a plan n/1024), and each twice the last. Those behind the first are small and soon full: at an eighth of its rate, a
    // sixteenth and so on, all together they let a quarter more through. Where sizes are unknown: i-th table with rate
    // 2^-j / (i (i + 1)), whole bits.
    [[nodiscard]] table nth(unsigned chain, unsigned index) const noexcept {
        unsigned bits = chain;
        std::uint64_t keys = planned[chain];
        const bool is_planned = index == 0 && keys != 0;
        if (unknown_size) {
            const unsigned i = index + 1;
            bits += static_cast<unsigned>(std::bit_width(i * (i + 1) - 1));  // ⌈log⌉
            keys = doubled(least_keys, index);
        } else {
            bits += index == 0 ? 0 : index + 2;
            if (keys == 0)
                keys = doubled(least_extra, index);
            else if (index > 0)
                keys = doubled(std::max(least_keys, keys / 32), index - 1);
        }
        return {cleary::blocks_for(keys, is_planned ? planned_load : load),
                std::min(bits, unsigned{cleary_filter::max_remainder_bits}), is_planned};
    }

    // All planned tables one behind the other, and what a look-up in any of them may read behind the last.
    [[nodiscard]] std::uint64_t planned_bytes() const noexcept {
        std::uint64_t bytes = 0, spare = 0;
        for (unsigned chain = 1; chain <= largest; ++chain) {
            if (planned[chain] == 0) continue;
            bytes += nth(chain, 0).bytes();
            spare = cleary::spare_bytes(chain);
        }
        return bytes + spare;
    }

  private:
    // Of ways that cost the same, that with the longest stretches; classes without keys go with the next that has some.
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
                const table shape{cleary::blocks_for(keys, planned_load), last, true};
                const std::uint64_t cost = best[first - 1].cost + (keys == 0 ? 0 : shape.bytes() + record_bytes);
                if (cost <= best[last].cost) best[last] = {cost, keys, first};
            }
        }
        for (unsigned last = largest; last > 0; last = best[last].first - 1) {
            tops |= std::uint64_t{1} << last;
            planned[last] = best[last].keys;
        }
    }

    [[nodiscard]] static std::uint64_t doubled(std::uint64_t keys, unsigned times) noexcept {
        return times > 40 ? max_capacity
                          : std::min(max_capacity, keys << times >> times == keys ? keys << times : max_capacity);
    }
};

}  // namespace genista
