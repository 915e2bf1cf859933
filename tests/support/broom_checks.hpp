// The checks that a broom filter must pass. Each is a function that returns a description of the
// failure, or "" if there is none.
//
// tests/filters/broom_checks_test.cpp runs them on the product filter.
// tests/planted/planted_test.cpp runs them on the filter with one planted bug, which at least one
// check must report. They are templates because the two versions of the filter must not be linked
// into one program.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/broom_history.hpp"
#include "tests/support/broom_model.hpp"
#include "tests/support/broom_races.hpp"
#include "tests/support/broom_refusals.hpp"

namespace genista::test {

template <class Filter>
std::string check_model() {
    findings wrong;
    for (unsigned history = 0; history < 3 && wrong.none(); ++history) {
        drive_small_filters<Filter>(0x1p-8, history, 50, 8, sanitized ? 120 : 1200, wrong);
        drive_small_filters<Filter>(0x1p-11, history, 90, 4, sanitized ? 120 : 1200, wrong);
    }
    return wrong.text();
}

// Growth at several loads: by grow() and by inserts.
template <class Filter>
std::string check_growth() {
    for (const std::uint64_t keys : {30u, 200u, 700u}) {
        broom_world<Filter> w{{.capacity = 700, .grows = true, .seed = keys, .universe = 3000}};
        for (std::uint64_t key = 0; key < keys; ++key) (void)w.insert(key);
        w.grow();
        w.audit();
        for (std::uint64_t key = keys; key < 3000; ++key) (void)w.insert(key);
        w.scan();
        w.audit();
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// A snapshot of a filter whose bins overflow, and that has extensions and tombstones.
template <class Filter>
std::string check_snapshot() {
    for (const double rate : {0x1p-8, 0x1p-13}) {
        broom_world<Filter> w{{.capacity = 430, .rate = rate, .seed = 5, .universe = 800}};
        for (std::uint64_t key = 0; key < 700; ++key) (void)w.insert(key);
        for (std::uint64_t key = 0; key < 40; ++key) w.erase(key * 7);
        for (int i = 0; i < 30; ++i) {
            if (const auto found = w.find_false_positive(20'000); found) w.adapt(*found);
        }
        for (int life = 0; life < 3; ++life) {
            if (!w.save_and_load()) return {};  // not yet
            w.audit();
        }
        for (std::uint64_t key = 0; key < 40; ++key) (void)w.insert(key * 7);
        w.scan();
        w.audit();
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// After its bin is renewed, an adapted false positive comes back with probability ε only, because
// the bin has a new salt [law L1]. All bins are renewed by erases. Of about 500 false positives 2
// are expected to return; 40 have a chance of less than 10^-30.
template <class Filter>
std::string check_renewal_forgets_no_salt() {
    broom_world<Filter> w{{.capacity = 4500, .history = 1, .seed = 3, .universe = 4000}};
    for (std::uint64_t key = 0; key < 4000; ++key) (void)w.insert(key);
    std::vector<std::uint64_t> fixed;
    while (fixed.size() < 500) {
        const auto found = w.find_false_positive(1'000'000);
        if (!found) return "no false positive was found";
        w.adapt(*found);
        fixed.push_back(*found);
    }
    for (std::uint64_t key = 0; key < 4000; key += 4) w.erase(key);
    std::uint64_t back = 0;
    for (const std::uint64_t key : fixed) back += w.filter.may_contain(key) ? 1u : 0u;
    if (back >= 40) w.wrong.note("false positives came back with their old salt: " + std::to_string(back) + " of 500");
    return w.wrong.text();
}

struct broom_check {
    std::string_view name;
    std::string (*run)();
    bool has_threads = false;
};

template <class Filter>
inline constexpr std::array<broom_check, 24> broom_checks = {{
    {"an erased key comes back", check_own_tombstone<Filter>},
    {"a colliding insert", check_colliding_insert<Filter>},
    {"a range read that fails", check_failed_range<Filter>},
    {"keys with one digest", check_keys_with_one_digest<Filter>},
    {"an adapt while R holds a key that is not inserted yet", check_adapt_beside_commit<Filter>},
    {"rolling back a commit that collides", check_roll_back<Filter>},
    {"an erase while its key is inserted again", check_erase_against_insert<Filter>, true},
    {"a forget while its key is inserted again", check_forget_against_insert<Filter>, true},
    {"an erase while a neighbour is inserted", check_erase_against_neighbour<Filter>, true},
    {"an adapt while a neighbour is inserted", check_adapt_against_neighbour<Filter>, true},
    {"growth while a key is inserted", check_growth_against_insert<Filter>, true},
    {"an assume_present erase while its slot is claimed", check_assume_present_against_insert<Filter>, true},
    {"an outcome while a neighbour is erased", check_outcome_against_erase<Filter>, true},
    {"an insert that is refused", check_refused_insert<Filter>},
    {"a stored key that is refused", check_refused_overwrite<Filter>},
    {"a full bin with tombstones", check_full_with_tombstones<Filter>},
    {"refused keys that stay in R", check_refused_keys_in_r<Filter>},
    {"an insert while R cannot be read", check_insert_without_ranges<Filter>},
    {"a restore of empty bins", check_restored_empty_bins<Filter>},
    {"a renewal repeats no salt", check_renewal_forgets_no_salt<Filter>},
    {"growth", check_growth<Filter>},
    {"snapshots", check_snapshot<Filter>},
    {"the model", check_model<Filter>},
    {"the history of threads", check_history<Filter>, true},
}};

}  // namespace genista::test
