// Keys of class 0, of which nothing is kept: what a daisy_broom_filter does with them, before and
// after keeping them has become the cheaper way.
//
//     mistakes found      the list of exceptions (absent_list.hpp)          the deferred band (deferred_band.hpp)
//     none                nothing                                           -
//     some                51 bits each and more, as they come               -
//     more than its room  full                                              opens, empty; every adapt lays its own range and one more
//     ...                 asked where no range is laid                      answers where one is
//                         given back                                        all laid: a band like any other
//
// It is the ski rental problem: to note a mistake is to rent, to keep the keys is to buy, and
// nobody knows how many mistakes will come. Who rents until the rent has reached the price and then
// buys pays at most twice what he had paid who knew [docs/decisions/0018-late-band.md].
//
// A remote is the view of class 0 (band_view.hpp). Whoever changes something has told R before, or
// tells R here (erase).
#pragma once

#include <algorithm>
#include <new>

#include "genista/detail/filters/daisy_broom/core.hpp"

namespace genista::unkept_keys {

template <remote_map View>
[[nodiscard]] result<insert_outcome> insert(daisy_broom_core& core, const digest& d, key_view key,
                                            View& view) noexcept {
    insert_outcome outcome = insert_outcome::inserted;
    if (deferred_band* const band = core.late_after_commit(); band != nullptr) {
        const auto joined = band->broom().insert(key, view);
        if (!joined || *joined == insert_outcome::full) return joined;
        outcome = *joined;
    }
    core.cells().admit(d.position);
    if (outcome == insert_outcome::inserted) core.count_unkept(true);
    return outcome;
}

template <remote_map View>
[[nodiscard]] result<erase_outcome> erase(daisy_broom_core& core, const digest& d, key_view key, View& view,
                                          bool assumes_present) noexcept {
    const auto erase_from = [&]() -> result<erase_outcome> {
        deferred_band* const band = core.late();
        // A promise that the key has a slot is true where everything was laid.
        if (band != nullptr && assumes_present && band->is_laid(d.position))
            return band->broom().erase(key, view, assume_present);
        if (band != nullptr) return band->broom().erase(key, view);
        const result<bool> gone = view.erase(d, key);
        if (!gone) return gone.error();
        return *gone ? erase_outcome::erased : erase_outcome::absent;
    };
    const auto outcome = erase_from();
    if (outcome && *outcome == erase_outcome::erased) core.count_unkept(false);
    return outcome;
}

template <remote_map View>
[[nodiscard]] result<erase_outcome> forget(daisy_broom_core& core, key_view key, View& view) noexcept {
    erase_outcome outcome = erase_outcome::absent;
    if (deferred_band* const band = core.late(); band != nullptr) {
        const auto forgotten = band->broom().forget(key, view);
        if (!forgotten) return forgotten;
        outcome = *forgotten;
    }
    core.count_unkept(false);
    return outcome;
}

// One range read, and two while the broom filter parts it. An error leaves it unlaid.
//
// A band that opened while many more keys came than it was made for has too few bins for what R
// holds, and a broom filter does not grow for keys that it does not have yet. Nobody can bring that
// about at will; it grows for R then, which reads all of it, once.
template <remote_map View>
[[nodiscard]] result<void> lay(daisy_broom_core& core, deferred_band& band, std::uint64_t range, View& view) noexcept {
    auto laid = band.broom().lay(band.range(range), view);
    if (!laid && laid.error().code() == error_code::unsupported && core.bands_grow()) {
        if (const auto grown = band.broom().grow(view); !grown) return grown;
        laid = band.broom().lay(band.range(range), view);
    }
    if (!laid) return laid;
    if (band.have_laid(range)) core.cells().release();
    return {};
}

template <remote_map View>
[[nodiscard]] result<adapt_outcome> adapt_in_band(daisy_broom_core& core, deferred_band& band, const digest& d,
                                                  key_view key, View& view) noexcept {
    if (band.is_laid(d.position)) return band.broom().adapt(key, view);
    if (core.cells().excludes(d.position)) return adapt_outcome::was_negative;
    if (const auto laid = lay(core, band, band.range_at(d.position), view); !laid) return laid.error();
    // So that the list goes after as many mistakes as there are ranges, and not when chance has met
    // the last of them. It may fail: the next one tries.
    if (const auto next = band.next_unlaid(); next) (void)lay(core, band, *next, view);
    if (band.broom().may_contain(d)) return band.broom().adapt(key, view);
    core.count_unkept_adapt();
    return adapt_outcome::fixed;
}

// An error: R fails, or there is no memory. Looks into R first, lest a band for the keys that we
// were told of be too small for those that are there. One look, at as much as a bin holds, unless
// it finds next to nothing: then some of what we were told was the same key again, and the next
// look is wider.
template <remote_map View>
[[nodiscard]] result<void> open_band(daisy_broom_core& core, const digest& d, View& view) {
    constexpr std::uint64_t enough = 16, wider = 8;  // a bin has 45 keys, and fewer than 16 once in ten million
    const std::uint64_t least = core.planned_late_parts();
    daisy_broom_core::late_sample seen{.parts = core.told_late_parts()};
    for (;; seen.parts = std::max(least, seen.parts / wider)) {
        broom::population there;
        broom::remote_source<View> source{view, core.hash()};
        core.count_unkept_read();
        const position_range part = range_of_bin(scale(d.position, seen.parts), seen.parts);
        if (const auto read = source.read(part, there); !read) return read;
        seen.found = there.members.size();
        if (seen.found >= enough || seen.parts <= least) return core.open_late(seen);
    }
}

// absent_cells.hpp has the argument: the ticket first, R second, and void if anything changed in
// between.
template <remote_map View>
[[nodiscard]] result<adapt_outcome> adapt(daisy_broom_core& core, const digest& d, key_view key, View& view) noexcept
    try {
    constexpr int most_attempts = 1000;
    absent_list& cells = core.cells();
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        if (deferred_band* const band = core.late(); band != nullptr) return adapt_in_band(core, *band, d, key, view);
        if (cells.excludes(d.position)) return adapt_outcome::was_negative;
        if (cells.is_full() && core.may_open_late()) {
            const auto opened = open_band(core, d, view);
            if (opened) continue;
            if (!cells.can_exclude())
                return opened.error();  // else the list forgets one, and the next mistake tries again
        }
        if (!cells.can_exclude()) return adapt_outcome::unfixed;
        const auto ticket = cells.draw(d.position);
        if (!ticket) return ticket.error();
        broom::population there;
        broom::remote_source<View> source{view, core.hash(), d, key};
        core.count_unkept_read();
        if (const auto read = source.read(cells.range_of(*ticket), there); !read) return read.error();
        const auto& members = there.members;
        if (std::find(members.begin(), members.end(), d) != members.end()) return adapt_outcome::true_positive;
        if (!members.empty()) return adapt_outcome::unfixed;  // a neighbour within 2^-32 of a bucket
        if (!cells.exclude(*ticket)) continue;
        core.count_unkept_adapt();
        return adapt_outcome::fixed;
    }
    return error::make(error_code::timeout, "daisy_broom: the list of exceptions changed during every attempt");
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "daisy_broom: no memory to read R");
}

// R may hold keys that nobody told us of.
template <remote_map View>
[[nodiscard]] result<void> rebuild(daisy_broom_core& core, View& view, unsigned threads) noexcept {
    core.cells().admit_all();
    deferred_band* const band = core.late();
    if (band == nullptr) return {};
    if (const auto done = band->broom().rebuild(view, threads); !done) return done;
    band->have_laid_all();
    core.cells().release();
    return {};
}

}  // namespace genista::unkept_keys
