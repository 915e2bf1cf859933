// shape: the sizes of a bin for a false-positive rate, the number of bins for a capacity, and the
// constants of the epoch law (docs/filters/broom.md).
//
// With t tail bits a slot has N = 2^(14+t) bases and a backyard tag 2^(16+t) values, so that a
// fresh query errs with probability at most
//
//     C/N + K/2^d = 48/2^(14+t) + 64/2^(16+t) = 2^-(8+t).
//
// t = 0 is the small-remainder design [broom18 §5.3], t > 0 the large one [broom18 §5.4]: the 14
// bits in the line are the signature, the tail lies beside it and is read only after a signature
// has matched.
#pragma once

#include <cmath>
#include <cstdint>
#include "genista/detail/filters/broom/faults.hpp"
#include "genista/detail/filters/broom/layout.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

inline constexpr unsigned most_tail_bits = mixed_layout::tail.width;
// Of a first epoch without salt (mix.hpp), whose tags are shorter.
inline constexpr unsigned most_tail_bits_unsalted = mixed_layout::seed_tag.width - block_layout::tag_low_bits;
inline constexpr unsigned backyard_per_bin = 64;  // K
// A renewal may add this many entries beyond K, if R holds refused keys that it cannot distinguish
// from stored ones (epoch.hpp).
inline constexpr unsigned entries_beyond = 8;

// B: extended slots a bin may have before it is renewed instead. Each costs an extension of 18
// bits. The experiment broom-space measures the cost of an endless attack, broom-replay that
// repeated workloads still come to rest.
inline constexpr unsigned extensions_per_bin = 4;

// Tombstones that a full bin may have: the next erase in it renews it instead of leaving one more.
// With none at all, an erase under churn at full load would read half a range; two halve that and
// cost 0.4 bits a key then, eight save another half and cost 1.2.
inline constexpr unsigned tombstones_in_full_bin = 2;

struct shape {
    unsigned tail_bits = 0;

    [[nodiscard]] static constexpr double rate(unsigned tail_bits) noexcept { return 0x1p-8 / (1u << tail_bits); }
    [[nodiscard]] static shape for_rate(double rate) noexcept {
        shape made;
        while (made.tail_bits < most_tail_bits && shape::rate(made.tail_bits) > rate) ++made.tail_bits;
        return made;
    }

    [[nodiscard]] constexpr unsigned tag_bits() const noexcept { return block_layout::tag_low_bits + tail_bits; }
    [[nodiscard]] constexpr unsigned tail_bytes_per_bin() const noexcept { return slots_per_bin / 8 * tail_bits; }
};

static_assert(slots_per_bin % 8 == 0, "the tails of a bin are whole bytes");
static_assert(shape{most_tail_bits}.tag_bits() <= mixed_layout::tag.width);
static_assert(mixed_layout::tail.at + most_tail_bits_unsalted <= mixed_layout::overflow_class.at);

// ---- The number of bins for a capacity, and the capacity of a number of bins.

// Share of the slots in use at capacity, in percent. More saves line bits and costs backyard
// entries (17 bits each): at 92 % 2.6 % of the keys lie there, at 94 % 3.3 %, at 96 % 4.1 %.
// Measured in docs/filters/broom.md.
inline constexpr std::uint64_t load_percent = 94;

[[nodiscard]] constexpr std::uint64_t bins_for(std::uint64_t capacity) noexcept {
    const std::uint64_t keys_per_100_bins = load_percent * 48;
    return (capacity * 100 + keys_per_100_bins - 1) / keys_per_100_bins;
}
[[nodiscard]] constexpr std::uint64_t capacity_of(std::uint64_t bins) noexcept {
    return bins * load_percent * 48 / 100;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
