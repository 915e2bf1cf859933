// bit_strings: many short bit strings s_0, s_1, ... of differing lengths, some of them empty,
// packed into a constant number of machine words, with every operation in a constant number of word
// steps: Lemma 29 of [broom18 App. A] (Lemma 12 of [broom17 §4]). The paper's broom filter keeps
// its remainders and adaptivity bits this way.
//
// Layout: every string takes length + 1 slots, the last of which is its terminator. Two wide words
// share the slot numbers.
//
//     strings   "101"  ""  "01"                 slot   0 1 2 3 4 5 6 7 8 ...
//                                               data   1 0 1 0 0 0 1 0 0 ...
//                                               ends   0 0 0 1 1 0 0 1 0 ...
//                                                      └ s_0 ┘ │ └s_2┘
//                                                              s_1, empty
//
//   I1  `ends` has one bit for each string, in order: the slot after its last bit.
//   I2  data is zero in the terminator slots and in all slots after the last terminator.
//
// Fork: the paper offers "a bit mask that indicates the starting bit location for each s_i". Such a
// mask cannot represent an empty s_i, since s_i and s_i+1 would start at one place. Strings do
// become empty (a fingerprint without adaptivity bits; "indicate which strings still have bits"),
// so each string pays one slot for its terminator. That slot also receives carries, which keeps the
// matching below short.
//
// Prefix match. (1) Copy the query to every start. (2) equal = slots whose bit agrees. (3) equal +
// starts: in each string a carry climbs through the agreeing bits and stops in the first slot that
// disagrees, or in the terminator. A carry in the terminator: s_i is a prefix of q. Its stopping
// place: the length of the common prefix, for all strings at once. Step (1) goes by offsets 0,
// [1,2), [2,4), [4,8), ...: only strings of 2^t bits or more have slots at the offsets 2^t ..
// 2^(t+1) - 1, so the places start + 2^t are more than 2^t apart, and one multiplication stamps
// those bits of q at all of them without overlap.
//
// The cost: at most log2(64 Words) <= 8 rounds of a constant number of wide operations. It depends
// on Words and on the bit width of |q|, never on the number or the lengths of the strings; the
// experiment broom-words measures it and step_bounds below bounds it. A fork here too: for words of
// w bits this is O(log w) steps, a constant on any real machine, where the paper reaches O(1) for
// growing w by look-up tables of n^(3/8) entries. For w = 64 that would be 2^24 entries, which we
// believe (not measured) to lose to eight multiplications by their cache misses alone.
//
// Ranks count from 0. The reference model is lab/scalar/plain_bit_strings.hpp; operations on many
// strings in one call are in bit_strings_parallel.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "bits/words.hpp"
#include "papers/bit_strings/wide_word.hpp"

namespace genista::bits {

// A single string: bit 0 is its first, bits from `length` on are zero.
template <std::size_t Words, class Kernel = portable_words>
struct bit_string {
    wide_word<Words, Kernel> bits;
    std::size_t length = 0;

    [[nodiscard]] static bit_string of(const wide_word<Words, Kernel>& from, std::size_t length) noexcept {
        return {from & wide_word<Words, Kernel>::low(length), length};
    }
    [[nodiscard]] static bit_string of(std::uint64_t from, std::size_t length) noexcept {
        return of(wide_word<Words, Kernel>::of(from), length);
    }
    friend bool operator==(const bit_string& a, const bit_string& b) noexcept {
        return a.length == b.length && a.bits == b.bits;
    }
};

// Ranks first, first + 1, ..., last - 1; ranks beyond the last string are ignored. The paper's [j,
// k] is {j - 1, k}.
struct rank_range {
    std::size_t first = 0;
    std::size_t last = static_cast<std::size_t>(-1);
};

enum class edit : unsigned char {
    done,
    full,  // the slots do not suffice; nothing was changed
};

// The most word steps of an operation, for strings of any number and any length: tests and the
// experiment broom-words compare counted<Kernel> with it. `rounds` is the log2 of the number of
// slots.
template <std::size_t Words>
struct step_bounds {
    static constexpr std::size_t rounds = static_cast<std::size_t>(std::bit_width(Words * word_bits - 1));
    // prefix_match, prefix_lengths
    static constexpr std::size_t query = Words * (30 + 16 * rounds);
    // insert, erase, splice, append, drop_front, concatenate
    static constexpr std::size_t edit = Words * 40;
    // drop_front_all, erase_all, concatenate_all
    static constexpr std::size_t parallel_edit = Words * (36 + 3 * rounds);
    // insert_all
    static constexpr std::size_t merge = Words * (48 + 4 * rounds) * rounds;
    // prefix_match_each
    static constexpr std::size_t parallel_query = Words * (70 + 8 * rounds) * rounds;
};

template <std::size_t Words, class Kernel = portable_words>
class bit_strings {
  public:
    using kernel = Kernel;
    using wide = wide_word<Words, Kernel>;
    using string = bit_string<Words, Kernel>;
    static constexpr std::size_t slots = wide::bits;
    using bounds = step_bounds<Words>;

