// invariant_run: chance drives a small filter and an exact set side by side, with an audit of the
// whole filter after every operation. broom-invariant measures this, for our layout and for the
// paper's; its control must fail it.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lab/workloads/broom_workload.hpp"

namespace genista::lab {

struct invariant_seen {
    std::uint64_t operations = 0;
    std::uint64_t audits_failed = 0;
    std::uint64_t false_negatives = 0;
    std::uint64_t inserts = 0, erases = 0, adapts = 0, renewals = 0, growths = 0;
    std::string first_complaint;

    void add(const invariant_seen& other) {
        operations += other.operations;
        audits_failed += other.audits_failed;
        false_negatives += other.false_negatives;
        inserts += other.inserts;
        erases += other.erases;
        adapts += other.adapts;
        renewals += other.renewals;
        growths += other.growths;
        if (first_complaint.empty()) first_complaint = other.first_complaint;
    }
    [[nodiscard]] bool kept() const { return audits_failed == 0 && false_negatives == 0; }
};

// Phases that fill, churn and empty the filter, with keys below `universe`. Ends at the first
// broken audit, because the fault stays.
template <class Workload>
[[nodiscard]] invariant_seen drive_and_audit(Workload& w, std::uint64_t universe, std::uint64_t steps,
                                             std::uint64_t seed) {
    std::mt19937_64 chance{seed};
    std::set<std::uint64_t> truth;
    std::vector<std::uint64_t> found;  // false positives, asked again now and then
    invariant_seen seen;
    for (std::uint64_t step = 0; step < steps && seen.kept(); ++step) {
        const std::uint64_t phase = step * 3 / steps;
        const std::uint64_t insert_below = phase == 0 ? 7 : phase == 1 ? 3 : 1;
        const std::uint64_t dice = chance() % 10, key = chance() % universe;
        if (dice < insert_below) {
            w.insert(key);
            seen.inserts += truth.insert(key).second ? 1u : 0u;
        } else if (dice < 7) {
            w.erase(key);
            seen.erases += truth.erase(key);
        } else if (dice < 9 || found.empty()) {
            const auto remember = [&](std::uint64_t absent_key) {
                found.push_back(absent_key);
                ++seen.adapts;
            };
            w.attack(1, remember, 10'000);
        } else {
            seen.adapts += w.query_absent_key(found[chance() % found.size()]) ? 1u : 0u;
        }
        ++seen.operations;
        const result<void> sound = w.filter().audit(w.store());
        if (!sound) {
            ++seen.audits_failed;
            seen.first_complaint = sound.error().message();
        }
        if (w.filter().stats().keys != truth.size()) {
            ++seen.audits_failed;
            seen.first_complaint = "the filter counts other keys than there are";
        }
        if (!truth.empty()) {
            auto some = truth.lower_bound(chance() % universe);
            if (some == truth.end()) some = truth.begin();
            seen.false_negatives += w.filter().may_contain(*some) ? 0u : 1u;
        }
    }
    seen.renewals = w.filter().stats().renewals;
    return seen;
}

// The broom filter: a universe somewhat larger than it can hold in its lines.
template <class Filter, class Options>
[[nodiscard]] invariant_seen drive_and_audit(const Options& options, std::uint64_t steps, std::uint64_t seed) {
    broom_workload<Filter> w{options};
    const std::uint64_t universe = w.filter().details().bins * (options.grows ? 150 : 55);
    invariant_seen seen = drive_and_audit(w, universe, steps, seed);
    seen.growths = w.filter().details().growths;
    return seen;
}

}  // namespace genista::lab
