// adapt: FIX-FALSE-POSITIVE [broom17 Fig. 1]. See core.hpp.
//
// Fork: the paper looks for y with h_{i,j}(y) = h_{i,j}(x), through the very function j that sent x
// to the cell. All functions of a level share one array, so a y that uses the cell through another
// function would not be found, and would be denied from then on. The index stores cells, not
// functions: all keys that use the cell move up. (A segment for each function would do as well; one
// array is the usual Bloom filter.)
#include <algorithm>
#include <utility>

#include "filters/adaptive_bloom/core.hpp"

namespace genista::adaptive_bloom {

result<bool> core::has_key_of_digest(std::span<const index_member> users, const hashed_key& key, index_source& remote) {
    for (const index_member& each : users) {
        if (each.d != key.where() || each.key == key.text()) continue;
        ++remote_reads_;
        const auto member = remote.is_member(each.d, key_view{each.key});
        if (!member || *member) return member;
    }
    return false;
}

// REQUIRES: the false positive passed all levels below, and all its cells here are set and alive.
result<core::repair> core::fix(unsigned level, const hashed_key& key, index_source& remote) {
    state& in = *state_;
    const digest& d = key.where();
    const cell_list cells = in.cells_of(level, d, functions_);
    const std::uint64_t cell = cells.at[scale(next_salt(chance_), cells.count)];
    auto users = users_of(in, level, cell, key, remote);
    if (!users) return users.error();
    const auto another = has_key_of_digest(*users, key, remote);
    if (!another) return another.error();
    if (*another) return repair::same_digest;

    std::vector<way_up> ways;
    std::vector<index_member> moving, leaving;
    for (index_member& each : *users) {
        if (each.d ==
            d) {  // the key has left R: it does not move, and later look-ups do not reach it through other cells
            leaving.push_back(std::move(each));
        } else if (!in.meets_dead(level, in.cells_of(level, each.d, functions_))) {  // otherwise it has moved already
            ways.push_back(plan(in, each.d, level + 1));
            moving.push_back(std::move(each));
        }
    }
    if (!has_room(in, ways) || !in.has_room_for_dead(level, cell)) return repair::no_room;
    for (std::size_t i = 0; i < ways.size(); ++i) {
        if (const auto put = put_records(in, ways[i], key_view{moving[i].key}, remote); !put) return put.error();
    }
    bool all_went = false;
    const auto written = forget_records(in, level, leaving, remote, [&] {
        const std::unique_lock alone{looking_};
        // Insert before killing: if one of the keys finds no room, the others are in both levels,
        // and no cell dies.
        all_went = std::ranges::all_of(ways, [&](const way_up& each) { return go(in, each); });
        all_went = all_went && in.kill(level, cell);
        in.forgotten += leaving.size();
    });
    if (!written) return written.error();
    return all_went ? repair::done : repair::no_room;
}

// If the whole hash belongs to another key, new hash functions are needed. The hash of the key
// itself, which has left R, can be removed.
result<core::repair> core::fix_last(const hashed_key& key, index_source& remote) {
    state& in = *state_;
    const digest& d = key.where();
    const last_hash h = in.last_of(d, functions_);
    auto users = users_of(in, in.d(), h.quotient, key, remote);
    if (!users) return users.error();
    std::erase_if(*users, [&](const index_member& each) { return in.last_of(each.d, functions_) != h; });
    const auto another = has_key_of_digest(*users, key, remote);
    if (!another) return another.error();
    if (*another) return repair::same_digest;
    const bool only_its_own =
        !users->empty() && std::ranges::all_of(*users, [&](const index_member& each) { return each.d == d; });
    if (!only_its_own) return repair::no_room;
    const auto written = forget_records(in, in.d(), *users, remote, [&] {
        const std::unique_lock alone{looking_};
        in.erase_last(h);
        in.forgotten += users->size();
    });
    if (!written) return written.error();
    return repair::done;
}

result<adapt_outcome> core::adapt(const hashed_key& key, index_source& remote) {
    const std::lock_guard held{changing_};
    if (const auto begun = begin(remote); !begun) return begun.error();
    const digest& d = key.where();
    adaptive_bloom_path path = state_->look(d, functions_);
    if (!path.maybe) return adapt_outcome::was_negative;
    ++remote_reads_;
    const auto member = remote.is_member(d, key.view());
    if (!member) return member.error();
    if (*member) return adapt_outcome::true_positive;
    // Level by level, usually one. New hash functions may be drawn on the way, after which it may
    // start again from the bottom, with probability ε.
    constexpr int most_steps = 256;
    for (int step = 0; step < most_steps && path.maybe; ++step) {
        const auto done = path.level < state_->d() ? fix(path.level, key, remote) : fix_last(key, remote);
        if (!done) return done.error();
        if (*done == repair::same_digest) return adapt_outcome::true_positive;
        if (*done == repair::no_room) {
            if (const auto fresh = start_afresh(remote); !fresh) return fresh.error();
        }
        path = state_->look(d, functions_);
    }
    if (path.maybe) return adapt_outcome::unfixed;
    ++adapts_;
    return adapt_outcome::fixed;
}

}  // namespace genista::adaptive_bloom
