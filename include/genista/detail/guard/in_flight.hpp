// in_flight_set: exactly the keys that are on their way in. A key that the store has committed and
// the filter does not know yet must not be denied; every other key is the filter's to answer.
//
// A writer registers the positions of its keys, sorted, where they lie already: in its batch or on
// its stack. The set keeps a list of such writers, so registering needs no memory and cannot fail,
// and what it occupies is what the writers hold anyway. range_states.hpp is the fast test in front:
// a reader comes here only if a writer is inside the range of its key. Two keys with one position
// (64 bits) are taken for one.
//
// A writer and a reader of key x do, in this order:
//
//     writer   registers x; enters the range of x; commits; tells the filter, or marks the range as
//              "needs repair" if the filter could not be told; marks x settled; leaves the range;
//              takes itself out of the list
//     reader   loads the word of the range: zero, asks the filter. Else looks x up here: found and
//              not settled, "maybe". Loads the word again: needs repair or under repair, "maybe".
//              Else asks the filter
//
// Why no key that was seen in the store is denied. Let a reader come after the commit of x was
// visible to it.
//
//   F1  x is registered and its range entered before the commit. So the reader's first load shows
//       the writer inside, or what came later: its leaving.
//   F2  If the load shows zero, the writer has left. Leaving is a release and the load an acquire:
//       the filter has x, and the reader asks it afterwards. (A range that needs repair is never
//       zero.)
//   F3  If the reader finds x here, it says "maybe".
//   F4  If it does not find x, x was settled (release, acquire) or the writer has gone from the
//       list (the stripe's lock). Either way what the writer did before is visible: the filter has
//       x, or the range was marked. The second load shows the mark or what came later.
//   F5  What comes after a mark is a repair: it sets "under repair", then clears "needs repair",
//       then reads all keys of the range from the store and brings them in, then clears "under
//       repair", or sets "needs repair" again first. So while x is missing one of the two bits is
//       set.
//
// Stripes are equal ranges of positions: a sorted batch is one piece of its array in each.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "genista/detail/base/turnstile.hpp"
#include "genista/hash/key.hpp"

namespace genista {

// The positions of keys that lie in an array of the caller's, in ascending order. The array
// outlives the view.
class in_flight_keys {
  public:
    in_flight_keys() = default;
    explicit in_flight_keys(const digest& one) noexcept : first_{&one.position}, count_{1} {}
    explicit in_flight_keys(const digest&&) = delete;  // a view of what is gone at the semicolon
    template <class Item>
    in_flight_keys(std::span<const Item> items, digest Item::*where) noexcept
        : first_{items.empty() ? nullptr : &(items.front().*where).position},
          stride_{sizeof(Item)},
          count_{items.size()} {}

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t operator[](std::size_t index) const noexcept {
        std::uint64_t position = 0;
        std::memcpy(&position, reinterpret_cast<const std::byte*>(first_) + index * stride_, sizeof position);
        return position;
    }
    // The first index in [from, to) whose position is greater, or `to`.
    [[nodiscard]] std::size_t first_above(std::uint64_t position, std::size_t from, std::size_t to) const noexcept {
        while (from < to) {
            const std::size_t middle = from + (to - from) / 2;
            if ((*this)[middle] > position)
                to = middle;
            else
                from = middle + 1;
        }
        return from;
    }

  private:
    const std::uint64_t* first_ = nullptr;
    std::size_t stride_ = sizeof(digest);
    std::size_t count_ = 0;
};

class in_flight_set {
  public:
    static constexpr unsigned number_of_stripes = 16;

    // One writer. It does not move, and leaves the list when it dies.
    class writer {
      public:
        writer(in_flight_set& set, const in_flight_keys& keys) noexcept : set_{set}, keys_{keys} { set_.add(*this); }
        writer(const writer&) = delete;
        writer& operator=(const writer&) = delete;
        ~writer() { set_.remove(*this); }

        // The keys below `count` are in the filter, or their ranges need repair.
        void finish(std::size_t count) noexcept { finished_.store(count, std::memory_order_release); }

      private:
        friend class in_flight_set;
        [[nodiscard]] bool holds(std::uint64_t position, unsigned stripe) const noexcept {
            const std::size_t from = begins_[stripe];
            const std::size_t above = keys_.first_above(position, from, begins_[stripe + 1]);
            return above > from && keys_[above - 1] == position && above > finished_.load(std::memory_order_acquire);
        }

        in_flight_set& set_;
        const in_flight_keys keys_;
        std::atomic<std::size_t> finished_{0};
        std::array<std::size_t, number_of_stripes + 1> begins_{};  // the part of each stripe
        std::array<writer*, number_of_stripes> next_{};
        std::array<writer*, number_of_stripes> before_{};
    };

    in_flight_set() : stripes_{std::make_unique<std::array<stripe, number_of_stripes>>()} {}

    [[nodiscard]] bool contains(const digest& d) const noexcept {
        const unsigned index = stripe_of(d.position);
        stripe& mine = (*stripes_)[index];
        const turnstile::shared inside{mine.lock};
        for (const writer* each = mine.first; each != nullptr; each = each->next_[index]) {
            if (each->holds(d.position, index)) return true;
        }
        return false;
    }

    [[nodiscard]] static constexpr std::size_t size_bytes() noexcept { return number_of_stripes * sizeof(stripe); }

  private:
    struct alignas(64) stripe {
        turnstile lock;
        writer* first = nullptr;
    };

    static unsigned stripe_of(std::uint64_t position) noexcept { return static_cast<unsigned>(position >> 60); }

    void add(writer& who) noexcept {
        std::size_t from = 0;
        for (unsigned index = 0; index < number_of_stripes; ++index) {
            const std::uint64_t last = (std::uint64_t{index} + 1) * (~std::uint64_t{0} / number_of_stripes + 1) - 1;
            from = who.keys_.first_above(last, from, who.keys_.size());
            who.begins_[index + 1] = from;
            if (who.begins_[index] == from) continue;
            stripe& mine = (*stripes_)[index];
            const turnstile::exclusive alone{mine.lock};
            who.next_[index] = mine.first;
            if (mine.first != nullptr) mine.first->before_[index] = &who;
            mine.first = &who;
        }
        assert(from == who.keys_.size());
    }
    void remove(writer& who) noexcept {
        for (unsigned index = 0; index < number_of_stripes; ++index) {
            if (who.begins_[index] == who.begins_[index + 1]) continue;
            stripe& mine = (*stripes_)[index];
            const turnstile::exclusive alone{mine.lock};
            writer* const next = who.next_[index];
            writer* const before = who.before_[index];
            (before != nullptr ? before->next_[index] : mine.first) = next;
            if (next != nullptr) next->before_[index] = before;
        }
    }

    std::unique_ptr<std::array<stripe, number_of_stripes>> stripes_;
};

}  // namespace genista
