// All keys of R under new hash functions: after n queries, after loading, and when an event happens
// that the paper excludes "with high probability" [broom17 §3.1, §5: "if this is violated, we
// rebuild"].
//
// The old state answers meanwhile. The index is cleared first: if R fails on the way, the filter
// has no index until the next attempt, with which every change begins.
#include <utility>

#include "filters/cascade/core.hpp"
#include "filters/index_book.hpp"

namespace genista::cascade {
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
