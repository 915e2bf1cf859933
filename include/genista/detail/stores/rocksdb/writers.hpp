// What the writers of a guarded store share: the lock that keeps them out for a moment, and the
// clock of their puts.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "genista/detail/base/turnstile.hpp"
#include "genista/detail/guard/range_states.hpp"

namespace genista::rocks {

// Held by many writers at a time, or by one thread that needs a moment without writers: to delete a
// piece of a range, to ingest files, to read the sequence number for a snapshot of the filter.
//
// A writer holds it from before its commit until the filter has all of its keys
// (base/turnstile.hpp).
using writers_lock = turnstile;

// Counts the puts that began, for each range of positions (guard/range_states.hpp), so
// that the answers for many keys can be shown to be of one moment. If the filter denied a key, and
// the clock of its range has not changed since before that query, the key was absent all the time:
// a put that had ticked before the query had registered its key as in flight (guard/in_flight.hpp).
// A put of another key of the range is a false alarm and costs one more read.
//
// This relies on the following order. A writer registers its keys, then ticks, then commits. A
// reader reads the clock, then asks for the key, then reads the store, then reads the clock again.
class put_clock {
  public:
    put_clock() : puts_{std::make_unique<std::atomic<std::uint32_t>[]>(range_states::number_of_ranges)} {}

    void tick(const digest& d) noexcept { puts_[range_states::of(d)].fetch_add(1, std::memory_order_release); }
    [[nodiscard]] std::uint32_t of(const digest& d) const noexcept {
        return puts_[range_states::of(d)].load(std::memory_order_acquire);
    }

  private:
    std::unique_ptr<std::atomic<std::uint32_t>[]> puts_;
};

}  // namespace genista::rocks
