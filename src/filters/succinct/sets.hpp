// sets: a collection of dynamic sets S_1, S_2, … of elements of [u], each with one of a few
// *symbols*, in one memory [ppr05 Lemma 4.1].
//
// The paper takes the dynamic dictionary of Raman and Rao, which it does not describe. This one is
// our choice; what it shares with theirs is quotienting and extendable arrays. A set has bins,
// about `keys_a_bin` elements to a bin. An element's bin is the low bits of x; the bin holds the
// rest of x, and the symbol, as one number below symbols · ⌈u/bins⌉:
//
//     x      [ quotient = x / 2^level | bin = x mod 2^level ]   number = symbols · quotient + symbol
//
// coded in about log(symbols · u/n) + 2 bits (bin.hpp), in a block of exactly as many words as it
// needs (arena.hpp). So a set of n elements takes log C(symbols · u, n) + O(n) bits: 0.5 a key for
// the code, (32 + 57 + 32)/keys_a_bin for address, header and the last word's rest; and of all
// words one in 2 log(words) for blocks that wait to be reused, up to twice as many during a
// compaction.
//
// The bins grow by one at a time, as in linear hashing: bin i is split into i and i + 2^level by
// the next bit of x, i = 0, 1, 2, …, and merged in the opposite order. No structure is ever copied
// as a whole: a call copies at most a bin, some blocks for the compaction, and 4 KiB
// (segmented_array.hpp).
//
// Membership takes constant time: one address, one block. REQUIRES: the low bits of x look random;
// owners hash or permute first. REQUIRES: no thread changes it while others look.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/cpu.hpp"
#include "base/segmented_array.hpp"
#include "filters/succinct/arena.hpp"
#include "filters/succinct/bin.hpp"
#include "filters/succinct/probe.hpp"
#include "genista/base/result.hpp"
#include "genista/filters/filter.hpp"

namespace genista::succinct {

struct sets_shape {
    std::uint64_t universe = 1;  // u
    unsigned symbols = 1;
};

class sets {
  public:
    static constexpr std::uint64_t most_universe = std::uint64_t{1} << 61;
    static constexpr unsigned most_sets = 62, most_symbols = 3;
    static constexpr std::uint64_t keys_a_bin = 160;
    static constexpr unsigned most_level = 30;

    [[nodiscard]] static result<sets> make(const sets_shape& shape) noexcept;

    // The element's symbol, if it is in the set.
    [[nodiscard]] std::optional<unsigned> find(unsigned set, std::uint64_t x) const noexcept;
    [[nodiscard]] bool contains(unsigned set, std::uint64_t x) const noexcept;
    // The first set, for look-ups in steps; valid until the next change.
    [[nodiscard]] const probe& first() const noexcept { return first_; }

    // full: no memory (or a bin beyond its limit, which needs an x that does not look random).
    // Nothing changes unless the result is inserted.
    [[nodiscard]] insert_outcome insert(unsigned set, std::uint64_t x, unsigned symbol) noexcept;
    // REQUIRES: the element is in the set. Neither can fail.
    void change(unsigned set, std::uint64_t x, unsigned symbol) noexcept;
    void erase(unsigned set, std::uint64_t x) noexcept { erase(set, locate(set, x)); }

    // Where an element is or would be; valid until the next change. A caller that looks first and
    // erases then needs no second look-up.
    struct located {
        std::uint64_t b = 0;
        unsigned level = 0;
        arena::address at = 0;
        bin::found where{};
        std::uint64_t least = 0;  // the number of x with the first symbol
        [[nodiscard]] std::optional<unsigned> symbol() const noexcept {
            if (!where.is_there) return std::nullopt;
            return static_cast<unsigned>(where.number - least);
        }
    };
    [[nodiscard]] located locate(unsigned set, std::uint64_t x) const noexcept {
        return set < all_.size() ? locate(all_[set], x) : located{};
    }
    void erase(unsigned set, const located& here) noexcept;  // REQUIRES: the element is there
    void clear() noexcept;                                   // as after make(): all memory is given back

    [[nodiscard]] const sets_shape& shape() const noexcept { return shape_; }
    [[nodiscard]] unsigned count() const noexcept { return static_cast<unsigned>(all_.size()); }
    [[nodiscard]] std::uint64_t size(unsigned set) const noexcept { return set < all_.size() ? all_[set].size : 0; }
    [[nodiscard]] std::uint64_t size() const noexcept;
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;  // not counting the object itself

