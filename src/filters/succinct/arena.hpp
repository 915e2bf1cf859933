// arena: blocks of a few words each, in little more memory than their words: the memory under the
// sets of [ppr05 Lemma 4.1].
//
// The owner of a block keeps its address, and the block keeps its owner's number, so blocks can
// move. A freed block is put on a list of blocks of that size, or is reused at once by the next
// allocation of that size. When more than one word in 2 log(all words), or in 24, is unused, all
// blocks are compacted, a few with every allocation: no pause, and at no time a second copy. So the
// unused share is O(1/log n), the o(B) of Theorem 1.1, for O(log n) words examined with each word
// that is allocated.
//
//     [ block | dead | block | block |     gap     | block | dead | block ]
//     0              compacted       to            from          end
//     during a compaction; new blocks go to the gap
//
//     header, the low bits of a block's first word; the other bits are the owner's:
//         live   0 | words, 10 bits | owner, 36 bits
//         dead   1 | words, 10 bits | address of the next dead block of that size, 32 bits, 0: none
//
//   I1  From 1 to end (except for the gap) block follows block; the rest of a piece
//       (segmented_array.hpp) where a block does not fit is a dead block. So all blocks can be
//       walked.
//   I2  The lists name dead blocks below `to` only (all of them, if no compaction is under way).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "base/segmented_array.hpp"
#include "bits/words.hpp"

namespace genista::succinct {

class arena {
  public:
    static constexpr unsigned words_place = 1, words_bits = 10;
    static constexpr unsigned owner_place = words_place + words_bits, owner_bits = 36;
    static constexpr unsigned header_bits = owner_place + owner_bits;
    static constexpr std::uint64_t most_words = (1u << 9) - 1;  // of a block, live or dead
    static constexpr std::uint64_t most_owners = std::uint64_t{1} << owner_bits;
    using address = std::uint32_t;  // in words; 0: no block

    // A block, zero except for the header. 0: no memory, or no address. Blocks may have moved:
    // `moved(owner, address)` reports each new address.
    template <class Moved>
    [[nodiscard]] address allocate(std::uint64_t words, std::uint64_t owner, Moved moved) noexcept {
        push_together(share() * words, moved);
        const address made = take(words, owner);
        if (!pushing_) words_.give_back(end_);
        return made;
    }
    void free(address block) noexcept;

    // Look-ups write nothing, but a bin is a view of writable words.
    [[nodiscard]] std::span<std::uint64_t> block(address at) const noexcept {
        auto* first = const_cast<std::uint64_t*>(&words_[at]);
        return {first, size_of(*first)};
    }
    [[nodiscard]] const segmented_array<std::uint64_t>& words() const noexcept { return words_; }
    [[nodiscard]] static std::uint64_t size_of(std::uint64_t header) noexcept {
        return header >> words_place & bits::low_mask(words_bits);
    }

    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return words_.allocated_bytes(); }
    // Does block follow block? Stores the number of live blocks in `live`.
    [[nodiscard]] bool is_sound(std::uint64_t& live) const noexcept;

  private:
    static constexpr std::uint64_t slack = 64;  // fewer unused words start no compaction
    static constexpr std::size_t lists = 192;   // larger blocks are rare: they wait for the compaction

    // One word in this many may be unused; this many words are examined for each word that is
    // allocated.
    [[nodiscard]] std::uint64_t share() const noexcept {
        constexpr std::uint64_t least = 24;
        return std::max(least, 2 * static_cast<std::uint64_t>(std::bit_width(end_)));
    }

    [[nodiscard]] static bool is_dead(std::uint64_t header) noexcept { return (header & 1) != 0; }
    [[nodiscard]] static std::uint64_t owner_in(std::uint64_t header) noexcept {
        return header >> owner_place & bits::low_mask(owner_bits);
    }
    [[nodiscard]] static std::uint64_t dead_header(std::uint64_t words, std::uint64_t next) noexcept {
        return 1 | words << words_place | next << owner_place;
    }

    [[nodiscard]] address take(std::uint64_t words, std::uint64_t owner) noexcept;
    [[nodiscard]] address begin_block(std::uint64_t at, std::uint64_t words, std::uint64_t owner) noexcept;
    // The first place from `at` on where so many words lie in one piece; the skipped words become
    // one dead block.
    [[nodiscard]] std::uint64_t skip_to_fit(std::uint64_t at, std::uint64_t words) noexcept;

    template <class Moved>
    void push_together(std::uint64_t work, Moved moved) noexcept {
        if (!pushing_) {
            if (garbage_ <= end_ / share() + slack) return;
            begin_pushing();
        }
        while (pushing_ && work > 0) {
            if (from_ == end_) {
                end_pushing();
                return;
            }
            const std::uint64_t header = words_[from_], size = size_of(header);
            work -= size < work ? size : work;
            if (!is_dead(header)) {
                const std::uint64_t to = skip_to_fit(to_, size);
                move(from_, to, size);
                moved(owner_in(header), static_cast<address>(to));
                to_ = to + size;
            }
            from_ += size;
        }
    }
    void begin_pushing() noexcept;
    void end_pushing() noexcept;
    void move(std::uint64_t from, std::uint64_t to, std::uint64_t words) noexcept;
    // For the address sanitizer: these words of one piece belong to no block.
    void poison(std::uint64_t at, std::uint64_t words) noexcept;

    segmented_array<std::uint64_t> words_;
    std::uint64_t end_ = 1;      // word 0 is never used
    std::uint64_t garbage_ = 1;  // all words below end_ that are in no live block
    bool pushing_ = false;
    std::uint64_t to_ = 0, from_ = 0;
    std::array<address, lists> dead_{};  // by size
};

}  // namespace genista::succinct
