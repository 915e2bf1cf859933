// side_block: the side structure of a group as bits in memory, read without locks.
//
//     bit 0   11 bits  backyard entries b, of all 16 bins
//     bit 11  11 bits  notes o
//     bit 22   5 bits  long salts e
//     bit 27   1 bit   are any slots dead?
//     bit 32  16 + b   whose backyard entries: for each bin a zero an entry, then a one; zeros up
//                      to a multiple of 16
//             b · 16   the low halves of the tags, so that a vector can compare many at once
//             b · t    the rest of the tags
//             16       if slots are dead: a bit for each bin with dead slots, then 48 for each of
//                      these bins, one a slot
//             o · 18   notes
//             e · 48   long salts: bin 4 bits, number 44 bits
//
// Readers may see a block that is being rewritten, or that has become somebody else's; they find
// out afterwards. So every count is cut to what a valid block can have, and nothing is read beyond
// the longest valid block.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "filters/broom/memory.hpp"
#include "filters/broom/salts.hpp"
#include "filters/broom/side.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

inline constexpr unsigned most_backyard = bins_per_group * (backyard_per_bin + entries_beyond);
inline constexpr unsigned most_notes = bins_per_group * most_notes_per_bin;
inline constexpr unsigned long_salt_bits = 4 + salt_number_bits;

// In a group's handle, beside the place of its block: some slot of the group is dead or has
// adaptivity bits. Without it a slot that matches needs no look at the block.
inline constexpr side_memory::handle side_has_notes = side_memory::handle{1} << 31;

[[nodiscard]] inline std::uint64_t bits_at(const std::uint64_t* words, std::uint64_t bit, unsigned width) noexcept {
    const auto shift = static_cast<unsigned>(bit % 64);
    std::uint64_t value = load_word(words + bit / 64) >> shift;
    if (shift + width > 64) value |= load_word(words + bit / 64 + 1) << (64 - shift);
    return value & ((std::uint64_t{1} << width) - 1);
}

inline void set_bits_at(std::uint64_t* words, std::uint64_t bit, unsigned width, std::uint64_t value) noexcept {
    const auto shift = static_cast<unsigned>(bit % 64);
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    std::uint64_t* const low = words + bit / 64;
    store_word(low, (load_word(low) & ~(mask << shift)) | value << shift);
    if (shift + width > 64) {
        std::uint64_t* const high = low + 1;
        store_word(high, (load_word(high) & ~(mask >> (64 - shift))) | value >> (64 - shift));
    }
}

// Bits one after the other into words of memory, each of which is stored once.
class bit_stream {
  public:
    explicit bit_stream(std::uint64_t* to) noexcept : to_{to} {}

    // The value has no bits beyond its width, which is below 64.
    void put(std::uint64_t value, unsigned width) noexcept {
        word_ |= value << filled_;
        if (filled_ + width >= 64) {
            store_word(to_++, word_);
            word_ = filled_ == 0 ? 0 : value >> (64 - filled_);
            filled_ = filled_ + width - 64;
        } else {
            filled_ += width;
        }
    }
    void finish() noexcept {
        if (filled_ != 0) store_word(to_, word_);
    }

  private:
    std::uint64_t* to_;
    std::uint64_t word_ = 0;
    unsigned filled_ = 0;
};

class side_block {
  public:
    side_block(const std::uint64_t* words, shape s) noexcept : words_{words}, tail_bits_{s.tail_bits} {
        const std::uint64_t head = load_word(words);
        backyard_ = std::min(static_cast<unsigned>(head & 2047), most_backyard);
        notes_ = std::min(static_cast<unsigned>(head >> 11 & 2047), most_notes);
        salts_ = std::min(static_cast<unsigned>(head >> 22 & 31), bins_per_group);
        dead_bins_ = (head >> 27 & 1) == 0 ? 0 : static_cast<std::uint32_t>(bits_at(words, dead_at(), bins_per_group));
    }

    [[nodiscard]] unsigned backyard() const noexcept { return backyard_; }
    [[nodiscard]] unsigned notes() const noexcept { return notes_; }
    [[nodiscard]] unsigned salts() const noexcept { return salts_; }
    [[nodiscard]] unsigned bins_with_dead() const noexcept { return static_cast<unsigned>(std::popcount(dead_bins_)); }
    [[nodiscard]] bool speaks_of_slots() const noexcept { return notes_ != 0 || dead_bins_ != 0; }
    [[nodiscard]] std::uint64_t learnt_bits() const noexcept {
        return std::uint64_t{notes_} * note_bits + std::uint64_t{bins_with_dead()} * slots_per_bin;
    }

