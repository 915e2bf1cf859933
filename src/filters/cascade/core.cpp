// Look-ups, insertion and deletion. See core.hpp.
#include "filters/cascade/core.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "filters/index_book.hpp"
#include "genista/detail/remote/record_check.hpp"

namespace genista::cascade {

core::core(const beginnings& from, std::unique_ptr<state> empty) noexcept
    : capacity_{from.capacity},
      rate_{from.rate},
      hash_{from.hash},
      falling_{from.falling},
      state_{std::move(empty)},
      salts_{from.seed} {}

result<std::unique_ptr<core>> core::make(const beginnings& from) {
    beginnings after = from;
    auto empty = state::make(design_for(from.capacity, from.rate, from.falling), from.hash, after.seed);
    if (!empty) return empty.error();
    return std::make_unique<core>(after, std::make_unique<state>(*std::move(empty)));
}

bool core::contains(const digest& d) const noexcept {
    queries_.fetch_add(1, std::memory_order_relaxed);
    const std::shared_lock look{looking_};
    return state_->contains(d);
}

std::uint64_t core::contains(std::span<const digest> digests) const noexcept {
    queries_.fetch_add(digests.size(), std::memory_order_relaxed);
    const std::shared_lock look{looking_};
    std::uint64_t answers = 0;
    for (std::size_t i = 0; i < digests.size(); ++i) answers |= std::uint64_t{state_->contains(digests[i])} << i;
    return answers;
}

unsigned core::level_of(const digest& d) const noexcept {
    const std::shared_lock look{looking_};
    return state_->find(d).level;
}

result<void> core::begin(index_source& remote) {
    if (index_ == index_is::foreign)
        return error::make(error_code::unsupported,
                           "cascade: the index in R is not this filter's yet; rebuild(R) makes it so");
    if (index_ == index_is::unknown) {  // new filter: R may hold the index of a former one
        if (auto cleared = book_.clear(remote); !cleared) return cleared;
        index_ = index_is::ours;
    }
    if (index_ == index_is::broken) return start_afresh(remote);
    return book_.write_pending(remote);
}

void core::finish(index_source& remote) {
    if (queries_.load(std::memory_order_relaxed) < capacity_) return;
    try {
        (void)start_afresh(remote);
    } catch (const std::bad_alloc&) {  // the change itself is done; this stays due
    }
}

result<std::vector<core::resident>> core::residents_of(const place& at, const hashed_key& own, index_source& remote) {
    std::vector<resident> found;
    bool starved = false, fits = true;
    remote_detail::record_order order;
    const std::uint64_t position = record_place(at, {}).position;
    ++remote_reads_;
    const auto read = remote.each({position, position}, never_throwing(starved, [&](const digest& where, key_view key) {
                                      const digest d = own.digest_of(hash_, key);
                                      fits = where == record_place(at, d) && state_->value(at.level, d) == at.value &&
                                             order.ascends(where, key);
                                      if (!fits) return false;
                                      found.push_back({d, std::string{key.text()}});
                                      return true;
                                  }));
    if (starved) throw std::bad_alloc{};
    if (!read) return read.error();
    if (!fits || found.empty())
        return error::make(error_code::corrupt, "cascade: the index has %s at level %u, value %llu",
                           fits ? "no record" : "a record that does not belong there", at.level,
                           static_cast<unsigned long long>(at.value));
    return found;
}

// ---- insertion: R is written, and read only if the filter is full

// A key in doubt (see insert_at) may be in the filter without being counted, so it takes up room.
bool core::is_full() const noexcept {
    return state_->keys() + in_doubt_ >= capacity_;
}

result<bool> core::has_key(const place& at, const hashed_key& key, index_source& remote) {
    const auto there = residents_of(at, key, remote);
    if (!there) return there.error();
    return std::ranges::any_of(*there, [&](const resident& each) { return each.key == key.text(); });
}

result<insert_outcome> core::insert_at(const place& at, const hashed_key& key, index_source& remote) {
    index_change record{index_change::kind::put, record_place(at, key.where()), std::string{key.text()}};
    if (at.state == value_state::absent) {
        if (is_full()) return insert_outcome::full;
        struct no_room {};
        try {
            const auto written = book_.write({&record, 1}, remote, [&] {
                const std::unique_lock alone{looking_};
                if (!state_->insert(at)) throw no_room{};  // the written record becomes a pending erase
            });
            if (!written) return written.error();
        } catch (const no_room&) {
            return insert_outcome::full;
        }
        return insert_outcome::inserted;
    }
    // Another insert stored this value: that of the key itself, or of a key with the same value.
    // Only the index can tell which. A full filter writes nothing to it: if the write failed, the
    // record would be there all the same, and the next insert would find a key that was refused.
    if (is_full()) {
        const auto present = has_key(at, key, remote);
        if (!present) return present.error();
        return *present ? insert_outcome::already_present : insert_outcome::full;
    }
    const auto is_new = book_.put_again(record, remote);
    if (!is_new) {
        ++in_doubt_;
        return is_new.error();
    }
    if (!*is_new) return insert_outcome::already_present;
    {
        const std::unique_lock alone{looking_};
        if (state_->insert(at)) return insert_outcome::inserted;
    }
    record.what = index_change::kind::erase;
    if (const auto undone = book_.write({&record, 1}, remote); !undone) {
        ++in_doubt_;
        return undone.error();
    }
    return insert_outcome::full;
}

result<bool> core::has_room_for_all(index_source& remote) {
    std::uint64_t keys = 0;
    return each_member_of(remote, hash_, remote_reads_,
                          [&](const index_member&) -> result<bool> { return ++keys <= capacity_; });
}

result<insert_outcome> core::insert(const hashed_key& key, index_source& remote) {
    const std::lock_guard held{changing_};
    if (const auto begun = begin(remote); !begun) return begun.error();
    auto outcome = insert_at(state_->find(key.where()), key, remote);
    if (!outcome) return outcome;
    if (*outcome == insert_outcome::full && state_->keys() < capacity_) {
        // No slot within the window, more keys in a level than it is made for, or keys in doubt.
        // New hash functions are drawn, and the rebuild finds the key in R. With keys in doubt R
        // may hold one too many: then the index must not be cleared.
        if (in_doubt_ > 0) {
            const auto fits = has_room_for_all(remote);
            if (!fits) return fits.error();
            if (!*fits) return insert_outcome::full;
        }
        if (const auto done = start_afresh(remote); !done) return done.error();
        outcome = insert_at(state_->find(key.where()), key, remote);
        if (outcome && *outcome == insert_outcome::already_present) outcome = insert_outcome::inserted;
    }
    if (!outcome || *outcome != insert_outcome::full) finish(remote);
    return outcome;
}

// ---- deletion

result<erase_outcome> core::leave(const hashed_key& key, index_source& remote) {
    const place at = state_->find(key.where());
    if (at.state != value_state::stored) return erase_outcome::absent;
    const auto there = residents_of(at, key, remote);
    if (!there) return there.error();
    if (std::ranges::none_of(*there, [&](const resident& each) { return each.key == key.text(); }))
        return erase_outcome::absent;
    const index_change record{index_change::kind::erase, record_place(at, key.where()), std::string{key.text()}};
    const auto written = book_.write({&record, 1}, remote, [&] {
        const std::unique_lock alone{looking_};
        state_->leave(at, there->size() == 1);
    });
    if (!written) return written.error();
    return erase_outcome::erased;
}

result<erase_outcome> core::erase(const hashed_key& key, index_source& remote) {
    const std::lock_guard held{changing_};
    if (const auto begun = begin(remote); !begun) return begun.error();
    const auto gone = remote.remove_member(key.where(), key.view());
    if (!gone) return gone.error();
    if (!*gone) return erase_outcome::absent;
    const auto outcome = leave(key, remote);
    if (outcome) finish(remote);
    return outcome;
}

result<erase_outcome> core::forget(const hashed_key& key, index_source& remote) {
    const std::lock_guard held{changing_};
    if (const auto begun = begin(remote); !begun) return begun.error();
    ++remote_reads_;
    const auto back = remote.is_member(key.where(), key.view());
    if (!back) return back.error();
    if (*back) return erase_outcome::absent;
    const auto outcome = leave(key, remote);
    if (outcome) finish(remote);
    return outcome;
}

// ---- False positives: FIX [broom17 §5, Fig. 1]
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

// ---- All keys under new hash functions, after n queries or when a level is full
namespace {

constexpr int most_attempts = 4;

}  // namespace

// False: no room under these hash functions.
result<bool> core::fill(state& fresh, index_source& remote) {
    return each_member_of(remote, hash_, remote_reads_, [&](const index_member& each) -> result<bool> {
        const place at = fresh.find(each.d);
        if (fresh.keys() >= capacity_) return false;
        // A failed write leaves nothing pending: the index will be cleared again.
        if (const auto written = remote.put(record_place(at, each.d), key_view{each.key}); !written)
            return written.error();
        return fresh.insert(at);
    });
}

result<void> core::start_afresh(index_source& remote) {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        auto made = state::make(design_for(capacity_, rate_, falling_), hash_, salts_);
        if (!made) return made.error();
        auto fresh = std::make_unique<state>(*std::move(made));
        index_ = index_is::broken;
        if (auto cleared = book_.clear(remote); !cleared) return cleared;
        const auto filled = fill(*fresh, remote);
        if (!filled) return filled.error();
        if (!*filled && fresh->keys() >= capacity_) break;
        if (!*filled) continue;
        {
            const std::unique_lock alone{looking_};
            std::swap(state_, fresh);
        }
        queries_.store(0, std::memory_order_relaxed);
        index_ = index_is::ours;
        in_doubt_ = 0;
        ++rebuilds_;
        return {};
    }
    return error::make(error_code::mismatch,
                       "cascade: the remote map holds more keys than the %llu this filter was made for",
                       static_cast<unsigned long long>(capacity_));
}

result<void> core::rebuild(index_source& remote) {
    const std::lock_guard held{changing_};
    return start_afresh(remote);
}

}  // namespace genista::cascade
