// words: operations on one 64-bit word in a constant number of instructions: rank, select, masks,
// bit ranges, parallel extract and deposit, reversal.
//
// Every structure that packs small fields into words uses these. Bit 0 is the least significant and
// the first. Two kernels give the same results: `portable_words` (plain C++, constexpr, any
// processor) and `bmi2_words` (PEXT, PDEP, POPCNT). The baseline build needs neither instruction:
// the caller chooses the second kernel by a template parameter, or at run time with
// with_word_kernel(active_isa(), ...). Their reference versions for tests are in
// tests/support/plain_words.hpp. Next: wide_word.hpp (several words as one), bit_strings.hpp,
// packed_array.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/cpu.hpp"

namespace genista::bits {

inline constexpr std::size_t word_bits = 64;

// The `count` lowest bits set, 0 <= count <= 64.
[[nodiscard]] constexpr std::uint64_t low_mask(std::size_t count) noexcept {
    assert(count <= word_bits);
    return count == word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

[[nodiscard]] constexpr std::uint64_t words_for(std::uint64_t bit_count) noexcept {
    return bit_count / word_bits + (bit_count % word_bits != 0);
}

// The number of set bits below `position`, 0 <= position <= 64.
[[nodiscard]] constexpr std::size_t rank(std::uint64_t word, std::size_t position) noexcept {
    return static_cast<std::size_t>(std::popcount(word & low_mask(position)));
}

[[nodiscard]] constexpr std::uint64_t reverse(std::uint64_t word) noexcept {
    constexpr std::uint64_t halves[] = {0x5555555555555555u, 0x3333333333333333u, 0x0f0f0f0f0f0f0f0fu,
                                        0x00ff00ff00ff00ffu, 0x0000ffff0000ffffu, 0x00000000ffffffffu};
    for (std::size_t round = 0; round < 6; ++round) {
        const std::size_t distance = std::size_t{1} << round;
        word = ((word >> distance) & halves[round]) | ((word & halves[round]) << distance);
    }
    return word;
}

// ---- portable kernels

namespace detail {

inline constexpr std::uint64_t every_byte = 0x0101010101010101u;
inline constexpr std::uint64_t byte_tops = 0x8080808080808080u;

// How many of eight bytes are <= limit; REQUIRES: each byte and limit are at most 127. The top bit
// of a byte of (limit + 128 - byte) survives exactly if byte <= limit, and no byte borrows from its
// neighbour.
[[nodiscard]] constexpr std::size_t bytes_at_most(std::uint64_t bytes, std::uint64_t limit) noexcept {
    const std::uint64_t survivors = ((limit * every_byte | byte_tops) - bytes) & byte_tops;
    return static_cast<std::size_t>(std::popcount(survivors));
}

// Bit i of the result is the parity of bits 0..i of `word`.
[[nodiscard]] constexpr std::uint64_t running_parity(std::uint64_t word) noexcept {
    for (std::size_t distance = 1; distance < word_bits; distance *= 2) word ^= word << distance;
    return word;
}

// The routes of extract: a chosen bit moves down by the number of unchosen bits below it. Round r
// moves by 2^r the bits whose distance has bit r set; low rounds come first, so that no two bits
// ever collide. deposit does the same rounds in reverse order.
struct extract_routes {
    std::uint64_t moves[6];

    constexpr explicit extract_routes(std::uint64_t mask) noexcept : moves{} {
        std::uint64_t holes_below = ~mask << 1;  // unchosen bits, seen from the bit above them
        for (std::size_t round = 0; round < 6; ++round) {
            const std::uint64_t odd = running_parity(holes_below);
            moves[round] = odd & mask;
            mask = (mask ^ moves[round]) | (moves[round] >> (std::size_t{1} << round));
            holes_below &= ~odd;  // every second hole: halves the count, keeps the next bit of it
        }
    }
};

}  // namespace detail

// The position of set bit number `k`, counted from 0. REQUIRES: it exists. Broadword: byte counts
// by halving, their running sums by one multiplication, the byte and then the bit by comparing
// eight sums at once.
[[nodiscard]] constexpr std::size_t select_portable(std::uint64_t word, std::size_t k) noexcept {
    assert(k < static_cast<std::size_t>(std::popcount(word)));
    using detail::every_byte;
    std::uint64_t counts = word - ((word >> 1) & 0x5555555555555555u);
    counts = (counts & 0x3333333333333333u) + ((counts >> 2) & 0x3333333333333333u);
    counts = (counts + (counts >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    const std::uint64_t sums = counts * every_byte;  // byte i: set bits in bytes 0..i
    const std::size_t shift = 8 * detail::bytes_at_most(sums, k);
    const std::uint64_t before = (sums << 8 >> shift) & 0xff;
    const std::uint64_t byte = (word >> shift) & 0xff;
    // Bit i of the byte goes to byte i of a word, becomes 0 or 1 there, and is summed the same way.
    const std::uint64_t apart = (byte * every_byte) & 0x8040201008040201u;
    const std::uint64_t ones = (apart + 0x7f7f7f7f7f7f7f7fu) >> 7 & every_byte;
    return shift + detail::bytes_at_most(ones * every_byte, k - before);
}

// The bits of `word` chosen by `mask`, moved together to the low end, in order (PEXT).
[[nodiscard]] constexpr std::uint64_t extract_portable(std::uint64_t word, std::uint64_t mask) noexcept {
    const detail::extract_routes routes{mask};
    word &= mask;
    for (std::size_t round = 0; round < 6; ++round) {
        const std::uint64_t movers = word & routes.moves[round];
        word = (word ^ movers) | (movers >> (std::size_t{1} << round));
    }
    return word;
}

// The low bits of `word` spread, in order, over the positions of `mask` (PDEP): the inverse of
// extract.
[[nodiscard]] constexpr std::uint64_t deposit_portable(std::uint64_t word, std::uint64_t mask) noexcept {
    const detail::extract_routes routes{mask};
    for (std::size_t round = 6; round-- > 0;) {
        const std::uint64_t movers = (word << (std::size_t{1} << round)) & routes.moves[round];
        word = (word & ~routes.moves[round]) | movers;
    }
    return word & mask;
}

// ---- the two kernels as policies

// The calls that wide_word and bit_strings make to a kernel. step() is a hook for `counted` below;
// otherwise it does nothing.
struct portable_words {
    static constexpr void step() noexcept {}
    [[nodiscard]] static constexpr std::size_t popcount(std::uint64_t word) noexcept {
        return static_cast<std::size_t>(std::popcount(word));
    }
    [[nodiscard]] static constexpr std::size_t select(std::uint64_t word, std::size_t k) noexcept {
        return select_portable(word, k);
    }
    [[nodiscard]] static constexpr std::uint64_t extract(std::uint64_t word, std::uint64_t mask) noexcept {
        return extract_portable(word, mask);
    }
    [[nodiscard]] static constexpr std::uint64_t deposit(std::uint64_t word, std::uint64_t mask) noexcept {
        return deposit_portable(word, mask);
    }
};

#if defined(__x86_64__)
// Only on processors of isa::avx2 and better. In assembly, because a function with a target
// attribute cannot be inlined into baseline code and a call costs more than the instruction; the
// assembler accepts these whatever -march says. (AMD before Zen 3 executes PEXT and PDEP in
// microcode, slower than the portable rounds, but correct.)
struct bmi2_words {
    static constexpr void step() noexcept {}
    [[nodiscard]] static std::size_t popcount(std::uint64_t word) noexcept {
        std::uint64_t count;
        asm("popcntq %1, %0" : "=r"(count) : "r"(word) : "cc");
        return count;
    }
    [[nodiscard]] static std::size_t select(std::uint64_t word, std::size_t k) noexcept {
        assert(k < popcount(word));
        return static_cast<std::size_t>(std::countr_zero(deposit(std::uint64_t{1} << k, word)));
    }
    [[nodiscard]] static std::uint64_t extract(std::uint64_t word, std::uint64_t mask) noexcept {
        std::uint64_t out;
        asm("pextq %2, %1, %0" : "=r"(out) : "r"(word), "r"(mask));
        return out;
    }
    [[nodiscard]] static std::uint64_t deposit(std::uint64_t word, std::uint64_t mask) noexcept {
        std::uint64_t out;
        asm("pdepq %2, %1, %0" : "=r"(out) : "r"(word), "r"(mask));
        return out;
    }
};
#else
using bmi2_words = portable_words;
#endif

// A kernel that counts its word steps (one step: one operation on one word), for the promise of
// [broom18 App. A, Lemma 29]; read and reset `steps` around an operation.
template <class Kernel>
struct counted : Kernel {
    static inline thread_local std::uint64_t steps = 0;
    static void step() noexcept { ++steps; }
};

// Calls `use` with the kernel that fits the level: with_word_kernel(active_isa(), [&](auto kernel)
// {...}).
template <class Use>
decltype(auto) with_word_kernel(isa level, Use&& use) {
    return level >= isa::avx2 ? use(bmi2_words{}) : use(portable_words{});
}

// ---- bit ranges and searches over several words

// `width` bits (0..64) from bit `position` on, which may straddle two words.
[[nodiscard]] constexpr std::uint64_t read_bits(std::span<const std::uint64_t> words, std::uint64_t position,
                                                std::size_t width) noexcept {
    assert(width <= word_bits && position <= words.size() * word_bits && width <= words.size() * word_bits - position);
    if (width == 0) return 0;
    const std::size_t index = position / word_bits, shift = position % word_bits;
    std::uint64_t value = words[index] >> shift;
    if (shift + width > word_bits) value |= words[index + 1] << (word_bits - shift);
    return value & low_mask(width);
}

// Writes the low `width` bits of `value` there and touches nothing else.
constexpr void write_bits(std::span<std::uint64_t> words, std::uint64_t position, std::size_t width,
                          std::uint64_t value) noexcept {
    assert(width <= word_bits && position <= words.size() * word_bits && width <= words.size() * word_bits - position);
    if (width == 0) return;
    const std::size_t index = position / word_bits, shift = position % word_bits;
    const std::uint64_t mask = low_mask(width);
    value &= mask;
    words[index] = (words[index] & ~(mask << shift)) | (value << shift);
    if (shift + width > word_bits) {
        const std::size_t done = word_bits - shift;
        words[index + 1] = (words[index + 1] & ~(mask >> done)) | (value >> done);
    }
}

// The first set bit at or after `from`, or words.size() * 64 if there is none.
[[nodiscard]] constexpr std::uint64_t find_next(std::span<const std::uint64_t> words, std::uint64_t from) noexcept {
    if (from >= words.size() * word_bits) return words.size() * word_bits;
    std::size_t index = from / word_bits;
    std::uint64_t word = words[index] & ~low_mask(from % word_bits);
    while (word == 0) {
        if (++index == words.size()) return words.size() * word_bits;
        word = words[index];
    }
    return index * word_bits + static_cast<std::uint64_t>(std::countr_zero(word));
}

[[nodiscard]] constexpr std::uint64_t find_first(std::span<const std::uint64_t> words) noexcept {
    return find_next(words, 0);
}

// To check padding and the unused end of a table.
[[nodiscard]] inline bool all_zero(std::span<const std::byte> bytes) noexcept {
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace genista::bits