    bit_strings() noexcept = default;

    [[nodiscard]] const wide& data() const noexcept { return data_; }
    [[nodiscard]] const wide& ends() const noexcept { return ends_; }

    [[nodiscard]] std::size_t count() const noexcept { return ends_.count(); }
    [[nodiscard]] std::size_t used_slots() const noexcept { return ends_.length(); }
    [[nodiscard]] std::size_t free_slots() const noexcept { return slots - used_slots(); }
    [[nodiscard]] std::size_t length(std::size_t rank) const noexcept { return end(rank) - begin(rank); }
    [[nodiscard]] string at(std::size_t rank) const noexcept {
        const std::size_t first = begin(rank), length = end(rank) - first;
        return string::of(data_ >> first, length);
    }

    //  ---- (1) and (2): queries

    // Bit i: rank i is in the range and s_i is a prefix of the query.
    [[nodiscard]] wide prefix_match(const string& query, rank_range range = {}) const noexcept {
        const wide landed = equal_slots(query) + starts();
        return (landed & ends_).extract(ends_) & ranks(range);
    }

    // The stops of the common prefixes: `stops` has one bit for each string of the range, in order,
    // in its slots.
    struct prefix_lengths_answer {
        wide stops;
        std::size_t first_rank;
        bit_strings strings;
        // The length of the longest common prefix of s_rank and the query.
        [[nodiscard]] std::size_t operator[](std::size_t rank) const noexcept {
            assert(rank >= first_rank);
            return stops.select(rank - first_rank) - strings.begin(rank);
        }
    };
    [[nodiscard]] prefix_lengths_answer prefix_lengths(const string& query, rank_range range = {}) const noexcept {
        const wide equal = equal_slots(query);
        const std::size_t all = count();
        const std::size_t last = std::min(range.last, all), first = std::min(range.first, last);
        const wide within = wide::low(begin(last)).without(wide::low(begin(first)));
        return {(equal + starts()).without(equal) & within, first, *this};
    }

    //  ---- (3) and (4): insert or erase one string

    // Inserts s at that rank (0 .. count()); the strings from there on move up by one.
    [[nodiscard]] edit insert(std::size_t rank, const string& s) noexcept {
        assert(rank <= count());
        if (s.length >= free_slots()) return edit::full;
        const std::size_t place = begin(rank);
        data_ = data_.with_gap(place, s.length + 1) | (s.bits << place);
        ends_ = ends_.with_gap(place, s.length + 1) | wide::bit(place + s.length);
        return edit::done;
    }
    void erase(std::size_t rank) noexcept {
        assert(rank < count());
        const std::size_t place = begin(rank);
        close(place, end(rank) + 1 - place);
    }

    //  ---- (5): splices

    struct cut {
        std::size_t offset = 0;  // 0 .. length: where in the string
        std::size_t remove = 0;  // remove at most this many bits
    };
    // Replaces bits of one string: removes up to cut.remove bits at cut.offset and puts `s` in
    // their place.
    [[nodiscard]] edit splice(std::size_t rank, cut where, const string& s) noexcept {
        const std::size_t first = begin(rank), length = end(rank) - first;
        assert(where.offset <= length);
        const std::size_t removed = std::min(where.remove, length - where.offset);
        if (s.length > free_slots() + removed) return edit::full;
        const std::size_t place = first + where.offset;
        close(place, removed);
        data_ = data_.with_gap(place, s.length) | (s.bits << place);
        ends_ = ends_.with_gap(place, s.length);
        return edit::done;
    }
    // Extends the string at its end: adaptivity bits grow there.
    [[nodiscard]] edit append(std::size_t rank, const string& s) noexcept {
        return splice(rank, {.offset = length(rank), .remove = 0}, s);
    }
    // Removes up to x bits from the beginning and returns how many there were.
    std::size_t drop_front(std::size_t rank, std::size_t x) noexcept {
        const std::size_t first = begin(rank), removed = std::min(x, end(rank) - first);
        close(first, removed);
        return removed;
    }
    // Joins s_rank and s_rank+1 into one string by removing the terminator between them.
    void concatenate(std::size_t rank) noexcept {
        assert(rank + 1 < count());
        close(end(rank), 1);
    }

