// broom-rotation: the frontier [broom18 §4.2], in broom_paper alone: our own layout renews bins
// instead.
//
//     (1) Every element is rehashed after Θ(n) calls of ADAPT [Obs. 8]: without deletions a phase
//         takes exactly ⌊n/c⌋ + 1 calls and moves n keys, for c = 3, 4, 8. With deletions ghosts
//         are rehashed, too. A phase meets up to twice as many as there are at a time, for the ones
//         ahead of the frontier are the oldest: at most 1.05 (n + 2 ghosts)/c + 1 calls.
//     (2) A phase leaves O(n) adaptivity bits [Lemmas 9, 14]. A repair adds i bits with probability
//         2^-i, two on average; each of the c keys that it rehashes, and each key that is inserted,
//         collides with probability ε, and then two fingerprints grow by two bits on average. Bits
//         live until the frontier passes their key, half a phase on average. So in a phase of L
//         repairs, with m inserts a repair, there are L/n · (2 + 4 ε (c + m)) / 2 bits a key;
//         `over_the_law` times as many are allowed.
//     (3) Those of a group of 64 quotients are O(log n) [Lemmas 15, 16]: the fullest group, divided
//         by log n, stays below `most_of_log` and does not grow with n by more than `may_grow_by`;
//         no group ever runs full.
//
// Under an attack by fresh false positives over several phases, and under one with a replacement
// (an erase and an insert) for every repair, which leaves ghosts. Keys are random numbers: the
// frontier passes them in their order. Four replacements for every repair are reported, not judged.
// With random keys: ghosts are so many that a group sometimes runs full; its strings have tags, and
// room for about 45. In ascending order, each new key above all others: where more than c are
// inserted for a repair the frontier never arrives, and Observation 8 does not hold, for the paper
// counts calls of ADAPT, not insertions.
//
// Control: the same filter under the same attack, but nothing is ever rehashed
// (rehash_rule::never). Its first n/c repairs are no worse than the first phase of the other; after
// the repairs of four phases it must have broken (2) and, or have run full, (3). Smallest defects
// seen: in (1) one repair; in (2) 15 % of the bits, less the part that is used; in (3) a fullest
// group of `most_of_log` log n, which the run prints beside the measured one.
#include <algorithm>
#include <cmath>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/experiments/broom_rotation.hpp"
#include "lab/experiments/two_brooms.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {
namespace {

constexpr double may_grow_by = 1.2;
constexpr std::uint64_t many_replacements = 4;  // for a repair
constexpr std::size_t bar_width = 8;            // adaptivity bits
// Keys are drawn below it. Of 2^63 numbers no two that are drawn are equal; of 2^39, with a million
// draws, one pair would be.
constexpr std::uint64_t above_members = std::uint64_t{1} << 63;

void look_at_groups(rotation_seen& seen, const broom_paper_details& parts) {
    seen.bits_per_key = std::max(seen.bits_per_key, static_cast<double>(parts.extension_bits + parts.ghost_bits) /
                                                        static_cast<double>(seen.keys));
    seen.most_ghosts = std::max(seen.most_ghosts, parts.ghosts);
    seen.fullest = std::max<std::uint64_t>(seen.fullest, *std::ranges::max_element(parts.group_bits));
    seen.histogram.clear();
    for (const std::uint32_t bits : parts.group_bits) {
        seen.histogram.resize(std::max<std::size_t>(seen.histogram.size(), bits / bar_width + 1));
        ++seen.histogram[bits / bar_width];
    }
}

struct replaced {
    std::uint64_t for_a_repair = 0;
    bool ascending = false;
};

// Until this many phases are over, or many times as many repairs as they should take.
rotation_seen rotate(std::uint64_t n, unsigned c, const replaced& by, std::uint64_t seed,
                     rehash_rule rule = rehash_rule::frontier) {
    broom_paper_options with = seeded_paper(n, rotation_rate, seed);
    with.rehashed_by_adapt = c;
    with.rehashing = rule;
    paper_workload w{with};
    random_stream chance{seed};
    std::deque<std::uint64_t> members;
    const auto draw = [&](bool above_all) {
        members.push_back(above_all ? members.back() + 1 : chance.below(above_members));
        return members.back();
    };
    for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t key = draw(false);
        (void)must(w.remote().put(w.filter().hash()(key), integer_key{key}.view()));
    }
    if (by.ascending) std::ranges::sort(members);
    must(w.filter().rebuild(w.remote()));
    rotation_seen seen{.keys = n, .rehashed_by_adapt = c, .replaces = by.for_a_repair > 0, .least_moved = n};
    broom_paper_details before = w.filter().details();
    std::uint64_t absent_key = above_members;
    const std::uint64_t looked_at = std::max<std::uint64_t>(n / c / 4, 1);  // four times a phase
    // The control has no phases: as many repairs as it would have.
    const std::uint64_t most = (rule == rehash_rule::never ? 1 : 2) * phases_played * n / c;
    while (seen.phases < phases_played && w.filter().stats().adapts < most && seen.rebuilds == 0) {
        const std::uint64_t renewals = w.filter().stats().renewals, adapts = w.filter().stats().adapts;
        absent_key += scan(w.filter(), absent_key, std::uint64_t{1} << 60, [&](std::uint64_t key) {
            if (must(w.filter().adapt(key, w.remote())) != adapt_outcome::fixed) return true;
            for (std::uint64_t i = 0; i < by.for_a_repair; ++i) {
                w.erase(members.front());
                members.pop_front();
                w.insert(draw(by.ascending));
            }
            const filter_stats now = w.filter().stats();
            if (now.adapts % looked_at == 0) look_at_groups(seen, w.filter().details());
            return now.renewals == renewals && now.adapts < most;
        });
        const broom_paper_details now = w.filter().details();
        look_at_groups(seen, now);
        seen.longest_phase = std::max(seen.longest_phase, w.filter().stats().adapts - adapts);
        seen.least_moved = std::min(seen.least_moved, now.rehashed - before.rehashed);
        seen.phases = now.phases;
        seen.rebuilds = now.rebuilds - 1;  // one is the load
        before = now;
    }
    seen.adapts = w.filter().stats().adapts;
    if (!w.sound()) throw workload_error{"the filter fails its audit after the attack"};
    return seen;
}

