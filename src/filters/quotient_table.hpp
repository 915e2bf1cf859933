// quotient_table: a multiset of (quotient, entry) in which the quotient costs no bits: the place of
// an entry implies it.
//
// Quotienting as in quotient filters [broom18 §5.2]: an array of slots, as many as quotients and a
// few more at the end. The entries of one quotient, its *run*, lie side by side; runs lie in the
// order of their quotients, none before its own slot; an entry whose slot is taken moves on to a
// later one. Two bits a slot and two bytes for 64 slots say which run belongs to which quotient:
//
//     quotient       0 1 2 3 4 5 6 7            runs: 1 → a b c, 2 → d, 5 → e
//     occupied       0 1 1 0 0 1 0 0            the quotient has a run
//     slot           . a b c d e . .
//     run ends       0 0 0 1 1 1 0 0            the slot is the last one of a run
//     offset[b]      slots from 64 b on that belong to quotients before 64 b
//
// From an offset on, the i-th run end belongs to the i-th occupied quotient: so a run is found by
// counting in two words and selecting in the next few, wherever the runs begin [the paper's
// "between 2 and 3 metadata bits per slot", after the rank and select variant of quotient filters].
//
//   I1  No entry lies more than `window` slots behind its quotient: an insertion that would need
//       more is refused, and nothing moves. So a look-up reads O(window) bits at most: the bounded
//       probing of [broom18 §5.3].
//   I2  Empty slots are zero.
//
// An entry has one or two columns: the large-remainder design keeps signatures apart from the rest
// [broom18 §5.4]. Insertions and erasures shift entries up to the next gap. That takes O(window)
// for an insertion, and for an erasure the length of the stretch of taken slots: constant with high
// probability while slots stay free.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "bits/words.hpp"
#include "genista/base/result.hpp"
#include "genista/detail/base/buffer.hpp"

namespace genista {

struct quotient_shape {
    std::uint64_t quotients = 64;
    unsigned bits = 8;       // of an entry, 1 to 64
    unsigned more_bits = 0;  // of the second column, 0 to 64
    unsigned window = 64;    // up to 60,000

    friend bool operator==(const quotient_shape&, const quotient_shape&) = default;
};

class quotient_table {
  public:
    [[nodiscard]] static result<quotient_table> make(const quotient_shape& shape) noexcept;
    // Takes over the bytes of another table of this shape, which may be anything: an error unless
    // they are such a table.
    [[nodiscard]] static result<quotient_table> from_bytes(const quotient_shape& shape,
                                                           std::span<const std::byte> bytes) noexcept;

    struct run {
        std::uint64_t first = 0, last = 0;  // slots first, …, last - 1
        [[nodiscard]] std::uint64_t size() const noexcept { return last - first; }
    };
    [[nodiscard]] run run_of(std::uint64_t quotient) const noexcept;

    [[nodiscard]] std::uint64_t operator[](std::uint64_t slot) const noexcept {
        return bits::read_bits(words(), layout_.entries + slot * shape_.bits, shape_.bits);
    }
    [[nodiscard]] std::uint64_t more(std::uint64_t slot) const noexcept {
        return shape_.more_bits == 0
                   ? 0
                   : bits::read_bits(words(), layout_.more + slot * shape_.more_bits, shape_.more_bits);
    }
    void set(std::uint64_t slot, std::uint64_t entry) noexcept {
        bits::write_bits(words(), layout_.entries + slot * shape_.bits, shape_.bits, entry);
    }

    // Inserts the entry at the end of its run and returns its slot; none: no gap within the window,
    // and nothing has changed.
    [[nodiscard]] std::optional<std::uint64_t> insert(std::uint64_t quotient, std::uint64_t entry,
                                                      std::uint64_t more = 0) noexcept;
    [[nodiscard]] bool has_room(std::uint64_t quotient) const noexcept;
    // REQUIRES: the slot is one of the quotient's run. The entries behind it in the run keep their
    // order.
    void erase(std::uint64_t quotient, std::uint64_t slot) noexcept;

    // The first quotient from this one on that has a run; quotients() if there is none.
    [[nodiscard]] std::uint64_t next_occupied(std::uint64_t quotient) const noexcept;

    [[nodiscard]] const quotient_shape& shape() const noexcept { return shape_; }
    [[nodiscard]] std::uint64_t quotients() const noexcept { return shape_.quotients; }
    [[nodiscard]] std::uint64_t slots() const noexcept { return layout_.slots; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return memory_.bytes(); }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return memory_.allocated_bytes(); }
    [[nodiscard]] static std::uint64_t bytes_for(const quotient_shape& shape) noexcept;

    // Are the metadata consistent? An error says where they are not.
    [[nodiscard]] result<void> check() const noexcept;

  private:
    // The places of all parts, in bits of one array of words.
    struct layout {
        std::uint64_t slots = 0;
        std::uint64_t occupied = 0, ends = 0, offsets = 0, entries = 0, more = 0, all = 0;
    };
    [[nodiscard]] static layout layout_of(const quotient_shape& shape) noexcept;
    [[nodiscard]] static result<void> check_shape(const quotient_shape& shape) noexcept;
    quotient_table(const quotient_shape& shape, buffer memory) noexcept
        : shape_{shape}, layout_{layout_of(shape)}, memory_{std::move(memory)} {}

    [[nodiscard]] std::span<std::uint64_t> words() noexcept {
        return {reinterpret_cast<std::uint64_t*>(memory_.data()), memory_.size_bytes() / sizeof(std::uint64_t)};
    }
    [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
        return {reinterpret_cast<const std::uint64_t*>(memory_.data()), memory_.size_bytes() / sizeof(std::uint64_t)};
    }
    static constexpr unsigned offset_bits = 16;
    [[nodiscard]] std::uint64_t word(std::uint64_t section, std::uint64_t index) const noexcept {
        return words()[section / bits::word_bits + index];
    }
    [[nodiscard]] bool bit(std::uint64_t section, std::uint64_t index) const noexcept {
        return (word(section, index / bits::word_bits) >> index % bits::word_bits & 1) != 0;
    }
    void set_bit(std::uint64_t section, std::uint64_t index, bool value) noexcept {
        std::uint64_t& word = words()[(section + index) / bits::word_bits];
        const std::uint64_t mask = std::uint64_t{1} << index % bits::word_bits;
        word = value ? word | mask : word & ~mask;
    }
    [[nodiscard]] std::uint64_t offset(std::uint64_t block) const noexcept {
        return bits::read_bits(words(), layout_.offsets + block * offset_bits, offset_bits);
    }
    void add_to_offsets(std::uint64_t after, std::uint64_t last, int by) noexcept;

    // The first slot behind all runs of quotients up to this one, and not before its block of 64.
    [[nodiscard]] std::uint64_t free_from(std::uint64_t quotient) const noexcept;
    [[nodiscard]] std::uint64_t first_gap(std::uint64_t quotient) const noexcept;
    // Move the slots [first, last) up (down) by one; the slot that they move onto is overwritten.
    template <class Move>
    void shift(std::uint64_t first, std::uint64_t last, Move move) noexcept;
    void shift_up(std::uint64_t first, std::uint64_t last) noexcept;
    void shift_down(std::uint64_t first, std::uint64_t last) noexcept;

    quotient_shape shape_;
    layout layout_;
    buffer memory_;
    std::uint64_t size_ = 0;
};

}  // namespace genista
