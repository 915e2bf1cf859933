// design: the sizes of the levels of an adaptive Bloom filter, from n and ε alone [broom17 §5].
//
//     ε_0 = ε, ε_i = ε_{i-1}²       k_i = ⌈log(1/ε_i)⌉ functions
//     q_i = n ε_0 ⋯ ε_{i-1}         queries, of n, that ever pass all levels below i (a repeated
//                                   query counts once)
//     dead cells of level i         at most q_i ε_i: each is one false positive there
//     E[n_{i+1}]                    at most λ/(1 - e^-λ) q_i ε_i, where λ = k n_i/m_i is the number
//                                   of stored keys that use a cell
//     most n_i                      E[n_i] (1 + 1/log n) + 4 sqrt(E[n_i]) + 8
//     m_i                           k_i n_i/λ cells, where λ makes the rate ε_i: (1 - e^-λ)^k =
//                                   ε_i; ln 2 for powers of two
//     d                             the first with E[n_d] (1 + 1/log n) ≤ n/(3 log n): whole hashes
//                                   from there on
//
// Fork: the paper has E[n_{i+1}] = ε_i n_i, one stored key for each dead cell. All keys that use
// the cell move, 1.386 of them on average given that there is one; so we use 1.386 q_i ε_i, which
// agrees with the paper from level 2 on (there q_i is n_i/1.386) and is more by that factor in
// level 1. The square root is the Chernoff bound's: for small levels 1/log n alone is one standard
// deviation.
//
// Dead cells are kept in a list [Thm 19, proof]: ranges of (1/ε_i) log(1/ε_i) cells, and the dead
// ones within each, in a quotient table whose quotient is the range and whose entry is the offset.
// All levels use it: plain bits would double level 1 as well, which at ε = 1/4 is as large as level
// 0.
//
// Logarithms are those of n, or of 16 for smaller n.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <span>

#include "filters/quotient_table.hpp"
#include "genista/detail/base/buffer.hpp"

namespace genista::adaptive_bloom {

inline constexpr double least_rate = 0x1p-26;
inline constexpr std::uint64_t most_keys = std::uint64_t{1} << 36;
inline constexpr unsigned most_functions =
    26;  // those of level 0 at the least rate; levels above exist at large rates only
inline constexpr unsigned most_levels = 5;  // of cells: 4 for 2^36 keys at ε = 1/2, which has the most

struct level_design {
    unsigned functions = 0;
    std::uint64_t cells = 0;  // whole words of them
    std::uint64_t first_cell = 0;
    double expected = 0;
    std::uint64_t most = 0;
    std::uint64_t range = 1;  // the number of cells whose dead ones lie in one run
    quotient_shape dead{};

    friend bool operator==(const level_design&, const level_design&) = default;
};

struct design {
    std::uint64_t capacity = 0;
    double rate = 0;
    unsigned count = 0;  // levels with cells: the paper's d
    std::array<level_design, most_levels> with_cells{};
    // Level d: the quotient comes from one word of the hash, the entry from another, at least 64
    // bits in all.
    quotient_shape last{};
    double last_expected = 0;
    std::uint64_t last_most = 0;

    [[nodiscard]] std::span<const level_design> levels() const noexcept { return {with_cells.data(), count}; }
    [[nodiscard]] std::uint64_t all_cells() const noexcept {
        return with_cells[count - 1].first_cell + with_cells[count - 1].cells;
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        std::uint64_t sum = buffer::bytes_for(all_cells() / 8) + quotient_table::bytes_for(last);
        for (const level_design& each : levels()) sum += quotient_table::bytes_for(each.dead);
        return sum;
    }
    friend bool operator==(const design&, const design&) = default;
};

[[nodiscard]] inline design design_for(std::uint64_t capacity, double rate) noexcept {
    constexpr double last_load = 0.8;
    constexpr unsigned window = 4096, least_hash_bits = 64;
    design made;
    made.capacity = capacity;
    made.rate = rate;
    const auto n = static_cast<double>(capacity);
    const double log = std::log2(std::max(n, 16.0));
    double reaching = n, expected = n, level_rate = rate;
    std::uint64_t most = capacity;
    do {
        assert(made.count < most_levels);
        level_design& level = made.with_cells[made.count];
        const double bits = std::log2(1 / level_rate);
        level.functions = std::max(1u, static_cast<unsigned>(std::ceil(bits - 1e-9)));
        assert(level.functions <= most_functions);
        const double functions = level.functions;
        const double load = -std::log1p(-std::pow(level_rate, 1 / functions));
        const auto words = static_cast<std::uint64_t>(std::ceil(functions * static_cast<double>(most) / load / 64));
        level.cells = 64 * std::max<std::uint64_t>(words, 1);
        if (made.count > 0) {
            const level_design& below = made.with_cells[made.count - 1];
            level.first_cell = below.first_cell + below.cells;
        }
        level.expected = expected;
        level.most = most;
        level.range = std::max<std::uint64_t>(2, static_cast<std::uint64_t>(std::lround(bits / level_rate)));
        level.dead = {.quotients = (level.cells + level.range - 1) / level.range,
                      .bits = static_cast<unsigned>(std::bit_width(level.range - 1)),
                      .more_bits = 0,
                      .window = window};
        ++made.count;
        reaching *= level_rate;
        expected = reaching * load / -std::expm1(-load);
        most = static_cast<std::uint64_t>(std::ceil(expected * (1 + 1 / log) + 4 * std::sqrt(expected))) + 8;
        level_rate *= level_rate;
    } while (expected * (1 + 1 / log) > n / (3 * log));
    made.last_expected = expected;
    made.last_most = most;
    made.last.quotients = static_cast<std::uint64_t>(std::ceil(static_cast<double>(most) / last_load));
    made.last.bits = least_hash_bits + 1 - static_cast<unsigned>(std::bit_width(made.last.quotients));
    made.last.more_bits = 0;
    made.last.window = window;
    return made;
}

}  // namespace genista::adaptive_bloom