std::string until_full(const rotation_seen& seen) {
    return std::to_string(seen.phases) + " phases in " + std::to_string(seen.adapts) + " repairs, and " +
           (seen.rebuilds > 0 ? "then a group ran full" : "no group ran full");
}

report::section drawn_rotation(const std::vector<rotation_seen>& all) {
    report::line_chart curve{"The fullest group of 64 quotients",
                             "Adaptivity bits, ghosts included, divided by log n: a constant.",
                             {"keys, n", true, report::unit::number},
                             {"bits / log n", false, report::unit::number},
                             {},
                             {{"attack", {}}, {"attack with replacements", {}}}};
    report::bar_chart bars{"Groups by their adaptivity bits",
                           "The largest n, at the end of the last phase.",
                           {"share of the groups", false, report::unit::percent},
                           {},
                           {},
                           false};
    for (const rotation_seen& each : all) {
        if (each.rehashed_by_adapt != 3) continue;
        const auto n = static_cast<double>(each.keys);
        if (curve.at.empty() || curve.at.back() != n) curve.at.push_back(n);
        curve.lines[each.replaces ? 1 : 0].y.push_back(each.share_of_log());
        if (each.keys != all.back().keys) continue;
        report::series one{each.replaces ? "attack with replacements" : "attack", {}};
        std::uint64_t groups = 0;
        for (const std::uint64_t count : each.histogram) groups += count;
        for (const std::uint64_t count : each.histogram)
            one.y.push_back(static_cast<double>(count) / static_cast<double>(groups));
        while (bars.categories.size() < each.histogram.size()) {
            const std::size_t first = bars.categories.size() * bar_width;
            bars.categories.push_back(std::to_string(first) + " to " + std::to_string(first + bar_width - 1));
        }
        bars.bars.push_back(std::move(one));
    }
    return {"Rotation", "", {std::move(curve), std::move(bars)}};
}

