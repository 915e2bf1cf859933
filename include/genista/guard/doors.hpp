// doors: who is on the way in. A key that the store has committed and the filter does not know yet must not be denied.
//
//     door     16 bits for each of 4096 equal ranges of positions:  jammed, 1 | writers inside, 15
//
// A writer enters the door of its key before the store commits and leaves when the filter has the key; while somebody is
// inside, every key of that range is answered "maybe". A reader looks at the door first and at the filter second: if it finds
// nobody inside, then either the commit had not happened yet when it looked, or the filter has the key already. So a key that
// was seen in the store once, by whatever way, is never denied later.
//
// A writer whose key could not be brought into the filter (the store failed in between, no memory) jams the door behind it:
// the range stays "maybe", 1/4096 of all keys, until somebody has brought all of its keys in (gate::repair). No list of such
// keys is needed, so nothing can go wrong while one is kept.
//
// Ranges of positions, because R reads ranges; positions come from a keyed hash, so nobody chooses whose door he shares.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "genista/hash/digest.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

class doors {
  public:
    static constexpr unsigned number_of_doors = 4096;

    doors() : state_{std::make_unique<std::atomic<std::uint16_t>[]>(number_of_doors)} {}

    [[nodiscard]] static unsigned of(const digest& d) noexcept { return static_cast<unsigned>(d.position >> 52); }
    [[nodiscard]] static position_range range_of(unsigned door) noexcept { return range_of_bin(door, number_of_doors); }

    // Somebody is inside, or the door is jammed.
    [[nodiscard]] bool is_open(const digest& d) const noexcept {
        return state_[of(d)].load(std::memory_order_acquire) != 0;
    }

    // Fewer than 2^15 writers at a time in one door: a batch enters each of its doors once.
    void enter(unsigned door) noexcept {
        [[maybe_unused]] const std::uint16_t before = state_[door].fetch_add(1, std::memory_order_seq_cst);
        assert((before & most_inside) != most_inside);
    }
    void leave(unsigned door) noexcept { state_[door].fetch_sub(1, std::memory_order_release); }

    // By a writer that is inside.
    void jam(unsigned door) noexcept { state_[door].fetch_or(jammed, std::memory_order_relaxed); }
    [[nodiscard]] bool is_jammed(unsigned door) const noexcept {
        return (state_[door].load(std::memory_order_relaxed) & jammed) != 0;
    }
    // Jammed, or a repair or a write is inside.
    [[nodiscard]] bool is_open(unsigned door) const noexcept {
        return state_[door].load(std::memory_order_acquire) != 0;
    }
    // By whoever is inside and about to bring in everything: a jam that comes later stays.
    void free(unsigned door) noexcept {
        state_[door].fetch_and(static_cast<std::uint16_t>(~jammed), std::memory_order_acq_rel);
    }

    [[nodiscard]] static constexpr std::size_t size_bytes() noexcept {
        return number_of_doors * sizeof(std::atomic<std::uint16_t>);
    }

  private:
    static constexpr std::uint16_t jammed = 0x8000;
    static constexpr std::uint16_t most_inside = 0x7fff;

    std::unique_ptr<std::atomic<std::uint16_t>[]> state_;
};

}  // namespace genista
