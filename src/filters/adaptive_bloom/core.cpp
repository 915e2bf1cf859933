// The start of every change, and insertion. See core.hpp.
#include "filters/adaptive_bloom/core.hpp"
#include "genista/detail/remote/record_check.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace genista::adaptive_bloom {

core::core(const beginnings& from, std::unique_ptr<state> first) noexcept
    : sizes_{from.sizes}, hash_{from.hash}, functions_{from.hash}, state_{std::move(first)}, chance_{from.seed} {}

result<std::unique_ptr<core>> core::make(const beginnings& from) {
    beginnings then = from;
    auto empty = state::make(from.sizes, generation::from(then.seed));
    if (!empty) return empty.error();
    return std::make_unique<core>(then, *std::move(empty));
}

bool core::contains(const digest& d) const noexcept {
    queries_.fetch_add(1, std::memory_order_relaxed);
    return path_of(d).maybe;
}

adaptive_bloom_path core::path_of(const digest& d) const noexcept {
    const std::shared_lock look{looking_};
    return state_->look(d, functions_);
}

result<void> core::begin(index_source& remote) {
    if (index_ == index_is::foreign)
        return error::make(error_code::unsupported,
                           "adaptive_bloom: the index in R is not this filter's yet; rebuild(R) makes it so");
    if (index_ == index_is::unknown) {  // new filter: R may hold the index of a former one
        if (auto cleared = book_.clear(remote); !cleared) return cleared;
        index_ = index_is::ours;
    }
    if (auto written = book_.write_pending(remote); !written) return written;
    // The bound "up to n queries" is reached [broom17 Thm 19].
    if (queries_.load(std::memory_order_relaxed) < sizes_.capacity) return {};
    auto done = start_afresh(remote);
    if (!done && done.error().code() == error_code::mismatch) {
        // R holds more keys than this filter was made for: its contents stay as they are, and it
        // tries again after as many queries.
        queries_.store(0, std::memory_order_relaxed);
        return {};
    }
    return done;
}

core::way_up core::plan(const state& in, const digest& d, unsigned first) const noexcept {
    way_up way{d, first, first};
    while (way.last < in.d() && in.meets_dead(way.last, in.cells_of(way.last, d, functions_))) ++way.last;
    return way;
}

result<void> core::put_records(const state& in, const way_up& way, key_view key, index_source& remote) const {
    result<void> put{};
    for (unsigned level = way.first; level <= way.last; ++level) {
        each_place(in, level, way.d, [&](const digest& place) {
            if (put) put = remote.put(place, key);
        });
    }
    return put;
}

bool core::has_room(const state& in, std::span<const way_up> ways) const noexcept {
    std::array<std::uint64_t, most_levels + 1> coming{};
    for (const way_up& each : ways) {
        for (unsigned level = each.first; level <= each.last; ++level) ++coming[level];
    }
    for (unsigned level = 0; level <= in.d(); ++level) {
        if (coming[level] != 0 && in.keys[level] + coming[level] > in.most(level)) return false;
    }
    return true;
}

bool core::go(state& in, const way_up& way) const noexcept {
    if (way.last == in.d()) {
        if (!in.insert_last(in.last_of(way.d, functions_))) return false;
        ++in.keys[in.d()];
    }
    for (unsigned level = way.first; level <= way.last && level < in.d(); ++level) {
        for (const std::uint64_t cell : in.cells_of(level, way.d, functions_)) in.set(level, cell);
        ++in.keys[level];
    }
    return true;
}

result<insert_outcome> core::insert_afresh(const hashed_key& key, index_source& remote) {
    const auto done = start_afresh(remote);
    if (!done && done.error().code() == error_code::mismatch) return insert_outcome::full;
    if (!done) return done.error();
    ++remote_reads_;
    const auto member = remote.is_member(key.where(), key.view());
    if (!member) return member.error();
    if (!*member)
        return error::make(error_code::mismatch,
                           "adaptive_bloom: a key was inserted that the remote map does not hold");
    return insert_outcome::inserted;
}

result<insert_outcome> core::insert(const hashed_key& key, index_source& remote) {
    const std::lock_guard held{changing_};
    if (const auto begun = begin(remote); !begun) return begun.error();
    state& in = *state_;
    if (in.keys[0] >= sizes_.capacity) {
        // Keys inserted twice, and keys that have left R, count too. Only a rebuild corrects the
        // count, but not for every key that finds no room.
        constexpr std::uint64_t share = 16;
        if (++inserts_since_afresh_ < sizes_.capacity / share) return insert_outcome::full;
        inserts_since_afresh_ = 0;
        return insert_afresh(key, remote);
    }
    const way_up way = plan(in, key.where(), 0);
    if (!has_room(in, {&way, 1})) return insert_afresh(key, remote);
    if (const auto put = put_records(in, way, key.view(), remote); !put) return put.error();
    const auto went = [&] {
        const std::unique_lock alone{looking_};
        return go(in, way);
    }();
    if (!went) return insert_afresh(key, remote);
    ++inserts_since_afresh_;
    return insert_outcome::inserted;
}

