// number_set: which 64-bit numbers were drawn. For experiments that draw a million keys hundreds of
// times: std::unordered_set's node for each key took most of their time.
//
//     slots   open addressing with linear probing, a power of two, at most half full; 0 is free
//     zero    whether 0 itself is there
//
// Keys are scrambled first, because experiments draw neighbours. There is no erase.
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

    void insert(std::uint64_t number) {
        if (number == 0) {
            size_ += zero_ ? 0 : 1;
            zero_ = true;
            return;
        }
        if (2 * (size_ + 1) > slots_.size()) move_to(2 * slots_.size());
        std::uint64_t& slot = slots_[slot_of(number)];
        size_ += slot == 0 ? 1 : 0;
        slot = number;
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

    // Its slot, or the free slot where it would be inserted: there is one, because half of the
    // slots are free.
    [[nodiscard]] std::size_t slot_of(std::uint64_t number) const noexcept {
        const std::size_t mask = slots_.size() - 1;
        const std::uint64_t scrambled = (number ^ number >> 32) * 0x9e3779b97f4a7c15;
        std::size_t at = static_cast<std::size_t>(scrambled >> 20) & mask;
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
