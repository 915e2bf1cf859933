// Beginnings, insertion and deletion. See core.hpp.
#include "filters/broom_paper/core.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace genista::broom_paper {

core::core(const beginnings& from, std::unique_ptr<state> empty) noexcept
    : sizes_{from.sizes},
      rate_{from.rate},
      hash_{from.hash},
      functions_{from.hash},
      rehashed_by_adapt_{from.rehashed_by_adapt},
      ghosts_{from.ghosts},
      rehashing_{from.rehashing},
      state_{std::move(empty)},
      salts_{from.seed} {
    state_->older = fresh_generation();
    state_->newer = fresh_generation();
}

result<std::unique_ptr<core>> core::make(const beginnings& from) {
    auto empty = state::make(from.sizes);
    if (!empty) return empty.error();
    return std::make_unique<core>(from, *std::move(empty));
}

bool core::contains(const digest& d) const noexcept {
    const std::shared_lock look{looking_};
    return state_->contains(d, functions_);
}

result<void> core::begin(index_source& remote) {
    if (index_ == index_is::unknown) {  // just made: R may hold the index of a former filter
        if (auto cleared = book_.clear(remote); !cleared) return cleared;
        index_ = index_is::ours;
    }
    if (afresh_due_) {
        // With an index in pieces nothing can be done. With a whole one only what was due waits on.
        if (auto done = start_afresh(remote); !done && index_ != index_is::ours) return done;
    }
    if (index_ == index_is::foreign)
        return error::make(error_code::unsupported,
                           "broom_paper: the index in R is not this filter's yet; rebuild(R) makes it so");
    return book_.settle(remote);
}

// ---- insertion --------------------------------------------------------------------------------------------------------

result<insert_outcome> core::insert_into(state& in, const digest& d, key_view key, index_source& remote) {
    auto planned = plan_to_join(in, d, key, in.of(d), false, remote);
    if (!planned) return planned.error();
    joining& plan = *planned;
    if (plan.says == verdict::already_present) return insert_outcome::already_present;
    if (in.keys >= sizes_.capacity || plan.says == verdict::no_room) return insert_outcome::full;
    if (plan.says == verdict::ready && !strings_fit(in, plan)) return insert_outcome::full;
    std::vector<index_change> changes;
    changes.push_back({index_change::kind::put, order_place(d, {}), std::string{key.text()}});
    if (plan.goes_to != where::behind)
        changes.push_back({index_change::kind::put, reverse_place(plan.h), std::string{key.text()}});
    const auto written = book_.write(changes, remote, [&] {
        const std::unique_lock alone{looking_};
        if (plan.says == verdict::ready) join(in, plan);
        in.count(d, 1);
    });
    if (!written) return written.error();
    if (plan.extends) {
        ++frontier_due_;
        ++adapts_since_rebuild_;
    }
    return insert_outcome::inserted;
}

result<insert_outcome> core::insert(key_view key, index_source& remote) {
    const std::lock_guard held{changing_};
    if (const auto begun = begin(remote); !begun) return begun.error();
    const digest d = hash_(key);
    auto outcome = insert_into(*state_, d, key, remote);
    if (!outcome) return outcome;
    if (*outcome == insert_outcome::full && state_->keys < sizes_.capacity) {
        // With high probability never: no slot within reach, or a group full of strings. New hash functions, which find the key in R.
        if (const auto done = start_afresh(remote); !done) return done.error();
        outcome = insert_into(*state_, d, key, remote);
        if (outcome && *outcome == insert_outcome::already_present) outcome = insert_outcome::inserted;
    }
    move_frontier(remote);
    return outcome;
}

// ---- deletion ---------------------------------------------------------------------------------------------------------