// ---- The records of the index
bool core::uses(const state& in, unsigned level, std::uint64_t cell, const digest& d) const noexcept {
    if (level > in.d()) return false;
    if (level == in.d()) return in.last_of(d, functions_).quotient == cell;
    return in.cells_of(level, d, functions_).has(cell);
}

result<std::vector<index_member>> core::users_of(const state& in, unsigned level, std::uint64_t cell,
                                                 const hashed_key& own, index_source& remote) {
    const std::uint64_t position = position_of(in.half, level, cell);
    std::vector<index_member> found;
    bool starved = false, fits = true;
    remote_detail::record_order order;
    ++remote_reads_;
    const auto read = remote.each({position, position}, never_throwing(starved, [&](const digest& place, key_view key) {
                                      const digest d = own.digest_of(hash_, key);
                                      fits = place.position == position && place.seed == d.seed &&
                                             uses(in, level, cell, d) && order.ascends(place, key);
                                      if (!fits) return false;
                                      found.push_back({d, std::string{key.text()}});
                                      return true;
                                  }));
    if (starved) throw std::bad_alloc{};
    if (!read) return read.error();
    if (!fits)
        return error::make(error_code::corrupt,
                           "adaptive_bloom: the index gave a record that does not belong where it stands");
    // A failed operation may have left the record of a level that its key is not in: skip it.
    std::erase_if(found, [&](const index_member& each) { return !in.reaches(level, each.d, functions_); });
    if (found.empty() && in.forgotten == 0)
        return error::make(error_code::corrupt,
                           "adaptive_bloom: level %u, cell %llu is in use, and the index names no key", level,
                           static_cast<unsigned long long>(cell));
    return found;
}

result<void> core::forget_records(const state& in, unsigned last, std::span<const index_member> keys,
                                  index_source& remote, const std::function<void()>& apply_locally) {
    std::vector<index_change> changes;
    for (const index_member& each : keys) {
        for (unsigned level = 0; level <= last; ++level) {
            each_place(in, level, each.d, [&](const digest& place) {
                changes.push_back({index_change::kind::erase, place, each.key});
            });
        }
    }
    return book_.write(changes, remote, apply_locally);
}

result<void> core::clear_half(unsigned half, index_source& remote) {
    const std::uint64_t first = position_of(half, 0, 0), last = first | (~std::uint64_t{0} >> 1);
    return index_book::clear({first, last}, remote);
}

// ---- All keys at once
result<void> core::fill(state& fresh, index_source& remote) {
    const auto filled = each_member_of(remote, hash_, remote_reads_, [&](const index_member& each) -> result<bool> {
        if (fresh.keys[0] >= sizes_.capacity)
            return error::make(error_code::mismatch,
                               "adaptive_bloom: the remote map holds more keys than the %llu this filter was made for",
                               static_cast<unsigned long long>(sizes_.capacity));
        const way_up way{each.d, 0, 0};  // no cell is dead: the key stays in level 0, where there is room
        if (const auto put = put_records(fresh, way, key_view{each.key}, remote); !put) return put.error();
        (void)go(fresh, way);
        return true;
    });
    if (!filled) return filled.error();
    return {};
}

result<void> core::start_afresh(index_source& remote) {
    inserts_since_afresh_ = 0;
    auto made = state::make(sizes_, generation::from(chance_));
    if (!made) return made.error();
    state& fresh = **made;
    fresh.half = 1 - state_->half;
    if (index_ != index_is::ours) {
        if (auto cleared = book_.clear(remote); !cleared) return cleared;
    } else {
        if (auto written = book_.write_pending(remote); !written) return written;
        if (auto cleared = clear_half(fresh.half, remote); !cleared) return cleared;
    }
    if (auto filled = fill(fresh, remote); !filled) return filled;
    {
        const std::unique_lock alone{looking_};
        std::swap(state_, *made);
    }
    queries_.store(0, std::memory_order_relaxed);
    index_ = index_is::ours;
    ++rebuilds_;
    // If this fails, the rest of the old half is never read, and the next rebuild removes it.
    try {
        (void)clear_half(1 - state_->half, remote);
    } catch (const std::bad_alloc&) {
        return {};
    }
    return {};
}

result<void> core::rebuild(index_source& remote) {
    const std::lock_guard held{changing_};
    return start_afresh(remote);
}

}  // namespace genista::adaptive_bloom
