// Audit, statistics, and exact answers during growth.
#include <algorithm>
#include <new>

#include "filters/broom/core.hpp"
#include "filters/broom/shape.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

bool core::contains(const digest& d, broom_trace& touched) const noexcept {
    while (true) {
        const layout* const l = layout_.load(std::memory_order_acquire);
        const table& in = l->of(d);
        const bool maybe = in.contains(d, touched);
        // What was read in a table is valid if that is still the key's table: a bin leaves a table
        // only by moving.
        if (&l->of(d) == &in && layout_.load(std::memory_order_acquire) == l) return maybe;
        if (faults.reader_without_recheck) return maybe;
    }
}

result<void> core::audit(range_source& source) const noexcept try {
    const std::lock_guard no_growth{growing_};
    const layout& l = *layout_.load(std::memory_order_relaxed);
    const std::uint64_t front = l.next == nullptr ? 0 : l.front.load(std::memory_order_relaxed);
    std::uint64_t keys = 0;
    population r;
    const auto audit_bin = [&](const table& in, std::uint64_t bin) -> result<void> {
        r = {};
        if (const auto got = source.read(in.range_of(bin), r); !got) return got.error();
        bin_image image = in.read(bin);
        const epoch now{in, image};
        keys += image.keys();
        const auto broken = [&](const char* what) {
            return error::make(error_code::corrupt, "broom audit: bin %llu: %s", static_cast<unsigned long long>(bin),
                               what);
        };
        if (const char* const rule = now.broken_rule(); rule != nullptr) return broken(rule);
        std::vector<unsigned> owned;
        r.members.erase(std::unique(r.members.begin(), r.members.end()), r.members.end());
        for (const digest& member : r.members) {
            const present x = now.of(member);
            const auto slot = now.matching_slot(x);
            const bool outside = now.reaches_backyard(x.print) && now.backyard_has(x.print);
            if (!slot && !outside) return broken("a key of R has neither slot nor backyard entry");
            if (!contains(member)) return broken("a key of R is answered no");
            if (slot && !outside) owned.push_back(*slot);
        }
        std::sort(owned.begin(), owned.end());
        if (std::adjacent_find(owned.begin(), owned.end()) != owned.end()) return broken("two keys have one slot");
        return {};
    };
    for (std::uint64_t bin = 0; bin < l.now->bins(); ++bin) {
        if (bin >= front) {
            if (const auto sound = audit_bin(*l.now, bin); !sound) return sound;
            continue;
        }
        for (std::uint64_t moved = bin << l.doublings; moved < (bin + 1) << l.doublings; ++moved) {
            if (const auto sound = audit_bin(*l.next, moved); !sound) return sound;
        }
    }
    if (keys != this->keys()) {
        return error::make(error_code::corrupt, "broom audit: %llu keys in bins, %llu counted",
                           static_cast<unsigned long long>(keys), static_cast<unsigned long long>(this->keys()));
    }
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to audit");
}

broom_details core::bytes() const noexcept {
    broom_details all;
    for (const auto& each : tables_) each->add_bytes(all);
    all.other_bytes += sizeof *this + tables_.capacity() * sizeof tables_[0] +
                       layouts_.capacity() * sizeof layouts_[0] + layouts_.size() * sizeof(layout) +
                       sizeof(broom_filter);
    return all;
}

std::uint64_t core::bytes_without_sides() const noexcept {
    const broom_details all = bytes();
    std::uint64_t sides = 0;
    for (const auto& each : tables_) sides += each->side_memory_bytes();
    return all.line_bytes + all.tail_bytes + all.side_bytes + all.other_bytes - sides;
}

filter_stats core::stats() const noexcept {
    const std::lock_guard no_growth{growing_};
    const broom_details all = bytes();
    std::uint64_t learnt_bits = 0;
    for (const auto& each : tables_) learnt_bits += each->learnt_bits();
    filter_stats now;
    now.keys = keys();
    now.capacity = std::max(options_.capacity, capacity_of(layout_.load(std::memory_order_relaxed)->now->bins()));
    now.false_positive_rate = options_.false_positive_rate;
    now.local_bytes = all.line_bytes + all.tail_bytes + all.side_bytes + all.other_bytes;
    now.adaptive_bytes = learnt_bits / 8;
    now.adapts = adapts_.load(std::memory_order_relaxed);
    now.renewals = renewals_.load(std::memory_order_relaxed);
    now.remote_reads = remote_reads_.load(std::memory_order_relaxed);
    return now;
}

broom_details core::details() const noexcept try {
    const std::lock_guard no_growth{growing_};
    const layout& l = *layout_.load(std::memory_order_relaxed);
    broom_details all = bytes();
    const std::uint64_t front = l.next == nullptr ? 0 : l.front.load(std::memory_order_relaxed);
    all.bins = l.now->bins();
    all.growths = growths_.load(std::memory_order_relaxed);
    if (l.next != nullptr) all.growth_done = static_cast<double>(front) / static_cast<double>(all.bins);
    const auto count = [&](const table& in, std::uint64_t bin) {
        const table::lock held{in, bin};
        const bin_image image = in.read(bin);
        const unsigned of = image.bin_in_cluster();
        all.slots_used += image.slots.used();
        all.tombstones += image.sides.tombstones_in(of);
        all.backyard_keys += image.sides.backyard_of(of).size();
        all.fullest_backyard = std::max<std::uint64_t>(all.fullest_backyard, image.sides.backyard_of(of).size());
        all.extended_slots += image.sides.extended_slots(of);
        all.long_salts += image.slots.salt() == long_salt ? 1u : 0u;
    };
    for (std::uint64_t bin = 0; bin < l.now->bins(); ++bin) {
        if (bin >= front) {
            count(*l.now, bin);
        } else {
            for (std::uint64_t moved = bin << l.doublings; moved < (bin + 1) << l.doublings; ++moved)
                count(*l.next, moved);
        }
    }
    return all;
} catch (const std::bad_alloc&) {
    return {};
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
