// Do the invariants hold, does R agree? And figures. See core.hpp.
#include <algorithm>
#include <map>
#include <set>

#include "filters/broom_paper/core.hpp"

namespace genista::broom_paper {

result<void> core::audit(index_source& remote) const {
    const std::lock_guard held{changing_};
    const state& in = *state_;
    const auto bad = [](const char* what, std::uint64_t number) {
        return error::make(error_code::corrupt, "broom_paper: %s (%llu)", what,
                           static_cast<unsigned long long>(number));
    };
    for (const level* each : {&in.primary, in.second ? &*in.second : nullptr}) {
        if (each == nullptr) continue;
        if (const auto checked = each->table().check(); !checked) return checked;
    }
    // Every member is let through; and the index knows exactly who is there.
    std::uint64_t denied = 0, members = 0;
    if (const auto read = remote.each_member({},
                                             [&](const digest&, key_view key) {
                                                 ++members;
                                                 denied += in.contains(element_of(key), functions_) ? 0u : 1u;
                                                 return true;
                                             });
        !read)
        return read;
    if (denied != 0) return bad("members are denied", denied);

    std::set<element> residents;
    std::multiset<digest> reverse;
    std::uint64_t keys = 0, behind = 0, several = 0, ghost_records = 0, strange = 0, missing = 0;
    std::map<std::pair<bool, std::uint64_t>, std::uint64_t> ghosts;  // by level and quotient
    const auto look = [&](const digest& place, key_view key) {
        const element e = element_of(key);
        if (place.position >> 63 == 0) {
            reverse.insert(place);
            return true;
        }
        const auto mark = mark_in(place);
        if (!mark || order_position(e) != place.position) {
            ++strange;
        } else if (mark->length == 0) {
            ++keys;
            behind += in.is_behind_frontier(e) ? 1u : 0u;
            residents.insert(e);
        } else {
            ++ghost_records;
            const where which = mark->in_second ? where::second : where::primary;
            ++ghosts[{mark->in_second, level_of(in, which).quotient(hash_in(in, which, e))}];
        }
        return true;
    };
    if (const auto read = remote.each({}, look); !read) return read;
    // Invariant 7: of all fingerprints of its level, only its own is a prefix of a resident's hash.
    std::uint64_t in_levels = 0, in_backyard = 0;
    std::set<std::pair<std::uint64_t, std::uint64_t>> hashes;  // who shares a fingerprint is counted once
    for (const element& e : residents) {
        const whole_hash first = hash_in(in, where::primary, e);
        if (!hashes.insert({first.first, first.second}).second) continue;
        const bool is_behind = in.behind && in.behind->contains(first);
        const bool has_first = reverse.contains(reverse_place(first));
        const whole_hash other = hash_in(in, where::second, e);
        const bool has_second = in.second && reverse.contains(reverse_place(other));
        if (is_behind && has_first) {
            ++in_backyard;
            if (in.primary.count_prefixes(first) != 0) ++several;
        } else if (has_first == has_second) {
            ++missing;
        } else {
            ++in_levels;
            if ((has_first ? in.primary.count_prefixes(first) : in.second->count_prefixes(other)) != 1) ++several;
        }
    }
    std::uint64_t ghosts_here = 0;
    for (const level* each : {&in.primary, in.second ? &*in.second : nullptr}) {
        for (std::uint64_t group = 0; each != nullptr && group < each->strings().count(); ++group)
            ghosts_here += each->strings().in_group(group).ghosts;
    }
    if (strange != 0) return bad("records of the index stand where they do not belong", strange);
    if (missing != 0) return bad("residents have no reverse record, or two", missing);
    if (several != 0) return bad("fingerprints are prefixes of others", several);
    if (keys != in.keys || keys < members) return bad("the index knows another number of keys", keys);
    if (behind != in.behind_frontier) return bad("another number of keys is behind the frontier", behind);
    if (in_levels != in.primary.size() + (in.second ? in.second->size() : 0) ||
        in_backyard != (in.behind ? in.behind->size() : 0))
        return bad("fingerprints are not as many as residents", in_levels);
    if (ghosts_here != ghost_records) return bad("ghosts are not as many as those in the index", ghosts_here);
    return {};
}

filter_stats core::stats() const noexcept {
    const std::lock_guard held{changing_};
    filter_stats now;
    now.keys = state_->keys;
    now.capacity = sizes_.capacity;
    now.false_positive_rate = rate_;
    now.local_bytes = sizeof(core) + state_->allocated_bytes() + book_.local_bytes();
    now.adaptive_bytes = state_->primary.strings().allocated_bytes() +
                         (state_->second ? state_->second->strings().allocated_bytes() : 0);
    now.adapts = adapts_;
    now.renewals = phases_ + rebuilds_;
    now.remote_reads = remote_reads_;
    return now;
}

broom_paper_details core::details() const {
    const std::lock_guard held{changing_};
    const state& in = *state_;
    broom_paper_details now;
    now.is_large = sizes_.is_large;
    now.bins = sizes_.primary.quotients;
    now.remainder_bits = sizes_.remainder_bits;
    now.signature_bits = sizes_.signature_bits;
    now.window = sizes_.primary.window;
    now.primary_keys = in.primary.size();
    now.overflow_keys = in.second ? in.second->size() : in.behind->size();
    now.overflow_slots = in.second ? in.second->table().quotients() : in.behind->table().quotients();
    now.phases = phases_;
    now.rehashed = rehashed_;
    now.rebuilds = rebuilds_;
    now.table_bytes = in.primary.table().allocated_bytes();
    now.string_bytes = in.primary.strings().allocated_bytes();
    now.overflow_bytes = in.second ? in.second->allocated_bytes() : in.behind->table().allocated_bytes();
    for (const level* each : {&in.primary, in.second ? &*in.second : nullptr}) {
        for (std::uint64_t group = 0; each != nullptr && group < each->strings().count(); ++group) {
            const groups::contents has = each->strings().in_group(group);
            now.extended += has.fingerprints;
            now.extension_bits += has.bits;
            now.ghosts += has.ghosts;
            now.ghost_bits += has.ghost_bits;
            if (each == &in.primary) now.group_bits.push_back(static_cast<std::uint32_t>(has.bits + has.ghost_bits));
        }
    }
    return now;
}

}  // namespace genista::broom_paper
