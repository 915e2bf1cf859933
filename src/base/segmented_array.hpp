// segmented_array: an array that grows and shrinks at its end and is not copied, the "extendable
// array" of [ppr05 §4].
//
//     up to 32 KiB    one block of the heap, grown by a line or 1/32 at a time: only this block is
//                     ever copied
//     from there on   pieces of 1, 1, 2, 4, 8, … MiB. The addresses of a piece are reserved at once
//                     (pages.hpp), and memory is added page by page for the elements in use
//
// So an array of n bytes has log2(n) - 18 pieces, and its table of pieces is a few lines that stay
// in the cache. The memory beyond the elements is a line or 1/32 for small arrays, otherwise less
// than a page, and up to a page and a quarter after the array has shrunk. No call copies more than
// 32 KiB, and none gives back more than `pages_at_once` pages: a large array shrinks over many
// calls.
//
// If no addresses can be reserved (a limit on them, too many mappings, a system without) the array
// continues to grow on the heap, by copies of a piece. Only then the cost of a call is not bounded.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/pages.hpp"

namespace genista {

template <class T>
class segmented_array {
    static_assert(std::is_trivially_copyable_v<T> && std::has_single_bit(sizeof(T)));

  public:
    struct piece {
        T* start;
        std::uint64_t first;  // index of its first element
    };
    static constexpr std::size_t least_piece_bytes = std::size_t{1} << 20;
    static constexpr std::size_t most_on_heap =
        8 * pages::page;  // at this size a page is 1/8: half an unused page would be too much
    static constexpr std::size_t pages_at_once = 16;
    static constexpr unsigned log_first = std::countr_zero(least_piece_bytes / sizeof(T));

    [[gnu::always_inline, nodiscard]] static std::size_t piece_of(std::uint64_t index) noexcept {
        return std::numeric_limits<std::uint64_t>::digits - 1u -
               static_cast<std::size_t>(std::countl_zero(index >> log_first << 1 | 1));
    }

    segmented_array() noexcept = default;
    segmented_array(segmented_array&& other) noexcept { swap(other); }
    segmented_array& operator=(segmented_array&& other) noexcept {
        swap(other);
        return *this;
    }
    ~segmented_array() {
        while (!pieces_.empty()) drop_last();
    }

    [[nodiscard]] T& operator[](std::uint64_t index) noexcept {
        assert(index < room());
        const piece& in = pieces_[piece_of(index)];
        return in.start[index - in.first];
    }
    [[nodiscard]] const T& operator[](std::uint64_t index) const noexcept {
        assert(index < room());
        const piece& in = pieces_[piece_of(index)];
        return in.start[index - in.first];
    }
    // For callers that read often and can tell when the array has changed.
    [[nodiscard]] const piece* pieces() const noexcept { return pieces_.data(); }
    [[nodiscard]] static std::uint64_t left_in_piece(std::uint64_t index) noexcept {
        const std::size_t i = piece_of(index);
        return first_of(i) + capacity_of(i) - index;
    }

    // Makes the elements below `size` exist; those that never existed are zero. False: no memory;
    // existing elements are kept.
    [[nodiscard]] bool make_room(std::uint64_t size) noexcept {
        while (room() < size) {
            if (pieces_.empty() || last_ == capacity_of(pieces_.size() - 1)) {
                if (!add_piece()) return false;
            }
            const std::size_t i = pieces_.size() - 1;
            if (!grow_last(std::min(size - first_of(i), capacity_of(i)))) return false;
        }
        if (size > size_) {
            for_bytes(size_, size, pages::unpoison);
            size_ = size;
        }
        return true;
    }
    // The elements from `size` on are no longer needed. Gives some memory back; a little is kept
    // for callers that grow again at once.
    void give_back(std::uint64_t size) noexcept {
        if (size < size_) {
            for_bytes(size, size_, pages::poison);
            size_ = size;
        }
        if (room() - std::min(room(), size) >= least_spare() || fits_heap_again(size)) shrink(size);
    }

    [[nodiscard]] std::uint64_t room() const noexcept { return pieces_.empty() ? 0 : pieces_.back().first + last_; }
    // Pages that may be written to without another call, and blocks of the heap.
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept {
        return pieces_.capacity() * sizeof(piece) + room() * sizeof(T);
    }

