// The side structure of a cluster of bins, decoded: what does not fit into lines, in the form that
// a writer changes before it commits. side_block.hpp has the same as bits in memory.
//
//     backyard    tags of keys that had no room in their line
//     tombstones  slots whose owners were erased; they match nothing and keep their places until
//                 renewal [law L2]
//     extensions  a slot (6 bits), then adaptivity bits below a leading one; continued in the
//                 slot's next extension
//     salts       long salt numbers (salts.hpp)
//
//   I1  Backyard, extensions and salts are sorted by bin; extensions of one slot stand together, in
//       order.
//   I2  A bin has at most K backyard entries, with different tags, and at most B extended slots
//       [law L3, L4].
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "filters/broom/line.hpp"
#include "filters/broom/shape.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

inline constexpr unsigned bits_per_side_extension = block_layout::coded_in_payload.width - 1;  // below a leading one
inline constexpr unsigned most_extension_bits = 60;  // beyond that the bin is renewed
static_assert(most_extension_bits <= mixed_layout::stream_bits);
inline constexpr unsigned most_side_extensions_per_bin =
    extensions_per_bin * ((most_extension_bits + bits_per_side_extension - 1) / bits_per_side_extension);

struct side_extension {
    unsigned bin;  // 0..15, within the cluster
    std::uint32_t payload;

    [[nodiscard]] static constexpr side_extension from(std::uint64_t raw) noexcept {
        return {block_layout::bin.number(raw), static_cast<std::uint32_t>(block_layout::extension_payload.number(raw))};
    }
    [[nodiscard]] static constexpr side_extension of(unsigned bin, unsigned slot, std::uint64_t coded) noexcept {
        return {bin, static_cast<std::uint32_t>(block_layout::coded_in_payload.put(coded) |
                                                block_layout::slot_in_payload.put(slot))};
    }
    [[nodiscard]] constexpr std::uint64_t raw() const noexcept {
        return block_layout::extension_payload.put(payload) | block_layout::bin.put(bin);
    }
    [[nodiscard]] constexpr unsigned slot() const noexcept { return block_layout::slot_in_payload.number(payload); }
    constexpr void set_slot(unsigned slot) noexcept {
        payload = static_cast<std::uint32_t>(block_layout::slot_in_payload.replaced(payload, slot));
    }
    // Adaptivity bits below a leading one; 0 in no valid extension.
    [[nodiscard]] constexpr std::uint64_t coded() const noexcept {
        return block_layout::coded_in_payload.uncut(payload);
    }

    friend constexpr bool operator==(const side_extension&, const side_extension&) noexcept = default;
};

// An item of a bin: a backyard tag, or a long salt's number.
struct side_item {
    unsigned bin;
    std::uint64_t value;

    friend constexpr bool operator==(const side_item&, const side_item&) noexcept = default;
};

// The adaptivity bits of a slot, first bit lowest.
struct extension {
    std::uint64_t bits = 0;
    unsigned length = 0;
};

// Slots of one bin as bits; the slots of a half move when one joins or leaves it [line I3].
struct slot_set {
    std::uint64_t bits = 0;

    [[nodiscard]] constexpr bool has(unsigned slot) const noexcept { return (bits >> slot & 1) != 0; }
    [[nodiscard]] constexpr unsigned size() const noexcept { return static_cast<unsigned>(std::popcount(bits)); }
    constexpr void add(unsigned slot) noexcept { bits |= std::uint64_t{1} << slot; }
    // Moves ranks [from, end) of a half to the next rank up, or down. REQUIRES: the place that the
    // first of them moves to is not in the set.
    constexpr void move_ranks(bool mirrored, unsigned from, unsigned end, bool up) noexcept {
        if (from >= end) return;
        // The mirrored half counts its slots from the last one down.
        const unsigned first = mirrored ? slots_per_bin - end : from;
        const unsigned beyond = mirrored ? slots_per_bin - from : end;
        const std::uint64_t slots = (std::uint64_t{1} << beyond) - (std::uint64_t{1} << first);
        const std::uint64_t moving = bits & slots;
        bits = (bits & ~slots) | (up != mirrored ? moving << 1 : moving >> 1);
    }

    friend constexpr bool operator==(const slot_set&, const slot_set&) noexcept = default;
};

struct side_list {
    std::array<slot_set, bins_per_cluster> tombstones{};
    std::vector<side_item> backyard;
    std::vector<side_extension> extensions;
    std::vector<side_item> salts;

    friend bool operator==(const side_list&, const side_list&) = default;

    [[nodiscard]] std::span<const side_item> backyard_of(unsigned bin) const noexcept { return part(backyard, bin); }
    [[nodiscard]] std::span<const side_extension> extensions_of(unsigned bin) const noexcept {
        return part(extensions, bin);
    }
    [[nodiscard]] std::uint64_t long_salt_of(unsigned bin) const noexcept {
        const auto found = part(salts, bin);
        return found.empty() ? 0 : found[0].value;
    }

