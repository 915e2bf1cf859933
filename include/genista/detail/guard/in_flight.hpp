// in_flight_set: the keys whose writes are under way. A key that the store has committed and that
// is not in the filter yet must not be denied; for every other key the filter decides.
//
// A writer registers the positions of its keys, sorted, in the memory where they are already: in
// its batch or on its stack. The set is a list of such writers, so that registering needs no memory
// and cannot fail. range_states.hpp is the fast test in front: a reader looks here only if a writer
// is inside the range of its key. Two keys with the same position (64 bits) count as one.
//
// A writer and a reader of key x do, in this order:
//
//     writer   registers x; enters the range of x; commits; inserts x into the filter, or marks the
//              range as "needs repair" if that failed; marks x as finished; leaves the range;
//              removes itself from the list
//     reader   loads the word of the range. Zero: asks the filter. Else looks x up here; found and
//              not finished: "maybe". Loads the word again; needs repair or under repair: "maybe".
//              Else asks the filter
//
// Why no key that was visible in the store is denied. Let the reader start after the commit of x
// became visible to it.
//
//   F1  The writer registers x and enters the range before the commit. So the reader's first load
//       returns a word that counts the writer, or a later word: the writer has left.
//   F2  If the first load returns zero, the writer has left. leave() is a release and the load an
//       acquire: x is in the filter, and the reader asks it afterwards. (A range that needs repair
//       is never zero.)
//   F3  If the reader finds x here, it answers "maybe".
//   F4  If the reader does not find x here, the writer had marked x as finished (release, acquire)
//       or had removed itself from the list (the lock of the stripe). In both cases the reader sees
//       what the writer did before: x is in the filter, or the range was marked. The second load
//       returns the mark or a later word.
//   F5  The only change that clears a mark is a repair. It sets "under repair", then clears "needs
//       repair", then reads all keys of the range from the store and inserts them, then clears
//       "under repair". If it fails, it sets "needs repair" again before that last step. So one of
//       the two bits is set as long as x is missing.
//
// The stripes of the list are equal ranges of positions: the keys of a sorted batch that belong to
// one stripe are consecutive.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

#include "genista/detail/base/turnstile.hpp"
#include "genista/hash/key.hpp"

namespace genista {

// A view of the positions of keys in an array of the caller, in ascending order. The array must
// outlive the view.
class in_flight_keys {
  public:
    in_flight_keys() = default;
    explicit in_flight_keys(const digest& one) noexcept : first_{&one.position}, count_{1} {}
    explicit in_flight_keys(const digest&&) = delete;  // the digest dies at the end of the statement
    // `where`, a member or a function, gives the digest that lies inside an item.
    template <class Item, class Where>
    in_flight_keys(std::span<const Item> items, Where where) noexcept
        : first_{items.empty() ? nullptr : &std::invoke(where, items.front()).position},
          stride_{sizeof(Item)},
          count_{items.size()} {
        static_assert(std::is_same_v<std::invoke_result_t<Where, const Item&>, const digest&>);
    }

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

    // One writer: the constructor adds it to the list, the destructor removes it. It does not move.
    class writer {
      public:
        writer(in_flight_set& set, const in_flight_keys& keys) noexcept : set_{set}, keys_{keys} { set_.add(*this); }
        writer(const writer&) = delete;
        writer& operator=(const writer&) = delete;
        ~writer() { set_.remove(*this); }

        // The first `count` keys are finished: they are in the filter, or their ranges need repair.
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
        std::array<std::size_t, number_of_stripes + 1> begins_{};  // keys_[begins_[i]] .. of stripe i
        std::array<writer*, number_of_stripes> next_{};
        std::array<writer*, number_of_stripes> before_{};
    };

    in_flight_set() : stripes_{std::make_unique<std::array<stripe, number_of_stripes>>()} {}

    [[nodiscard]] bool contains(const digest& d) const noexcept {
        const unsigned index = stripe_of(d.position);
        stripe& at = (*stripes_)[index];
        const turnstile::shared inside{at.lock};
        for (const writer* each = at.first; each != nullptr; each = each->next_[index]) {
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

    void add(writer& which) noexcept {
        std::size_t from = 0;
        for (unsigned index = 0; index < number_of_stripes; ++index) {
            const std::uint64_t last = (std::uint64_t{index} + 1) * (~std::uint64_t{0} / number_of_stripes + 1) - 1;
            from = which.keys_.first_above(last, from, which.keys_.size());
            which.begins_[index + 1] = from;
            if (which.begins_[index] == from) continue;
            stripe& at = (*stripes_)[index];
            const turnstile::exclusive alone{at.lock};
            which.next_[index] = at.first;
            if (at.first != nullptr) at.first->before_[index] = &which;
            at.first = &which;
        }
        assert(from == which.keys_.size());
    }
    void remove(writer& which) noexcept {
        for (unsigned index = 0; index < number_of_stripes; ++index) {
            if (which.begins_[index] == which.begins_[index + 1]) continue;
            stripe& at = (*stripes_)[index];
            const turnstile::exclusive alone{at.lock};
            writer* const next = which.next_[index];
            writer* const before = which.before_[index];
            (before != nullptr ? before->next_[index] : at.first) = next;
            if (next != nullptr) next->before_[index] = before;
        }
    }

    std::unique_ptr<std::array<stripe, number_of_stripes>> stripes_;
};

}  // namespace genista
