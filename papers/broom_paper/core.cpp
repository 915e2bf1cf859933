// The start of every change, insertion and deletion. See core.hpp.
#include "papers/broom_paper/core.hpp"
#include "filters/index_book.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

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
    return state_->contains(d, functions_);
}

bool core::contains(const element& e) const noexcept {
    return state_->contains(e, functions_);
}

result<void> core::begin(index_source& remote) {
    if (index_ == index_is::unknown) {  // new filter: R may hold the index of a former one
        if (auto cleared = book_.clear(remote); !cleared) return cleared;
        index_ = index_is::ours;
    }
    if (afresh_due_) {
        // An incomplete index allows no change. With a complete one, only the due rebuild has to
        // wait.
        if (auto done = start_afresh(remote); !done && index_ != index_is::ours) return done;
    }
    return book_.write_pending(remote);
}

//  ---- insertion

result<insert_outcome> core::insert_into(state& in, const element& e, key_view key, index_source& remote) {
    auto planned = plan_to_join(in, {.e = e, .key = key}, in.of(e), remote);
    if (!planned) return planned.error();
    joining& plan = *planned;
    if (plan.says == verdict::already_present) return insert_outcome::already_present;
    if (in.keys >= sizes_.capacity || plan.says == verdict::no_room) return insert_outcome::full;
    if (plan.says == verdict::ready && !strings_fit(in, plan)) return insert_outcome::full;
    const std::array<index_change, 2> changes{
        index_change{index_change::kind::put, order_place(e, {}), std::string{key.text()}},
        index_change{index_change::kind::put, reverse_place(plan.h), std::string{key.text()}}};
    const auto written = book_.write(changes, remote, [&] {
        if (plan.says == verdict::ready) join(in, plan);
        in.count(e, 1);
    });
    if (!written) return written.error();
    if (plan.extends) {
        ++frontier_due_;
        ++adapts_since_rebuild_;
    }
    return insert_outcome::inserted;
}

result<insert_outcome> core::insert(const hashed_key& key, index_source& remote) {
    if (const auto begun = begin(remote); !begun) return begun.error();
    const element e = element::of(key);
    auto outcome = insert_into(*state_, e, key.view(), remote);
    if (!outcome) return outcome;
    if (*outcome == insert_outcome::full && state_->keys < sizes_.capacity) {
        // With high probability this never happens: no slot within reach, or a group full of
        // strings. New hash functions are drawn, and the rebuild finds the key in R.
        if (const auto done = start_afresh(remote); !done) return done.error();
        outcome = insert_into(*state_, e, key.view(), remote);
        if (outcome && *outcome == insert_outcome::already_present) outcome = insert_outcome::inserted;
    }
    move_frontier(remote);
    return outcome;
}

//  ---- deletion

result<std::optional<core::location>> core::find_own(const state& in, const element& e, index_source& remote) {
    const whole_hash h = hash_in(in, where::primary, e);
    if (in.behind && in.behind->contains(h)) {
        const auto with = sharing_of(in, h, remote);
        if (!with) return with.error();
        if (*with) return std::optional{location{where::behind, **with}};
    }
    for (const where which : {where::primary, where::second}) {
        if (which == where::second && !in.second) continue;
        const whole_hash mine = hash_in(in, which, e);
        const auto at = level_of(in, which).find(mine);
        if (!at) continue;
        const auto owner = owner_of(in, which, *at, remote);
        if (!owner) return owner.error();
        if (owner->h == mine) return std::optional{location{which, owner->with}};
    }
    return std::optional<location>{};
}

// The index says that the key is present. That is not enough to remove a fingerprint, which could
// be another key's: the reverse record must name this hash, and no record may name another.
result<core::location> core::locate(const state& in, const element& e, index_source& remote) {
    const auto found = find_own(in, e, remote);
    if (!found) return found.error();
    if (*found) return **found;
    afresh_due_ = true;
    return error::make(error_code::corrupt, "broom_paper: the index has a key that the filter does not hold");
}

void core::take_away(state& in, where from, const element& e) {
    if (from == where::behind) {
        in.behind->erase(hash_in(in, where::behind, e));
    } else {
        level& of = level_of(in, from);
        const auto at = of.find(hash_in(in, from, e));
        assert(at);
        if (at) of.erase(*at);
    }
}

