// packed_array: n numbers of w bits each (1 <= w <= 64), side by side, in exactly ceil(n w / 64)
// words.
//
// For tables whose entries are no whole bytes: fingerprints, remainders, counters. One read touches
// one or two neighbouring words. Filters that need more speed have their own layout; this is the
// simple way.
//
//     bit      0      w      2w      3w
//              |  0   |  1   |  2   |  ...       entry i: bits i w .. i w + w - 1, the least
//                                                significant first
//              └ word 0 ───────┴ word 1 ...
//
// Entries may straddle two words; the rest of the last word is zero.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "bits/words.hpp"
#include "genista/base/result.hpp"
#include "genista/detail/base/buffer.hpp"

namespace genista::bits {

class packed_array {
  public:
    // All zero. Fails if the width is not allowed, if the number of bits exceeds 64 bits, or for
    // lack of memory.
    [[nodiscard]] static result<packed_array> make(std::uint64_t size, std::uint64_t width_bits) noexcept;

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t width_bits() const noexcept { return width_; }
    [[nodiscard]] std::uint64_t largest_value() const noexcept { return low_mask(width_); }
    // The size of the words, without the allocator's overhead: 8 * ceil(size * width / 64).
    [[nodiscard]] std::size_t size_bytes() const noexcept { return memory_.size_bytes(); }
    [[nodiscard]] std::size_t allocated_bytes() const noexcept { return memory_.allocated_bytes(); }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return memory_.bytes(); }

    [[nodiscard]] std::uint64_t operator[](std::uint64_t index) const noexcept {
        assert(index < size_);
        return read_bits(words(), index * width_, width_);
    }
    void set(std::uint64_t index, std::uint64_t value) noexcept {
        assert(index < size_ && value <= largest_value());
        write_bits(words(), index * width_, width_, value);
    }

  private:
    packed_array(buffer memory, std::uint64_t size, std::size_t width) noexcept
        : memory_{std::move(memory)}, size_{size}, width_{width} {}

    [[nodiscard]] std::span<std::uint64_t> words() noexcept {
        return {reinterpret_cast<std::uint64_t*>(memory_.data()), memory_.size_bytes() / sizeof(std::uint64_t)};
    }
    [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
        return {reinterpret_cast<const std::uint64_t*>(memory_.data()), memory_.size_bytes() / sizeof(std::uint64_t)};
    }

    buffer memory_;
    std::uint64_t size_;
    std::size_t width_;
};

// Sizes are checked before any arithmetic on them.
inline result<packed_array> packed_array::make(std::uint64_t size, std::uint64_t width_bits) noexcept {
    if (width_bits < 1 || width_bits > word_bits)
        return error::make(error_code::invalid_argument, "packed array: width of %llu bits, allowed are 1 to 64",
                           static_cast<unsigned long long>(width_bits));
    std::uint64_t total_bits = 0;
    if (__builtin_mul_overflow(size, width_bits, &total_bits))
        return error::make(error_code::invalid_argument,
                           "packed array: %llu entries of %llu bits, allowed are at most 2^64 - 1 bits in all",
                           static_cast<unsigned long long>(size), static_cast<unsigned long long>(width_bits));
    auto memory = buffer::zeroed(words_for(total_bits) * sizeof(std::uint64_t));  // at most 2^61 bytes: no overflow
    if (!memory) return memory.error();
    return packed_array{std::move(*memory), size, static_cast<std::size_t>(width_bits)};
}

}  // namespace genista::bits
