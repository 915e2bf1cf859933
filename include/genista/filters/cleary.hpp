// cleary_filter: the practical variant of [ppr05 §5], linear probing with quotienting after Cleary.
// A filter that is a plain hash table of values, at little more than log2(1/ε) + 2 bits a cell, any
// size and up to 97 % full.
//
// A key has a value: a home cell (its quotient, by the digest's position) and a remainder of
// log2(1/ε) bits (from the digest's seed). The table keeps the set of values; where a remainder
// lies tells most of its quotient. The remainders of one quotient, its *run*, lie side by side and
// in order; runs lie in the order of their quotients, none before its home; what finds its home
// taken slides on, from the last cell to the first.
//
//     home           0 1 2 3 4 5 6 7            values: 1 → a b c, 2 → d, 5 → e
//     occupied       0 1 1 0 0 1 0 0            some value has this home
//     remainder      . a b c d e . .
//     ends           0 0 0 1 1 1 0 0            the last remainder of its run
//
// Cleary finds a run by walking through its cluster from the next free cell on. Ours counts instead
// (*fork*: 2/15 of a bit a cell more): 60 cells make a block of two words, each with 60 bits of the
// rows above and half of an offset.
//
//     block          | occupied, 60 bits | 4 bits || ends, 60 bits | 4 bits |     offset: cells from the block's first one on
//     all blocks, an empty one, all remainders side by side, a few zeros           that belong to homes before it; 255: or more
//
// From the offset on, the i-th end belongs to the i-th occupied home: a count in one word and a
// select in the next find the run, and one comparison settles it: two cache lines, whatever the
// load. Where an offset says "or more" the search begins at an earlier block.
//
//   I1  Every value is in the table once. Which bytes it has follows from the set alone, not from
//       the order of insertion.
//   I2  Free cells are zero. The table is `full` when no cell is free and not before.
//   I3  A block behind a free cell has an offset below 60, and one such block stays when the last
//       cell is taken.
//
// There is no erase: two keys may have one value, and the set does not tell; who took it away for
// one would lose the other. Inserting a key whose value is there is `already_present`, "maybe
// present already", and changes nothing.
//
// Rate: at most capacity / (cells · 2^remainder bits) ≤ load · 2^-remainder bits ≤ ε, by the union
// bound of [ppr05 §2]; the bits are the fewest that keep this. Beyond the capacity it rises in
// proportion.
//
// Many threads may query at once; an insert excludes everything else, as with a standard container.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "genista/detail/base/buffer.hpp"
#include "genista/detail/filters/insert_surface.hpp"
#include "genista/detail/filters/kernel_table.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

// A key costs 1/load cells and an insert goes past O(1/(1 - load)²) of them. Look-ups take the same
// time up to 97 %, inserts hardly longer at 95 % than at 80 % (docs/filters/cleary.md), and there
// is still room for one key in twenty more.
inline constexpr double cleary_default_load = 0.95;

struct cleary_options {
    std::uint64_t capacity = 1'000'000;
    double false_positive_rate = 1.0 / 256;
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    double load = cleary_default_load;          // of the cells that `capacity` keys may take, 0.5 to 0.97
};

struct cleary_block {
    std::uint64_t occupied = 0;  // 60 bits; above them the low half of the offset
    std::uint64_t ends = 0;      // 60 bits; above them the high half
};

struct cleary_state {
    cleary_block* blocks = nullptr;
    std::byte* remainders = nullptr;
    std::uint64_t block_count = 0;
    std::uint64_t used = 0;  // cells
    unsigned bits = 0;       // of a remainder
    unsigned lanes = 0;      // remainders that a word load brings, wherever it begins
    std::uint64_t ones = 0;  // the lowest bit of each of them
};

struct cleary_kernels {
    kernel_table<cleary_state> lookups;
    insert_outcome (*insert_integer)(cleary_state&, const hash_state&, std::uint64_t) noexcept;
    insert_outcome (*insert_digest)(cleary_state&, const digest&) noexcept;
    // `full`, and nothing changed, also where the next free cell is more than so many behind the
    // home. If all values came this way none is further from its home, and no operation passes more
    // cells.
    insert_outcome (*insert_near)(cleary_state&, const digest&, std::uint64_t most_cells) noexcept;
    insert_table<cleary_state> many;
};

// What an operation goes past, the home cell included: the measure of [ppr05 §5].
struct cleary_walk {
    std::uint64_t lookup_cells = 1;  // up to the last of the run; 1 where the home is not occupied
    std::uint64_t insert_cells = 1;  // up to the next free cell: linear probing's own count
};

class cleary_filter : public filter_surface<cleary_filter>, public insert_surface<cleary_filter> {
  public:
    static constexpr std::string_view name = "cleary";
    static constexpr double default_load = cleary_default_load;
    static constexpr double min_load = 0.5, max_load = 0.97;
    static constexpr unsigned max_remainder_bits = 56;  // what a word load brings from any bit of a byte on
    static constexpr double min_false_positive_rate = max_load / (std::uint64_t{1} << max_remainder_bits);

    [[nodiscard]] static result<cleary_filter> make(const cleary_options& options = {}) noexcept;
    // What generic code calls, at the default load. A template, so that braces always mean
    // cleary_options.
    template <std::same_as<filter_options> Plain>
    [[nodiscard]] static result<cleary_filter> make(const Plain& options) noexcept {
        return make(cleary_options{options.capacity, options.false_positive_rate, options.hash});
    }

    insert_outcome insert(integer_key key) noexcept {
        return kernels_->insert_integer(state_, hash_.state(), key.value());
    }
    insert_outcome insert(key_view key) noexcept { return insert(hash_(key)); }
    insert_outcome insert(const digest& d) noexcept { return kernels_->insert_digest(state_, d); }
    using insert_surface::insert;  // many keys
    // Takes all keys out, as if it had just been made: same table, same hash.
    void clear() noexcept;

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<cleary_filter> load(std::span<const std::byte> bytes) noexcept;

    // `keys` are values: keys that found theirs taken are not among them.
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] std::uint64_t cells() const noexcept;
    [[nodiscard]] unsigned remainder_bits() const noexcept { return state_.bits; }
    // There must be a free cell.
    [[nodiscard]] cleary_walk walk_of(const digest& d) const noexcept;

    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t capacity, double rate,
                                                        double load = default_load) noexcept;
    [[nodiscard]] static double fpr_for(std::uint64_t capacity, std::uint64_t bits,
                                        double load = default_load) noexcept;
    [[nodiscard]] static result<std::uint64_t> keys_for_bits(std::uint64_t bits, double rate,
                                                             double load = default_load) noexcept;

  private:
    friend filter_surface;
    friend insert_surface;
    cleary_filter(const cleary_options& options, const hasher& hash, const cleary_state& shape, buffer table) noexcept;
    [[nodiscard]] const kernel_table<cleary_state>& kernels() const noexcept { return kernels_->lookups; }
    [[nodiscard]] const cleary_state& state() const noexcept { return state_; }
    template <class Key>
    std::size_t insert_many(std::span<const Key> keys) noexcept {
        return kernels_->many.insert(state_, hash_.state(), keys).taken;
    }

    const cleary_kernels* kernels_;
    cleary_state state_;
    hasher hash_;
    buffer table_;
    std::uint64_t capacity_;
    double rate_;
    double load_;
};

}  // namespace genista