    // Calls take(x, symbol) for every element of a set, bin by bin.
    template <class Take>
    void each(unsigned set, Take take) const {
        std::array<std::uint64_t, most_in_bin> numbers;
        if (set >= all_.size()) return;
        for (std::uint64_t b = 0; b < all_[set].bins(); ++b) {
            const unsigned level = all_[set].level_of(b);
            for (const std::uint64_t number : numbers_in(set, b, numbers)) {
                const auto [quotient, symbol] = parts_of(number);
                take(quotient << level | b, symbol);
            }
        }
    }

    // write_words() writes the blocks of all bins of all sets, one after another; read_words()
    // makes a collection of such words, which may be anything.
    struct extent {
        std::uint64_t bins = 0, size = 0;
    };
    [[nodiscard]] extent extent_of(unsigned set) const noexcept { return {all_[set].bins(), all_[set].size}; }
    [[nodiscard]] std::uint64_t words() const noexcept;
    void write_words(std::vector<std::uint64_t>& out) const;
    [[nodiscard]] static result<sets> read_words(const sets_shape& shape, std::span<const extent> extents,
                                                 std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] bool is_sound() const noexcept;

  private:
    struct one {
        segmented_array<arena::address> addresses;  // of every bin's block; 0: an empty bin
        std::uint64_t size = 0;
        unsigned level = 0;
        std::uint64_t split = 0;  // bins below it, and those from 2^level on, have level + 1 bits

        [[nodiscard]] std::uint64_t bins() const noexcept { return (std::uint64_t{1} << level) + split; }
        [[nodiscard]] std::uint64_t bin_of(std::uint64_t x) const noexcept {
            const std::uint64_t fine = x & bits::low_mask(level + 1);
            return fine < bins() ? fine : x & bits::low_mask(level);
        }
        [[nodiscard]] unsigned level_of(std::uint64_t b) const noexcept {
            return b < split || b >= std::uint64_t{1} << level ? level + 1 : level;
        }
    };

    explicit sets(const sets_shape& shape) noexcept;
    [[nodiscard]] bool add_set() noexcept;
    [[nodiscard]] insert_outcome put(unsigned set, std::uint64_t x, unsigned symbol) noexcept;
    void look_again() noexcept;
    [[nodiscard]] std::uint64_t limit_at(unsigned level) const noexcept {
        return shape_.symbols * (((shape_.universe - 1) >> level) + 1);
    }
    [[nodiscard]] static std::uint64_t owner_of(unsigned set, std::uint64_t b) noexcept {
        return b * (most_sets + 2) + set;
    }
    [[nodiscard]] arena::address allocate(std::uint64_t words, unsigned set, std::uint64_t b) noexcept;
    [[nodiscard]] bin view(arena::address at, unsigned level) const noexcept {
        return {words_.block(at), codes_[level]};
    }
    [[nodiscard]] std::uint64_t number_of(unsigned level, std::uint64_t x, unsigned symbol) const noexcept {
        return shape_.symbols * (x >> level) + symbol;
    }
    struct parts {
        std::uint64_t quotient = 0;
        unsigned symbol = 0;
    };
    // Divides by a constant if the number of symbols is a usual one.
    [[nodiscard]] parts parts_of(std::uint64_t number) const noexcept {
        if (shape_.symbols == 1) return {number, 0};
        if (shape_.symbols == 3) return {number / 3, static_cast<unsigned>(number % 3)};
        return {number / shape_.symbols, static_cast<unsigned>(number % shape_.symbols)};
    }
    [[nodiscard]] located locate(const one& in, std::uint64_t x) const noexcept;
    [[nodiscard]] std::span<const std::uint64_t> numbers_in(unsigned set, std::uint64_t b,
                                                            std::span<std::uint64_t> out) const noexcept;
    // A block that holds these numbers and has no owner yet. None: no memory. 0 if there are no
    // numbers.
    [[nodiscard]] std::optional<arena::address> write_block(std::span<const std::uint64_t> numbers, unsigned level,
                                                            unsigned set, std::uint64_t b) noexcept;
    // Makes this block the bin's (0: none) and frees the old one.
    void put_in_place(one& in, std::uint64_t b, arena::address at) noexcept;
    void split_one(unsigned set) noexcept;
    void merge_one(unsigned set) noexcept;

    sets_shape shape_;
    bool has_bmi2_;
    std::array<bin_code, most_level + 1> codes_;  // by level
    arena words_;
    std::vector<one> all_;
    probe first_;  // of all_[0]; it points to heap memory, which does not move with this object
};

}  // namespace genista::succinct
