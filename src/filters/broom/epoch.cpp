// One bin under the epoch law. See epoch.hpp.
#include "filters/broom/epoch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace genista::broom {

std::optional<unsigned> epoch::slot_with_base(const fingerprint& f) const noexcept {
    for (std::uint64_t hits = image_.slots.matches(f.key); hits != 0; hits &= hits - 1) {
        const auto slot = static_cast<unsigned>(std::countr_zero(hits));
        if (image_.tails[slot] == f.tail) return slot;
    }
    return std::nullopt;
}

bool epoch::slot_matches(unsigned slot, const present& key) const noexcept {
    if (is_dead(slot)) return false;
    const extension e = image_.sides.extension_of(bin_, slot);
    return ((first_stream_bits(key.words) ^ e.bits) & ((std::uint64_t{1} << e.length) - 1)) == 0;
}

bool epoch::backyard_has(const fingerprint& f) const noexcept {
    return image_.sides.has_tag(bin_, f.tag);
}

unsigned epoch::owners(unsigned slot, std::span<const digest> members, const digest& except,
                       digest* one) const noexcept {
    unsigned found = 0;
    for (const digest& member : members) {
        if (member == except) continue;
        const present key = of(member);
        if (slot_with_base(key.print) != slot || !slot_matches(slot, key)) continue;
        if (one != nullptr) *one = member;
        ++found;
    }
    return found;
}

unsigned epoch::tag_owners(const fingerprint& f, std::span<const digest> members, const digest& except) const noexcept {
    unsigned found = 0;
    for (const digest& member : members) found += member != except && of(member).print.tag == f.tag ? 1u : 0u;
    return found;
}

bool epoch::join(const fingerprint& f) {
    const bool mirrored = f.key.mirrored();
    if (!image_.slots.has_room(mirrored)) {
        if (image_.sides.count(bin_, side_kind::backyard) >= backyard_per_bin) return false;
        image_.sides.add({bin_, side_kind::backyard, f.tag});
        image_.slots.set_overflow(static_cast<std::uint8_t>(image_.slots.overflow() | 1u << f.overflow_class));
        return true;
    }
    const unsigned before = image_.slots.used(mirrored);
    const unsigned rank = image_.slots.insert(f.key);
    for (unsigned r = before; r > rank; --r) {
        image_.tails[line::slot_of(mirrored, r)] = image_.tails[line::slot_of(mirrored, r - 1)];
    }
    image_.tails[line::slot_of(mirrored, rank)] = f.tail;
    image_.sides.slot_joined(bin_, mirrored, rank, before);
    return true;
}

void epoch::bury(unsigned slot) {
    image_.sides.set_extension(bin_, slot, {});
    image_.sides.add({bin_, side_kind::dead, slot});
}

bool epoch::extend(unsigned slot, const present& owner, const present& stranger) {
    const std::uint64_t own = first_stream_bits(owner.words);
    const std::uint64_t difference = own ^ first_stream_bits(stranger.words);
    if (difference == 0) return false;
    const unsigned length = static_cast<unsigned>(std::countr_zero(difference)) + 1;
    if (length > most_extension_bits) return false;
    const bool fresh = image_.sides.extension_of(bin_, slot).length == 0;
    if (fresh && image_.sides.extended_slots(bin_) >= extensions_per_bin) return false;
    image_.sides.set_extension(bin_, slot, {own & ((std::uint64_t{1} << length) - 1), length});
    return true;
}

bool epoch::renew(std::span<const digest> members, const digest* avoid) {
    // Equal digests are one key to a filter: they share a slot.
    std::vector<digest> distinct(members.begin(), members.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    const std::uint32_t last = table::counter_of(image_);
    for (std::uint32_t draw = 1; draw <= most_draws; ++draw) {
        if (lay(distinct, avoid, last + draw)) return true;
    }
    return false;
}

bool epoch::lay(std::span<const digest> members, const digest* avoid, std::uint32_t counter) {
    std::vector<fingerprint> keys;
    keys.reserve(members.size());
    for (const digest& member : members) keys.push_back(at(member, counter).print);

    std::vector<std::uint32_t> bases;
    bases.reserve(keys.size() + 1);
    for (const fingerprint& f : keys) bases.push_back(f.base());
    if (avoid != nullptr) bases.push_back(at(*avoid, counter).print.base());
    std::sort(bases.begin(), bases.end());
    if (std::adjacent_find(bases.begin(), bases.end()) != bases.end()) return false;

    // Keys that find no room go out by overflow class, fullest class first, so that few classes leave the line.
    std::array<unsigned, 8> by_class{};
    std::array<unsigned, 2> by_half{};
    for (const fingerprint& f : keys) {
        ++by_class[f.overflow_class];
        ++by_half[f.key.mirrored() ? 1 : 0];
    }
    std::array<unsigned, 8> order = {0, 1, 2, 3, 4, 5, 6, 7};
    std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return by_class[a] > by_class[b]; });
    std::vector<bool> outside(keys.size());
    auto total = static_cast<unsigned>(keys.size());
    for (const unsigned leaving : order) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i].overflow_class != leaving) continue;
            unsigned& half = by_half[keys[i].key.mirrored() ? 1 : 0];
            if (half <= slots_per_half && total <= slots_per_bin) continue;
            // Someone has to leave; from an overfull half first, if there is one.
            const bool other_overfull = by_half[0] + by_half[1] - half > slots_per_half;
            if (half <= slots_per_half && other_overfull &&
                total - (by_half[0] + by_half[1] - half - slots_per_half) <= slots_per_bin) {
                continue;
            }
            outside[i] = true;
            --half;
            --total;
        }
    }

    std::vector<std::uint32_t> tags;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (outside[i]) tags.push_back(keys[i].tag);
    }
    if (tags.size() > backyard_per_bin) return false;
    if (avoid != nullptr && !tags.empty()) tags.push_back(at(*avoid, counter).print.tag);
    std::sort(tags.begin(), tags.end());
    if (std::adjacent_find(tags.begin(), tags.end()) != tags.end()) return false;

    bin_image fresh = image_;
    fresh.slots = line::empty();
    fresh.tails = {};
    fresh.sides.forget(bin_);
    table::set_counter(fresh, counter);
    epoch laid{table_, fresh};
    for (const bool second : {false, true}) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (outside[i] == second && !laid.join(keys[i])) return false;
        }
    }
    image_ = std::move(fresh);
    return true;
}

unsigned epoch::keys() const noexcept {
    return image_.slots.used() - image_.sides.count(bin_, side_kind::dead) +
           image_.sides.count(bin_, side_kind::backyard);
}

}  // namespace genista::broom
