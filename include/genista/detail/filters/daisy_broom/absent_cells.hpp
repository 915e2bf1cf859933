// absent_cells: positions where R is known to hold nothing, for keys of which a daisy filter keeps
// nothing (class 0).
//
// Such keys are answered "maybe" without a bit of memory. When one of them turns out to be absent,
// the false positive has to be recorded, or a frequent query for it costs a read every time. What
// is recorded is a *cell*: one of 2^32 equal ranges of positions within a bucket. A cell is
// excluded only after R was read in exactly its range and had no key of class 0 there, and it is
// admitted again when such a key is inserted. So an entry is no guess about a key, and 32 bits of
// it are enough: no stored key is in an excluded cell, whatever the queries.
//
//     bucket, 128 bytes         meta, 64 bits: locked 1 | cells 5 | version 58; 30 cells of 32 bits
//     cell of a position        scale(position, buckets · 2^32) = bucket · 2^32 + cell: its range
//                               of R is range_of_bin of that
//
//   I1  excludes(p) is false from the moment admit(p) returned, unless a thread excludes the cell
//       again with a ticket that was drawn later.
//   I2  exclude(ticket) does nothing if the bucket has changed since the ticket was drawn; admit()
//       always changes it.
//   I3  Memory: nothing until the first ticket, then all of it. A full bucket forgets one of its
//       cells, which costs one more read. It forgets an arbitrary one: forgetting the oldest would
//       learn nothing from queries that go round a list a little longer than the memory. With 15
//       cells a bucket in use on average one bucket in 5,000 has to forget, with 20 one in 75.
//
// Why no insert is lost. y is committed to R first and admitted afterwards. An adapt draws its
// ticket first and reads R afterwards. If its read did not see y, the ticket is older than the
// commit, hence older than the admit of y. Either exclude() comes first, and admit() removes the
// cell again; or admit() comes first, and the ticket is void (I2). In both cases the cell is not
// excluded when insert(y) returns. (In between, after the commit, y may be denied, like a key that
// is not in the filter yet. A store that must not deny it uses a guard, guard/range_states.hpp.)
// The list itself is created before the first ticket, so an admit that finds no list is followed by
// no exclude with an older ticket.
//
// release() gives the memory back while other threads use the list: first all buckets are emptied
// and no cell can be added afterwards, then their pages are freed and their addresses stay. A
// thread that reads late finds zeros, which mean "not excluded", before the pages are freed as well
// as after.
//
// Threads: any number. Queries never wait: a bucket that is being changed answers "not excluded",
// which is always safe. One table of a fixed size; absent_list.hpp uses several to grow with the
// false positives.
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

    // At most so many bytes, in whole buckets. 0: nothing is ever excluded.
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
    // REQUIRES: R is read afterwards. An error: no memory.
    [[nodiscard]] result<ticket> draw(std::uint64_t position) noexcept;
    // The range in which R must have no key of class 0.
    [[nodiscard]] position_range range_of(const ticket& drawn) const noexcept {
        return range_of_bin(drawn.cell_, buckets_ << 32);
    }
    // False: the bucket has changed since the ticket was drawn, or was released; draw a ticket and
    // read R again.
    [[nodiscard]] bool exclude(const ticket& drawn) noexcept;
    // R holds a key at this position, or may.
    void admit(std::uint64_t position) noexcept;
    // Admits all positions, one bucket after the other.
    void admit_all() noexcept;
    // Admits all positions for ever: nothing is excluded any more, and memory of a page or more is
    // freed.
    void release() noexcept;

    [[nodiscard]] bool can_exclude() const noexcept { return buckets_ != 0; }
    [[nodiscard]] std::uint64_t buckets() const noexcept { return buckets_; }
    [[nodiscard]] bool has_memory() const noexcept { return table() != nullptr; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
    // Two cells in three are in use: from here on buckets have to forget.
    [[nodiscard]] bool is_full() const noexcept { return size() >= buckets_ * (cells_of_a_bucket * 2 / 3); }
    [[nodiscard]] std::uint64_t forgotten() const noexcept { return forgotten_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;

    // For snapshots: 32 numbers for each bucket: the number of cells, a zero, the cells, zeros.
    // None while no memory is taken.
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
