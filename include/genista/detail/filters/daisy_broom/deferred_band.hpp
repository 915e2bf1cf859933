// deferred_band: a broom filter for keys of class 0. It is opened when false positives in this
// class have cost as much as it does, and is filled from R range by range.
//
//     position        0 ──────────────────────────────── 2^64
//     filled, a bit   1   0   1   1   0   0   0   1   0   ...
//
//     1: the broom filter answers; 0: "maybe", or what the list says. There are as many ranges as
//     the broom filter had bins when it opened.
//
// A range is filled by one read of R (broom_filter::rebuild_range; one for each bin that it has
// become if the band has grown since), at the first false positive in it. So no call waits for a
// whole band to be built. When all ranges are filled, class 0 is a band like any other.
//
//   I1  A filled range holds every key of class 0 in R whose insert has returned, from then on for
//       ever.
//   I2  A bit is set after its range was filled, and never cleared.
//
// Why no insert is lost. A thread that inserts y has committed it to R, then looks for the band.
// (a) The band exists: y is inserted into the broom filter, whether its range is filled or not. If
// the fill had read R before y was committed, then either it finds that the bin has changed since
// and reads again, or it has already committed, and y joins a bin that is filled: this is the broom
// filter's own rule for renewals. (b) The band does not exist yet: then it is published after y was
// committed, and every read of R comes after that, so it includes y. There is no
// third case: both threads change one counter in between
// (daisy_broom_core::deferred_after_commit), and the second one sees what the first did. So a range
// is complete when the fill returns, stays complete by I1 of broom.hpp (growth and renewals keep
// the keys of a bin), and only then is its bit set (I2). No lock is needed: a reader that sees the
// bit sees the bins.
//
// Erases leave at most too many keys: an erase that did not see the band, or happened while a range
// was read, may leave a slot to a key that is gone, which is answered "maybe" until adapt() repairs
// it. If a read of R fails, or there is no memory, the range stays unfilled: "maybe".
//
// Threads: any number.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "genista/filters/broom.hpp"

namespace genista {

class deferred_band {
  public:
    // `ranges` ≥ 1. Throws std::bad_alloc.
    deferred_band(broom_filter broom, std::uint64_t ranges);

    [[nodiscard]] broom_filter& broom() noexcept { return broom_; }
    [[nodiscard]] const broom_filter& broom() const noexcept { return broom_; }

    [[nodiscard]] std::uint64_t ranges() const noexcept { return ranges_; }
    [[nodiscard]] std::uint64_t range_at(std::uint64_t position) const noexcept { return scale(position, ranges_); }
    [[nodiscard]] position_range range(std::uint64_t number) const noexcept { return range_of_bin(number, ranges_); }
    [[nodiscard]] bool is_built(std::uint64_t position) const noexcept {
        const std::uint64_t number = range_at(position);
        return (bits_[number / 64].load(std::memory_order_acquire) >> number % 64 & 1) != 0;
    }
    [[nodiscard]] std::uint64_t built() const noexcept { return built_.load(std::memory_order_acquire); }
    [[nodiscard]] bool is_all_built() const noexcept { return built() == ranges_; }
    // A range that is not filled, if there is one: successive calls go through all of them.
    [[nodiscard]] std::optional<std::uint64_t> next_unbuilt() noexcept;

    // Sets the bit of a range that was filled. True: it was the last one.
    bool mark_built(std::uint64_t number) noexcept;
    void mark_all_built() noexcept;

    [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
        return sizeof *this - sizeof broom_ + 8 * words() + broom_.stats().local_bytes;
    }

    // For snapshots, one bit for each range. The bits are copied before the broom filter, so that
    // every saved bit is true of the saved filter.
    [[nodiscard]] std::uint64_t words() const noexcept { return (ranges_ + 63) / 64; }
    void save(std::span<std::uint64_t> into) const noexcept;
    // False: bits beyond the last range are set.
    [[nodiscard]] bool restore(std::span<const std::uint64_t> from) noexcept;

  private:
    broom_filter broom_;
    std::uint64_t ranges_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> bits_;
    std::atomic<std::uint64_t> built_ = 0, cursor_ = 0;
};

}  // namespace genista