outcome measure_rotation(const run_options& options) {
    outcome out;
    std::vector<rotation_seen> all;
    for (const unsigned c : {4u, 8u}) all.push_back(rotate(10'000, c, {}, options.seed));
    std::vector<std::uint64_t> sizes = {10'000, 100'000};
    if (!options.quick) sizes.push_back(1'000'000);
    for (const std::uint64_t n : sizes) {
        for (const std::uint64_t replacements : {0u, 1u}) {
            all.push_back(rotate(n, 3, {.for_a_repair = replacements}, options.seed));
            options.progress(0.95 * static_cast<double>(all.size() - 2) / static_cast<double>(2 * sizes.size()));
        }
    }
    bool kept = true;
    double most_share = 0, most_growth = 0, least_share_plain = 1e9, least_share_mixed = 1e9, most_a_key = 0;
    double most_of_law = 0;
    for (const rotation_seen& each : all) {
        kept = kept && each.kept();
        out.series.push_back(each.row());
        most_share = std::max(most_share, each.share_of_log());
        most_a_key = std::max(most_a_key, each.bits_per_key);
        most_of_law = std::max(most_of_law, each.bits_per_key / each.lawful_bits());
        if (each.rehashed_by_adapt != 3) continue;
        double& least = each.replaces ? least_share_mixed : least_share_plain;
        most_growth = std::max(most_growth, each.share_of_log() / least);
        least = std::min(least, each.share_of_log());
    }
    kept = kept && most_growth <= may_grow_by;
    const rotation_seen crowded = rotate(10'000, 3, {.for_a_repair = many_replacements}, options.seed);
    const rotation_seen outrun =
        rotate(10'000, 3, {.for_a_repair = many_replacements, .ascending = true}, options.seed);
    for (const rotation_seen* each : {&crowded, &outrun}) {
        out.series.push_back(each->row());
        out.series.back()["what"] = each == &crowded ? "reported only: four replacements for a repair"
                                                     : "reported only: four, by ascending keys";
    }
    const rotation_seen& last = all.back();
    const rotation_seen control = rotate(10'000, 3, {}, options.seed, rehash_rule::never);
    out.series.push_back(control.row());
    out.series.back()["what"] = "control: nothing is ever rehashed";
    const bool control_failed = !control.bits_kept() && !control.groups_kept();
    out.promised =
        "a phase takes ⌊n/c⌋ + 1 repairs and moves every key (with ghosts at most 1.05 (n + 2 ghosts)/c + 1), there "
        "are at most " +
        shown(over_the_law) +
        " times the adaptivity bits that a phase adds, halved, and the fullest group of 64 quotients has at most " +
        shown(most_of_log) + " log n of them, for every n";
    out.measured = std::string{kept ? "so" : "NOT so"} + ": the longest phase at n = " + std::to_string(last.keys) +
                   " took " + std::to_string(all[all.size() - 2].longest_phase) + " repairs, " +
                   std::to_string(last.longest_phase) + " with " + std::to_string(last.most_ghosts) +
                   " ghosts; at most " + shown(most_a_key, 3) + " adaptivity bits a key, " + shown(most_of_law, 3) +
                   " of the law; the fullest group " + shown(most_share, 3) + " log n, from one n to a larger one " +
                   shown(most_growth, 3) +
                   " times as much at worst; reported, at n = 10000: with four replacements for a repair " +
                   until_full(crowded) + ", by ascending keys " + until_full(outrun);
    out.control = {{"what", "the same filter under the same attack, which never rehashes anything"},
                   {"adaptivity_bits_per_key", control.bits_per_key},
                   {"adaptivity_bits_allowed", over_the_law * control.lawful_bits()},
                   {"fullest_group_over_log_n", control.share_of_log()},
                   {"repairs", control.adapts},
                   {"ran_full", control.rebuilds > 0},
                   {"failed_as_it_must", control_failed}};
    out.kept = kept && control_failed;
    out.parameters = {{"filter", broom_paper_filter::name},
                      {"rate", rotation_rate},
                      {"sizes", sizes},
                      {"phases", phases_played},
                      {"replacements_for_a_repair", {0, 1, many_replacements}}};
    out.figures.push_back(drawn_rotation(all));
    return out;
}

const registration broom_rotation_experiment(
    "broom-rotation", 108,
    "After a number of repairs proportional to n every key has moved to a new hash function, and a group of quotients "
    "never has more than O(log n) extension bits.",
    "broom18 §4.2, Lemmas 9, 15, 16", measure_rotation, {.quick_seconds = 10.5, .full_minutes = 5},
    {.filters = {broom_paper_filter::name}});

}  // namespace
}  // namespace genista::lab
