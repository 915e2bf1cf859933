// segmented_array: an array that grows and shrinks at its end without ever being copied, the "extendable array" of [ppr05 §4].
//
// Elements lie in segments of 2^k, each a buffer of its own. An address is a segment and a place in it: one more load than a
// plain array, from a table small enough to stay in the cache. Only the last segment is copied as it grows, by an eighth at a time: so
// what is taken beyond the elements is less than that, and a small array is small.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "genista/base/buffer.hpp"

namespace genista {

template <class T>
class segmented_array {
    static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) & (sizeof(T) - 1)) == 0);

  public:
    // Segments of 2^log_elements elements.
    explicit segmented_array(unsigned log_elements) noexcept : log_{log_elements} {}

    [[nodiscard]] T& operator[](std::uint64_t index) noexcept {
        assert(index < room());
        return starts_[index >> log_][index & (segment() - 1)];
    }
    [[nodiscard]] const T& operator[](std::uint64_t index) const noexcept {
        assert(index < room());
        return starts_[index >> log_][index & (segment() - 1)];
    }
    // Where the segments begin, for whoever reads often and knows when something has changed.
    [[nodiscard]] const T* const* starts() const noexcept { return starts_.data(); }
    [[nodiscard]] unsigned log_segment() const noexcept { return log_; }
    [[nodiscard]] std::uint64_t segment() const noexcept { return std::uint64_t{1} << log_; }
    [[nodiscard]] std::uint64_t left_in_segment(std::uint64_t index) const noexcept {
        return segment() - (index & (segment() - 1));
    }

    // Elements below `size` exist from now on; new ones are zero. False: no memory; what there was is still there.
    [[nodiscard]] bool make_room(std::uint64_t size) noexcept {
        while (room() < size) {
            if (memory_.empty() || last_ == segment()) {
                if (!add_segment()) return false;
            } else {
                const std::uint64_t before = room() - last_, wanted = std::max(size - before, last_ + step());
                if (!resize_last(std::min(segment(), wanted))) return false;
            }
        }
        return true;
    }
    // Nothing from `size` on is needed. A little more is kept, for whoever goes to and fro.
    void give_back(std::uint64_t size) noexcept {
        while (memory_.size() > 1 && room() - last_ >= size + step()) drop_segment();
        if (memory_.empty() || room() < size + 3 * step()) return;
        const std::uint64_t before = room() - last_, kept = size > before ? size - before : 0;
        (void)resize_last(std::min(last_, kept + std::max(least, kept / 8)));
    }

    [[nodiscard]] std::uint64_t room() const noexcept {
        return memory_.empty() ? 0 : ((std::uint64_t{memory_.size()} - 1) << log_) + last_;
    }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept {
        std::uint64_t all = memory_.capacity() * sizeof(buffer) + starts_.capacity() * sizeof(T*);
        for (const buffer& each : memory_) all += each.allocated_bytes();
        return all;
    }

  private:
    static constexpr std::uint64_t least = buffer::alignment / sizeof(T);

    // An eighth of what there is, and of a segment at most.
    [[nodiscard]] std::uint64_t step() const noexcept {
        return std::min(segment(), std::max(least, std::min(segment(), room()) / 8));
    }
    [[nodiscard]] bool resize_last(std::uint64_t size) noexcept {
        if (size == last_) return true;
        auto made = buffer::zeroed(size * sizeof(T));
        if (!made) return false;
        std::copy_n(starts_.back(), std::min(last_, size), reinterpret_cast<T*>(made->data()));
        memory_.back() = *std::move(made);
        starts_.back() = reinterpret_cast<T*>(memory_.back().data());
        last_ = size;
        return true;
    }
    [[nodiscard]] bool add_segment() noexcept {
        const std::uint64_t size = step();
        auto made = buffer::zeroed(size * sizeof(T));
        if (!made) return false;
        if (memory_.size() == memory_.capacity() || starts_.size() == starts_.capacity()) {
            try {
                memory_.reserve(memory_.size() + 1 + memory_.size() / 8);
                starts_.reserve(memory_.capacity());
            } catch (const std::bad_alloc&) {
                return false;
            }
        }
        starts_.push_back(reinterpret_cast<T*>(made->data()));
        memory_.push_back(*std::move(made));
        last_ = size;
        return true;
    }
    void drop_segment() noexcept {
        starts_.pop_back();
        memory_.pop_back();
        last_ = segment();
    }

    unsigned log_;
    std::uint64_t last_ = 0;  // elements of the last segment
    std::vector<buffer> memory_;
    std::vector<T*> starts_;
};

}  // namespace genista