// The index says that the key is there. Its word is not enough to take a fingerprint away, which could be another's: the reverse
// record has to name this digest, and nobody else's may.
result<core::where> core::locate(const state& in, const digest& d, index_source& remote) {
    if (in.behind && in.behind->contains(hash_in(in, where::behind, d))) return where::behind;
    for (const where which : {where::primary, where::second}) {
        if (which == where::second && !in.second) continue;
        const auto at = level_of(in, which).find(hash_in(in, which, d));
        if (!at) continue;
        const auto owner = owner_of(in, which, *at, remote);
        if (!owner) return owner.error();
        if (owner->d == d) return which;
    }
    afresh_due_ = true;
    return error::make(error_code::corrupt, "broom_paper: the index knows a key that the filter does not");
}

void core::take_away(state& in, where from, const digest& d) {
    if (from == where::behind) {
        in.behind->erase(hash_in(in, where::behind, d));
    } else {
        level& of = level_of(in, from);
        const auto at = of.find(hash_in(in, from, d));
        assert(at);
        if (at) of.erase(*at);
    }
}

result<core::leaving> core::leave(const digest& d, key_view key, index_source& remote) {
    const auto records = records_of(d, remote);
    if (!records) return records.error();
    state& in = *state_;
    bool present = false, shared = false;
    for (const order_record& each : *records) {
        if (each.ghost.length != 0) continue;
        (each.key == key.text() ? present : shared) = true;
    }
    if (!present) return leaving{erase_outcome::absent, shared};
    const auto lies = locate(in, d, remote);
    if (!lies) return lies.error();
    const whole_hash h = hash_in(in, *lies, d);
    std::vector<index_change> changes;
    changes.push_back({index_change::kind::erase, order_place(d, {}), std::string{key.text()}});
    if (*lies != where::behind)
        changes.push_back({index_change::kind::erase, reverse_place(h), std::string{key.text()}});

    // The ghost: quotient and adaptivity bits, until the hash function times out [broom18 §4.3].
    adaptivity bits;
    bool remembers = false;
    if (!shared && *lies != where::behind && ghosts_ != ghost_rule::forgotten) {
        bits = level_of(in, *lies).find(h)->bits;
        const ghost_mark mark{*lies == where::second, bits.length};
        const auto same = [&](const order_record& each) {
            return each.key == key.text() && each.ghost.length == mark.length && each.ghost.in_second == mark.in_second;
        };
        if (bits.length > 0 && std::ranges::none_of(*records, same)) {
            remembers = true;
            changes.push_back({index_change::kind::put, order_place(d, mark), std::string{key.text()}});
        }
    }
    const auto written = book_.write(changes, remote, [&] {
        const std::unique_lock alone{looking_};
        in.count(d, -1);
        if (shared) return;
        take_away(in, *lies, d);
        if (remembers) {
            level& of = level_of(in, *lies);
            try {
                if (!of.strings().add_ghost(of.quotient(h), bits)) afresh_due_ = true;
            } catch (const std::bad_alloc&) {
                afresh_due_ = true;  // what cannot be remembered must not be repeated
            }
        }
    });
    if (!written) return written.error();
    return leaving{erase_outcome::erased, shared};
}

result<erase_outcome> core::let_go(const digest& d, key_view key, index_source& remote) {
    const auto left = leave(d, key, remote);
    if (!left) return left.error();
    if (afresh_due_) move_frontier(remote);
    return left->outcome;
}

result<erase_outcome> core::erase(key_view key, index_source& remote) {
    const std::lock_guard held{changing_};
    if (const auto begun = begin(remote); !begun) return begun.error();
    const digest d = hash_(key);
    const auto gone = remote.remove_member(d, key);
    if (!gone) return gone.error();
    if (!*gone) return erase_outcome::absent;
    return let_go(d, key, remote);
}

result<erase_outcome> core::forget(key_view key, index_source& remote) {
    const std::lock_guard held{changing_};
    if (const auto begun = begin(remote); !begun) return begun.error();
    const digest d = hash_(key);
    ++remote_reads_;
    const auto back = remote.is_member(d, key);
    if (!back) return back.error();
    if (*back) return erase_outcome::absent;
    return let_go(d, key, remote);
}

}  // namespace genista::broom_paper
