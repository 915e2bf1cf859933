// The repair of a false positive, by rule [acf §2.3-2.5]. `collided` are the slots whose
// fingerprints the absent key shares.
#include <cmath>
#include <utility>

#include "filters/cuckoo/core.hpp"

namespace genista::cuckoo {

result<adapt_outcome> core::adapt(const hashed_key& key, batch_index_source& remote) {
    const std::lock_guard held{mutex_};
    if (const auto ready = begin(remote); !ready) return ready.error();
    const digest& d = key.where();
    const std::vector<std::uint64_t> collided = matching_slots(d);
    if (collided.empty()) return adapt_outcome::was_negative;
    plan moves;
    const auto own = find(key, moves, remote);
    if (!own) return own.error();
    if (own->has_value()) {
        // Either R holds the key, or an erase failed half way.
        ++remote_reads_;
        const auto is_member = remote.is_member(d, key.view());
        if (!is_member) return is_member.error();
        if (*is_member) return adapt_outcome::true_positive;
        if (const auto gone = clear_slot(**own, moves, remote); !gone) return gone.error();
        return may_contain(d) ? adapt_outcome::unfixed : adapt_outcome::fixed;
    }
    if (shape().rule == cuckoo_rule::plain) return adapt_outcome::unfixed;
    if (const auto tried = fix(collided, moves, remote); !tried) return tried.error();
    ++adapts_;
    return may_contain(d) ? adapt_outcome::unfixed : adapt_outcome::fixed;
}

// Repairs the collided keys one after the other: a key that an earlier repair has moved already
// stays where it is now. All of them are read first, so a failed read changes nothing.
result<void> core::fix(std::span<const std::uint64_t> collided, plan& in, batch_index_source& remote) {
    for (const std::uint64_t slot : collided) {
        const auto held = occupant(slot, in, remote);
        if (!held) return held.error();
        if ((*held)->before != (*held)->after) continue;
        if (shape().rule == cuckoo_rule::cyclic) {
            if (const auto turned = turn_selector(slot, in, remote); !turned) return turned;
        } else if (shape().rule == cuckoo_rule::swapping) {
            if (const auto swapped = swap_in_bin(slot, in, remote); !swapped) return swapped;
        } else {
            const plan before = in;
            const auto moved = move_on(slot, in, remote);
            if (!moved) return moved.error();
            if (*moved == way::found) continue;
            in = before;
            if (*moved == way::none && ++futile_ < most_futile()) continue;
            // New hash functions instead. If none are found, the false positive stays, and the
            // filter does not search again before a key is erased: a search takes as long as a
            // rebuild.
            if (keys_ >= unplaceable_) continue;
            const auto placed = rehash(keys_from::slots, nullptr, remote);
            if (!placed) return placed.error();
            if (!*placed) unplaceable_ = keys_;
            return {};
        }
    }
    return commit(in, remote);
}

// The paper bounds how often a repair fails and then accepts the false positive [acf Lemma 8,
// Criterion 2]. A key that is queried for ever would then be wrong for ever, so the bound here is
// the cost of rehashing all keys, by ranges of 1024.
std::uint64_t core::most_futile() const noexcept {
    return 16 + static_cast<std::uint64_t>(std::sqrt(static_cast<double>(shape().slots())));
}

// Cuckooing: the key moves to the next table, and the key that it displaces is inserted again [acf
// §2.3]. The collided key stays in its new slot: moving back is the loop after which nothing is
// repaired [acf §3.1, Criterion 2]. If moving back is the only way, as in a full component of two
// tables, the false positive stays.
result<core::way> core::move_on(std::uint64_t slot, plan& in, batch_index_source& remote) {
    element moved = *std::exchange(in.find(slot)->after, std::nullopt);
    const unsigned table = (place_of(slot).table + 1) % shape().tables;
    const std::uint64_t bin = first_slot(essence_of(moved.where), table);
    for (std::uint64_t each = bin; each < bin + shape().bin_slots; ++each) {
        if (!will_be_empty(each, in)) continue;
        planned_slot* const known = in.find(each);
        (known != nullptr ? *known : in.add(each, std::nullopt)).after = std::move(moved);
        return way::found;
    }
    const std::uint64_t victim = bin + chance_.below(shape().bin_slots);
    const auto held = occupant(victim, in, remote);
    if (!held) return held.error();
    const element displaced = *std::exchange((*held)->after, std::move(moved));
    return search(displaced, in, remote, victim);
}

// Cyclic: the next fingerprint of the same key in the same slot [acf §2.4]. R's index does not
// change.
result<void> core::turn_selector(std::uint64_t slot, plan& in, batch_index_source& remote) {
    const auto held = occupant(slot, in, remote);
    if (!held) return held.error();
    const unsigned next = (selector(slot) + 1) % (1u << shape().selector_bits);
    const essence key = essence_of((*held)->after->where);
    const changing now{*this};
    set(slot, fingerprint(key, slot, next), next);
    return {};
}

// Swapping: the key swaps with a random other slot of its bin [acf §2.5].
result<void> core::swap_in_bin(std::uint64_t slot, plan& in, batch_index_source& remote) {
    const std::uint64_t first = slot - place_of(slot).in_bin;
    const std::uint64_t drawn = first + chance_.below(shape().bin_slots - 1);
    const std::uint64_t other = drawn < slot ? drawn : drawn + 1;
    if (in.find(other) == nullptr) {
        if (is_empty(other)) {
            in.add(other, std::nullopt);
        } else if (const auto held = occupant(other, in, remote); !held) {
            return held.error();
        }
    }
    std::swap(in.find(slot)->after, in.find(other)->after);
    return {};
}

}  // namespace genista::cuckoo
