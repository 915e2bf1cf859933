// replay_run: false positives are found and repaired, then asked again, round after round.
// broom-replay measures this; its control must fail it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lab/workloads/broom_workload.hpp"

namespace genista::lab {

struct replay_seen {
    std::uint64_t keys = 0;
    std::uint64_t found = 0;            // false positives that are replayed
    std::uint64_t queries = 0;          // it took to find them
    std::vector<std::uint64_t> wasted;  // reads of each round
    double bits_per_key_before = 0, bits_per_key_after = 0;
    [[nodiscard]] double share(std::size_t round) const {
        return static_cast<double>(wasted[round]) / static_cast<double>(found);
    }
    [[nodiscard]] double worst_share_after(std::size_t round) const {
        double worst = 0;
        for (std::size_t i = round; i < wasted.size(); ++i) worst = std::max(worst, share(i));
        return worst;
    }
};

// `load` of the slots in use. Finds `wanted` false positives, each repaired when found, and replays
// them: all are asked in the order in which they were found, and a key that is a false positive
// again costs a read and is repaired again.
template <class Filter, class Options>
[[nodiscard]] replay_seen find_and_replay(const Options& options, double load, std::uint64_t wanted, std::size_t rounds,
                                          const std::function<void(double)>& progress) {
    broom_workload<Filter> w{options};
    replay_seen seen;
    seen.keys = keys_at_load(w.filter(), load);
    w.load(0, seen.keys);
    seen.bits_per_key_before = w.bits_per_key();
    std::vector<std::uint64_t> found;
    found.reserve(wanted);
    for (std::uint64_t part = 1; part <= 20; ++part) {
        seen.queries += w.attack(wanted * part / 20 - found.size(), [&](std::uint64_t key) { found.push_back(key); });
        progress(0.9 * static_cast<double>(part) / 20);
    }
    seen.found = found.size();
    for (std::size_t round = 0; round < rounds; ++round) {
        std::uint64_t wasted = 0;
        for (const std::uint64_t key : found) wasted += w.query_absent_key(key) ? 1u : 0u;
        seen.wasted.push_back(wasted);
        progress(0.9 + 0.1 * static_cast<double>(round + 1) / static_cast<double>(rounds));
    }
    seen.bits_per_key_after = w.bits_per_key();
    return seen;
}

}  // namespace genista::lab
