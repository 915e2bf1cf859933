// drive: runs random operations on a broom_world in phases that fill, churn and empty it, with some
// kinds of operations switched off at random.
//
// Swarm testing: a run without some operation reaches states that a run with all of them does not.
// Without erases lines fill up; without queries there are no extensions; without rebuilds
// tombstones pile up.
#pragma once

#include <array>
#include <cstdint>

#include "tests/support/broom_world.hpp"

namespace genista::test {

struct drive_plan {
    std::uint64_t steps = 1000;
    std::uint64_t audit_every = 1;
    std::uint64_t scan_every = 100;
    std::uint64_t hunt = 4096;                // absent keys queried for one false positive; at 2/ε most hunts find one
    double fault_share = 0;                   // of the store's calls
    std::uint64_t most_bins = 64;             // grow() is not called beyond
    std::uint64_t sweeps_per_million = 2000;  // growths, rebuilds and snapshots, each
};

template <class Filter>
void drive(broom_world<Filter>& w, const drive_plan& plan) {
    enum operation : unsigned {
        insert,
        erase,
        query,
        adapt_member,
        absent_key,
        roll_back,
        sweep,
        insert_again,
        operations
    };
    splitmix& chance = w.chance;
    std::array<bool, operations> on{};
    for (bool& each : on) each = chance.below(4) != 0;
    on[insert] = true;
    w.set_faults(plan.fault_share);
    for (std::uint64_t step = 0; step < plan.steps && w.wrong.none(); ++step) {
        const std::uint64_t phase = step * 4 / plan.steps;  // fill, churn, empty, churn
        const std::uint64_t inserts = phase == 0 ? 60 : phase == 2 ? 10 : 35;
        const std::uint64_t key = chance.below(w.universe());
        const std::uint64_t dice = chance.below(100);
        if (dice < inserts) {
            (void)w.insert(key);
        } else if (dice < 70) {
            if (on[erase]) w.erase(key);
        } else if (dice < 80) {
            if (on[query]) (void)w.query(key);
        } else if (dice < 83) {
            if (on[adapt_member]) w.adapt(key);
        } else if (dice < 86) {
            if (on[insert_again] && w.is_member(key)) (void)w.insert(key);
        } else if (dice < 90) {
            if (on[absent_key]) w.erase(w.universe() + chance.below(1'000'000));
        } else if (const auto found = w.find_false_positive(plan.hunt); found) {
            if (dice < 98 || !on[roll_back]) {
                w.adapt(*found);
            } else {
                w.commit_and_roll_back(*found);
            }
        }
        if (on[sweep] && chance.below(1'000'000) < plan.sweeps_per_million) {
            if (w.filter.details().bins <= plan.most_bins) w.grow();
        }
        if (on[sweep] && chance.below(1'000'000) < plan.sweeps_per_million) w.rebuild();
        if (chance.below(1'000'000) < plan.sweeps_per_million) (void)w.save_and_load();
        if ((step + 1) % plan.scan_every == 0) w.scan();
        if ((step + 1) % plan.audit_every == 0) w.audit();
    }
    w.set_faults(0);
    w.scan();
    w.audit();
    if (w.wrong.none()) w.judge_erases();
}

// Small filters of one rate and history, with size, growth and faults drawn at random. Audited
// after every step.
template <class Filter>
world_counts drive_small_filters(double rate, unsigned history, std::uint64_t first_seed, std::uint64_t runs,
                                 std::uint64_t steps, findings& wrong) {
    world_counts all;
    for (std::uint64_t seed = first_seed; seed < first_seed + runs && wrong.none(); ++seed) {
        splitmix chance{seed};
        constexpr std::array<std::uint64_t, 4> capacities = {1, 45, 135, 230};
        world_setup setup{.rate = rate, .history = history, .seed = seed};
        setup.capacity = capacities[chance.below(capacities.size())];
        setup.grows = chance.below(3) == 0;
        // Without growth: up to more keys than lines and backyards hold, so that some inserts find
        // the filter full.
        const std::uint64_t slots = (setup.capacity + 44) / 45 * 48;
        setup.universe = setup.grows ? 500 : std::min<std::uint64_t>(500, slots * (1 + chance.below(3)));
        broom_world<Filter> w{setup};
        drive_plan plan{.steps = steps, .hunt = rate < 0x1p-14 ? 2048 : static_cast<std::uint64_t>(2 / rate)};
        plan.fault_share = seed % 2 == 0 ? 0 : 0.15;
        drive(w, plan);
        all.add(w.counts);
        if (!w.wrong.none()) wrong.note("seed " + std::to_string(seed) + ": " + w.wrong.text());
    }
    return all;
}

}  // namespace genista::test
