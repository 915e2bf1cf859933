// groups: the adaptivity bits, apart from the remainders, for every group of Θ(log n) quotients
// [broom18 §5.1]: 64, or 16 where remainders are so short that every third key collides.
//
// A group is a bit_strings of App. A: strings in a constant number of words, matched against a
// query all at once. Only fingerprints with adaptivity bits have a string there; most have none:
//
//     string   index in its run, 4 bits | ghost? 1 | quotient in the group, 6 | adaptivity bits
//
// in the order of the first eleven bits, its *tag*. Ghosts keep quotient and bits [§4.3], their
// index is 0. All O(log n) bits of a group fit into 640 slots with high probability [Lemma 16];
// otherwise the call reports `full`, and the filter rebuilds. (With 512 that happened once in two
// million repairs with as many replacements, at 10^5 keys: not rare enough.)
//
// Memory: a group takes 64, 128, 256, 512 or 640 slots from a pool of its size, or nothing while it
// is empty.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "papers/bit_strings/bit_strings.hpp"
#include "papers/broom_paper/hashes.hpp"

namespace genista::broom_paper {

class groups {
  public:
    // Measured with 20,000 keys and twice as many repairs: with 64 and remainders of two bits a
    // group was full eleven times, and with one bit all the time; with four bits never.
    [[nodiscard]] static constexpr std::uint64_t quotients_in_group(unsigned remainder_bits) noexcept {
        return remainder_bits < 4 ? 16 : 64;
    }
    static constexpr unsigned most_run = 16;  // indices of four bits

    // May throw std::bad_alloc, as every function that changes strings.
    groups(std::uint64_t quotients, unsigned remainder_bits);

    //  ---- fingerprints in the table
    struct owner {
        std::uint64_t quotient = 0;
        unsigned index = 0;  // in its run
    };
    [[nodiscard]] adaptivity bits_of(const owner& who) const noexcept;
    // False: the group is full, and nothing has changed. Length 0 is always possible.
    [[nodiscard]] bool set_bits(const owner& who, const adaptivity& bits);
    // The owner leaves its run: its bits are removed, and the fingerprints behind it move up one.
    void forget(const owner& who);

    //  ---- ghosts
    [[nodiscard]] bool add_ghost(std::uint64_t quotient, const adaptivity& bits);
    // False if there is no such ghost.
    bool remove_ghost(std::uint64_t quotient, const adaptivity& bits);
    // The length of the longest ghost whose bits this stream begins with; 0: none [§4.3].
    [[nodiscard]] unsigned longest_ghost(std::uint64_t quotient, std::uint64_t stream) const noexcept;
    // The number of bits after which none of the quotient's strings agrees: the variation in the
    // proof of Lemma 16.
    [[nodiscard]] unsigned past_all_strings(std::uint64_t quotient, std::uint64_t stream) const noexcept;

    // Would these additional bits and strings fit?
    [[nodiscard]] bool has_room(std::uint64_t quotient, std::size_t more_bits, std::size_t more_strings) const noexcept;

    //  ---- figures
    [[nodiscard]] std::uint64_t count() const noexcept { return handles_.size(); }
    struct contents {
        std::uint64_t fingerprints = 0, bits = 0, ghosts = 0, ghost_bits = 0;
    };
    [[nodiscard]] contents in_group(std::uint64_t group) const noexcept;
    // Calls visit(quotient, is_ghost, index, bits) for every string of a group.
    template <class Visit>
    void each_string(std::uint64_t group, Visit visit) const {
        const strings all = load_group(group);
        for (std::size_t rank = 0; rank < all.count(); ++rank) {
            const std::uint64_t tag = tag_at(all, rank);
            visit(group * in_group_ + (tag >> 5), (tag >> 4 & 1) != 0, static_cast<unsigned>(tag & 15),
                  bits_at(all, rank));
        }
    }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;

  private:
    static constexpr std::size_t wide_words = 10;
    static constexpr unsigned tag_bits = 11, classes = 5;
    using strings = bits::bit_strings<wide_words>;
    using string = strings::string;
    using wide = strings::wide;

    [[nodiscard]] std::uint64_t tag_of(std::uint64_t quotient, bool ghost, unsigned index) const noexcept {
        return index | std::uint64_t{ghost} << 4 | quotient % in_group_ << 5;
    }
    [[nodiscard]] static string tagged(std::uint64_t tag, const adaptivity& bits) noexcept;
    [[nodiscard]] static std::uint64_t tag_at(const strings& all, std::size_t rank) noexcept;
    [[nodiscard]] static adaptivity bits_at(const strings& all, std::size_t rank) noexcept;
    // The first string whose tag is not smaller.
    [[nodiscard]] static std::size_t lower_bound(const strings& all, std::uint64_t tag) noexcept;

    [[nodiscard]] strings load_group(std::uint64_t group) const noexcept;
    void store_group(std::uint64_t group, const strings& all);

    // Blocks of twice as many words as a class has: data, then ends. A free block's first word is
    // the number of the next one.
    struct pool {
        std::vector<std::uint64_t> words{};
        std::uint32_t free = none;
    };
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    [[nodiscard]] static constexpr std::size_t block_words(unsigned size_class) noexcept {
        return 2 * std::min(std::size_t{1} << size_class, wide_words);
    }
    [[nodiscard]] std::uint32_t take_block(unsigned size_class);
    void give_block(std::uint32_t handle) noexcept;

    std::uint64_t in_group_;              // quotients
    std::vector<std::uint32_t> handles_;  // block · classes + class, or none
    std::array<pool, classes> pools_{};
};

}  // namespace genista::broom_paper