    // Where the bits of the bin's dead slots stand; 0 if it has none.
    [[nodiscard]] std::uint64_t dead_slots_at(unsigned bin) const noexcept {
        if ((dead_bins_ >> bin & 1) == 0) return 0;
        const auto before = static_cast<unsigned>(std::popcount(dead_bins_ & ((1u << bin) - 1)));
        return dead_at() + bins_per_group + std::uint64_t{slots_per_bin} * before;
    }
    [[nodiscard]] slot_set dead_of(unsigned bin) const noexcept {
        const std::uint64_t at = dead_slots_at(bin);
        return at == 0 ? slot_set{} : slot_set{bits_at(words_, at, slots_per_bin)};
    }

    // Entries [first, end) of the bin.
    struct range {
        unsigned first;
        unsigned end;
    };
    [[nodiscard]] range backyard_of(unsigned bin) const noexcept {
        const unsigned end = std::min(ones(bin) - bin, backyard_);
        const unsigned first = bin == 0 ? 0 : std::min(ones(bin - 1) - (bin - 1), end);
        return {first, end};
    }
    [[nodiscard]] std::uint32_t tag(unsigned i) const noexcept {
        const auto low =
            static_cast<std::uint32_t>(bits_at(words_, low_tags_at(backyard_) + 16 * std::uint64_t{i}, 16));
        return low | high_tag(words_, backyard_, i, tail_bits_);
    }
    [[nodiscard]] side_note note(unsigned i) const noexcept {
        return side_note::from(bits_at(words_, notes_at() + std::uint64_t{i} * note_bits, note_bits));
    }
    [[nodiscard]] unsigned first_note_of(unsigned bin) const noexcept {
        unsigned first = 0;
        unsigned end = notes_;
        while (first < end) {
            const unsigned middle = (first + end) / 2;
            if (note(middle).bin < bin) {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        return first;
    }
    [[nodiscard]] side_item salt_at(unsigned i) const noexcept {
        const std::uint64_t raw = bits_at(words_, salts_at() + std::uint64_t{i} * long_salt_bits, long_salt_bits);
        return {static_cast<unsigned>(raw & 15), raw >> 4};
    }

    // Any bytes at all: sixteen bins, sorted notes and salts. What single bins may have is
    // epoch::broken_rule's business.
    [[nodiscard]] bool is_valid() const noexcept {
        const std::uint64_t head = load_word(words_);
        const std::uint64_t some_dead = head >> 27 & 1;
        if ((head & 2047) != backyard_ || (head >> 11 & 2047) != notes_ || (head >> 22 & 31) != salts_) return false;
        if ((head >> 28 & 15) != 0 || some_dead != (dead_bins_ != 0 ? 1 : 0)) return false;
        for (unsigned bin = 0; bin < bins_per_group; ++bin) {
            if ((dead_bins_ >> bin & 1) != 0 && dead_of(bin).bits == 0) return false;
        }
        unsigned marks = 0;
        for (unsigned i = 0; i < bins_per_group + backyard_; ++i)
            marks += static_cast<unsigned>(bits_at(words_, head_bits + i, 1));
        if (marks != bins_per_group || ones(bins_per_group - 1) != bins_per_group + backyard_ - 1) return false;
        for (unsigned i = 1; i < notes_; ++i) {
            if (note(i - 1).bin > note(i).bin) return false;
        }
        for (unsigned i = 1; i < salts_; ++i) {
            if (salt_at(i - 1).bin >= salt_at(i).bin) return false;
        }
        return true;
    }

    // Words that a block of these counts takes.
    [[nodiscard]] static constexpr std::uint64_t granules(std::uint64_t backyard, std::uint64_t notes,
                                                          std::uint64_t salts, std::uint64_t bins_with_dead,
                                                          shape s) noexcept {
        if (backyard + notes + salts + bins_with_dead == 0) return 0;
        return (low_tags_at(backyard) + backyard * s.tag_bits() + dead_bits(bins_with_dead) + notes * note_bits +
                salts * long_salt_bits + 63) /
               64;
    }
    // The bit where the low halves of the tags begin.
    [[nodiscard]] static constexpr std::uint64_t low_tags_at(std::uint64_t backyard) noexcept {
        return (head_bits + bins_per_group + backyard + 15) / 16 * 16;
    }
    // The rest of tag i, in its place above 16 bits.
    [[nodiscard]] static std::uint32_t high_tag(const std::uint64_t* words, unsigned backyard, unsigned i,
                                                unsigned tail_bits) noexcept {
        if (tail_bits == 0) return 0;
        const std::uint64_t at = low_tags_at(backyard) + 16 * std::uint64_t{backyard} + std::uint64_t{i} * tail_bits;
        return static_cast<std::uint32_t>(bits_at(words, at, tail_bits)) << 16;
    }
    [[nodiscard]] std::uint64_t granules(shape s) const noexcept {
        return granules(backyard_, notes_, salts_, bins_with_dead(), s);
    }
    [[nodiscard]] static std::uint64_t granules(const side_list& list, shape s) noexcept {
        return granules(list.backyard.size(), list.notes.size(), list.salts.size(), list.bins_with_dead(), s);
    }

    static void write(std::uint64_t* words, const side_list& list, shape s) noexcept {
        bit_stream out{words};
        const std::uint64_t some_dead = list.bins_with_dead() != 0 ? 1 : 0;
        out.put(list.backyard.size() | list.notes.size() << 11 | list.salts.size() << 22 | some_dead << 27, head_bits);
        auto entry = list.backyard.begin();
        for (unsigned bin = 0; bin < bins_per_group; ++bin) {
            unsigned here = 0;
            for (; entry != list.backyard.end() && entry->bin == bin; ++entry) ++here;
            for (; here >= 32; here -= 32) out.put(0, 32);
            out.put(std::uint64_t{1} << here, here + 1);
        }
        const std::uint64_t marks = head_bits + bins_per_group + list.backyard.size();
        out.put(0, static_cast<unsigned>(low_tags_at(list.backyard.size()) - marks));
        for (const side_item& e : list.backyard) out.put(e.value & 0xffff, 16);
        if (s.tail_bits != 0) {
            for (const side_item& e : list.backyard) out.put(e.value >> 16, s.tail_bits);
        }
        if (some_dead != 0) {
            for (const slot_set& each : list.dead) out.put(each.bits != 0 ? 1 : 0, 1);
            for (const slot_set& each : list.dead) {
                if (each.bits != 0) out.put(each.bits, slots_per_bin);
            }
        }
        for (const side_note& n : list.notes) out.put(n.raw(), note_bits);
        for (const side_item& e : list.salts) out.put(e.value << 4 | e.bin, long_salt_bits);
        out.finish();
    }

    // A block that says nothing, for groups that have none: what the two below begin with.
    static constexpr std::uint64_t empty[2] = {std::uint64_t{(1u << bins_per_group) - 1} << 32, 0};

    // This block with a dead slot in a bin that had none, written elsewhere: into `granules(s)` of
    // the new counts.
    void write_with_dead(std::uint64_t* words, unsigned bin, unsigned slot) const noexcept {
        bit_stream out{words};
        out.put((load_word(words_) & 0xffffffffu) | 1u << 27, head_bits);
        copy(out, head_bits, dead_at() - head_bits);
        out.put(dead_bins_ | 1u << bin, bins_per_group);
        const std::uint64_t maps = dead_at() + bins_per_group;
        const auto before = static_cast<unsigned>(std::popcount(dead_bins_ & ((1u << bin) - 1))) * slots_per_bin;
        copy(out, maps, before);
        out.put(std::uint64_t{1} << slot, slots_per_bin);
        copy(out, maps + before, std::uint64_t{bins_with_dead()} * slots_per_bin - before);
        copy(out, notes_at(), std::uint64_t{notes_} * note_bits + std::uint64_t{salts_} * long_salt_bits);
        out.finish();
    }
    // This block with one more backyard entry, as the last of its bin, written elsewhere: into
    // `granules(s)` of the new counts.
    void write_with_entry(std::uint64_t* words, unsigned bin, std::uint32_t tag, shape s) const noexcept {
        bit_stream out{words};
        const unsigned end = backyard_of(bin).end;
        out.put((load_word(words_) & 0xffffffffu) + 1, head_bits);
        copy(out, head_bits, end + bin);
        out.put(0, 1);
        copy(out, head_bits + end + bin, bins_per_group + backyard_ - end - bin);
        const std::uint64_t marks = head_bits + bins_per_group + backyard_ + 1;
        out.put(0, static_cast<unsigned>(low_tags_at(backyard_ + 1) - marks));
        const std::uint64_t low_tags = low_tags_at(backyard_);
        copy(out, low_tags, 16 * std::uint64_t{end});
        out.put(tag & 0xffff, 16);
        copy(out, low_tags + 16 * std::uint64_t{end}, 16 * std::uint64_t{backyard_ - end});
        const std::uint64_t high_tags = low_tags + 16 * std::uint64_t{backyard_};
        if (s.tail_bits != 0) {
            copy(out, high_tags, std::uint64_t{end} * s.tail_bits);
            out.put(tag >> 16, s.tail_bits);
            copy(out, high_tags + std::uint64_t{end} * s.tail_bits, std::uint64_t{backyard_ - end} * s.tail_bits);
        }
        copy(out, dead_at(),
             dead_bits(bins_with_dead()) + std::uint64_t{notes_} * note_bits + std::uint64_t{salts_} * long_salt_bits);
        out.finish();
    }

    // Replaces what is there. May throw std::bad_alloc.
    void read(side_list& into) const {
        into.clear();
        into.backyard.reserve(backyard_ + 1);
        into.notes.reserve(notes_ + 8);
        into.salts.reserve(salts_ + 1);
        for (unsigned bin = 0, entry = 0, bit = 0; bin < bins_per_group; ++bin, ++bit) {
            // The zeros before the bin's one are its entries.
            constexpr unsigned width = 48;
            unsigned end = bit;
            for (; end < bins_per_group + backyard_; end += width) {
                const std::uint64_t marks = bits_at(words_, head_bits + end, width);
                if (marks == 0) continue;
                end += static_cast<unsigned>(std::countr_zero(marks));
                break;
            }
            for (; bit < end && entry < backyard_; ++bit) into.backyard.push_back({bin, tag(entry++)});
        }
        if (dead_bins_ != 0) {
            for (unsigned of = 0; of < bins_per_group; ++of) into.dead[of] = dead_of(of);
        }
        for (unsigned i = 0; i < notes_; ++i) into.notes.push_back(note(i));
        for (unsigned i = 0; i < salts_; ++i) into.salts.push_back(salt_at(i));
    }

  private:
    static constexpr unsigned head_bits = 32;

    void copy(bit_stream& out, std::uint64_t bit, std::uint64_t count) const noexcept {
        for (; count >= 63; bit += 63, count -= 63) out.put(bits_at(words_, bit, 63), 63);
        if (count != 0) out.put(bits_at(words_, bit, static_cast<unsigned>(count)), static_cast<unsigned>(count));
    }

    [[nodiscard]] static constexpr std::uint64_t dead_bits(std::uint64_t bins) noexcept {
        return bins == 0 ? 0 : bins_per_group + slots_per_bin * bins;
    }
    [[nodiscard]] std::uint64_t dead_at() const noexcept {
        return low_tags_at(backyard_) + std::uint64_t{backyard_} * (16 + tail_bits_);
    }
    [[nodiscard]] std::uint64_t notes_at() const noexcept { return dead_at() + dead_bits(bins_with_dead()); }
    [[nodiscard]] std::uint64_t salts_at() const noexcept { return notes_at() + std::uint64_t{notes_} * note_bits; }

    // Position, from bit 32, of the one with `rank` ones before it.
    [[nodiscard]] unsigned ones(unsigned rank) const noexcept {
        const unsigned length = bins_per_group + backyard_;
        std::uint64_t word = load_word(words_) >> head_bits;
        unsigned start = 0;
        for (unsigned width = 64 - head_bits;; width = 64) {
            const auto here = static_cast<unsigned>(std::popcount(word));
            if (rank < here) {
                for (; rank > 0; --rank) word &= word - 1;
                return std::min(start + static_cast<unsigned>(std::countr_zero(word)), length);
            }
            rank -= here;
            start += width;
            if (start >= length) return length;
            word = load_word(words_ + (head_bits + start) / 64);
        }
    }

    const std::uint64_t* words_;
    unsigned tail_bits_;
    unsigned backyard_;
    unsigned notes_;
    unsigned salts_;
    std::uint32_t dead_bins_ = 0;
};

static_assert(side_block::granules(most_backyard, most_notes, bins_per_group, bins_per_group, shape{most_tail_bits}) <=
              side_memory::most_granules);

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
