// One bin under the epoch law. See epoch.hpp; epoch_build.cpp has the renewal.
#include "filters/broom/epoch.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

template <class Visit>
void epoch::for_each_present(std::span<const digest> members, const Visit& visit) const noexcept {
    std::array<mixed, 64> words;
    for (std::size_t first = 0; first < members.size(); first += words.size()) {
        const std::span<const digest> part = members.subspan(first, std::min(words.size(), members.size() - first));
        table_.mix(part, image_.now, std::span{words}.first(part.size()));
        for (std::size_t i = 0; i < part.size(); ++i) visit(part[i], words[i]);
    }
}

std::optional<unsigned> epoch::slot_with_base(const fingerprint& f) const noexcept {
    for (std::uint64_t hits = image_.slots.matches(f.key); hits != 0; hits &= hits - 1) {
        const auto slot = static_cast<unsigned>(std::countr_zero(hits));
        if (image_.tails[slot] == f.tail) return slot;
    }
    return std::nullopt;
}

std::optional<unsigned> epoch::matching_slot(const present& key) const noexcept {
    for (std::uint64_t hits = image_.slots.matches(key.print.key); hits != 0; hits &= hits - 1) {
        const auto slot = static_cast<unsigned>(std::countr_zero(hits));
        if (image_.tails[slot] == key.print.tail && slot_matches(slot, key)) return slot;
    }
    return std::nullopt;
}

bool epoch::slot_matches(unsigned slot, const present& key) const noexcept {
    if (is_tombstone(slot)) return false;
    const extension e = image_.sides.extension_of(bin_, slot);
    return ((key.words.stream() ^ e.bits) & ((std::uint64_t{1} << e.length) - 1)) == 0;
}

unsigned epoch::owners(unsigned slot, std::span<const digest> members, const digest& except,
                       digest* one) const noexcept {
    // Nearly all keys have another quotient or remainder than the slot.
    const std::uint64_t there = std::uint64_t{1} << slot;
    unsigned found = 0;
    for_each_present(members, [&](const digest& member, const mixed& words) {
        const present as{words, fingerprint::of(words, table_.form())};
        if (as.print.key.remainder != image_.slots.remainder(slot) || (image_.slots.matches(as.print.key) & there) == 0)
            return;
        if (as.print.tail != image_.tails[slot] || !slot_matches(slot, as) || member == except) return;
        if (one != nullptr) *one = member;
        ++found;
    });
    return found;
}

unsigned epoch::tag_owners(const fingerprint& f, std::span<const digest> members, const digest& except) const noexcept {
    unsigned found = 0;
    for_each_present(members, [&](const digest& member, const mixed& words) {
        found += member != except && fingerprint::of(words, table_.form()).tag == f.tag ? 1u : 0u;
    });
    return found;
}

unsigned epoch::entry_owners(const fingerprint& f, std::span<const digest> members,
                             const digest& except) const noexcept {
    unsigned found = 0;
    for_each_present(members, [&](const digest& member, const mixed& words) {
        const present as{words, fingerprint::of(words, table_.form())};
        found += member != except && as.print.tag == f.tag && !matching_slot(as) ? 1u : 0u;
    });
    return found;
}

bool epoch::takes_unread(const fingerprint& f) const noexcept {
    const place by_line = place_by_line(slot_with_base(f).has_value(), image_.slots.has_room(f.key.mirrored()));
    if (by_line == place::none) return false;
    const bool full = backyard_is_full() && !faults.full_bins_read_on_collision();
    return place_beside_entries(by_line, full || backyard_has(f)) != place::none;
}

bool epoch::join(const fingerprint& f) {
    const bool mirrored = f.key.mirrored();
    if (!image_.slots.has_room(mirrored)) return join_outside(f);
    const unsigned before = image_.slots.used(mirrored);
    const unsigned rank = image_.slots.insert(f.key);
    if (table_.form().tail_bits > 0) {
        for (unsigned r = before; r > rank; --r) {
            image_.tails[line::slot_of(mirrored, r)] = image_.tails[line::slot_of(mirrored, r - 1)];
        }
        image_.tails[line::slot_of(mirrored, rank)] = f.tail;
    }
    image_.sides.slot_joined(bin_, mirrored, rank, before);
    return true;
}

bool epoch::join_outside(const fingerprint& f) {
    if (!backyard_has(f)) {
        if (backyard_is_full()) return false;
        image_.sides.add_backyard(bin_, f.tag);
    }
    image_.slots.set_overflow(static_cast<std::uint8_t>(image_.slots.overflow() | 1u << f.overflow_class));
    return true;
}

void epoch::leave_tombstone(unsigned slot) {
    image_.sides.set_extension(bin_, slot, {});
    image_.sides.add_tombstone(bin_, slot);
}

