// absent_cells: positions where R is known to hold nothing, for keys of which a daisy filter keeps
// nothing (class 0).
//
// Such keys are answered "maybe" without a bit of memory, and when one of them turns out to be
// absent, its mistake has to be written down somewhere, or a hot one costs a read every time. What
// is written down is a *cell*: one of 2^32 equal ranges of positions within a bucket. A cell is
// excluded only after R was read in exactly its range and had no key of class 0 there, and admitted
// again when such a key is inserted. So an entry is no guess about a key, and 32 bits of it are
// enough: no member lies in an excluded cell, whoever asks.
//
//     bucket, 128 bytes           meta, 64 bits: locked 1 | cells 5 | version 58           30 cells of 32 bits
//     cell of a position          scale(position, buckets · 2^32) = bucket · 2^32 + cell: its range
//                                 of R is range_of_bin of that
//
//   I1  excludes(p) is false from the moment admit(p) returned, as long as nobody excludes the cell
//       again with a ticket that was drawn later.
//   I2  exclude(ticket) does nothing if the bucket has changed since the ticket was drawn; admit()
//       always changes it.
//   I3  Memory: nothing until the first ticket, then all of it; a full bucket forgets one of its
//       cells, which costs a read once more. Any one of them: who forgets the oldest learns nothing
//       from a list that is asked in turn and is a little too long. With 15 cells a bucket in use
//       on average one bucket in 5,000 has to forget, with 20 one in 75.
//
// Why no insert is lost. y is committed to R first and admitted afterwards. An adapt draws its
// ticket first and reads R afterwards. If its read did not see y, the ticket is older than the
// commit, hence older than the admit of y: either exclude() comes first, and admit() takes the cell
// out again; or admit() comes first, and the ticket is void (I2). In both cases the cell is not
// excluded when insert(y) returns. (In between, after the commit, y may be denied: like a key that
// is not in the filter yet. Who cannot stand that has doors, guard/range_states.hpp.) The list
// itself comes into being before the first ticket, so an admit that finds none is followed by no
// exclude with an older ticket.
//
// release() gives the memory back under everybody's eyes: all buckets are emptied first and nothing
// enters them afterwards, then their pages go and their addresses stay. Who comes late finds zeros,
// which say "not excluded", before the pages go as well as after.
//
// Threads: any number. Questions never wait: a bucket that is being changed answers "not excluded",
// which is always safe. One table of a fixed size; absent_list.hpp lets several of them grow with
// the mistakes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "genista/base/result.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

class absent_cells {
  public:
    static constexpr unsigned cells_of_a_bucket = 30;
    static constexpr std::uint64_t bucket_bytes = 128;
    static constexpr std::uint64_t most_buckets = (std::uint64_t{1} << 32) - 1;

    // So many bytes at most, in whole buckets. None: nothing is ever excluded.
    explicit absent_cells(std::uint64_t bytes = 0) noexcept;
    absent_cells(const absent_cells&) = delete;
    absent_cells& operator=(const absent_cells&) = delete;
    ~absent_cells();

    [[nodiscard]] bool excludes(std::uint64_t position) const noexcept;

    class ticket {
        friend absent_cells;
        std::uint64_t cell_ = 0;
        std::uint64_t version_ = 0;
    };
    // Before R is read. An error: no memory.
    [[nodiscard]] result<ticket> draw(std::uint64_t position) noexcept;
    // What R has to hold nothing in.
    [[nodiscard]] position_range range_of(const ticket& drawn) const noexcept {
        return range_of_bin(drawn.cell_, buckets_ << 32);
    }
    // False: the bucket has changed meanwhile, or was released; draw and read again.
    [[nodiscard]] bool exclude(const ticket& drawn) noexcept;
    // R holds a key there, or may.
    void admit(std::uint64_t position) noexcept;
    // Everything, in as many steps as there are buckets.
    void admit_all() noexcept;
    // Everything and for ever: nothing is excluded any more, and memory of a page or more goes
    // back.
    void release() noexcept;

    [[nodiscard]] bool can_exclude() const noexcept { return buckets_ != 0; }
    [[nodiscard]] std::uint64_t buckets() const noexcept { return buckets_; }
    [[nodiscard]] bool has_memory() const noexcept { return table() != nullptr; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
    // Two cells in three are taken: from here on buckets have to forget.
    [[nodiscard]] bool is_full() const noexcept { return size() >= buckets_ * (cells_of_a_bucket * 2 / 3); }
    [[nodiscard]] std::uint64_t forgotten() const noexcept { return forgotten_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;

    // For snapshots: 32 numbers a bucket, how many cells, a zero, the cells, zeros. None if there
    // is no memory.
    static constexpr std::uint64_t words_of_a_bucket = bucket_bytes / 4;
    [[nodiscard]] std::uint64_t saved_words() const noexcept {
        return table() == nullptr || is_released() ? 0 : words_of_a_bucket * buckets_;
    }
    void save(std::span<std::uint32_t> into) const noexcept;
    [[nodiscard]] result<void> restore(std::span<const std::uint32_t> from) noexcept;

  private:
    struct alignas(64) bucket {
        std::atomic<std::uint64_t> meta = 0;
        std::array<std::atomic<std::uint32_t>, cells_of_a_bucket> cells{};
    };
    static_assert(sizeof(bucket) == bucket_bytes);
    class locked;

    [[nodiscard]] bucket* table() const noexcept { return table_.load(std::memory_order_seq_cst); }
    [[nodiscard]] result<bucket*> make_table() noexcept;
    [[nodiscard]] bool is_released() const noexcept { return released_.load(std::memory_order_seq_cst); }

    std::uint64_t buckets_;
    std::atomic<bucket*> table_ = nullptr;
    std::atomic<std::uint64_t> size_ = 0, forgotten_ = 0;
    std::atomic<bool> released_ = false;
};

}  // namespace genista
