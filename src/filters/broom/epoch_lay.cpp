// Renewal: all keys of a bin under a new salt [law L5].
#include <algorithm>
#include <array>
#include <vector>

#include "filters/broom/epoch.hpp"

namespace genista {
inline namespace GENISTA_BROOM_VARIANT {
namespace broom {
namespace {

bool all_differ(std::vector<std::uint32_t>& values) noexcept {
    std::sort(values.begin(), values.end());
    return std::adjacent_find(values.begin(), values.end()) == values.end();
}

// Which keys find no room. They go out by overflow class, fullest class first, so that few classes leave the line.
std::vector<bool> choose_outside(const std::vector<fingerprint>& keys) {
    std::array<unsigned, 8> by_class{};
    std::array<unsigned, 2> by_half{};
    for (const fingerprint& f : keys) {
        ++by_class[f.overflow_class];
        ++by_half[f.key.mirrored() ? 1 : 0];
    }
    std::vector<bool> outside(keys.size());
    auto total = static_cast<unsigned>(keys.size());
    if (total <= slots_per_bin && std::max(by_half[0], by_half[1]) <= slots_per_half) return outside;
    std::array<unsigned, 8> order = {0, 1, 2, 3, 4, 5, 6, 7};
    std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return by_class[a] > by_class[b]; });
    for (const unsigned leaving : order) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i].overflow_class != leaving) continue;
            unsigned& half = by_half[keys[i].key.mirrored() ? 1 : 0];
            if (half <= slots_per_half && total <= slots_per_bin) continue;
            // Someone has to leave; from an overfull half first, if there is one.
            const unsigned other = by_half[0] + by_half[1] - half;
            if (half <= slots_per_half && other > slots_per_half && total - (other - slots_per_half) <= slots_per_bin) {
                continue;
            }
            outside[i] = true;
            --half;
            --total;
        }
    }
    return outside;
}

}  // namespace

bool epoch::renew(std::span<const digest> members, const digest* avoid) {
    // Equal digests are one key to a filter: they share a slot.
    std::vector<digest> distinct(members.begin(), members.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (distinct.size() > slots_per_bin + backyard_per_bin) return false;
    // Nothing has joined in the present epoch: laying keys into it is joining, and spends no salt.
    if (image_.slots.used() == 0 && image_.sides.backyard_of(bin_).empty() && image_.now.number == 0 &&
        lay(distinct, avoid, image_.now)) {
        return true;
    }
    std::uint64_t last = image_.now.number;
    for (unsigned draw = 0; draw < most_draws; ++draw) {
        const bool repeated = faults.salt_repeats && draw == 0;
        const salt chosen = repeated ? image_.now : table_.book().next(last, draw);
        last = chosen.number;
        bool laid = false;
        try {
            laid = lay(distinct, avoid, chosen);
        } catch (...) {
            if (!repeated) table_.book().leave(chosen.code);
            throw;
        }
        if (laid) return true;
        if (!repeated) table_.book().leave(chosen.code);
    }
    return false;
}

bool epoch::lay(std::span<const digest> members, const digest* avoid, const salt& chosen) {
    std::vector<fingerprint> keys;
    keys.reserve(members.size());
    std::vector<std::uint32_t> bases;
    bases.reserve(members.size() + 1);
    for (const digest& member : members) {
        keys.push_back(under(member, chosen).print);
        bases.push_back(keys.back().base());
    }
    fingerprint stranger{};
    if (avoid != nullptr) {
        stranger = under(*avoid, chosen).print;
        bases.push_back(stranger.base());
    }
    if (!all_differ(bases)) return false;

    const std::vector<bool> outside = choose_outside(keys);
    std::vector<std::uint32_t> tags;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (outside[i]) tags.push_back(keys[i].tag);
    }
    if (tags.size() > backyard_per_bin) return false;
    if (avoid != nullptr && !tags.empty()) tags.push_back(stranger.tag);
    if (!all_differ(tags)) return false;

    bin_image fresh = image_;
    fresh.slots = line::empty();
    fresh.tails = {};
    fresh.sides.forget(bin_);
    fresh.set_salt(chosen);
    std::array<line_key, slots_per_bin> inside{};
    std::array<std::uint32_t, slots_per_bin> inside_tails{};
    std::array<std::uint8_t, slots_per_bin> slots{};
    std::size_t used = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (outside[i]) continue;
        inside[used] = keys[i].key;
        inside_tails[used++] = keys[i].tail;
    }
    fresh.slots.fill({inside.data(), used}, slots);
    for (std::size_t i = 0; i < used; ++i) fresh.tails[slots[i]] = inside_tails[i];
    epoch laid{table_, fresh};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (outside[i] && !laid.join(keys[i])) return false;
    }
    image_ = std::move(fresh);
    return true;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_VARIANT
}  // namespace genista