void epoch::give_up(unsigned slot) {
    image_.sides.set_extension(bin_, slot, {});
    // Half A fills upward from the first slot, half B downward from the last.
    const bool mirrored = slot >= image_.slots.used(false);
    const unsigned rank = mirrored ? slots_per_bin - 1 - slot : slot;
    const unsigned before = image_.slots.used(mirrored);
    image_.slots.erase(mirrored, rank);
    for (unsigned r = rank; r + 1 < before; ++r) {
        image_.tails[line::slot_of(mirrored, r)] = image_.tails[line::slot_of(mirrored, r + 1)];
    }
    image_.tails[line::slot_of(mirrored, before - 1)] = 0;
    image_.sides.slot_left(bin_, mirrored, rank, before);
}

bool epoch::extend(unsigned slot, const present& owner, const present& absent_key) {
    const std::uint64_t own = owner.words.stream();
    const std::uint64_t difference = own ^ absent_key.words.stream();
    if (difference == 0) return false;
    const extension had = image_.sides.extension_of(bin_, slot);
    const unsigned length = std::max(static_cast<unsigned>(std::countr_zero(difference)) + 1, had.length);
    if (length > most_extension_bits) return false;
    if (had.length == 0 && image_.sides.extended_slots(bin_) >= extensions_per_bin) return false;
    image_.sides.set_extension(bin_, slot, {own & ((std::uint64_t{1} << length) - 1), length});
    return true;
}

bool epoch::join_by_extending(unsigned slot, const present& owner, const present& joining) {
    const bool mirrored = joining.print.key.mirrored();
    if (!image_.slots.has_room(mirrored) || image_.sides.extended_slots(bin_) + 2 > extensions_per_bin) return false;
    if (!extend(slot, owner, joining)) return false;
    const unsigned rank = image_.slots.ranks(joining.print.key).end;
    if (!join(joining.print)) return false;
    return extend(line::slot_of(mirrored, rank), joining, owner);
}

const char* epoch::broken_rule() const {
    if (!image_.slots.is_valid()) return "the line's header is no header";
    std::vector<std::uint32_t> bases;
    for (unsigned quotient = 0; quotient < quotients_per_bin; ++quotient) {
        const line_key key{quotient, 0};
        const rank_range range = image_.slots.ranks(key);
        for (unsigned rank = range.first; rank < range.end; ++rank) {
            const unsigned slot = line::slot_of(key.mirrored(), rank);
            bases.push_back(fingerprint::base_of({quotient, image_.slots.remainder(slot)}, image_.tails[slot]));
        }
    }
    if (bases.size() != image_.slots.used()) return "slots outside of runs";
    std::sort(bases.begin(), bases.end());
    if (std::adjacent_find(bases.begin(), bases.end()) != bases.end()) return "two slots have one base";
    std::vector<std::uint64_t> tags;
    for (const side_item& e : image_.sides.backyard_of(bin_)) tags.push_back(e.value);
    if (tags.size() > backyard_per_bin + entries_beyond) return "the backyard is too full";
    if (!tags.empty() && image_.slots.overflow() == 0) return "backyard entries that no look-up would find";
    std::sort(tags.begin(), tags.end());
    if (std::adjacent_find(tags.begin(), tags.end()) != tags.end()) return "two backyard entries have one tag";
    if (image_.sides.extended_slots(bin_) > extensions_per_bin) return "too many extended slots";
    const unsigned used_a = image_.slots.used(false);
    const unsigned first_b = slots_per_bin - image_.slots.used(true);
    for (const side_extension& n : image_.sides.extensions_of(bin_)) {
        if (n.slot() >= slots_per_bin || (n.slot() >= used_a && n.slot() < first_b)) return "an extension of no slot";
        if (n.coded() == 0) return "an extension without bits";
        if (image_.sides.is_tombstone(bin_, n.slot())) return "a tombstone with bits";
        if (image_.sides.extension_of(bin_, n.slot()).length > most_extension_bits) return "too many adaptivity bits";
    }
    const std::uint64_t no_slots = ((std::uint64_t{1} << first_b) - 1) & ~((std::uint64_t{1} << used_a) - 1);
    if ((image_.sides.tombstones[bin_].bits & no_slots) != 0 ||
        image_.sides.tombstones[bin_].bits >> slots_per_bin != 0)
        return "a tombstone of no slot";
    std::size_t long_salts = 0;
    for (const side_item& e : image_.sides.salts) long_salts += e.bin == bin_ ? 1 : 0;
    if (long_salts != (image_.slots.salt() == long_salt ? 1u : 0u)) return "a long salt missing or too many";
    return nullptr;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