  private:
    static constexpr std::size_t alignment = 64;
    static constexpr std::uint64_t line = alignment / sizeof(T), page = pages::page / sizeof(T);
    static_assert(line > 0);

    [[nodiscard]] static std::uint64_t first_of(std::size_t i) noexcept {
        return i == 0 ? 0 : std::uint64_t{1} << (log_first + i - 1);
    }
    [[nodiscard]] static std::uint64_t capacity_of(std::size_t i) noexcept {
        return std::uint64_t{1} << (i == 0 ? log_first : log_first + i - 1);
    }
    [[nodiscard]] static std::uint64_t round_up(std::uint64_t size, std::uint64_t unit) noexcept {
        return (size + unit - 1) / unit * unit;
    }
    [[nodiscard]] static std::byte* bytes_at(T* at) noexcept { return reinterpret_cast<std::byte*>(at); }
    [[nodiscard]] bool is_mapped(std::size_t i) const noexcept { return (mapped_ >> i & 1) != 0; }
    [[nodiscard]] static std::uint64_t heap_step(std::uint64_t size) noexcept { return std::max(line, size / 32); }
    // With fewer unused elements than this nothing is given back.
    [[nodiscard]] std::uint64_t least_spare() const noexcept {
        if (pieces_.empty()) return 1;
        return is_mapped(pieces_.size() - 1) ? page + page / 4 : 3 * heap_step(last_);
    }

    [[nodiscard]] bool fits_heap_again(std::uint64_t size) const noexcept {
        return mapped_ == 1 && size * sizeof(T) <= most_on_heap / 2;
    }

    // Calls `act` for the elements [from, to) that have memory, piece by piece.
    template <class Do>
    void for_bytes(std::uint64_t from, std::uint64_t to, Do act) noexcept {
#if defined(GENISTA_ASAN)
        for (to = std::min(to, room()); from < to;) {
            const std::uint64_t part = std::min(to - from, left_in_piece(from));
            const piece& in = pieces_[piece_of(from)];
            act(in.start + (from - in.first), part * sizeof(T));
            from += part;
        }
#else
        (void)from, (void)to, (void)act;
#endif
    }

    [[nodiscard]] static T* on_heap(std::uint64_t size) noexcept {
        void* const made = ::operator new (size * sizeof(T), std::align_val_t{alignment}, std::nothrow);
        if (made != nullptr) std::memset(made, 0, size * sizeof(T));
        return static_cast<T*>(made);
    }
    void release(std::size_t i) noexcept {
        T* const start = pieces_[i].start;
        if (start == nullptr) return;
        if (is_mapped(i)) {
            pages::release(bytes_at(start), capacity_of(i) * sizeof(T));
        } else {
            pages::unpoison(start, last_ * sizeof(T));
            ::operator delete (start, std::align_val_t{alignment});
        }
    }
    void drop_last() noexcept {
        release(pieces_.size() - 1);
        pieces_.pop_back();
        mapped_ &= ~(std::uint64_t{1} << pieces_.size());
        last_ = pieces_.empty() ? 0 : capacity_of(pieces_.size() - 1);
    }
    // Adds a piece without elements.
    [[nodiscard]] bool add_piece() noexcept {
        const std::size_t i = pieces_.size();
        if (i >= most_pieces) return false;
        try {
            pieces_.reserve(i + 1);
        } catch (const std::bad_alloc&) {
            return false;
        }
        std::byte* const start = i == 0 ? nullptr : pages::reserve(capacity_of(i) * sizeof(T));
        pieces_.push_back({reinterpret_cast<T*>(start), first_of(i)});
        last_ = 0;
        if (start != nullptr) {
            mapped_ |= std::uint64_t{1} << i;
            pages::poison(start, capacity_of(i) * sizeof(T));
        }
        return true;
    }

