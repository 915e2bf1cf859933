// ADAPT: EXTEND on a false positive, and the frontier that every call moves on [broom18 §4.1, §4.2]. See core.hpp.
#include <algorithm>
#include <cassert>

#include "filters/broom_paper/core.hpp"

namespace genista::broom_paper {

// Whoever matches in this level is extended until it no longer does. False: nobody does, or it is a key of the same digest.
result<bool> core::extend_against(const element& e, where which, index_source& remote) {
    state& in = *state_;
    const whole_hash h = hash_in(in, which, e);
    level& of = level_of(in, which);
    const auto at = of.find(h);
    if (!at) return false;
    const auto owner = owner_of(in, which, *at, remote);
    if (!owner) return owner.error();
    if (owner->h == h) return false;
    const unsigned length = bits_to_tell(owner->h.second, h.second);
    if (length > most_adaptivity_bits) return false;
    const std::unique_lock alone{looking_};
    if (!of.extend(*at, owner->h.second, length)) afresh_due_ = true;
    return true;
}

result<adapt_outcome> core::adapt(key_view key, index_source& remote) {
    const std::lock_guard held{changing_};
    if (const auto begun = begin(remote); !begun) return begun.error();
    const element e = element_of(key);
    if (!state_->contains(e, functions_)) return adapt_outcome::was_negative;
    ++remote_reads_;
    const auto member = remote.is_member(e.d, key);
    if (!member) return member.error();
    if (*member) return adapt_outcome::true_positive;

    const auto extend = [&]() -> result<bool> {
        const auto first = extend_against(e, where::primary, remote);
        if (!first || !state_->second) return first;
        const auto second = extend_against(e, where::second, remote);
        if (!second) return second;
        return *first || *second;
    };
    const auto extended = extend();
    if (!extended) return extended.error();
    if (*extended) {
        ++adapts_;
        ++frontier_due_;
        ++adapts_since_rebuild_;
        move_frontier(remote);
        if (afresh_due_) {  // no room for the bits, and R failed: it is still a false positive
            if (const auto done = start_afresh(remote); !done) return done.error();
        }
        // The frontier may have passed this very key, or put somebody in its way: one chance in 1/ε.
        for (int again = 0; again < 8 && state_->contains(e, functions_); ++again) {
            if (const auto more = extend(); !more || !*more) break;
        }
    }
    if (!state_->contains(e, functions_)) return adapt_outcome::fixed;
    // What is left has its very digest: the key itself, of which R has let go, or another that nobody can tell from it.
    const auto left = leave(e, key, remote);
    if (!left) return left.error();
    if (!state_->contains(e, functions_)) return adapt_outcome::fixed;
    return *left == erase_outcome::erased ? adapt_outcome::unfixed : adapt_outcome::true_positive;
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
    constexpr int most_at_once = 4;  // after errors there may be many
    for (int i = 0; i < most_at_once && frontier_due_ > 0 && !afresh_due_; ++i) {
        if (!rehash_next(remote)) return;
        --frontier_due_;
    }
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

// One element goes from the older hash function to the newer: its residents move, its ghosts are forgotten.
result<void> core::rehash(std::span<const order_record> of_one_element, index_source& remote) {
    state& in = *state_;
    const element e = of_one_element.front().e;
    const auto mover = std::ranges::find_if(of_one_element, &order_record::is_resident);
    const bool moves = mover != of_one_element.end();
    std::vector<index_change> changes;
    joining plan;
    where lies = where::primary;
    bool leaves = true;
    if (moves) {
        const auto located = locate(in, e, remote);
        if (!located) return located.error();
        lies = *located;
        // Others of one digest may stay behind the frontier, with the fingerprint; those of one element move together.
        const auto staying = stays_behind(in, e, lies, remote);
        if (!staying) return staying.error();
        leaves = !*staying;
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
        const std::unique_lock alone{looking_};
        for (const order_record& each : of_one_element) {
            if (each.is_resident()) continue;
            const where which = each.ghost.in_second ? where::second : where::primary;
            if (each.ghost.in_second && !in.second) continue;
            level& of = level_of(in, which);
            const whole_hash h = hash_in(in, which, e);
            of.strings().remove_ghost(of.quotient(h), adaptivity::of(h.second, each.ghost.length));
        }
        // In before out: letting in may fail for want of memory. Should both match its hash, the old one is found first.
        if (moves && plan.says == verdict::ready) join(in, plan);
        if (moves && leaves) take_away(in, lies, e);
        in.behind_frontier -= residents;
        in.frontier = e;
    });
    if (!written) return written;
    rehashed_ += residents;
    return {};
}

result<void> core::begin_phase() {
    if (state_->behind_frontier != 0)
        return error::make(error_code::corrupt,
                           "broom_paper: the index has no more keys, %llu are still to be rehashed",
                           static_cast<unsigned long long>(state_->behind_frontier));
    const std::unique_lock alone{looking_};
    state_->behind_frontier = state_->keys;
    state_->older = state_->newer;
    state_->newer = fresh_generation();
    state_->frontier.reset();
    ++phases_;
    return {};
}

}  // namespace genista::broom_paper
