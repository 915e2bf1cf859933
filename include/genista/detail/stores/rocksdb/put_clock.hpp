// put_clock: counts the puts that began, for each range of positions (guard/range_states.hpp). If a
// key was denied, and the clock of its range stands where it stood before the question, then the
// key has been absent all the while: a put that had ticked when the question came had registered
// its key as in flight (guard/in_flight.hpp). So the answers for many keys can be shown to be of
// one moment. A put of another key of the range is a false alarm, and costs one more read.
//
// The order that this rests on: a writer registers its keys, then ticks, then commits; a reader
// reads the clock, then asks for the key, then reads the store, then reads the clock again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "genista/detail/guard/range_states.hpp"

namespace genista::rocks {

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
