// Checks the invariants, compares with R, and computes figures. See core.hpp.
#include <algorithm>
#include <iterator>
#include <map>
#include <new>
#include <set>
#include <string>
#include <tuple>

#include "filters/index_book.hpp"
#include "papers/broom_paper/core.hpp"

namespace genista::broom_paper {

namespace {

error bad(const char* what, std::uint64_t number) {
    return error::make(error_code::corrupt, "broom_paper: %s (%llu)", what, static_cast<unsigned long long>(number));
}

}  // namespace

result<void> core::audit(index_source& remote) const {
    const state& in = *state_;
    std::multiset<ghost> ghosts_here;
    for (const level* each : {&in.primary, in.second ? &*in.second : nullptr}) {
        if (each == nullptr) continue;
        if (const auto checked = each->check(); !checked) return checked;
        for (std::uint64_t group = 0; group < each->strings().count(); ++group) {
            each->strings().each_string(group, [&](std::uint64_t q, bool is_ghost, unsigned, const adaptivity& bits) {
                if (is_ghost) ghosts_here.insert({each != &in.primary, q, bits.bits, bits.length});
            });
        }
    }
    if (in.behind) {
        if (const auto checked = in.behind->table().check(); !checked) return checked;
    }
    // Every stored key is answered "maybe".
    std::uint64_t denied = 0, absent_keys = 0;
    std::set<std::string> members;
    bool starved = false;
    if (const auto read =
            remote.each_member({}, never_throwing(starved,
                                                  [&](const digest& d, key_view key) {
                                                      absent_keys += hash_(key) == d ? 0u : 1u;
                                                      denied += in.contains(element_of(key), functions_) ? 0u : 1u;
                                                      members.emplace(key.text());
                                                      return true;
                                                  }));
        !read)
        return read;
    if (starved) throw std::bad_alloc{};
    if (absent_keys != 0) return bad("records of R stand where they do not belong", absent_keys);
    if (denied != 0) return bad("stored keys are denied", denied);
    // The index is incomplete, or has pending writes: nothing to compare.
    if (index_ != index_is::ours || afresh_due_ || book_.has_pending()) return {};
    return audit_index(members, ghosts_here, remote);
}

// The index has exactly the present keys, the ghosts and their places.
result<void> core::audit_index(const std::set<std::string>& members, const std::multiset<ghost>& ghosts,
                               index_source& remote) const {
    const state& in = *state_;
    std::map<std::string, element> residents;
    std::multimap<std::string, digest> reverse;
    std::multiset<ghost> ghosts_there;
    std::uint64_t behind = 0, strange = 0;
    bool starved = false;
    const auto look = never_throwing(starved, [&](const digest& place, key_view key) {
        const element e = element_of(key);
        if (place.position >> 63 == 0) {
            reverse.emplace(key.text(), place);
            return true;
        }
        const auto mark = mark_in(place, e);
        if (!mark || (mark->in_second && !in.second)) {
            ++strange;
        } else if (mark->length == 0) {
            behind += in.is_behind_frontier(e) ? 1u : 0u;
            residents.emplace(key.text(), e);
        } else {
            const where which = mark->in_second ? where::second : where::primary;
            const whole_hash h = hash_in(in, which, e);
            const adaptivity bits = adaptivity::of(h.second, mark->length);
            ghosts_there.insert({mark->in_second, level_of(in, which).quotient(h), bits.bits, bits.length});
        }
        return true;
    });
    if (const auto read = remote.each({}, look); !read) return read;
    if (starved) throw std::bad_alloc{};
    // Invariant 7: of all fingerprints of its level, only its own is a prefix of a resident's hash.
    std::uint64_t several = 0, missing = 0, placed = 0;
    std::set<digest> in_levels, in_backyard;  // by hash: keys that share a fingerprint count once
    for (const auto& [key, e] : residents) {
        const whole_hash first = hash_in(in, where::primary, e);
        const auto [record, end] = reverse.equal_range(key);
        const bool is_one = record != end && std::next(record) == end;
        const whole_hash other = hash_in(in, where::second, e);
        const bool has_first = is_one && record->second == reverse_place(first);
        const bool has_second = is_one && in.second && record->second == reverse_place(other);
        if (has_first == has_second) {
            ++missing;
        } else if (++placed; in.behind && in.behind->contains(first)) {
            in_backyard.insert(digest{first.first, first.second});
            if (in.primary.count_prefixes(first) != 0) ++several;
        } else {
            in_levels.insert(digest{first.first, first.second});
            if ((has_first ? in.primary.count_prefixes(first) : in.second->count_prefixes(other)) != 1) ++several;
        }
    }
    const auto unknown = static_cast<std::uint64_t>(
        std::ranges::count_if(members, [&](const std::string& key) { return !residents.contains(key); }));
    if (strange != 0) return bad("records of the index stand where they do not belong", strange);
    if (missing != 0) return bad("residents have no reverse record, or two", missing);
    if (reverse.size() != placed) return bad("reverse records without a key", reverse.size() - placed);
    if (several != 0) return bad("fingerprints are prefixes of others", several);
    if (unknown != 0) return bad("stored keys are not in the index", unknown);
    if (residents.size() != in.keys) return bad("the index has another number of keys", residents.size());
    if (behind != in.behind_frontier) return bad("another number of keys is behind the frontier", behind);
    if (in_levels.size() != in.primary.size() + (in.second ? in.second->size() : 0) ||
        in_backyard.size() != (in.behind ? in.behind->size() : 0))
        return bad("fingerprints are not as many as residents", in_levels.size() + in_backyard.size());
    if (ghosts != ghosts_there) return bad("ghosts are not those of the index", ghosts.size());
    return {};
}

filter_stats core::stats() const noexcept {
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