    // Grows the last piece to at least so many elements.
    [[nodiscard]] bool grow_last(std::uint64_t size) noexcept {
        const std::size_t i = pieces_.size() - 1;
        if (!is_mapped(i)) {
            if (size * sizeof(T) > most_on_heap && i == 0 && move_to_pages()) return grow_last(size);
            const std::uint64_t wanted = round_up(std::max(size, last_ + heap_step(last_)), line);
            // One step does not go beyond the limit for the heap, if `size` fits below it.
            const std::uint64_t most =
                i == 0 && size * sizeof(T) <= most_on_heap ? most_on_heap / sizeof(T) : capacity_of(i);
            return move_to_heap(std::min(most, wanted));
        }
        const std::uint64_t before = last_;
        last_ = round_up(size, page);
        const std::size_t old_huge = whole_huge(before), new_huge = whole_huge(last_);
        if (new_huge > old_huge) pages::prefer_huge(bytes_at(pieces_[i].start), new_huge);
        return true;
    }
    // Bytes of the whole huge pages that so many elements fill.
    [[nodiscard]] static std::size_t whole_huge(std::uint64_t size) noexcept {
        return size * sizeof(T) / pages::huge_page * pages::huge_page;
    }

    // Copies the elements into a block for so many.
    [[nodiscard]] bool move_to_heap(std::uint64_t size) noexcept {
        if (size == last_ && !is_mapped(pieces_.size() - 1)) return true;
        T* const made = on_heap(size);
        if (made == nullptr) return false;
        exchange_last(made, size, false);
        return true;
    }
    [[nodiscard]] bool move_to_pages() noexcept {
        std::byte* const made = pages::reserve(least_piece_bytes);
        if (made == nullptr) return false;
        exchange_last(reinterpret_cast<T*>(made), round_up(std::max<std::uint64_t>(last_, 1), page), true);
        return true;
    }
    void exchange_last(T* made, std::uint64_t size, bool mapped) noexcept {
        const std::size_t i = pieces_.size() - 1;
        const std::uint64_t kept = std::min(last_, size);
        if (kept > 0) {
            pages::unpoison(pieces_[i].start, kept * sizeof(T));
            std::copy_n(pieces_[i].start, kept, made);
        }
        release(i);
        pieces_[i].start = made;
        last_ = size;
        mapped_ = (mapped_ & ~(std::uint64_t{1} << i)) | std::uint64_t{mapped} << i;
        const std::uint64_t used = size_ - std::min(size_, first_of(i)), whole = mapped ? capacity_of(i) : size;
        if (used < whole) pages::poison(made + used, (whole - used) * sizeof(T));
    }

    void shrink(std::uint64_t size) noexcept {
        const std::size_t i = pieces_.size() - 1;
        const std::uint64_t kept = size - std::min(size, first_of(i));
        if (!is_mapped(i)) {
            if (kept == 0 && i > 0) {
                drop_last();
            } else {
                (void)move_to_heap(std::min(last_, round_up(kept + heap_step(kept), line)));
            }
            return;
        }
        if (fits_heap_again(size) && last_ <= 2 * most_on_heap / sizeof(T)) {
            (void)move_to_heap(round_up(kept + heap_step(kept), line));
            return;
        }
        const std::uint64_t wanted = i == 0 ? std::max(page, round_up(kept, page)) : round_up(kept, page);
        const std::uint64_t left = std::max(wanted, last_ - std::min(last_, pages_at_once * page));
        if (left < last_) {
            std::byte* const start = bytes_at(pieces_[i].start);
            if (const std::size_t huge = whole_huge(left); huge < whole_huge(last_))
                pages::prefer_small(start + huge, whole_huge(last_) - huge);
            if (!pages::give_back(start + left * sizeof(T), (last_ - left) * sizeof(T))) return;
            last_ = left;
        }
        if (last_ == 0) drop_last();
    }

    void swap(segmented_array& other) noexcept {
        std::swap(pieces_, other.pieces_);
        std::swap(mapped_, other.mapped_);
        std::swap(last_, other.last_);
        std::swap(size_, other.size_);
    }

    static constexpr std::size_t most_pieces = 40;
    std::vector<piece> pieces_;  // all but the last have memory for all of their elements
    std::uint64_t mapped_ = 0;   // a bit for each piece: reserved, not from the heap
    std::uint64_t last_ = 0;     // elements of the last piece that have memory
    std::uint64_t size_ = 0;     // elements that callers asked for
};

}  // namespace genista
