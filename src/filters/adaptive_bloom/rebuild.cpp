// All keys of R at once, under new hash functions: after n queries, after loading, and when a level
// is full.
//
// Fork: the paper moves a few keys with every false positive, from old functions to new ones
// [broom17 §3.1]; we move all at once, the amortised way of the same section. The old state answers
// meanwhile, and its half of the index stays until the new one is complete: if R fails on the way,
// everything is as before.
#include <new>
#include <utility>

#include "filters/adaptive_bloom/core.hpp"

namespace genista::adaptive_bloom {

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
