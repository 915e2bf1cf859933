// counting_slots: wraps any slot map and counts the calls that would cross the network;
// counting_map.hpp does it for the other half of R.
//
// The wrapper changes no answer and refers to the wrapped map, which must outlive it. A call that
// fails costs its round trip too: it is counted among the calls of its kind and also among
// `failures`.
//
// Threads: as the wrapped map; counters are atomic, each one exact.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "genista/base/result.hpp"
#include "genista/hash/key.hpp"
#include "genista/remote/slots.hpp"

namespace genista {

struct slot_counts {
    std::uint64_t point_reads = 0;    // read_slot
    std::uint64_t range_reads = 0;    // for_each_slot
    std::uint64_t slots_visited = 0;  // passed to its visitors
    std::uint64_t writes = 0;         // write_slots, whatever the number of changes
    std::uint64_t slots_changed = 0;  // by these calls
    std::uint64_t clears = 0;
    std::uint64_t failures = 0;  // calls of any kind that returned an error

    friend constexpr bool operator==(const slot_counts&, const slot_counts&) noexcept = default;
};

template <slot_map S>
class counting_slots {
  public:
    explicit counting_slots(S& counted) noexcept : inner_{counted} {}
    counting_slots(const counting_slots&) = delete;
    counting_slots& operator=(const counting_slots&) = delete;
    ~counting_slots() = default;

    template <slot_reader Take>
    result<bool> read_slot(std::uint64_t slot, Take&& take) {
        add(point_reads_, 1);
        return noted(inner_.read_slot(slot, take));
    }
    result<void> write_slots(std::span<const slot_change> changes) {
        add(writes_, 1);
        add(slots_changed_, changes.size());
        return noted(inner_.write_slots(changes));
    }
    template <slot_visitor Visit>
    result<void> for_each_slot(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        add(range_reads_, 1);
        return noted(inner_.for_each_slot(first, last, [&](std::uint64_t slot, key_view key) -> bool {
            add(slots_visited_, 1);
            return visit(slot, key);
        }));
    }
    result<void> clear_slots(std::uint64_t first, std::uint64_t last) {
        add(clears_, 1);
        return noted(inner_.clear_slots(first, last));
    }

    [[nodiscard]] slot_counts counts() const noexcept {
        return {.point_reads = point_reads_.load(std::memory_order_relaxed),
                .range_reads = range_reads_.load(std::memory_order_relaxed),
                .slots_visited = slots_visited_.load(std::memory_order_relaxed),
                .writes = writes_.load(std::memory_order_relaxed),
                .slots_changed = slots_changed_.load(std::memory_order_relaxed),
                .clears = clears_.load(std::memory_order_relaxed),
                .failures = failures_.load(std::memory_order_relaxed)};
    }
    // A call that is under way may be counted before or after the reset.
    void reset() noexcept {
        for (counter* const each :
             {&point_reads_, &range_reads_, &slots_visited_, &writes_, &slots_changed_, &clears_, &failures_}) {
            each->store(0, std::memory_order_relaxed);
        }
    }

  private:
    using counter = std::atomic<std::uint64_t>;

    static void add(counter& to, std::uint64_t amount) noexcept { to.fetch_add(amount, std::memory_order_relaxed); }
    template <class Result>
    Result noted(Result outcome) noexcept {
        if (!outcome) add(failures_, 1);
        return outcome;
    }

    S& inner_;
    counter point_reads_{0}, range_reads_{0}, slots_visited_{0}, writes_{0}, slots_changed_{0}, clears_{0},
        failures_{0};
};

}  // namespace genista
