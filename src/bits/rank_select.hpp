// rank_select: an immutable array of bits that answers how many ones lie before a position (rank,
// O(1)) and where the k-th one is (select, by a small directory). Succinct structures navigate with
// these two operations.
//
//     words      | 8 words = 512 bits: one block, one cache line | 8 words | ...
//     before     | ones before block 0 | ... block 1 | ... | all ones |
//     samples    | block of one number 0 | ... of 4096 | ... of 8192 | ...
//
//     words: the bits, zero beyond size(). before: 64 bits a block, 12.5 %. samples: 64 bits for
//     4096 ones, at most 1.6 %.
//
//   I1  before[b] is the number of ones in blocks 0 .. b - 1, and there is one entry more than
//       blocks.
//   I2  samples[s] is the block of the one with number s * 4096.
//
// rank: one entry of `before` and up to eight popcounts in one cache line. select: two samples
// bound the blocks, a binary search over `before` between them finds the block (in a dense array
// the span is a few blocks; in a sparse one the search takes log2 of its length), then up to eight
// popcounts and a select in a word. A structure that changes its bits keeps them in words
// (bit_strings.hpp, packed_array.hpp) and uses find_next and rank of words.hpp.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bits/words.hpp"
#include "genista/base/result.hpp"
#include "genista/detail/base/buffer.hpp"

namespace genista::bits {

class rank_select {
  public:
    static constexpr std::uint64_t block_words = 8;
    static constexpr std::uint64_t block_bits = block_words * word_bits;
    static constexpr std::uint64_t ones_per_sample = 4096;

    // Copies the first size_bits bits. Fails if the words have fewer bits, or for lack of memory.
    [[nodiscard]] static result<rank_select> make(std::span<const std::uint64_t> words,
                                                  std::uint64_t size_bits) noexcept;

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint64_t ones() const noexcept { return ones_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return memory_.size_bytes(); }
    [[nodiscard]] std::size_t allocated_bytes() const noexcept { return memory_.allocated_bytes(); }
    [[nodiscard]] std::span<const std::uint64_t> words() const noexcept { return {base(), words_}; }

    [[nodiscard]] bool operator[](std::uint64_t position) const noexcept {
        assert(position < size_);
        return (base()[position / word_bits] >> (position % word_bits) & 1) != 0;
    }
    // The number of ones before `position`, 0 <= position <= size().
    [[nodiscard]] std::uint64_t rank(std::uint64_t position) const noexcept;
    // The position of the one with number k, 0 <= k < ones().
    [[nodiscard]] std::uint64_t select(std::uint64_t k) const noexcept;

  private:
    rank_select() noexcept = default;

    [[nodiscard]] std::uint64_t* base() noexcept { return reinterpret_cast<std::uint64_t*>(memory_.data()); }
    [[nodiscard]] const std::uint64_t* base() const noexcept {
        return reinterpret_cast<const std::uint64_t*>(memory_.data());
    }
    [[nodiscard]] std::uint64_t blocks() const noexcept { return words_ / block_words; }
    [[nodiscard]] const std::uint64_t* before() const noexcept { return base() + words_; }
    [[nodiscard]] const std::uint64_t* samples() const noexcept { return before() + blocks() + 1; }

    buffer memory_;
    std::uint64_t size_ = 0;
    std::uint64_t words_ = 0;  // whole blocks
    std::uint64_t ones_ = 0;
};

}  // namespace genista::bits