    //  ---- building blocks, also of bit_strings_parallel.hpp

    // The first slot of string `rank`; for rank == count(), the first unused slot.
    [[nodiscard]] std::size_t begin(std::size_t rank) const noexcept {
        const std::size_t previous_end = ends_.select(rank - (rank != 0));  // selected in any case: constant cost
        return rank == 0 ? 0 : previous_end + 1;
    }
    // The slot of its terminator.
    [[nodiscard]] std::size_t end(std::size_t rank) const noexcept {
        assert(rank < count());
        return ends_.select(rank);
    }
    // All first slots. The first slot of an empty string is its terminator.
    [[nodiscard]] wide starts() const noexcept { return ((ends_ << 1) | wide::of(1)) & wide::low(used_slots()); }
    // All slots that hold a bit of a string.
    [[nodiscard]] wide payload() const noexcept { return wide::low(used_slots()).without(ends_); }

    // Replaces both words. REQUIRES: I2 holds.
    void replace(const wide& data, const wide& ends) noexcept {
        data_ = data;
        ends_ = ends;
    }

    // Slots from which `distance` payload slots follow, the slot itself included: F_1 = payload,
    // F_2k(p) = F_k(p) and F_k(p + k). `runs` must be F_k for some k >= distance / 2, k <=
    // distance.
    [[nodiscard]] static wide longer_runs(const wide& runs, std::size_t k, std::size_t distance) noexcept {
        return runs & (runs >> (distance - k));
    }

  private:
    [[nodiscard]] static wide ranks(rank_range range) noexcept {
        const std::size_t last = std::min(range.last, slots);
        return wide::low(last).without(wide::low(std::min(range.first, last)));
    }
    void close(std::size_t place, std::size_t distance) noexcept {
        data_ = data_.without_gap(place, distance);
        ends_ = ends_.without_gap(place, distance);
    }
    [[nodiscard]] wide equal_slots(const string& query) const noexcept;

    wide data_;
    wide ends_;
};

// The slots that agree with the query copied to every start, up to the end of the query. A slot at
// offset |q| counts as disagreeing, so that no carry climbs past it; slots beyond it are never
// reached and may hold anything.
template <std::size_t Words, class Kernel>
wide_word<Words, Kernel> bit_strings<Words, Kernel>::equal_slots(const string& query) const noexcept {
    const wide holds = payload(), heads = starts();
    if (query.length == 0) return holds.without(heads);
    wide laid_out = (query.bits.words[0] & 1) != 0 ? heads : wide{};  // offset 0
    wide runs = holds;                                                // F_k
    wide covered = heads;                                             // slots at offsets below k
    std::size_t k = 1;
    for (; k < query.length; k *= 2) {
        const wide bases = (heads & runs) << k;     // start + k of all strings of k bits or more
        const wide window = (covered & runs) << k;  // their offsets k .. 2k - 1, cut at the terminators
        wide stamps;
        for (std::size_t part = 0; part < k;
             part += word_bits) {  // more than one word only in the rounds 128, 256, ...
            const std::size_t width = std::min(k, word_bits);
            const std::uint64_t piece = (query.bits >> (k + part)).words[0] & low_mask(width);
            stamps = stamps | (bases << part).stamped(piece);
        }
        laid_out = laid_out | (stamps & window);
        covered = covered | window;
        if (2 * k <= query.length) runs = longer_runs(runs, k, 2 * k);
    }
    // The loop leaves F_j with j the largest power of two not above |q|.
    const std::size_t reached = std::size_t{1} << (std::bit_width(query.length) - 1);
    const wide whole = longer_runs(runs, reached, query.length);
    const wide past_query = (heads & whole) << query.length;
    return holds.without((data_ ^ laid_out) | past_query);
}

}  // namespace genista::bits