    [[nodiscard]] bool has_tag(unsigned bin, std::uint32_t tag) const noexcept {
        const auto tags = backyard_of(bin);
        return std::any_of(tags.begin(), tags.end(), [&](const side_item& e) { return e.value == tag; });
    }
    [[nodiscard]] unsigned tombstones_in(unsigned bin) const noexcept { return tombstones[bin].size(); }
    [[nodiscard]] bool is_tombstone(unsigned bin, unsigned slot) const noexcept { return tombstones[bin].has(slot); }
    // A slot without an extension has length 0.
    [[nodiscard]] extension extension_of(unsigned bin, unsigned slot) const noexcept {
        extension all;
        for (const side_extension& n : extensions_of(bin)) {
            if (n.slot() != slot || n.coded() == 0) continue;
            const auto here = static_cast<unsigned>(std::bit_width(n.coded())) - 1;
            all.bits |= (n.coded() ^ std::uint64_t{1} << here) << all.length;
            all.length += here;
        }
        return all;
    }
    [[nodiscard]] unsigned extended_slots(unsigned bin) const noexcept {
        unsigned found = 0;
        unsigned last = slots_per_bin;
        for (const side_extension& n : extensions_of(bin)) {
            if (n.slot() != last) {
                last = n.slot();
                ++found;
            }
        }
        return found;
    }

    void add_backyard(unsigned bin, std::uint32_t tag) { add(backyard, side_item{bin, tag}); }
    void remove_backyard(unsigned bin, std::uint32_t tag) {
        std::erase_if(backyard, [&](const side_item& e) { return e.bin == bin && e.value == tag; });
    }
    void add_tombstone(unsigned bin, unsigned slot) noexcept { tombstones[bin].add(slot); }
    [[nodiscard]] unsigned bins_with_tombstones() const noexcept {
        unsigned found = 0;
        for (const slot_set& each : tombstones) found += each.bits != 0 ? 1 : 0;
        return found;
    }
    // The memory of adaptivity bits and tombstones.
    [[nodiscard]] std::uint64_t learnt_bits() const noexcept {
        return extensions.size() * block_layout::extension_bits + std::uint64_t{bins_with_tombstones()} * slots_per_bin;
    }
    // Does the side structure say more about some slot than its line does?
    [[nodiscard]] bool has_slot_data() const noexcept { return !extensions.empty() || bins_with_tombstones() != 0; }
    void set_long_salt(unsigned bin, std::uint64_t number) { add(salts, side_item{bin, number}); }
    void set_extension(unsigned bin, unsigned slot, extension bits) {
        std::erase_if(extensions, [&](const side_extension& n) { return n.bin == bin && n.slot() == slot; });
        for (unsigned done = 0; done < bits.length;) {
            const unsigned here = std::min(bits_per_side_extension, bits.length - done);
            const std::uint64_t piece = (bits.bits >> done) & ((std::uint64_t{1} << here) - 1);
            add_extension(side_extension::of(bin, slot, piece | std::uint64_t{1} << here));
            done += here;
        }
    }

    // A slot joined this half at `rank`: the numbers of slots with that rank or more move one up
    // [line I3].
    void slot_joined(unsigned bin, bool mirrored, unsigned rank, unsigned used_before) noexcept {
        rename(bin, mirrored, rank, used_before, 1);
    }
    // The slot at `rank` left: numbers beyond it move one down. REQUIRES: its own extensions are
    // gone.
    void slot_left(unsigned bin, bool mirrored, unsigned rank, unsigned used_before) noexcept {
        rename(bin, mirrored, rank + 1, used_before, -1);
    }

    void clear() noexcept {
        tombstones = {};
        backyard.clear();
        extensions.clear();
        salts.clear();
    }
    void forget(unsigned bin) noexcept {
        tombstones[bin] = {};
        std::erase_if(backyard, [&](const side_item& e) { return e.bin == bin; });
        std::erase_if(extensions, [&](const side_extension& n) { return n.bin == bin; });
        std::erase_if(salts, [&](const side_item& e) { return e.bin == bin; });
    }

  private:
    template <class Entry>
    static std::span<const Entry> part(const std::vector<Entry>& all, unsigned bin) noexcept {
        const auto first =
            std::lower_bound(all.begin(), all.end(), bin, [](const Entry& e, unsigned b) { return e.bin < b; });
        const auto last = std::upper_bound(first, all.end(), bin, [](unsigned b, const Entry& e) { return b < e.bin; });
        return {first, last};
    }
    static void add(std::vector<side_item>& to, const side_item& e) {
        to.insert(std::upper_bound(to.begin(), to.end(), e.bin,
                                   [](unsigned bin, const side_item& other) { return bin < other.bin; }),
                  e);
    }
    void add_extension(const side_extension& n) {
        extensions.insert(std::upper_bound(extensions.begin(), extensions.end(), n.bin,
                                           [](unsigned bin, const side_extension& other) { return bin < other.bin; }),
                          n);
    }
    void rename(unsigned bin, bool mirrored, unsigned from_rank, unsigned used, int by) noexcept {
        if (faults.slot_names_stay) return;
        tombstones[bin].move_ranks(mirrored, from_rank, used, by > 0);
        for (side_extension& n : extensions) {
            if (n.bin != bin) continue;
            const unsigned rank = mirrored ? slots_per_bin - 1 - n.slot() : n.slot();
            if (rank < from_rank || rank >= used) continue;  // not in the part that moves, or in the other half
            const unsigned moved = static_cast<unsigned>(static_cast<int>(rank) + by);
            n.set_slot(line::slot_of(mirrored, moved));
        }
    }
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
