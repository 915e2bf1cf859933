// Renewal: rebuilds a bin with all its keys under a new salt [law L5]. It allocates no memory of
// its own, because most of the time of an erase, an adapt, a step of growth and a rebuild is spent
// here.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "filters/broom/epoch.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {
namespace {

constexpr unsigned most_members = slots_per_bin + backyard_per_bin + entries_beyond;

// Have all values so far been different? A hash table of a kilobyte; REQUIRES: values are
// pseudo-random in their low bits.
class distinct_values {
  public:
    distinct_values() noexcept { table_.fill(nothing); }

    [[nodiscard]] bool add(std::uint32_t value) noexcept {
        std::uint32_t& place = place_of(value);
        return std::exchange(place, value) == nothing;
    }
    [[nodiscard]] bool has(std::uint32_t value) noexcept { return place_of(value) == value; }

  private:
    [[nodiscard]] std::uint32_t& place_of(std::uint32_t value) noexcept {
        unsigned at = value % places;
        while (table_[at] != value && table_[at] != nothing) at = (at + 1) % places;
        return table_[at];
    }

    static constexpr unsigned places = 256;
    static constexpr std::uint32_t nothing = ~std::uint32_t{0};  // bases have at most 30 bits; tags: see below
    static_assert(most_members + 1 < places);

    std::array<std::uint32_t, places> table_;
};

// A tag of 32 bits may equal the value that stands for nothing: such tags are counted separately.
class distinct_tags {
  public:
    [[nodiscard]] bool add(std::uint32_t tag) noexcept {
        if (tag != ~std::uint32_t{0}) return others_.add(tag);
        return !std::exchange(all_ones_, true);
    }
    [[nodiscard]] bool has(std::uint32_t tag) noexcept {
        return tag != ~std::uint32_t{0} ? others_.has(tag) : all_ones_;
    }

  private:
    distinct_values others_;
    bool all_ones_ = false;
};

using outside_mask = std::array<bool, most_members>;

constexpr unsigned classes = mixed_layout::overflow_class.most() + 1;
constexpr std::array<unsigned, classes> all_classes = [] {
    std::array<unsigned, classes> all{};
    std::iota(all.begin(), all.end(), 0u);
    return all;
}();

// Chooses the keys that find no room. They leave by overflow class, fullest class first, so that
// few classes are marked in the line.
void choose_outside(std::span<const fingerprint> keys, outside_mask& outside) noexcept {
    std::array<unsigned, classes> by_class{};
    std::array<unsigned, 2> by_half{};
    for (const fingerprint& f : keys) {
        ++by_class[f.overflow_class];
        ++by_half[f.key.mirrored() ? 1 : 0];
    }
    auto total = static_cast<unsigned>(keys.size());
    if (halves_fit(by_half[0], by_half[1])) return;
    std::array<unsigned, classes> order = all_classes;
    std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return by_class[a] > by_class[b]; });
    for (const unsigned leaving : order) {
        if (halves_fit(by_half[0], by_half[1])) return;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i].overflow_class != leaving) continue;
            unsigned& half = by_half[keys[i].key.mirrored() ? 1 : 0];
            if (half_fits(half, total)) continue;
            // A key has to leave; from an overfull half first, if there is one.
            const unsigned other = by_half[0] + by_half[1] - half;
            if (half <= slots_per_half && other > slots_per_half && total - (other - slots_per_half) <= slots_per_bin) {
                continue;
            }
            outside[i] = true;
            --half;
            --total;
        }
    }
}

}  // namespace

bool epoch::renew(std::span<const digest> members, std::span<const digest> avoid, unsigned beyond) {
    const std::size_t most = slots_per_bin + backyard_per_bin + beyond;
    // Equal digests are one key to a filter: they share a slot. R gives digests in order.
    std::array<digest, most_members + 1> sorted;
    if (std::adjacent_find(members.begin(), members.end(), [](const digest& a, const digest& b) { return !(a < b); }) !=
        members.end()) {
        std::vector<digest> distinct(members.begin(), members.end());
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        if (distinct.size() > most) return false;
        members = {sorted.data(), distinct.size()};
        std::copy(distinct.begin(), distinct.end(), sorted.begin());
    }
    if (members.size() > most) return false;
    // No key has joined in the present epoch: to place keys is to join it, and spends no salt.
    if (image_.slots.used() == 0 && image_.sides.backyard_of(bin_).empty() && image_.now.number == 0 &&
        !table_.book().is_of_former_life(image_.now) && build(members, avoid, beyond, image_.now)) {
        return true;
    }
    std::uint64_t last = image_.now.number;
    for (unsigned draw = 0; draw < most_draws; ++draw) {
        const bool repeated = faults.salt_repeats && draw == 0;
        const salt chosen = repeated ? image_.now : table_.book().next(last, draw);
        last = chosen.number;
        bool built = false;
        try {
            built = build(members, avoid, beyond, chosen);
        } catch (...) {
            if (!repeated) table_.book().leave(chosen.code);
            throw;
        }
        if (built) return true;
        if (!repeated) table_.book().leave(chosen.code);
    }
    return false;
}

// Decides first, then changes the image.
bool epoch::build(std::span<const digest> members, std::span<const digest> avoid, unsigned beyond, const salt& chosen) {
    std::array<mixed, most_members> words;
    table_.mix(members, chosen, std::span{words}.first(members.size()));
    std::array<fingerprint, most_members> prints;
    distinct_values bases;
    for (std::size_t i = 0; i < members.size(); ++i) {
        prints[i] = fingerprint::of(words[i], table_.form());
        if (!bases.add(prints[i].base())) return false;
    }
    const std::span<const fingerprint> keys{prints.data(), members.size()};
    for (const digest& absent : avoid) {
        if (bases.has(table_.under(absent, chosen).print.base())) return false;
    }
    outside_mask outside{};
    choose_outside(keys, outside);
    std::size_t backyard = 0;
    if (std::any_of(outside.begin(), outside.end(), [](bool out) { return out; })) {
        distinct_tags tags;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (!outside[i]) continue;
            if (!tags.add(keys[i].tag)) return false;
            ++backyard;
        }
        for (const digest& absent : avoid) {
            if (tags.has(table_.under(absent, chosen).print.tag)) return false;
        }
    }
    if (backyard > backyard_per_bin + beyond) return false;

    image_.sides.backyard.reserve(image_.sides.backyard.size() + backyard);  // from here on nothing can fail
    image_.sides.salts.reserve(image_.sides.salts.size() + 1);
    image_.slots = line::empty();
    image_.tails = {};
    image_.sides.forget(bin_);
    image_.set_salt(chosen);
    std::array<line_key, slots_per_bin> inside{};
    std::array<std::uint32_t, slots_per_bin> inside_tails{};
    std::array<std::uint8_t, slots_per_bin> slots{};
    std::size_t used = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (outside[i]) {
            image_.sides.add_backyard(bin_, keys[i].tag);
            image_.slots.set_overflow(
                static_cast<std::uint8_t>(image_.slots.overflow() | 1u << keys[i].overflow_class));
            continue;
        }
        inside[used] = keys[i].key;
        inside_tails[used++] = keys[i].tail;
    }
    image_.slots.fill({inside.data(), used}, slots);
    for (std::size_t i = 0; i < used; ++i) image_.tails[slots[i]] = inside_tails[i];
    return true;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
