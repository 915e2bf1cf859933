// growth_run: a broom filter that starts small and is filled far beyond its capacity, checked all
// the while. The experiment `growth` measures this; its control must fail it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "lab/workloads/broom_workload.hpp"

namespace genista::lab {

struct growth_seen {
    std::uint64_t inserts = 0, erases = 0;
    std::uint64_t asked = 0, false_negatives = 0;  // stored keys asked while the filter grew
    std::uint64_t full_checks = 0;                 // times that all stored keys were asked
    std::uint64_t most_reads = 0;                  // range reads of one insert
    std::uint64_t most_keys_read = 0;              // records that one insert read from R
    std::uint64_t inserts_with_reads = 0;
    std::uint64_t doublings = 0;
    std::uint64_t bins = 0;
    bool sound = false;
    double reads_per_insert = 0;
    [[nodiscard]] bool kept(std::uint64_t reads_allowed) const {
        return false_negatives == 0 && sound && most_reads <= reads_allowed;
    }
};

// Inserts keys until there are `keys`; every eighth insert is followed by an erase. After each
// insert some stored keys are asked, and all of them whenever a doubling begins, is half done or
// has ended.
template <class Filter, class Options>
[[nodiscard]] growth_seen grow_and_watch(const Options& options, std::uint64_t keys, std::uint64_t seed,
                                         const std::function<void(double)>& progress) {
    broom_workload<Filter> w{options};
    std::mt19937_64 chance{seed};
    std::vector<std::uint64_t> members;
    growth_seen seen;
    std::uint64_t all_reads = 0;
    unsigned stage = 0;
    const auto ask = [&](std::uint64_t key) {
        ++seen.asked;
        seen.false_negatives += w.filter().may_contain(key) ? 0u : 1u;
    };
    const auto stage_now = [&] {
        const auto now = w.filter().details();
        return static_cast<unsigned>(3 * now.growths + (now.growth_done == 0 ? 0 : now.growth_done < 0.5 ? 1 : 2));
    };
    for (std::uint64_t next = 0; members.size() < keys; ++next) {
        const std::uint64_t visited = w.remote().counts().keys_visited;
        const std::uint64_t reads = w.insert(next);
        seen.most_reads = std::max(seen.most_reads, reads);
        seen.most_keys_read = std::max(seen.most_keys_read, w.remote().counts().keys_visited - visited);
        seen.inserts_with_reads += reads > 0 ? 1u : 0u;
        all_reads += reads;
        members.push_back(next);
        ++seen.inserts;
        if (next % 8 == 7) {
            std::swap(members[chance() % members.size()], members.back());
            w.erase(members.back());
            members.pop_back();
            ++seen.erases;
        }
        for (int i = 0; i < 4; ++i) ask(members[chance() % members.size()]);
        // details() reads all bins, so it is called rarely enough to stay linear and often enough
        // to see each stage.
        if (next % std::max<std::uint64_t>(64, members.size() / 128) != 0) continue;
        if (const unsigned now = stage_now(); now != stage) {
            stage = now;
            ++seen.full_checks;
            for (const std::uint64_t key : members) ask(key);
        }
        progress(static_cast<double>(members.size()) / static_cast<double>(keys));
    }
    for (const std::uint64_t key : members) ask(key);
    seen.sound = w.sound();
    seen.doublings = w.filter().details().growths;
    seen.bins = w.filter().details().bins;
    seen.reads_per_insert = static_cast<double>(all_reads) / static_cast<double>(seen.inserts);
    return seen;
}

}  // namespace genista::lab