result<erase_outcome> core::leave(const element& e, key_view key, index_source& remote) {
    const auto records = records_of(e, remote);
    if (!records) return records.error();
    state& in = *state_;
    const auto is_this = [&](const order_record& each) { return each.is_resident() && each.key == key.text(); };
    if (std::ranges::none_of(*records, is_this)) return erase_outcome::absent;
    const auto located = locate(in, e, remote);
    if (!located) return located.error();
    const where lies = located->lies;
    const bool shared = in.keys != in.fingerprints() && located->with.several_keys;
    const whole_hash h = hash_in(in, lies, e);
    std::vector<index_change> changes;
    changes.push_back({index_change::kind::erase, order_place(e, {}), std::string{key.text()}});
    changes.push_back({index_change::kind::erase, reverse_place(h), std::string{key.text()}});

    // The ghost: quotient and adaptivity bits, until the hash function times out [broom18 §4.3].
    adaptivity bits;
    bool remembers = false;
    if (!shared && lies != where::behind && ghosts_ != ghost_rule::forgotten) {
        bits = level_of(in, lies).find(h)->bits;
        const ghost_mark mark{lies == where::second, bits.length};
        const auto same = [&](const order_record& each) {
            return each.key == key.text() && each.ghost.length == mark.length && each.ghost.in_second == mark.in_second;
        };
        if (bits.length > 0 && std::ranges::none_of(*records, same)) {
            remembers = true;
            changes.push_back({index_change::kind::put, order_place(e, mark), std::string{key.text()}});
        }
    }
    const auto written = book_.write(changes, remote, [&] {
        in.count(e, -1);
        if (shared) return;
        take_away(in, lies, e);
        if (remembers) {
            level& of = level_of(in, lies);
            // A hash function whose ghost cannot be kept must not stay.
            if (!of.strings().add_ghost(of.quotient(h), bits)) afresh_due_ = true;
        }
    });
    if (!written) return written.error();
    return erase_outcome::erased;
}

result<erase_outcome> core::let_go(const element& e, key_view key, index_source& remote) {
    auto left = leave(e, key, remote);
    if (left && afresh_due_) move_frontier(remote);
    return left;
}

result<erase_outcome> core::erase(const hashed_key& key, index_source& remote) {
    if (const auto begun = begin(remote); !begun) return begun.error();
    const element e = element::of(key);
    const auto gone = remote.remove_member(e.d, key.view());
    if (!gone) return gone.error();
    if (!*gone) return erase_outcome::absent;
    return let_go(e, key.view(), remote);
}

result<erase_outcome> core::forget(const hashed_key& key, index_source& remote) {
    if (const auto begun = begin(remote); !begun) return begun.error();
    const element e = element::of(key);
    ++remote_reads_;
    const auto back = remote.is_member(e.d, key.view());
    if (!back) return back.error();
    if (*back) return erase_outcome::absent;
    return let_go(e, key.view(), remote);
}

// ---- All keys at once
namespace {

constexpr int most_attempts = 4;

}  // namespace

// False: no room under these hash functions.
result<bool> core::fill(state& fresh, index_source& remote) {
    return each_member_of(remote, hash_, remote_reads_, [&](const index_member& each) -> result<bool> {
        const auto outcome = insert_into(fresh, element::of(key_view{each.key}, each.d), key_view{each.key}, remote);
        if (!outcome) return outcome.error();
        return *outcome != insert_outcome::full;
    });
}

result<void> core::start_afresh(index_source& remote) {
    const auto too_many = [&] {
        return error::make(error_code::mismatch,
                           "broom_paper: the remote map holds more keys than the %llu this filter was made for",
                           static_cast<unsigned long long>(sizes_.capacity));
    };
    // Counts before anything is cleared: an index that could not be filled again is kept.
    std::uint64_t members = 0;
    const auto few = each_member_of(remote, hash_, remote_reads_,
                                    [&](const index_member&) -> result<bool> { return ++members <= sizes_.capacity; });
    if (!few) return few.error();
    if (!*few) return too_many();
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        auto made = state::make(sizes_);
        if (!made) return made.error();
        state& fresh = **made;
        fresh.older = fresh_generation();
        fresh.newer = fresh_generation();
        afresh_due_ = true;
        index_ = index_is::in_pieces;
        if (auto cleared = book_.clear(remote); !cleared) return cleared;
        const auto filled = fill(fresh, remote);
        if (!filled) return filled.error();
        if (!*filled && fresh.keys >= sizes_.capacity) return too_many();
        if (!*filled) continue;
        state_ = *std::move(made);
        index_ = index_is::ours;
        afresh_due_ = false;
        frontier_due_ = adapts_since_rebuild_ = 0;
        ++rebuilds_;
        return {};
    }
    return error::make(error_code::mismatch, "broom_paper: %llu keys found no room under %d sets of hash functions",
                       static_cast<unsigned long long>(members), most_attempts);
}

result<void> core::rebuild(index_source& remote) {
    return start_afresh(remote);
}

}  // namespace genista::broom_paper
