// design: the sizes of the parts of a broom_paper filter, from n and ε alone [broom18 §4.1, §5.3,
// §5.4].
//
//     quotients    (1 + α) n slots of the primary level, one quotient each
//     remainder    r = ⌈log(1/ε)⌉ bits
//     window       6 log n slots: the distance that a remainder may move, O(1) words of remainders
//     α            sqrt(2 ln log n / window): the form of the paper's sqrt(9 r log log n / log n),
//                  whose constant would make it 4 for a million keys. With ours the share of keys
//                  that overflow is about 1/log² n under endless replacement, for which Lemma 17
//                  is there (measured by the experiment broom-overflow).
//     small        r ≤ 2 log log n: a second level of n/log n slots, with a hash function of its
//                  own
//     large        otherwise: signatures of 2 log log n bits apart from the rest, and a backyard of
//                  whole hashes
//
// Logarithms are those of n, or of 16 for smaller n, where log log n is meaningless.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "filters/quotient_table.hpp"

namespace genista::broom_paper {

inline constexpr unsigned most_remainder_bits = 26;
inline constexpr double least_rate = 0x1p-26;
inline constexpr std::uint64_t most_keys = std::uint64_t{1} << 36;

struct design {
    std::uint64_t capacity = 0;
    bool is_large = false;
    unsigned remainder_bits = 8;
    unsigned signature_bits = 0;  // large only
    quotient_shape primary{};
    quotient_shape second{};    // small only
    quotient_shape backyard{};  // large only: whole hashes

    // The probability that a new absent key passes when the filter is full.
    [[nodiscard]] double rate() const noexcept {
        const double share = std::ldexp(1.0, -static_cast<int>(remainder_bits));
        const auto keys = static_cast<double>(capacity);
        const double second_load = is_large ? 0 : second_share / static_cast<double>(second.quotients);
        return share * (keys / static_cast<double>(primary.quotients) + second_load);
    }
    double second_share = 0;  // keys expected in the second level, under endless replacement

    friend bool operator==(const design&, const design&) = default;
};

[[nodiscard]] inline design design_for(std::uint64_t capacity, double rate) noexcept {
    design made;
    made.capacity = capacity;
    const auto keys = static_cast<double>(capacity);
    const double log = std::log2(std::max(keys, 16.0)), log_log = std::log2(log);
    const double window = std::ceil(6 * log);
    const double slack = std::sqrt(2 * std::log(log) / window);
    made.remainder_bits = static_cast<unsigned>(std::ceil(std::log2(1 / rate) - 1e-9));
    made.is_large = made.remainder_bits > 2 * log_log;
    made.signature_bits = made.is_large ? static_cast<unsigned>(std::ceil(2 * log_log)) : 0;
    // A signature must leave at least a bit for the other column.
    made.signature_bits = std::min(made.signature_bits, made.remainder_bits - 1);
    made.primary = {.quotients = static_cast<std::uint64_t>(std::ceil((1 + slack) * keys)),
                    .bits = made.is_large ? made.signature_bits : made.remainder_bits,
                    .more_bits = made.is_large ? made.remainder_bits - made.signature_bits : 0,
                    .window = static_cast<unsigned>(window)};
    made.second_share = 2 * keys / (log * log);
    made.second = {.quotients = static_cast<std::uint64_t>(std::ceil(keys / log)) + 16,
                   .bits = made.remainder_bits,
                   .more_bits = 0,
                   .window = static_cast<unsigned>(window)};
    // Twice the overflow and as much again for partial collisions, which are as rare; then twice
    // that, to stay half empty.
    made.backyard = {.quotients = static_cast<std::uint64_t>(std::ceil(6 * keys / (log * log))) + 16,
                     .bits = 64,
                     .more_bits = 64,
                     .window = static_cast<unsigned>(window)};
    return made;
}

}  // namespace genista::broom_paper
