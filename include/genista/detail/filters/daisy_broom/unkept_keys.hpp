// Keys of class 0, of which nothing is kept at first: what a daisy_broom_filter does with them,
// before and after keeping them has become cheaper.
//
//     false positives     the list (absent_list.hpp)        the deferred band (deferred_band.hpp)
//     none                nothing                           -
//     some                51 bits each and more             -
//     more than it holds  full                              opens, empty; an adapt fills 2 ranges
//     ...                 asked for unfilled ranges         answers for filled ranges
//                         memory given back                 all filled: a band like any other
//
// It is the ski rental problem: to record a false positive is to rent, to keep the keys is to buy,
// and the number of false positives to come is unknown. Renting until the rent has reached the
// price and then buying costs at most twice the best choice in hindsight
// [docs/decisions/0018-late-band.md].
//
// A remote here is the view of class 0 (band_view.hpp). R is changed before insert and forget are
// called; erase changes R itself.
#pragma once

#include <algorithm>
#include <new>

#include "genista/detail/filters/daisy_broom/core.hpp"

namespace genista::unkept_keys {

template <remote_map View>
[[nodiscard]] result<insert_outcome> insert(daisy_broom_core& core, const hashed_key& key, View& view) noexcept {
    insert_outcome outcome = insert_outcome::inserted;
    if (deferred_band* const band = core.deferred_after_commit(); band != nullptr) {
        const auto joined = band->broom().insert(key, view);
        if (!joined || *joined == insert_outcome::full) return joined;
        outcome = *joined;
    }
    core.cells().admit(key.where().position);
    if (outcome == insert_outcome::inserted) core.count_unkept(true);
    return outcome;
}

template <remote_map View>
[[nodiscard]] result<erase_outcome> erase(daisy_broom_core& core, const hashed_key& key, View& view,
                                          bool assumes_present) noexcept {
    const auto erase_from = [&]() -> result<erase_outcome> {
        deferred_band* const band = core.deferred();
        // The caller's promise that the key has a slot holds only in a range that was filled.
        if (band != nullptr && assumes_present && band->is_built(key.where().position))
            return band->broom().erase(key, view, assume_present);
        if (band != nullptr) return band->broom().erase(key, view);
        const result<bool> gone = view.erase(key.where(), key.view());
        if (!gone) return gone.error();
        return *gone ? erase_outcome::erased : erase_outcome::absent;
    };
    const auto outcome = erase_from();
    if (outcome && *outcome == erase_outcome::erased) core.count_unkept(false);
    return outcome;
}

template <remote_map View>
[[nodiscard]] result<erase_outcome> forget(daisy_broom_core& core, const hashed_key& key, View& view) noexcept {
    erase_outcome outcome = erase_outcome::absent;
    if (deferred_band* const band = core.deferred(); band != nullptr) {
        const auto forgotten = band->broom().forget(key, view);
        if (!forgotten) return forgotten;
        outcome = *forgotten;
    }
    core.count_unkept(false);
    return outcome;
}

// Fills a range of the band: one range read, and two while the broom filter splits the range. An
// error leaves the range unfilled.
//
// If many more keys are inserted while the band opens than it was made for, it has too few bins for
// the keys of R, and a broom filter does not grow for keys that it does not have yet. Then the band
// grows to the size of R, which reads all of R, once. An attacker cannot force this.
template <remote_map View>
[[nodiscard]] result<void> fill_range(daisy_broom_core& core, deferred_band& band, std::uint64_t range,
                                      View& view) noexcept {
    auto filled = band.broom().rebuild_range(band.range(range), view);
    if (!filled && filled.error().code() == error_code::unsupported && core.bands_grow()) {
        if (const auto grown = band.broom().grow(view); !grown) return grown;
        filled = band.broom().rebuild_range(band.range(range), view);
    }
    if (!filled) return filled;
    if (band.mark_built(range)) core.cells().release();
    return {};
}

template <remote_map View>
[[nodiscard]] result<adapt_outcome> adapt_in_band(daisy_broom_core& core, deferred_band& band, const hashed_key& key,
                                                  View& view) noexcept {
    const digest& d = key.where();
    if (band.is_built(d.position)) return band.broom().adapt(key, view);
    if (core.cells().excludes(d.position)) return adapt_outcome::was_negative;
    if (const auto filled = fill_range(core, band, band.range_at(d.position), view); !filled) return filled.error();
    // One more range, so that the list can be released after as many false positives as there are
    // ranges, and not only when the last range happens to have one. If this fails, the next adapt
    // tries again.
    if (const auto next = band.next_unbuilt(); next) (void)fill_range(core, band, *next, view);
    if (band.broom().may_contain(d)) return band.broom().adapt(key, view);
    core.count_unkept_adapt();
    return adapt_outcome::fixed;
}

// An error: R fails, or there is no memory. Reads a sample of R first, because R may have more keys
// than were reported to the filter, and the band must not be too small for them. One read of about
// a bin's keys is enough, unless it finds very few: then the reports counted some keys repeatedly,
// and the next read is wider.
template <remote_map View>
[[nodiscard]] result<void> open_band(daisy_broom_core& core, const digest& d, View& view) {
    constexpr std::uint64_t enough = 16, wider = 8;  // a bin has 45 keys, and fewer than 16 once in ten million
    const std::uint64_t least = core.planned_deferred_parts();
    daisy_broom_core::deferred_sample seen{.parts = core.told_deferred_parts()};
    for (;; seen.parts = std::max(least, seen.parts / wider)) {
        broom::population there;
        broom::remote_source<View> source{view, core.hash()};
        core.count_unkept_read();
        const position_range part = range_of_bin(scale(d.position, seen.parts), seen.parts);
        if (const auto read = source.read(part, there); !read) return read;
        seen.found = there.members.size();
        if (seen.found >= enough || seen.parts <= least) return core.open_deferred(seen);
    }
}

// absent_cells.hpp has the argument: the ticket is drawn first, R is read second, and the ticket is
// void if the bucket changed in between.
template <remote_map View>
[[nodiscard]] result<adapt_outcome> adapt(daisy_broom_core& core, const hashed_key& key, View& view) noexcept try {
    constexpr int most_attempts = 1000;
    const digest& d = key.where();
    absent_list& cells = core.cells();
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        if (deferred_band* const band = core.deferred(); band != nullptr) return adapt_in_band(core, *band, key, view);
        if (cells.excludes(d.position)) return adapt_outcome::was_negative;
        if (cells.is_full() && core.may_open_deferred()) {
            const auto opened = open_band(core, d, view);
            if (opened) continue;
            if (!cells.can_exclude())
                return opened.error();  // else the list forgets a cell, and the next false positive tries again
        }
        if (!cells.can_exclude()) return adapt_outcome::unfixed;
        const auto ticket = cells.draw(d.position);
        if (!ticket) return ticket.error();
        broom::population there;
        broom::remote_source<View> source{view, core.hash(), d, key.view()};
        core.count_unkept_read();
        if (const auto read = source.read(cells.range_of(*ticket), there); !read) return read.error();
        const auto& members = there.members;
        if (std::find(members.begin(), members.end(), d) != members.end()) return adapt_outcome::true_positive;
        if (!members.empty()) return adapt_outcome::unfixed;  // a stored key in the same cell
        if (!cells.exclude(*ticket)) continue;
        core.count_unkept_adapt();
        return adapt_outcome::fixed;
    }
    return error::make(error_code::timeout, "daisy_broom: the list of exceptions changed during every attempt");
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "daisy_broom: no memory to read R");
}

// R may hold keys that were not reported to the filter.
template <remote_map View>
[[nodiscard]] result<void> rebuild(daisy_broom_core& core, View& view, unsigned threads) noexcept {
    core.cells().admit_all();
    deferred_band* const band = core.deferred();
    if (band == nullptr) return {};
    if (const auto done = band->broom().rebuild(view, threads); !done) return done;
    band->mark_all_built();
    core.cells().release();
    return {};
}

}  // namespace genista::unkept_keys
