// number_set: which 64-bit numbers were drawn, or are stored. Experiments draw a million keys
// hundreds of times, and games ask a thousand million times whether a key is stored:
// std::unordered_set's nodes and division took most of that time.
//
//     slots   open addressing with linear probing, a power of two, at most half full; 0 is free
//     zero    whether 0 itself is there
//
// Keys are scrambled first, because experiments draw neighbours. An erase moves the numbers behind
// it back, so that there are no tombstones [Knuth 6.4, Algorithm R].
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace genista::lab {

class number_set {
  public:
    void reserve(std::size_t numbers) {
        const std::size_t wanted = std::bit_ceil(2 * numbers + least_slots);
        if (wanted > slots_.size()) move_to(wanted);
    }

    // Whether it is new.
    bool insert(std::uint64_t number) {
        if (number == 0) {
            size_ += zero_ ? 0 : 1;
            return !std::exchange(zero_, true);
        }
        if (2 * (size_ + 1) > slots_.size()) move_to(2 * slots_.size());
        std::uint64_t& slot = slots_[slot_of(number)];
        if (slot == number) return false;
        slot = number;
        ++size_;
        return true;
    }

    // Whether it was there.
    bool erase(std::uint64_t number) noexcept {
        if (!contains(number)) return false;
        --size_;
        if (number == 0) {
            zero_ = false;
            return true;
        }
        const std::size_t mask = slots_.size() - 1;
        std::size_t hole = slot_of(number);
        for (std::size_t at = (hole + 1) & mask; slots_[at] != 0; at = (at + 1) & mask) {
            // A look-up of slots_[at] begins at its first slot and must not meet the hole.
            const bool passes_the_hole = ((at - first_slot_of(slots_[at])) & mask) >= ((at - hole) & mask);
            if (!passes_the_hole) continue;
            slots_[hole] = slots_[at];
            hole = at;
        }
        slots_[hole] = 0;
        return true;
    }

    [[nodiscard]] bool contains(std::uint64_t number) const noexcept {
        return number == 0 ? zero_ : slots_[slot_of(number)] != 0;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // Each number once, in no particular order.
    template <class Visit>
    void for_each(Visit visit) const {
        if (zero_) visit(std::uint64_t{0});
        for (const std::uint64_t number : slots_) {
            if (number != 0) visit(number);
        }
    }

  private:
    static constexpr std::size_t least_slots = 16;

    // Where a look-up of it begins.
    [[nodiscard]] std::size_t first_slot_of(std::uint64_t number) const noexcept {
        const std::uint64_t scrambled = (number ^ number >> 32) * 0x9e3779b97f4a7c15;
        return static_cast<std::size_t>(scrambled >> 20) & (slots_.size() - 1);
    }

    // Its slot, or the free slot where it would be inserted: there is one, because half of the
    // slots are free.
    [[nodiscard]] std::size_t slot_of(std::uint64_t number) const noexcept {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = first_slot_of(number);
        while (slots_[at] != 0 && slots_[at] != number) at = (at + 1) & mask;
        return at;
    }

    void move_to(std::size_t slots) {
        const std::vector<std::uint64_t> old = std::exchange(slots_, std::vector<std::uint64_t>(slots));
        for (const std::uint64_t number : old) {
            if (number != 0) slots_[slot_of(number)] = number;
        }
    }

    std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(least_slots);
    std::size_t size_ = 0;
    bool zero_ = false;
};

}  // namespace genista::lab
