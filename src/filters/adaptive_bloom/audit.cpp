// Checks the invariants, compares with R, and computes figures. See core.hpp.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "filters/adaptive_bloom/core.hpp"

namespace genista::adaptive_bloom {

result<void> core::audit(index_source& remote) const {
    const std::lock_guard held{changing_};
    const state& in = *state_;
    const auto bad = [](const char* what, std::uint64_t number) {
        return error::make(error_code::corrupt, "adaptive_bloom: %s (%llu)", what,
                           static_cast<unsigned long long>(number));
    };
    for (const quotient_table& each : in.dead()) {
        if (const auto checked = each.check(); !checked) return checked;
    }
    if (const auto checked = in.last().check(); !checked) return checked;
    // The records of this half. The other half may hold what a failed rebuild left there.
    std::set<std::pair<digest, std::string>> records;
    std::uint64_t strange = 0;
    bool starved = false;
    const std::uint64_t first = position_of(in.half, 0, 0), end = first | (~std::uint64_t{0} >> 1);
    const auto read = remote.each(
        {first, end}, never_throwing(starved, [&](const digest& place, key_view key) {
            const digest d = hash_(key);
            const auto level = static_cast<unsigned>((place.position & ~(std::uint64_t{1} << 63)) >> cell_bits);
            const std::uint64_t cell = place.position & bits::low_mask(cell_bits);
            if (place.seed != d.seed || !uses(in, level, cell, d)) ++strange;
            records.emplace(place, std::string{key.text()});
            return true;
        }));
    if (starved) throw std::bad_alloc{};
    if (!read) return read;
    if (strange != 0) return bad("records of the index stand where they do not belong", strange);

    std::uint64_t denied = 0, unknown = 0;
    std::array<std::uint64_t, most_levels + 1> members{};
    const auto look = [&](const digest& d, key_view key) {
        denied += in.look(d, functions_).maybe ? 0u : 1u;
        const way_up way = plan(in, d, 0);
        for (unsigned level = 0; level <= way.last; ++level) {
            ++members[level];
            each_place(in, level, d, [&](const digest& place) {
                unknown += records.contains({place, std::string{key.text()}}) ? 0u : 1u;
            });
        }
        return true;
    };
    const auto asked = remote.each_member({}, never_throwing(starved, look));
    if (starved) throw std::bad_alloc{};
    if (!asked) return asked;
    if (denied != 0) return bad("stored keys are denied", denied);
    if (index_ == index_is::ours && unknown != 0) return bad("cells of stored keys are not in the index", unknown);
    for (unsigned level = 0; level <= in.d(); ++level) {
        if (in.keys[level] < members[level]) return bad("a level holds more keys than it counted", members[level]);
        if (in.keys[level] > in.most(level)) return bad("a level has taken more keys than it may", in.keys[level]);
    }
    return {};
}

filter_stats core::stats() const noexcept {
    const std::lock_guard held{changing_};
    filter_stats now;
    now.keys = state_->keys[0];
    now.capacity = sizes_.capacity;
    now.false_positive_rate = sizes_.rate;
    now.local_bytes = sizeof(core) + state_->allocated_bytes() + book_.local_bytes();
    now.adaptive_bytes = state_->adaptive_bytes();
    now.adapts = adapts_;
    now.renewals = rebuilds_;
    now.remote_reads = remote_reads_;
    return now;
}

adaptive_bloom_details core::details() const {
    const std::lock_guard held{changing_};
    const state& in = *state_;
    adaptive_bloom_details now;
    for (unsigned level = 0; level < in.d(); ++level) {
        const level_design& shape = sizes_.with_cells[level];
        now.levels.push_back({.functions = shape.functions,
                              .cells = shape.cells,
                              .keys = in.keys[level],
                              .expected = shape.expected,
                              .most = shape.most,
                              .dead = in.dead()[level].size(),
                              .cell_bytes = shape.cells / 8,
                              .dead_bytes = in.dead()[level].allocated_bytes()});
    }
    now.levels.push_back({.functions = 0,
                          .cells = in.last().slots(),
                          .keys = in.keys[in.d()],
                          .expected = sizes_.last_expected,
                          .most = sizes_.last_most,
                          .dead = 0,
                          .cell_bytes = in.last().allocated_bytes(),
                          .dead_bytes = 0});
    now.bins = now.levels.front().cells;
    now.queries = queries_.load(std::memory_order_relaxed);
    now.rebuilds = rebuilds_;
    return now;
}

}  // namespace genista::adaptive_bloom
