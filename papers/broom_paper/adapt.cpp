// ADAPT: EXTEND on a false positive, and the frontier that every call moves on [broom18 §4.1,
// §4.2]. See core.hpp.
#include <algorithm>

#include "papers/broom_paper/core.hpp"

namespace genista::broom_paper {

result<std::optional<core::extension>> core::extension_against(const element& e, where which, index_source& remote) {
    const state& in = *state_;
    const whole_hash h = hash_in(in, which, e);
    const auto at = level_of(in, which).find(h);
    if (!at) return std::optional<extension>{};
    const auto owner = owner_of(in, which, *at, remote);
    if (!owner) return owner.error();
    const unsigned length = bits_to_tell(owner->h.second, h.second);
    if (owner->h == h || length > most_adaptivity_bits) return std::optional<extension>{};
    return std::optional{extension{which, *at, owner->h.second, length}};
}

// Extends the matching fingerprint in either level until none matches. R is read before anything
// changes. False: no other key's fingerprint matches, but perhaps that of a key with the same
// digest.
result<bool> core::extend_against(const element& e, index_source& remote) {
    auto first = extension_against(e, where::primary, remote);
    if (!first) return first.error();
    result<std::optional<extension>> second = std::optional<extension>{};
    if (state_->second) second = extension_against(e, where::second, remote);
    if (!second) return second.error();
    bool any = false;
    for (const std::optional<extension>* each : {&*first, &*second}) {
        if (!*each) continue;
        const extension& more = **each;
        if (!level_of(*state_, more.which).extend(more.at, more.stream, more.length)) afresh_due_ = true;
        any = true;
    }
    return any;
}

result<adapt_outcome> core::adapt(const hashed_key& key, index_source& remote) {
    if (const auto begun = begin(remote); !begun) return begun.error();
    const element e = element::of(key);
    if (!state_->contains(e, functions_)) return adapt_outcome::was_negative;
    ++remote_reads_;
    const auto member = remote.is_member(e.d, key.view());
    if (!member) return member.error();
    if (*member) return adapt_outcome::true_positive;

    const auto extended = extend_against(e, remote);
    if (!extended) return extended.error();
    if (!*extended) return adapt_to_own_digest(e, key.view(), remote);
    ++adapts_;
    ++frontier_due_;
    ++adapts_since_rebuild_;
    move_frontier(remote);
    // From here on an error would claim that nothing has changed. The frontier may have passed this
    // very key, or have made another fingerprint match it: one chance in 1/ε.
    for (int again = 0; again < 8 && state_->contains(e, functions_); ++again) {
        if (const auto more = extend_against(e, remote); !more || !*more) break;
        if (afresh_due_) move_frontier(remote);
    }
    if (!state_->contains(e, functions_)) return adapt_outcome::fixed;
    const auto own = adapt_to_own_digest(e, key.view(), remote);
    return own ? *own : adapt_outcome::unfixed;
}

// The fingerprint that matches has the same digest. If it is that of the key itself, which has left
// R, it is removed; if it is another key's, the two are indistinguishable. Neither: R failed on the
// way.
result<adapt_outcome> core::adapt_to_own_digest(const element& e, key_view key, index_source& remote) {
    const auto left = leave(e, key, remote);
    if (!left) return left.error();
    if (afresh_due_) move_frontier(remote);
    if (!state_->contains(e, functions_)) return adapt_outcome::fixed;
    const auto other = find_own(*state_, e, remote);
    if (!other) return other.error();
    return *other ? adapt_outcome::true_positive : adapt_outcome::unfixed;
}

void core::move_frontier(index_source& remote) {
    if (afresh_due_) {
        (void)start_afresh(remote);  // if not now, then at the beginning of the next change
        return;
    }
    if (rehashing_ == rehash_rule::at_once) {
        frontier_due_ = 0;
        if (adapts_since_rebuild_ * rehashed_by_adapt_ >= std::max<std::uint64_t>(state_->keys, 1))
            (void)start_afresh(remote);
        return;
    }
    if (rehashing_ == rehash_rule::never) {
        frontier_due_ = 0;
        return;
    }
    constexpr int most_at_once = 4;  // after errors there may be many
    for (int i = 0; i < most_at_once && frontier_due_ > 0 && !afresh_due_; ++i) {
        if (!rehash_next(remote)) return;
        --frontier_due_;
    }
    if (afresh_due_) (void)start_afresh(remote);
}

result<void> core::rehash_next(index_source& remote) {
    const state& in = *state_;
    const std::uint64_t from = in.frontier ? order_position(*in.frontier) : order_position({});
    const auto next = order_records(from, rehashed_by_adapt_, in.frontier ? &*in.frontier : nullptr, remote);
    if (!next) return next.error();
    for (std::size_t first = 0; first < std::min<std::size_t>(next->size(), rehashed_by_adapt_) && !afresh_due_;) {
        std::size_t last = first;
        while (last < next->size() && (*next)[last].e == (*next)[first].e) ++last;
        if (auto moved = rehash(std::span{*next}.subspan(first, last - first), remote); !moved) return moved;
        first = last;
    }
    if (next->size() >= rehashed_by_adapt_ || afresh_due_) return {};
    return begin_phase();
}

// Moves one element from the older hash function to the newer: its residents move, its ghosts are
// removed.
result<void> core::rehash(std::span<const order_record> of_one_element, index_source& remote) {
    state& in = *state_;
    const element e = of_one_element.front().e;
    const auto mover = std::ranges::find_if(of_one_element, &order_record::is_resident);
    const bool moves = mover != of_one_element.end();
    std::vector<index_change> changes;
    joining plan;
    where lies = where::primary;
    bool leaves = true;  // no key of the same digest stays behind the frontier, with the fingerprint
    if (moves) {
        const auto located = locate(in, e, remote);
        if (!located) return located.error();
        lies = located->lies;
        leaves = in.keys == in.fingerprints() || !located->with.several_elements;
        const newcomer who{.e = e, .key = key_view{mover->key}, .moving = true, .leaves = leaves};
        const auto planned = plan_to_join(in, who, in.newer, remote);
        if (!planned) return planned.error();
        plan = *planned;
        if (plan.says == verdict::no_room || (plan.says == verdict::ready && !strings_fit(in, plan))) {
            afresh_due_ = true;
            return {};
        }
    }
    std::uint64_t residents = 0;
    for (const order_record& each : of_one_element) {
        if (!each.is_resident()) {
            changes.push_back({index_change::kind::erase, order_place(e, each.ghost), each.key});
            continue;
        }
        ++residents;
        changes.push_back({index_change::kind::erase, reverse_place(hash_in(in, lies, e)), each.key});
        changes.push_back({index_change::kind::put, reverse_place(plan.h), each.key});
    }
    const auto written = book_.write(changes, remote, [&] {
        // Insert before erase. If both of its fingerprints match its hash, the old one is found
        // first: the new one is the last of its run.
        if (moves && plan.says == verdict::ready) join(in, plan);
        for (const order_record& each : of_one_element) {
            if (each.is_resident()) continue;
            const where which = each.ghost.in_second ? where::second : where::primary;
            if (each.ghost.in_second && !in.second) continue;
            level& of = level_of(in, which);
            const whole_hash h = hash_in(in, which, e);
            of.strings().remove_ghost(of.quotient(h), adaptivity::of(h.second, each.ghost.length));
        }
        if (moves && leaves) take_away(in, lies, e);
        in.behind_frontier -= residents;
        in.frontier = e;
    });
    if (!written) return written;
    rehashed_ += residents;
    return {};
}

result<void> core::begin_phase() {
    if (state_->behind_frontier != 0) {
        afresh_due_ = true;  // the records still have all keys
        return error::make(error_code::corrupt,
                           "broom_paper: the index has no more keys, %llu are still to be rehashed",
                           static_cast<unsigned long long>(state_->behind_frontier));
    }
    state_->behind_frontier = state_->keys;
    state_->older = state_->newer;
    state_->newer = fresh_generation();
    state_->frontier.reset();
    ++phases_;
    return {};
}

}  // namespace genista::broom_paper
