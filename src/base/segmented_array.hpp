// segmented_array: an array that grows and shrinks at its end without ever being copied, the "extendable array" of [ppr05 §4].
//
// Elements lie in segments of 2^k bytes, each a buffer of its own. An address is a segment and a place in it: one more load than a
// plain array, from a table small enough to stay in the cache. What is taken beyond the elements is less than two segments.
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
    [[nodiscard]] std::uint64_t segment() const noexcept { return std::uint64_t{1} << log_; }
    [[nodiscard]] std::uint64_t left_in_segment(std::uint64_t index) const noexcept {
        return segment() - (index & (segment() - 1));
    }

    // Elements below `size` exist from now on; new ones are zero. False: no memory, and nothing has changed.
    [[nodiscard]] bool make_room(std::uint64_t size) noexcept {
        if (size <= room()) return true;
        if (size > first_ && first_ < segment() && !resize_first(std::min(segment(), std::max(size, 2 * first_))))
            return false;
        const std::size_t before = memory_.size();
        while (room() < size) {
            if (add_segment(segment())) continue;
            while (memory_.size() > before) drop_segment();
            return false;
        }
        return true;
    }
    // Nothing from `size` on is needed. One segment more is kept, for whoever goes to and fro.
    void give_back(std::uint64_t size) noexcept {
        while (memory_.size() > 1 && room() >= size + 2 * segment()) drop_segment();
        if (memory_.size() == 1 && size < first_ / 4) (void)resize_first(std::max<std::uint64_t>(2 * size, least));
    }

    [[nodiscard]] std::uint64_t room() const noexcept {
        return memory_.size() <= 1 ? first_ : std::uint64_t{memory_.size()} << log_;
    }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept {
        std::uint64_t all = memory_.capacity() * sizeof(buffer) + starts_.capacity() * sizeof(T*);
        for (const buffer& each : memory_) all += each.allocated_bytes();
        return all;
    }

  private:
    static constexpr std::uint64_t least = 64 / sizeof(T);

    [[nodiscard]] bool resize_first(std::uint64_t size) noexcept {
        size = std::max(size, std::min(least, segment()));
        if (memory_.empty() && !add_segment(size)) return false;
        if (memory_[0].size_bytes() != size * sizeof(T)) {
            auto made = buffer::zeroed(size * sizeof(T));
            if (!made) return false;
            std::copy_n(starts_[0], std::min(first_, size), reinterpret_cast<T*>(made->data()));
            memory_[0] = *std::move(made);
            starts_[0] = reinterpret_cast<T*>(memory_[0].data());
        }
        first_ = size;
        return true;
    }
    [[nodiscard]] bool add_segment(std::uint64_t size) noexcept {
        auto made = buffer::zeroed(size * sizeof(T));
        if (!made) return false;
        try {
            memory_.reserve(memory_.size() + 1 + memory_.size() / 8);
            starts_.reserve(memory_.capacity());
        } catch (const std::bad_alloc&) {
            return false;
        }
        starts_.push_back(reinterpret_cast<T*>(made->data()));
        memory_.push_back(*std::move(made));
        return true;
    }
    void drop_segment() noexcept {
        starts_.pop_back();
        memory_.pop_back();
    }

    unsigned log_;
    std::uint64_t first_ = 0;  // elements of the first segment, as long as it is the only one
    std::vector<buffer> memory_;
    std::vector<T*> starts_;
};

}  // namespace genista
