// Slots, the other half of R that the cuckoo family needs: which key lies in which slot of the
// filter.
//
// The broom filter learns from ranges of R; an adaptive cuckoo filter has to know whose fingerprint
// a slot holds before it can move it [acf §2.2: "an external dictionary can be accessed, enabling
// an element to be rehashed"]. Keys in the order of their digest (remote.hpp) cannot tell: a key
// lies in one of k places that have nothing to do with each other. So its R has a second map, from
// slot to key, which belongs to the filter: nothing else writes to it, and it is rebuilt with it.
//
//     slot_map      slot (64 bits) → key bytes            memory_slots.hpp in RAM,
//                                                         stores/rocksdb/slot_records.hpp on disk
//     slotted_map   a remote_map and a slot_map in one     with_slots below puts one together from two
//
// counting_slots.hpp wraps any slot map and counts what crosses the network; faulty_slots.hpp makes
// one fail and lie, by a plan.
//
// ## What a call costs remotely
//   read_slot       one point read
//   write_slots     one write, whatever the number of changes
//   for_each_slot   one range read
//   clear_slots     one write: what lies in the range is gone
//
// ## What a caller may assume
//   Atomicity   all changes of a write happen or none does, and it is idempotent: after an error
//               whose effect is unknown, doing it again is safe.
//   Errors      a failed write may have happened. A failed clear may have happened in part. A
//               failed for_each_slot may have visited a prefix of the range.
//   Order       for_each_slot visits the occupied slots of the range once each, in ascending order.
//   Threads     calls may come from many threads at once.
//   Visitors    get a key_view that is valid during that one call, and do not call back into the
//               same map.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "genista/base/result.hpp"
#include "genista/hash/key.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

struct slot_change {
    std::uint64_t slot = 0;
    std::optional<key_view> key{};  // none: the slot becomes empty
};

template <class Take>
concept slot_reader = std::is_invocable_v<Take&, key_view>;
// False stops the visit, which is then a success.
template <class Visit>
concept slot_visitor = std::is_invocable_r_v<bool, Visit&, std::uint64_t, key_view>;

namespace remote_detail {
struct any_slot_reader {
    void operator()(key_view) const noexcept {}
};
struct any_slot_visitor {
    bool operator()(std::uint64_t, key_view) const noexcept { return true; }
};
}  // namespace remote_detail

// read_slot says whether the slot is occupied, and if so shows its key. Ranges include both ends,
// as in remote.hpp.
template <class S>
concept slot_map = requires(S& slots, std::uint64_t slot, std::span<const slot_change> changes,
                            remote_detail::any_slot_reader take, remote_detail::any_slot_visitor visit) {
    { slots.read_slot(slot, take) } -> std::same_as<result<bool>>;
    { slots.write_slots(changes) } -> std::same_as<result<void>>;
    { slots.for_each_slot(slot, slot, visit) } -> std::same_as<result<void>>;
    { slots.clear_slots(slot, slot) } -> std::same_as<result<void>>;
};

template <class R>
concept slotted_map = remote_map<R> && slot_map<R>;

// One R out of two; both outlive it.
template <remote_map Map, slot_map Slots>
class with_slots {
  public:
    with_slots(Map& map, Slots& slots) noexcept : map_{&map}, slots_{&slots} {}

    result<bool> put(const digest& where, key_view key) { return map_->put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return map_->erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return map_->contains(where, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        return map_->for_each(first, last, std::forward<Visit>(visit));
    }

    template <slot_reader Take>
    result<bool> read_slot(std::uint64_t slot, Take&& take) {
        return slots_->read_slot(slot, std::forward<Take>(take));
    }
    result<void> write_slots(std::span<const slot_change> changes) { return slots_->write_slots(changes); }
    template <slot_visitor Visit>
    result<void> for_each_slot(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        return slots_->for_each_slot(first, last, std::forward<Visit>(visit));
    }
    result<void> clear_slots(std::uint64_t first, std::uint64_t last) { return slots_->clear_slots(first, last); }

    [[nodiscard]] Map& map() const noexcept { return *map_; }
    [[nodiscard]] Slots& slots() const noexcept { return *slots_; }

  private:
    Map* map_;
    Slots* slots_;
};

}  // namespace genista
