// An endless attack and what it adds to a filter's memory: fresh absent keys, each false positive
// repaired. broom-space judges it, for broom filters of either variant (faults.hpp) and for any
// other filter that learns.
//
// *Limits*: an attack adds at most `most_added_bits` a key, an eighth of what a filter of rate 2^-8
// has, so that a defect of 15 % of all bits exceeds it; and the last third of the attack has added
// no more than the second, within `added_flat_within` bits a key and one page.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "genista/detail/base/buffer.hpp"
#include "lab/workloads/broom_workload.hpp"

namespace genista::lab {

inline constexpr double most_added_bits = 1.5;     // bits a key that an attack may add
inline constexpr double added_flat_within = 0.05;  // bits a key between the second and the last third of an attack
inline constexpr std::uint64_t attack_checkpoints = 30;

// Mean of the last third less mean of the second.
[[nodiscard]] inline double rise_of_last_third(const std::vector<double>& values) {
    const std::size_t third = values.size() / 3;
    double second = 0, last = 0;
    for (std::size_t i = 0; i < third; ++i) {
        second += values[third + i];
        last += values[2 * third + i];
    }
    return (last - second) / static_cast<double>(third);
}

struct attack_added {
    std::uint64_t keys = 0, adapts = 0;
    std::vector<double> added{};  // bits a key over the filter before the attack, at each checkpoint
    bool sound = true;

    [[nodiscard]] double most() const { return *std::max_element(added.begin(), added.end()); }
    // Memory is counted by pages, of which one is a third of a bit a key at 10^5 keys: a step by one
    // page is no drift.
    [[nodiscard]] double drift() const {
        const double page = 8.0 * buffer::page / static_cast<double>(keys);
        return std::max(rise_of_last_third(added) - page, 0.0);
    }
    [[nodiscard]] bool stays_small() const { return most() <= most_added_bits; }
    [[nodiscard]] bool stops() const { return drift() <= added_flat_within; }
    [[nodiscard]] bool kept() const { return sound && stays_small() && stops(); }
};

// repair(n): n more false positives are found and repaired. bits(): of the filter, a key.
template <class Repair, class Bits, class AtPoint>
[[nodiscard]] attack_added watch_attack(std::uint64_t keys, double adapts_per_key, Repair repair, Bits bits,
                                        AtPoint at_point) {
    const auto all = static_cast<std::uint64_t>(adapts_per_key * static_cast<double>(keys));
    attack_added seen{.keys = keys};
    const double before = bits();
    for (std::uint64_t point = 1; point <= attack_checkpoints; ++point) {
        const std::uint64_t due = all * point / attack_checkpoints;
        repair(due - seen.adapts);
        seen.adapts = due;
        seen.added.push_back(bits() - before);
        at_point(point, seen);
    }
    return seen;
}

// A broom filter of the variant in force.
template <class Filter, class Options, class AtPoint>
[[nodiscard]] attack_added attack_broom(std::uint64_t keys, double adapts_per_key, std::uint64_t seed,
                                        AtPoint at_point) {
    broom_workload<Filter> w{seeded<Options>(keys, 0x1p-8, seed)};
    w.load(0, keys);
    attack_added seen = watch_attack(
        keys, adapts_per_key, [&](std::uint64_t wanted) { w.attack(wanted, [](std::uint64_t) {}); },
        [&] { return w.bits_per_key(); },
        [&](std::uint64_t point, const attack_added& so_far) { at_point(point, so_far, w.filter()); });
    seen.sound = w.sound();
    return seen;
}

}  // namespace genista::lab
