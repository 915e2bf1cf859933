// side_block: the side structure of a cluster as bits in memory, read without locks.
//
//     bit 0   11 bits  backyard entries b, of all 16 bins       layout.hpp, block_layout, has the
//     bit 11  11 bits  extensions o                             names of these bits
//     bit 22   5 bits  long salts e
//     bit 27   1 bit   are there any tombstones?
//     bit 32  16 + b   the bins of the backyard entries: for each bin a zero an entry, then a one;
//                      zeros up to a multiple of 16
//             b · 16   the low halves of the tags, so that a vector can compare many at once
//             b · t    the rest of the tags
//             16       if there are tombstones: a bit for each bin with tombstones, then 48 for
//                      each of these bins, one a slot
//             o · 18   extensions
//             e · 48   long salts: bin 4 bits, number 44 bits
//
// Readers may see a block while it is rewritten, or after its memory went to another cluster; they
// find out afterwards. So every count is cut to what a valid block can have, and no read goes
// beyond the longest valid block.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "filters/broom/memory.hpp"
#include "filters/broom/salts.hpp"
#include "filters/broom/side.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

inline constexpr unsigned most_backyard = bins_per_cluster * (backyard_per_bin + entries_beyond);
inline constexpr unsigned most_side_extensions = bins_per_cluster * most_side_extensions_per_bin;
static_assert(most_backyard <= block_layout::entries.most() && most_side_extensions <= block_layout::extensions.most(),
              "the head can count them");
static_assert(sizeof(side_memory::handle) == sizeof side_has_slot_data);

// A tag of a backyard entry, in the two parts in which a block keeps it.
[[nodiscard]] constexpr std::uint64_t high_part(std::uint64_t tag) noexcept {
    return tag >> block_layout::tag_low_bits;
}

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

// Writes bits one after the other into words of memory; each word is stored once.
class bit_stream {
  public:
    explicit bit_stream(std::uint64_t* to) noexcept : to_{to} {}

