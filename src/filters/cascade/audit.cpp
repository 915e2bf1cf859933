// Checks the invariants, compares with R, and computes figures. See core.hpp.
#include <set>
#include <utility>
#include <vector>

#include "filters/cascade/core.hpp"

namespace genista::cascade {

result<void> core::audit(index_source& remote) const {
    const std::lock_guard held{changing_};
    const state& in = *state_;
    const auto bad = [](const char* what, std::uint64_t number) {
        return error::make(error_code::corrupt, "cascade: %s (%llu)", what, static_cast<unsigned long long>(number));
    };
    if (index_ == index_is::broken || index_ == index_is::foreign)
        return error::make(error_code::unsupported,
                           "cascade: the index in R is not this filter's; rebuild(R) makes it so");
    for (const state::level& each : in.all()) {
        if (const auto checked = each.set.table().check(); !checked) return checked;
    }
    if (in.all().back().set.dead() != 0) return bad("the last level has dead values", in.all().back().set.dead());
    // Every stored key is answered "maybe".
    std::uint64_t denied = 0, members = 0;
    const auto ask = [&](const digest& d, key_view) {
        ++members;
        denied += in.contains(d) ? 0u : 1u;
        return true;
    };
    if (const auto read = remote.each_member({}, ask); !read) return read;
    if (denied != 0) return bad("stored keys are denied", denied);
    // Every record stands at the place of its key, and every stored value has a key.
    std::vector<std::set<std::uint64_t>> values(in.all().size());
    std::vector<std::uint64_t> residents(in.all().size());
    std::uint64_t strange = 0, keys = 0;
    const auto look = [&](const digest& where, key_view key) {
        const digest d = hash_(key);
        const place at = in.find(d);
        if (where != record_place(at, d) || at.state != value_state::stored) {
            ++strange;
            return true;
        }
        ++keys;
        ++residents[at.level];
        values[at.level].insert(at.value);
        return true;
    };
    if (const auto read = remote.each({}, look); !read) return read;
    if (strange != 0) return bad("records of the index stand where they do not belong", strange);
    if (keys < members) return bad("the index has fewer keys than R", keys);
    if (keys < in.keys() || keys > in.keys() + in_doubt_) return bad("the index has another number of keys", keys);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const state::level& each = in.all()[i];
        if (values[i].size() != each.set.stored()) return bad("values are stored that no key has", i);
        if (in_doubt_ == 0 && residents[i] != each.residents) return bad("another number of keys in a level", i);
        if (i > 0 && in.come_to(static_cast<unsigned>(i)) > each.plan.keys) return bad("too many keys in a level", i);
    }
    return {};
}

filter_stats core::stats() const noexcept {
    const std::lock_guard held{changing_};
    filter_stats now;
    now.keys = state_->keys();
    now.capacity = capacity_;
    now.false_positive_rate = rate_;
    now.local_bytes = sizeof(core) + state_->allocated_bytes() + book_.local_bytes();
    // No structure grows; the memory for adapting is the levels behind the first.
    for (const state::level& each : state_->all().subspan(1)) now.adaptive_bytes += each.set.allocated_bytes();
    now.adapts = adapts_;
    now.renewals = rebuilds_;
    now.remote_reads = remote_reads_;
    return now;
}

cascade_details core::details() const {
    const std::lock_guard held{changing_};
    cascade_details now;
    for (unsigned i = 0; i < state_->all().size(); ++i) {
        const state::level& each = state_->all()[i];
        now.levels.push_back({.rate = each.plan.rate,
                              .most_keys = each.plan.keys,
                              .come = state_->come_to(i),
                              .values = each.plan.values(),
                              .stored = each.set.stored(),
                              .dead = each.set.dead(),
                              .bytes = each.set.allocated_bytes()});
    }
    now.bins = state_->all().front().plan.quotients;
    now.queries = queries_.load(std::memory_order_relaxed);
    now.rebuilds = rebuilds_;
    now.in_doubt = in_doubt_;
    return now;
}

}  // namespace genista::cascade
