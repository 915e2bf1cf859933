// Nearly all inserts and erases, without an image of the bin: a slot in a line, an entry or a
// tombstone's bit in a side block.
#include <bit>

#include "filters/broom/side_block.hpp"
#include "filters/broom/table.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

bool table::join_quickly(lock& held, std::uint64_t bin, const fingerprint& f) noexcept {
    line slots = load_line(bin);
    // With tails any slot with the key's quotient and remainder counts as one with its base
    // (fits.hpp): the general path compares tails.
    const place by_line = place_by_line(slots.matches(f.key) != 0, slots.has_room(f.key.mirrored()));
    if (by_line == place::none) return false;
    const auto bin_in_cluster = static_cast<unsigned>(bin % bins_per_cluster);
    const side_block block = quick_block(bin);
    const side_block::range entries = block.backyard_of(bin_in_cluster);
    const bool full = entries.size() >= backyard_per_bin && !faults.full_bins_read_on_collision();
    switch (place_beside_entries(by_line, full || block.has_tag(entries, f.tag))) {
        case place::slot:
            if (block.has_extensions_of(bin_in_cluster) || block.tombstones_at(bin_in_cluster) != 0) return false;
            add_slot_quickly(held, bin, slots, f);
            return true;
        case place::entry:
            return entries.size() < backyard_quickly && add_entry_quickly(held, bin, slots, block, f);
        case place::none:
            break;
    }
    return false;
}

void table::add_slot_quickly(lock& held, std::uint64_t bin, line& slots, const fingerprint& f) noexcept {
    const bool mirrored = f.key.mirrored();
    held.touch();
    const unsigned before = slots.used(mirrored);
    const unsigned rank = slots.insert(f.key);
    if (shape_.tail_bits != 0) {
        for (unsigned r = before; r > rank; --r) {
            store_tail(bin, line::slot_of(mirrored, r), load_tail(bin, line::slot_of(mirrored, r - 1)));
        }
        store_tail(bin, line::slot_of(mirrored, rank), f.tail);
    }
    for (std::size_t i = 0; i < line_layout::words; ++i) store_word(line_words(bin) + i, slots.words[i]);
}

bool table::add_entry_quickly(lock& held, std::uint64_t bin, line& slots, const side_block& block,
                              const fingerprint& f) noexcept {
    const auto bin_in_cluster = static_cast<unsigned>(bin % bins_per_cluster);
    const std::uint64_t needed = side_block::granules(block.backyard() + 1, block.extensions(), block.salts(),
                                                      block.bins_with_tombstones(), shape_);
    if (!replace_block(held, bin, block, needed, budget_class::inserts, block.has_slot_data(),
                       [&](std::uint64_t* to) { block.write_with_entry(to, bin_in_cluster, f.tag, shape_); })) {
        return false;
    }
    slots.set_overflow(static_cast<std::uint8_t>(slots.overflow() | 1u << f.overflow_class));
    store_word(line_words(bin) + line_layout::top_word, slots.words[line_layout::top_word]);
    return true;
}

table::left_tombstone table::leave_tombstone_quickly(lock& held, std::uint64_t bin, const digest& d) noexcept {
    const line slots = load_line(bin);
    if (slots.salt() == long_salt) return left_tombstone::unsure;
    const fingerprint f = under(d, book_->of_code(slots.salt())).print;
    std::uint64_t hits = slots.matches(f.key);
    while (hits != 0 && load_tail(bin, static_cast<unsigned>(std::countr_zero(hits))) != f.tail) hits &= hits - 1;
    if (hits == 0) return left_tombstone::no;
    const auto slot = static_cast<unsigned>(std::countr_zero(hits));
    const auto bin_in_cluster = static_cast<unsigned>(bin % bins_per_cluster);
    const side_block block = quick_block(bin);
    if (block.has_extensions_of(bin_in_cluster)) return left_tombstone::unsure;
    if (block.has_tag(block.backyard_of(bin_in_cluster), f.tag)) return left_tombstone::no;
    slot_set tombstones = block.tombstones_of(bin_in_cluster);
    if (tombstones.has(slot) || (slots.is_full() && tombstones.size() >= tombstones_in_full_bin))
        return left_tombstone::no;
    if (const std::uint64_t at = block.tombstones_at(bin_in_cluster); at != 0) {
        held.touch();
        tombstones.add(slot);
        set_bits_at(memory_.words(load_side(bin)), at, slots_per_bin, tombstones.bits);
        return left_tombstone::yes;
    }
    const std::uint64_t needed = side_block::granules(block.backyard(), block.extensions(), block.salts(),
                                                      block.bins_with_tombstones() + 1, shape_);
    if (!replace_block(held, bin, block, needed, budget_class::extensions, true,
                       [&](std::uint64_t* to) { block.write_with_tombstone(to, bin_in_cluster, slot); })) {
        return left_tombstone::unsure;
    }
    learnt_bits_.fetch_add(slots_per_bin, std::memory_order_relaxed);
    return left_tombstone::yes;
}

side_block table::quick_block(std::uint64_t bin) const noexcept {
    const side_memory::handle handle = load_side(bin);
    return {handle == 0 ? side_block::empty : memory_.words(handle), shape_};
}

template <class Write>
bool table::replace_block(lock& held, std::uint64_t bin, const side_block& block, std::uint64_t needed,
                          budget_class from, bool has_slot_data, const Write& write) noexcept {
    // The new block is built in a buffer even if it stays in place: its source is the old block.
    std::array<std::uint64_t, granules_quickly> made;
    if (needed > granules_quickly) return false;
    write(made.data());
    const std::uint64_t had = block.granules(shape_);
    const side_memory::handle old = load_side(bin);
    side_memory::handle place = old;
    bool refused = false;
    if (needed != had && (place = memory_.take(needed, from, refused)) == 0) return false;
    held.touch();
    for (std::uint64_t i = 0; i < needed; ++i) store_word(memory_.words(place) + i, made[i]);
    store_side(bin, place, has_slot_data);
    if (place != old && old != 0) memory_.give_back(old, had);
    return true;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
