// lookup_state: the plain view of a broom table that look-up kernels read. It is replaced as a
// whole when growth begins or ends, and is not freed while the filter lives, so that a reader may
// finish with the one it loaded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "genista/detail/filters/broom/faults.hpp"
#include "genista/detail/filters/broom/layout.hpp"
#include "genista/detail/filters/kernel_table.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/hash/key.hpp"

namespace GENISTA_BROOM_NAMESPACE {

namespace broom {
class core;
struct writer_counters;
}  // namespace broom

// The outcome of a quick insert.
enum class broom_joined : std::uint8_t { no, yes, yes_and_grow };

// The epoch of a bin: its table, its salt's code and number. And the number of times that an insert
// found an existing slot to be its own key's (`already_present`): the slot may be one whose former
// owner was just erased from R.
struct broom_epoch_mark {
    const void* table = nullptr;
    std::uint64_t number = 0;
    std::uint32_t claims = 0;
    std::uint8_t code = 0;

    friend bool operator==(const broom_epoch_mark&, const broom_epoch_mark&) noexcept = default;
};

// The outcome of many quick inserts, one after the other until one did not join or the table has to
// grow.
struct broom_joined_many {
    std::size_t keys = 0;
    bool grow = false;  // the table has to grow after the last of them
};

// Number of claim counters: a bin uses the one with its number modulo this. A claim in another bin
// with the same counter makes an `assume_present` erase read R without need, so there are more
// counters than threads.
inline constexpr std::uint64_t broom_claim_counters = 128;

// Lock of a stripe, between writers: 1 while a writer holds it.
using broom_lock = std::atomic<std::uint8_t>;

// The fields that every look-up reads come first, in one cache line.
struct alignas(64) broom_lookup_state {
    const std::byte* lines = nullptr;  // line_layout::bytes for each bin
    std::uint64_t bins = 0;
    const std::atomic<std::uint32_t>* versions = nullptr;  // one for each stripe of bins
    std::uint64_t stripe_shift = 0;                        // stripe = bin >> shift
    bool common_is_unsalted = false;                       // code 0, which bins begin with, means no salt
    const std::uint64_t* salt_words = nullptr;             // by the code in a line
    const hash_state* mix = nullptr;                       // the cipher that fingerprints come from
    const std::uint32_t* sides = nullptr;                  // one handle for each cluster: of its block in side_words
    const std::uint64_t* side_words = nullptr;
    const std::uint64_t* tails = nullptr;
    unsigned tail_bits = 0;
    const broom::core* core = nullptr;  // completes the look-ups that a kernel cannot
    // For quick inserts and erases.
    std::byte* lines_to_change = nullptr;
    std::uint64_t* tails_to_change = nullptr;
    const std::atomic<std::uint64_t>* salt_numbers = nullptr;  // by the code in a line
    std::atomic<std::uint32_t>* changes = nullptr;             // versions
    broom_lock* locks = nullptr;
    broom::writer_counters* writer_counters = nullptr;
    const std::atomic<std::uint32_t>* claims = nullptr;  // broom_claim_counters of them
    bool leaves_tombstones = false;                      // an erase leaves a tombstone

    // Prefetches the line of a key that will be changed soon.
    void prefetch_to_change(std::uint64_t position) const noexcept {
        __builtin_prefetch(lines + broom::line_layout::bytes * scale(position, bins), 1);
    }
    // The mark of the bin of this position. A bin that is being changed or has a long salt gets a
    // mark that equals no epoch.
    [[nodiscard]] broom_epoch_mark mark_of(std::uint64_t position) const noexcept {
        const std::uint64_t bin = scale(position, bins);
        const std::atomic<std::uint32_t>& version = versions[bin >> stripe_shift];
        const std::uint32_t before = version.load(std::memory_order_acquire);
        const broom_epoch_mark mark = mark_of_locked(bin);
        if (version.load(std::memory_order_acquire) != before || (before & (broom_writing | broom_leaving)) != 0)
            return {};
        return mark;
    }
    // The same for a thread that holds the bin's lock.
    [[nodiscard]] broom_epoch_mark mark_of_locked(std::uint64_t bin) const noexcept {
        const std::uint64_t* const words =
            reinterpret_cast<const std::uint64_t*>(lines) + broom::line_layout::words * bin;
        const std::uint64_t top = __atomic_load_n(words + broom::line_layout::top_word, __ATOMIC_ACQUIRE);
        const auto code = static_cast<std::uint8_t>(broom::line_layout::salt.number(top));
        if (code == broom::long_salt) return {};
        const std::uint32_t claimed =
            faults.bury_ignores_claims ? 0 : claims[bin % broom_claim_counters].load(std::memory_order_acquire);
        return {lines, salt_numbers[code].load(std::memory_order_acquire), claimed, code};
    }
    std::uint64_t grow_at = ~std::uint64_t{0};  // with more keys than this the table has to grow
};

}  // namespace GENISTA_BROOM_NAMESPACE

namespace genista {

// The hot entry points of the filter for one instruction set. State is a broom_lookup_state; it is
// a parameter, so that the kernels of two variants are two types.
template <class State>
struct broom_kernel_set {
    kernel_table<State> lookups;
    broom_joined (*join_integer)(const State&, const hash_state&, std::uint64_t) noexcept;
    broom_joined (*join)(const State&, const digest&) noexcept;
    broom_joined_many (*join_many)(const State&, const digest*, std::size_t) noexcept;
    // REQUIRES: if its bin is still in this epoch, the key has a slot; and R no longer holds the
    // key.
    bool (*leave_tombstone)(const State&, const digest&, const broom_epoch_mark&) noexcept;
};

}  // namespace genista