    // REQUIRES: the value has no bits beyond its width, which is below 64.
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
        backyard_ = std::min(block_layout::entries.number(head), most_backyard);
        extensions_ = std::min(block_layout::extensions.number(head), most_side_extensions);
        salts_ = std::min(block_layout::long_salts.number(head), bins_per_cluster);
        tombstone_bins_ = block_layout::has_tombstones.of(head) == 0
                              ? 0
                              : static_cast<std::uint32_t>(bits_at(words, tombstone_part_at(), bins_per_cluster));
    }

    [[nodiscard]] unsigned backyard() const noexcept { return backyard_; }
    [[nodiscard]] unsigned extensions() const noexcept { return extensions_; }
    [[nodiscard]] unsigned salts() const noexcept { return salts_; }
    [[nodiscard]] unsigned bins_with_tombstones() const noexcept {
        return static_cast<unsigned>(std::popcount(tombstone_bins_));
    }
    [[nodiscard]] bool has_slot_data() const noexcept { return extensions_ != 0 || tombstone_bins_ != 0; }
    [[nodiscard]] std::uint64_t learnt_bits() const noexcept {
        return std::uint64_t{extensions_} * block_layout::extension_bits +
               std::uint64_t{bins_with_tombstones()} * slots_per_bin;
    }

    // The bit where the bin's tombstones begin; 0 if it has none.
    [[nodiscard]] std::uint64_t tombstones_at(unsigned bin) const noexcept {
        if ((tombstone_bins_ >> bin & 1) == 0) return 0;
        const auto before = static_cast<unsigned>(std::popcount(tombstone_bins_ & ((1u << bin) - 1)));
        return tombstone_part_at() + bins_per_cluster + std::uint64_t{slots_per_bin} * before;
    }
    [[nodiscard]] slot_set tombstones_of(unsigned bin) const noexcept {
        const std::uint64_t at = tombstones_at(bin);
        return at == 0 ? slot_set{} : slot_set{bits_at(words_, at, slots_per_bin)};
    }

    // Entries [first, end) of the bin.
    struct range {
        unsigned first;
        unsigned end;

        [[nodiscard]] unsigned size() const noexcept { return end - first; }
    };
    [[nodiscard]] range backyard_of(unsigned bin) const noexcept {
        const unsigned end = std::min(ones(bin) - bin, backyard_);
        const unsigned first = bin == 0 ? 0 : std::min(ones(bin - 1) - (bin - 1), end);
        return {first, end};
    }
    [[nodiscard]] std::uint32_t tag(unsigned i) const noexcept {
        const std::uint64_t at = low_tags_at(backyard_) + tag_low_bits * std::uint64_t{i};
        const auto low = static_cast<std::uint32_t>(bits_at(words_, at, tag_low_bits));
        return low | high_tag(words_, backyard_, i, tail_bits_);
    }
    [[nodiscard]] bool has_tag(range entries, std::uint32_t tag) const noexcept {
        for (unsigned i = entries.first; i < entries.end; ++i) {
            if (this->tag(i) == tag) return true;
        }
        return false;
    }
    [[nodiscard]] side_extension extension_at(unsigned i) const noexcept {
        return side_extension::from(bits_at(words_, extensions_at() + std::uint64_t{i} * block_layout::extension_bits,
                                            block_layout::extension_bits));
    }
    [[nodiscard]] unsigned first_extension_of(unsigned bin) const noexcept {
        unsigned first = 0;
        unsigned end = extensions_;
        while (first < end) {
            const unsigned middle = (first + end) / 2;
            if (extension_at(middle).bin < bin) {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        return first;
    }
    [[nodiscard]] bool has_extensions_of(unsigned bin) const noexcept {
        if (extensions_ == 0) return false;
        const unsigned first = first_extension_of(bin);
        return first < extensions_ && extension_at(first).bin == bin;
    }
    [[nodiscard]] side_item salt_at(unsigned i) const noexcept {
        const std::uint64_t raw = bits_at(words_, salts_at() + std::uint64_t{i} * long_salt_bits, long_salt_bits);
        return {block_layout::bin.number(raw), block_layout::salt_number.uncut(raw)};
    }

    // For any bytes: sixteen bins, sorted extensions and salts. epoch::broken_rule checks what a
    // single bin may have.
    [[nodiscard]] bool is_valid() const noexcept {
        const std::uint64_t head = load_word(words_);
        const std::uint64_t some_tombstones = block_layout::has_tombstones.of(head);
        if (block_layout::entries.of(head) != backyard_ || block_layout::extensions.of(head) != extensions_ ||
            block_layout::long_salts.of(head) != salts_)
            return false;
        if (block_layout::unused.of(head) != 0 || some_tombstones != (tombstone_bins_ != 0 ? 1 : 0)) return false;
        for (unsigned bin = 0; bin < bins_per_cluster; ++bin) {
            if ((tombstone_bins_ >> bin & 1) != 0 && tombstones_of(bin).bits == 0) return false;
        }
        unsigned marks = 0;
        for (unsigned i = 0; i < bins_per_cluster + backyard_; ++i)
            marks += static_cast<unsigned>(bits_at(words_, head_bits + i, 1));
        if (marks != bins_per_cluster || ones(bins_per_cluster - 1) != bins_per_cluster + backyard_ - 1) return false;
        for (unsigned i = 1; i < extensions_; ++i) {
            if (extension_at(i - 1).bin > extension_at(i).bin) return false;
        }
        for (unsigned i = 1; i < salts_; ++i) {
            if (salt_at(i - 1).bin >= salt_at(i).bin) return false;
        }
        return true;
    }

    // The words of a block with these counts.
    [[nodiscard]] static constexpr std::uint64_t granules(std::uint64_t backyard, std::uint64_t extensions,
                                                          std::uint64_t salts, std::uint64_t bins_with_tombstones,
                                                          shape s) noexcept {
        if (backyard + extensions + salts + bins_with_tombstones == 0) return 0;
        return (low_tags_at(backyard) + backyard * s.tag_bits() + tombstone_bits(bins_with_tombstones) +
                extensions * block_layout::extension_bits + salts * long_salt_bits + word_bits - 1) /
               word_bits;
    }
    // The bit of the low halves of the tags.
    [[nodiscard]] static constexpr std::uint64_t low_tags_at(std::uint64_t backyard) noexcept {
        constexpr unsigned aligned = block_layout::tags_alignment;
        return (head_bits + bins_per_cluster + backyard + aligned - 1) / aligned * aligned;
    }
    // The rest of tag i, shifted to its place above the low part.
    [[nodiscard]] static std::uint32_t high_tag(const std::uint64_t* words, unsigned backyard, unsigned i,
                                                unsigned tail_bits) noexcept {
        if (tail_bits == 0) return 0;
        const std::uint64_t at =
            low_tags_at(backyard) + block_layout::tag_low_bits * std::uint64_t{backyard} + std::uint64_t{i} * tail_bits;
        return static_cast<std::uint32_t>(bits_at(words, at, tail_bits)) << block_layout::tag_low_bits;
    }
    [[nodiscard]] std::uint64_t granules(shape s) const noexcept {
        return granules(backyard_, extensions_, salts_, bins_with_tombstones(), s);
    }
    [[nodiscard]] static std::uint64_t granules(const side_list& list, shape s) noexcept {
        return granules(list.backyard.size(), list.extensions.size(), list.salts.size(), list.bins_with_tombstones(),
                        s);
    }

    static void write(std::uint64_t* words, const side_list& list, shape s) noexcept {
        bit_stream out{words};
        const std::uint64_t some_tombstones = list.bins_with_tombstones() != 0 ? 1 : 0;
        out.put(block_layout::entries.put(list.backyard.size()) | block_layout::extensions.put(list.extensions.size()) |
                    block_layout::long_salts.put(list.salts.size()) | block_layout::has_tombstones.put(some_tombstones),
                head_bits);
        auto entry = list.backyard.begin();
        for (unsigned bin = 0; bin < bins_per_cluster; ++bin) {
            unsigned here = 0;
            for (; entry != list.backyard.end() && entry->bin == bin; ++entry) ++here;
            constexpr unsigned many = 32;  // zeros at once
            for (; here >= many; here -= many) out.put(0, many);
            out.put(std::uint64_t{1} << here, here + 1);
        }
        const std::uint64_t marks = head_bits + bins_per_cluster + list.backyard.size();
        out.put(0, static_cast<unsigned>(low_tags_at(list.backyard.size()) - marks));
        for (const side_item& e : list.backyard) out.put(block_layout::tag_low.of(e.value), tag_low_bits);
        if (s.tail_bits != 0) {
            for (const side_item& e : list.backyard) out.put(high_part(e.value), s.tail_bits);
        }
        if (some_tombstones != 0) {
            for (const slot_set& each : list.tombstones) out.put(each.bits != 0 ? 1 : 0, 1);
            for (const slot_set& each : list.tombstones) {
                if (each.bits != 0) out.put(each.bits, slots_per_bin);
            }
        }
        for (const side_extension& n : list.extensions) out.put(n.raw(), block_layout::extension_bits);
        for (const side_item& e : list.salts)
            out.put(block_layout::salt_number.put(e.value) | block_layout::bin.put(e.bin), long_salt_bits);
        out.finish();
    }

    // An empty block, for clusters that have none: the two functions below start from it.
    static constexpr std::uint64_t empty[2] = {std::uint64_t{(1u << bins_per_cluster) - 1} << block_layout::head_bits,
                                               0};

    // Writes this block, with a tombstone in a bin that had none, to other memory: `granules(s)` of
    // the new counts.
    void write_with_tombstone(std::uint64_t* words, unsigned bin, unsigned slot) const noexcept {
        bit_stream out{words};
        out.put(head() | block_layout::has_tombstones.mask(), head_bits);
        copy(out, head_bits, tombstone_part_at() - head_bits);
        out.put(tombstone_bins_ | 1u << bin, bins_per_cluster);
        const std::uint64_t maps = tombstone_part_at() + bins_per_cluster;
        const auto before = static_cast<unsigned>(std::popcount(tombstone_bins_ & ((1u << bin) - 1))) * slots_per_bin;
        copy(out, maps, before);
        out.put(std::uint64_t{1} << slot, slots_per_bin);
        copy(out, maps + before, std::uint64_t{bins_with_tombstones()} * slots_per_bin - before);
        copy(out, extensions_at(),
             std::uint64_t{extensions_} * block_layout::extension_bits + std::uint64_t{salts_} * long_salt_bits);
        out.finish();
    }
    // Writes this block, with one more backyard entry as the last of its bin, to other memory:
    // `granules(s)` of the new counts.
    void write_with_entry(std::uint64_t* words, unsigned bin, std::uint32_t tag, shape s) const noexcept {
        bit_stream out{words};
        const unsigned end = backyard_of(bin).end;
        out.put(head() + block_layout::entries.put(1), head_bits);
        copy(out, head_bits, end + bin);
        out.put(0, 1);
        copy(out, head_bits + end + bin, bins_per_cluster + backyard_ - end - bin);
        const std::uint64_t marks = head_bits + bins_per_cluster + backyard_ + 1;
        out.put(0, static_cast<unsigned>(low_tags_at(backyard_ + 1) - marks));
        const std::uint64_t low_tags = low_tags_at(backyard_);
        const std::uint64_t low_before = tag_low_bits * std::uint64_t{end};
        copy(out, low_tags, low_before);
        out.put(block_layout::tag_low.of(tag), tag_low_bits);
        copy(out, low_tags + low_before, tag_low_bits * std::uint64_t{backyard_ - end});
        const std::uint64_t high_tags = low_tags + tag_low_bits * std::uint64_t{backyard_};
        if (s.tail_bits != 0) {
            copy(out, high_tags, std::uint64_t{end} * s.tail_bits);
            out.put(high_part(tag), s.tail_bits);
            copy(out, high_tags + std::uint64_t{end} * s.tail_bits, std::uint64_t{backyard_ - end} * s.tail_bits);
        }
        copy(out, tombstone_part_at(),
             tombstone_bits(bins_with_tombstones()) + std::uint64_t{extensions_} * block_layout::extension_bits +
                 std::uint64_t{salts_} * long_salt_bits);
        out.finish();
    }

    // Replaces the contents of `into`. May throw std::bad_alloc.
    void read(side_list& into) const {
        into.clear();
        into.backyard.reserve(backyard_ + 1);
        into.extensions.reserve(extensions_ + 8);
        into.salts.reserve(salts_ + 1);
        for (unsigned bin = 0, entry = 0, bit = 0; bin < bins_per_cluster; ++bin, ++bit) {
            // The zeros before the bin's one are its entries.
            constexpr unsigned width = 48;  // looked at together
            unsigned end = bit;
            for (; end < bins_per_cluster + backyard_; end += width) {
                const std::uint64_t marks = bits_at(words_, head_bits + end, width);
                if (marks == 0) continue;
                end += static_cast<unsigned>(std::countr_zero(marks));
                break;
            }
            for (; bit < end && entry < backyard_; ++bit) into.backyard.push_back({bin, tag(entry++)});
        }
        if (tombstone_bins_ != 0) {
            for (unsigned of = 0; of < bins_per_cluster; ++of) into.tombstones[of] = tombstones_of(of);
        }
        for (unsigned i = 0; i < extensions_; ++i) into.extensions.push_back(extension_at(i));
        for (unsigned i = 0; i < salts_; ++i) into.salts.push_back(salt_at(i));
    }

  private:
    static constexpr unsigned head_bits = block_layout::head_bits;
    static constexpr unsigned tag_low_bits = block_layout::tag_low_bits;
    static constexpr unsigned long_salt_bits = block_layout::long_salt_bits;

    [[nodiscard]] std::uint64_t head() const noexcept { return block_layout::head.of(load_word(words_)); }

    void copy(bit_stream& out, std::uint64_t bit, std::uint64_t count) const noexcept {
        for (; count >= 63; bit += 63, count -= 63) out.put(bits_at(words_, bit, 63), 63);
        if (count != 0) out.put(bits_at(words_, bit, static_cast<unsigned>(count)), static_cast<unsigned>(count));
    }

    [[nodiscard]] static constexpr std::uint64_t tombstone_bits(std::uint64_t bins) noexcept {
        return bins == 0 ? 0 : bins_per_cluster + slots_per_bin * bins;
    }
    [[nodiscard]] std::uint64_t tombstone_part_at() const noexcept {
        return low_tags_at(backyard_) + std::uint64_t{backyard_} * (tag_low_bits + tail_bits_);
    }
    [[nodiscard]] std::uint64_t extensions_at() const noexcept {
        return tombstone_part_at() + tombstone_bits(bins_with_tombstones());
    }
    [[nodiscard]] std::uint64_t salts_at() const noexcept {
        return extensions_at() + std::uint64_t{extensions_} * block_layout::extension_bits;
    }

    // Position, from the end of the head, of the set bit with `rank` set bits before it.
    [[nodiscard]] unsigned ones(unsigned rank) const noexcept {
        const unsigned length = bins_per_cluster + backyard_;
        std::uint64_t word = block_layout::marks_in_head.of(load_word(words_));
        unsigned start = 0;
        for (unsigned width = block_layout::marks_in_head.width;; width = word_bits) {
            const auto here = static_cast<unsigned>(std::popcount(word));
            if (rank < here) {
                for (; rank > 0; --rank) word &= word - 1;
                return std::min(start + static_cast<unsigned>(std::countr_zero(word)), length);
            }
            rank -= here;
            start += width;
            if (start >= length) return length;
            word = load_word(words_ + (head_bits + start) / word_bits);
        }
    }

    const std::uint64_t* words_;
    unsigned tail_bits_;
    unsigned backyard_;
    unsigned extensions_;
    unsigned salts_;
    std::uint32_t tombstone_bins_ = 0;
};

static_assert(side_block::granules(most_backyard, most_side_extensions, bins_per_cluster, bins_per_cluster,
                                   shape{most_tail_bits}) <= side_memory::most_granules);

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
