// probe: what a look-up in the first set of a collection reads (sets.hpp), as plain numbers and
// pointers.
//
// Membership is a look-up in S_1, the most frequent operation. So the collection keeps the path to
// its bins in this form, updated after every change: a look-up that is compiled for the processor
// (hashed_kernels.inl) finds everything here. It runs in steps, with time between them for the
// lines that each step prefetches:
//
//     x ─ aim → place of an address ─ fetch → block ─ fetch_lows → place of its low bits ─ holds → bool
//
// There is no special case for an empty set: before the first insert the path leads to the address
// 0 and an empty block.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/segmented_array.hpp"
#include "filters/succinct/arena.hpp"
#include "filters/succinct/bin.hpp"

namespace genista::succinct {

struct probe {
    // A segmented_array (base/segmented_array.hpp) as it is now.
    template <class T>
    struct segments {
        const typename segmented_array<T>::piece* pieces;
        [[gnu::always_inline, nodiscard]] const T* at(std::uint64_t index) const noexcept {
            const auto& in = pieces[segmented_array<T>::piece_of(index)];
            return in.start + (index - in.first);
        }
    };
    // Bins that are not split yet are numbered by `level` bits of x, split bins by one more.
    struct kind {
        std::uint64_t mask = 0;
        unsigned level = 0;
        bin_code code{};
    };
    std::array<kind, 2> kinds{};  // not split, split
    std::uint64_t split = 0;      // bins below it are
    segments<arena::address> addresses{&no_addresses};
    segments<std::uint64_t> words{&no_words};

    struct target {
        std::uint64_t x = 0;
        const kind* by = nullptr;
        const arena::address* at = nullptr;
        const std::uint64_t* block = nullptr;
    };

    // Reads no memory but the table of pieces.
    [[gnu::always_inline, nodiscard]] target aim(std::uint64_t x) const noexcept {
        const kind& by = kinds[(x & kinds[0].mask) < split ? 1 : 0];
        return {x, &by, addresses.at(x & by.mask), nullptr};
    }
    [[gnu::always_inline]] void fetch(target& who) const noexcept { who.block = words.at(*who.at); }
    // Numbers are spread evenly, so their place can be guessed. Only for a prefetch: an address
    // before the block, if the block is the empty one.
    [[gnu::always_inline, nodiscard]] static const void* lows_of(const target& who, std::uint64_t symbols) noexcept {
        const bin_code& code = who.by->code;
        const std::uint64_t header = *who.block, upper = symbols * (who.x >> who.by->level) >> code.low_bits;
        const std::uint64_t before = (header >> bin::count_place & bits::low_mask(bin::count_bits)) * upper >> 8;
        const std::uint64_t word = arena::size_of(header) - 1 - before * code.low_bits / bits::word_bits;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): a pointer must not leave its array, and this is only fetched
        return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(who.block) +
                                             sizeof(std::uint64_t) * word);
    }
    template <class Words>
    [[gnu::always_inline, nodiscard]] static bool holds(const target& who, std::uint64_t symbols) noexcept {
        const bin here = bin_of(who.by, who.block);
        const std::uint64_t least = symbols * (who.x >> who.by->level);
        const bin::window seen = here.look<Words>(least, symbols);
        if (!seen.is_whole) [[unlikely]]
            return holds_slowly<Words>(who.by, who.block, least, symbols);
        return here.equal_lanes(seen, least, symbols) != 0;
    }
    template <class Words>
    [[gnu::always_inline, nodiscard]] bool contains(std::uint64_t x, std::uint64_t symbols) const noexcept {
        target who = aim(x);
        fetch(who);
        return holds<Words>(who, symbols);
    }

  private:
    // Writes nothing, but a bin is a view of writable words.
    [[gnu::always_inline, nodiscard]] static bin bin_of(const kind* by, const std::uint64_t* block) noexcept {
        return {{const_cast<std::uint64_t*>(block), arena::size_of(*block)}, by->code};
    }
    // A separate function, so that the other steps keep everything in registers.
    template <class Words>
    [[gnu::noinline, nodiscard]] static bool holds_slowly(const kind* by, const std::uint64_t* block,
                                                          std::uint64_t least, std::uint64_t symbols) noexcept {
        return *block != 0 && bin_of(by, block).find_step_by_step<Words>(least, symbols).is_there;
    }

    // Never written, though a piece could be.
    static inline constinit arena::address no_address = 0;
    static inline constinit std::uint64_t no_block = 0;
    static constexpr segmented_array<arena::address>::piece no_addresses{&no_address, 0};
    static constexpr segmented_array<std::uint64_t>::piece no_words{&no_block, 0};
};

}  // namespace genista::succinct
