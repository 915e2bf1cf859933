// The side structure of a group of bins: what does not fit into lines, and is read only when a line says so.
//
// A block is a sorted row of entries of 3, 4 or 5 bytes (shape.hpp), least significant bits first:
//
//     bits 0..3 bin in group | 4..5 kind | 6.. payload
//
//     kind        payload
//     backyard    the tag of a key that had no room in its line
//     extension   slot (6 bits), then adaptivity bits below a leading one; a slot's extension may go on in its next entry
//     dead        slot (6 bits): its owner was erased; it matches nothing and keeps its place until renewal [law L2]
//     salt        a piece of the bin's long salt counter, lowest first
//
//   I1  Entries are sorted by (bin, kind); extensions of one slot stand together, in order.
//   I2  A bin has at most K backyard entries, with different tags, and at most B extended slots [law L3, L4].
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "filters/broom/line.hpp"
#include "filters/broom/shape.hpp"

namespace genista::broom {

enum class side_kind : unsigned { backyard = 0, extension = 1, dead = 2, salt = 3 };

// One entry, decoded.
struct side_entry {
    unsigned bin;  // 0..15, within the group
    side_kind kind;
    std::uint64_t payload;

    [[nodiscard]] static constexpr side_entry from(std::uint64_t raw) noexcept {
        return {static_cast<unsigned>(raw & 15), static_cast<side_kind>(raw >> 4 & 3), raw >> 6};
    }
    [[nodiscard]] constexpr std::uint64_t raw() const noexcept {
        return payload << 6 | static_cast<std::uint64_t>(kind) << 4 | bin;
    }
    [[nodiscard]] constexpr unsigned slot() const noexcept { return static_cast<unsigned>(payload & 63); }
    [[nodiscard]] constexpr unsigned order() const noexcept { return bin << 2 | static_cast<unsigned>(kind); }

    friend constexpr bool operator==(const side_entry&, const side_entry&) noexcept = default;
};

// Adaptivity bits, first bit lowest.
struct extension {
    std::uint64_t bits = 0;
    unsigned length = 0;
};

inline constexpr unsigned most_extension_bits = 60;  // beyond that the bin is renewed

// The entries of one group, decoded; what a writer changes before it commits.
class side_list {
  public:
    explicit side_list(shape s) noexcept : payload_bits_{8 * s.entry_bytes() - 6} {}

    std::vector<side_entry> entries;

    [[nodiscard]] std::span<const side_entry> of(unsigned bin) const noexcept {
        const auto first = std::lower_bound(entries.begin(), entries.end(), bin << 2, before);
        const auto last = std::lower_bound(first, entries.end(), (bin + 1) << 2, before);
        return {first, last};
    }

    [[nodiscard]] bool has_tag(unsigned bin, std::uint32_t tag) const noexcept {
        for (const side_entry& e : of(bin)) {
            if (e.kind == side_kind::backyard && e.payload == tag) return true;
        }
        return false;
    }
    [[nodiscard]] unsigned count(unsigned bin, side_kind kind) const noexcept {
        unsigned found = 0;
        for (const side_entry& e : of(bin)) found += e.kind == kind ? 1 : 0;
        return found;
    }
    [[nodiscard]] bool is_dead(unsigned bin, unsigned slot) const noexcept {
        for (const side_entry& e : of(bin)) {
            if (e.kind == side_kind::dead && e.slot() == slot) return true;
        }
        return false;
    }
    // Bits beyond most_extension_bits cannot arise; an unextended slot has length 0.
    [[nodiscard]] extension extension_of(unsigned bin, unsigned slot) const noexcept {
        extension all;
        for (const side_entry& e : of(bin)) {
            if (e.kind != side_kind::extension || e.slot() != slot) continue;
            const std::uint64_t coded = e.payload >> 6;
            if (coded == 0) continue;  // no valid entry; total for readers of torn blocks
            const auto here = static_cast<unsigned>(std::bit_width(coded)) - 1;
            if (all.length + here > 64) break;
            all.bits |= (coded ^ std::uint64_t{1} << here) << all.length;
            all.length += here;
        }
        return all;
    }
    [[nodiscard]] unsigned extended_slots(unsigned bin) const noexcept {
        unsigned found = 0;
        unsigned last = slots_per_bin;
        for (const side_entry& e : of(bin)) {
            if (e.kind == side_kind::extension && e.slot() != last) {
                last = e.slot();
                ++found;
            }
        }
        return found;
    }

    void add(const side_entry& e) {
        entries.insert(std::upper_bound(entries.begin(), entries.end(), e.order(), after), e);
    }
    void set_extension(unsigned bin, unsigned slot, extension bits) {
        std::erase_if(entries, [&](const side_entry& e) {
            return e.bin == bin && e.kind == side_kind::extension && e.slot() == slot;
        });
        const unsigned room = payload_bits_ - 6 - 1;  // below the leading one
        auto at = std::upper_bound(entries.begin(), entries.end(), bin << 2 | unsigned(side_kind::extension), after);
        for (unsigned done = 0; done < bits.length;) {
            const unsigned here = std::min(room, bits.length - done);
            const std::uint64_t piece = (bits.bits >> done) & ((std::uint64_t{1} << here) - 1);
            const std::uint64_t coded = piece | std::uint64_t{1} << here;
            at = entries.insert(at, side_entry{bin, side_kind::extension, coded << 6 | slot}) + 1;
            done += here;
        }
    }

    // A slot joined this half at `rank`: names of slots with that rank or more move one up [line I3].
    void slot_joined(unsigned bin, bool mirrored, unsigned rank, unsigned used_before) noexcept {
        for (side_entry& e : entries) {
            if (e.bin != bin || (e.kind != side_kind::extension && e.kind != side_kind::dead)) continue;
            const unsigned r = mirrored ? slots_per_bin - 1 - e.slot() : e.slot();
            if (r < rank || r >= used_before) continue;  // another place, or the other half
            e.payload = (e.payload & ~std::uint64_t{63}) | line::slot_of(mirrored, r + 1);
        }
    }

    [[nodiscard]] unsigned payload_bits() const noexcept { return payload_bits_; }

    void forget(unsigned bin) noexcept {
        std::erase_if(entries, [&](const side_entry& e) { return e.bin == bin; });
    }

  private:
    static bool before(const side_entry& e, unsigned order) noexcept { return e.order() < order; }
    static bool after(unsigned order, const side_entry& e) noexcept { return order < e.order(); }

    unsigned payload_bits_;
};

}  // namespace genista::broom
