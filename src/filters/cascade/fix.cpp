// FIX: the value of a false positive dies, and the keys that have it move to the next level
// [broom17 §5]. See core.hpp.
#include <algorithm>
#include <utility>

#include "filters/cascade/core.hpp"

namespace genista::cascade {

result<bool> core::fix(const hashed_key& key, index_source& remote) {
    const digest& d = key.where();
    const place at = state_->find(d);
    if (at.state != value_state::stored) return true;
    const auto there = residents_of(at, key, remote);
    if (!there) return there.error();
    if (std::ranges::any_of(*there, [&](const resident& each) { return each.key == key.text(); })) {
        // The key itself: it has left R, and its erase has not come yet.
        const auto left = leave(key, remote);
        if (!left) return left.error();
        return true;
    }
    if (std::ranges::any_of(*there, [&](const resident& each) { return each.d == d; })) return false;

    struct no_room {};
    bool moved = at.level + 1 < state_->all().size();
    if (moved) {
        std::vector<index_change> changes;
        std::vector<digest> moving;
        for (const resident& each : *there) {
            const place to = state_->find_from(at.level + 1, each.d);
            changes.push_back({index_change::kind::erase, record_place(at, each.d), each.key});
            changes.push_back({index_change::kind::put, record_place(to, each.d), each.key});
            moving.push_back(each.d);
        }
        try {
            const auto written = book_.write(changes, remote, [&] {
                const std::unique_lock alone{looking_};
                if (!state_->kill(at, moving)) throw no_room{};  // the written records become pending erases
            });
            if (!written) return written.error();
        } catch (const no_room&) {
            moved = false;
        }
    }
    if (!moved) {  // the last level, or a full one: with high probability this never happens
        if (const auto done = start_afresh(remote); !done) return done.error();
    }
    return true;
}

result<adapt_outcome> core::adapt(const hashed_key& key, index_source& remote) {
    const std::lock_guard held{changing_};
    if (const auto begun = begin(remote); !begun) return begun.error();
    const digest& d = key.where();
    if (!state_->contains(d)) return adapt_outcome::was_negative;
    ++remote_reads_;
    const auto member = remote.is_member(d, key.view());
    if (!member) return member.error();
    if (*member) return adapt_outcome::true_positive;
    // Each step reaches a later level, and new hash functions may collide again, with probability
    // ε.
    constexpr int most_steps = 64;
    bool has_finished = false;
    for (int step = 0; step < most_steps; ++step) {
        if (!state_->contains(d)) {
            if (has_finished) break;
            ++adapts_;
            has_finished = true;
            finish(remote);
            continue;
        }
        const auto fixed = fix(key, remote);
        if (!fixed) return fixed.error();
        if (!*fixed) return adapt_outcome::true_positive;  // R holds a key with the same digest
    }
    return state_->contains(d) ? adapt_outcome::unfixed : adapt_outcome::fixed;
}

}  // namespace genista::cascade
