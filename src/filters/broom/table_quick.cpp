// Nearly all inserts and erases, without an image of the bin: a slot in a line, an entry or a
// tombstone's bit in a side block.
#include <bit>

#include "filters/broom/side_block.hpp"
#include "filters/broom/table.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

bool table::join_quickly(lock& held, std::uint64_t bin, const digest& d) noexcept {
    line slots = load_line(bin);
    if (slots.salt() == long_salt) return false;
    const fingerprint f = fingerprint::of(mix(d, book_->of_code(slots.salt())), shape_);
    const bool mirrored = f.key.mirrored();
    // With tails, a slot of the same quotient and remainder may have another base: the general path
    // compares tails.
    if (slots.matches(f.key) != 0 || !slots.has_room(mirrored)) return false;
    if (const side_memory::handle handle = load_side(bin); handle != 0) {
        const auto bin_in_cluster = static_cast<unsigned>(bin % bins_per_cluster);
        const side_block block{memory_.words(handle), shape_};
        const unsigned first_extension = block.first_extension_of(bin_in_cluster);
        if (first_extension < block.extensions() && block.extension_at(first_extension).bin == bin_in_cluster)
            return false;
        if (block.tombstones_at(bin_in_cluster) != 0) return false;
        const side_block::range here = block.backyard_of(bin_in_cluster);
        if (here.end - here.first >= backyard_per_bin && !faults.full_bins_read_on_collision())
            return false;  // core::join
        for (unsigned i = here.first; i < here.end; ++i) {
            if (block.tag(i) == f.tag) return false;
        }
    }
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
    return true;
}

bool table::join_outside(lock& held, std::uint64_t bin, const digest& d) noexcept {
    line slots = load_line(bin);
    if (slots.salt() == long_salt) return false;
    const fingerprint f = fingerprint::of(mix(d, book_->of_code(slots.salt())), shape_);
    if (slots.matches(f.key) != 0 || slots.has_room(f.key.mirrored())) return false;
    const auto bin_in_cluster = static_cast<unsigned>(bin % bins_per_cluster);
    const side_block block = quick_block(bin);
    const side_block::range here = block.backyard_of(bin_in_cluster);
    if (here.end - here.first >= backyard_quickly) return false;
    for (unsigned i = here.first; i < here.end; ++i) {
        if (block.tag(i) == f.tag) return false;
    }
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

table::buried table::bury_quickly(lock& held, std::uint64_t bin, const digest& d) noexcept {
    const line slots = load_line(bin);
    if (slots.salt() == long_salt) return buried::unsure;
    const fingerprint f = fingerprint::of(mix(d, book_->of_code(slots.salt())), shape_);
    std::uint64_t hits = slots.matches(f.key);
    while (hits != 0 && load_tail(bin, static_cast<unsigned>(std::countr_zero(hits))) != f.tail) hits &= hits - 1;
    if (hits == 0) return buried::no;
    const auto slot = static_cast<unsigned>(std::countr_zero(hits));
    const auto bin_in_cluster = static_cast<unsigned>(bin % bins_per_cluster);
    const side_block block = quick_block(bin);
    const unsigned first_extension = block.first_extension_of(bin_in_cluster);
    if (first_extension < block.extensions() && block.extension_at(first_extension).bin == bin_in_cluster)
        return buried::unsure;
    const side_block::range here = block.backyard_of(bin_in_cluster);
    for (unsigned i = here.first; i < here.end; ++i) {
        if (block.tag(i) == f.tag) return buried::no;
    }
    slot_set tombstones = block.tombstones_of(bin_in_cluster);
    if (tombstones.has(slot) || (slots.is_full() && tombstones.size() >= tombstones_in_full_bin)) return buried::no;
    if (const std::uint64_t at = block.tombstones_at(bin_in_cluster); at != 0) {
        held.touch();
        tombstones.add(slot);
        set_bits_at(memory_.words(load_side(bin)), at, slots_per_bin, tombstones.bits);
        return buried::yes;
    }
    const std::uint64_t needed = side_block::granules(block.backyard(), block.extensions(), block.salts(),
                                                      block.bins_with_tombstones() + 1, shape_);
    if (!replace_block(held, bin, block, needed, budget_class::extensions, true,
                       [&](std::uint64_t* to) { block.write_with_tombstone(to, bin_in_cluster, slot); })) {
        return buried::unsure;
    }
    learnt_bits_.fetch_add(slots_per_bin, std::memory_order_relaxed);
    return buried::yes;
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
