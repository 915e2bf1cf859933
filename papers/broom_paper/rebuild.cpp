// All keys of R at once, under new hash functions: when an event happens that the paper excludes
// "with high probability".
//
// The old state answers meanwhile. R is read twice: once to count, once to insert. Between the two
// the index is cleared: if R fails from there on, the filter has no index until the next attempt,
// with which every change begins.
#include <algorithm>
#include <utility>

#include "filters/index_book.hpp"
#include "papers/broom_paper/core.hpp"

namespace genista::broom_paper {
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
