// range_states: the fast test whether a key could be in flight. A key that the store has committed
// and that is not in the filter yet must not be denied.
//
//     word     16 bits for each of 4096 equal ranges of positions: needs repair, 1 | under repair,
//              1 | writers inside, 14
//
// A writer enters the range of its key before the store commits, and leaves it when the key is in
// the filter. A reader loads the word first and asks the filter second. Zero means that the filter
// alone decides. While a writer is inside, the reader looks for its key among the keys in flight
// (in_flight.hpp, which has the complete argument).
//
// A writer whose key could not be inserted into the filter (the store failed in between, no memory)
// marks its range: the range needs repair and answers "maybe", 1/4096 of all keys, until all of its
// keys were inserted (guard_core::repair). There is no list of such keys, so marking cannot fail
// for lack of memory.
//
// The words stand for ranges of positions because R can be read by range. Positions come from a
// keyed hash, so an attacker cannot choose keys of one range.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "genista/hash/key.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

class range_states {
  public:
    static constexpr unsigned number_of_ranges = 4096;

    range_states() : state_{std::make_unique<std::atomic<std::uint16_t>[]>(number_of_ranges)} {}

    [[nodiscard]] static unsigned of(std::uint64_t position) noexcept { return static_cast<unsigned>(position >> 52); }
    [[nodiscard]] static unsigned of(const digest& d) noexcept { return of(d.position); }
    [[nodiscard]] static position_range range_of(unsigned range) noexcept {
        return range_of_bin(range, number_of_ranges);
    }

    // A writer is inside the range, or the range needs repair, or it is under repair.
    [[nodiscard]] bool is_open(const digest& d) const noexcept { return is_open(of(d)); }
    [[nodiscard]] bool is_open(unsigned range) const noexcept {
        return state_[range].load(std::memory_order_acquire) != 0;
    }
    // The range needs repair or is under repair: all of its keys are "maybe".
    [[nodiscard]] bool is_pending(unsigned range) const noexcept {
        return (state_[range].load(std::memory_order_acquire) & (needs_repair | under_repair)) != 0;
    }

    // REQUIRES: fewer than 2^14 writers are inside the range. A batch enters each of its ranges
    // once.
    void enter(unsigned range) noexcept {
        [[maybe_unused]] const std::uint16_t before = state_[range].fetch_add(1, std::memory_order_seq_cst);
        assert((before & most_inside) != most_inside);
    }
    void leave(unsigned range) noexcept { state_[range].fetch_sub(1, std::memory_order_release); }

    void mark_for_repair(unsigned range) noexcept { state_[range].fetch_or(needs_repair, std::memory_order_acq_rel); }
    [[nodiscard]] bool is_marked(unsigned range) const noexcept {
        return (state_[range].load(std::memory_order_relaxed) & needs_repair) != 0;
    }

    // REQUIRES: one repair at a time. A mark that is set during the repair stays.
    void begin_repair(unsigned range) noexcept {
        state_[range].fetch_or(under_repair, std::memory_order_seq_cst);
        state_[range].fetch_and(static_cast<std::uint16_t>(~needs_repair), std::memory_order_seq_cst);
    }
    void end_repair(unsigned range) noexcept {
        state_[range].fetch_and(static_cast<std::uint16_t>(~under_repair), std::memory_order_release);
    }

    [[nodiscard]] static constexpr std::size_t size_bytes() noexcept {
        return number_of_ranges * sizeof(std::atomic<std::uint16_t>);
    }

  private:
    static constexpr std::uint16_t needs_repair = 0x8000;
    static constexpr std::uint16_t under_repair = 0x4000;
    static constexpr std::uint16_t most_inside = 0x3fff;

    std::unique_ptr<std::atomic<std::uint16_t>[]> state_;
};

}  // namespace genista
