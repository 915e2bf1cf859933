// absent_list: absent_cells that take memory as false positives are found, instead of all of it
// with the first.
//
//     part         0        1        2       ...     last         each is one absent_cells
//     bytes        4 KiB    8 KiB    16 KiB          the rest     ≤ 2 × the part before
//
// A false positive is recorded in the first part that is not full; a query reads the parts that
// have memory: at most one more than the number of doublings. No part is ever copied into another,
// so each keeps its own invariants and its own argument (absent_cells.hpp), and what holds for all
// parts holds for the list:
//
//   I1  excludes(p) is false from the moment admit(p) returned, unless a thread excludes the cell
//       again with a ticket that was drawn later.
//   I2  Memory: less than three times what the recorded false positives need, at least 4 KiB, and
//       never more than `bytes`.
//   I3  is_full(): two cells in three of every part are in use. Until then nothing is lost but what
//       a single full bucket forgets (one entry in 600 of a part that has just become full). A full
//       list that is written to continues in its last part, and forgets.
//
// Threads: any number, as for absent_cells.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "genista/detail/filters/daisy_broom/absent_cells.hpp"

namespace genista {

class absent_list {
  public:
    static constexpr std::uint64_t least_buckets = 32;
    static constexpr unsigned most_parts = 29;  // together at most absent_cells::most_buckets

    explicit absent_list(std::uint64_t bytes) noexcept;

    [[nodiscard]] bool excludes(std::uint64_t position) const noexcept {
        for (unsigned i = 0; i < count_ && parts_[i].has_memory(); ++i) {
            if (parts_[i].excludes(position)) return true;
        }
        return false;
    }

    class ticket {
        friend absent_list;
        absent_cells::ticket drawn_;
        unsigned part_ = 0;
    };
    // REQUIRES: can_exclude(), and R is read afterwards. An error: no memory.
    [[nodiscard]] result<ticket> draw(std::uint64_t position) noexcept;
    [[nodiscard]] position_range range_of(const ticket& of) const noexcept {
        return parts_[of.part_].range_of(of.drawn_);
    }
    [[nodiscard]] bool exclude(const ticket& of) noexcept { return parts_[of.part_].exclude(of.drawn_); }
    void admit(std::uint64_t position) noexcept;
    void admit_all() noexcept;
    void release() noexcept;

    [[nodiscard]] bool can_exclude() const noexcept { return count_ != 0; }
    [[nodiscard]] bool is_full() const noexcept;
    [[nodiscard]] std::uint64_t buckets() const noexcept { return buckets_; }
    [[nodiscard]] std::uint64_t size() const noexcept;
    [[nodiscard]] std::uint64_t forgotten() const noexcept;
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;

    // For snapshots: the parts that have memory, beginning with the first.
    [[nodiscard]] std::uint64_t saved_words() const noexcept;
    void save(std::span<std::uint32_t> into) const noexcept;
    [[nodiscard]] result<void> restore(std::span<const std::uint32_t> from) noexcept;

  private:
    template <class Count>
    [[nodiscard]] std::uint64_t sum(Count count) const noexcept {
        std::uint64_t all = 0;
        for (unsigned i = 0; i < count_; ++i) all += count(parts_[i]);
        return all;
    }

    std::uint64_t buckets_ = 0;
    unsigned count_ = 0;
    std::array<absent_cells, most_parts> parts_;
};

}  // namespace genista
