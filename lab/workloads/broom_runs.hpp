// The measurements that experiments about the broom filter share with their controls. Each is a
// template of the filter, for our filter and for the variant whose rules can be switched off
// (faults.hpp).
//
//     drive_and_audit        broom-invariant    chance and an exact set, an audit after every step
//     try_to_collide_again,
//     delete_and_reinsert    broom-property10   Property 10, as a property and as the attack
//     find_and_replay        broom-replay       repaired false positives, asked again in rounds
//     grow_and_watch         growth             a small filter, filled far beyond its capacity
//     watch_attack           broom-space        an endless attack, and what it adds to the memory
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "genista/detail/base/buffer.hpp"
#include "lab/workloads/broom_workload.hpp"

namespace genista::lab {

template <class Seen, class... Count>
void add_counts(Seen& to, const Seen& more, Count Seen::*... counts) {
    ((to.*counts += more.*counts), ...);
}

// ---- invariant: an audit of the whole filter after every operation ------------------------------

struct invariant_seen {
    std::uint64_t operations = 0;
    std::uint64_t audits_failed = 0;
    std::uint64_t false_negatives = 0;
    std::uint64_t inserts = 0, erases = 0, adapts = 0, renewals = 0, growths = 0;
    std::string first_complaint;

    void add(const invariant_seen& other) {
        add_counts(*this, other, &invariant_seen::operations, &invariant_seen::audits_failed,
                   &invariant_seen::false_negatives, &invariant_seen::inserts, &invariant_seen::erases,
                   &invariant_seen::adapts, &invariant_seen::renewals, &invariant_seen::growths);
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

// ---- property 10 --------------------------------------------------------------------------------
//
// [broom18 Prop. 10] x, once a false positive because it collides with y, cannot collide with y
// again until a hash function changes, even if y is deleted and inserted again. In our layout a
// hash function changes when its bin is renewed, and the law promises more: a key that was caught
// is no false positive at all until then (docs/filters/broom.md, Lemma 2).

struct property_seen {
    std::uint64_t epochs = 0;      // between renewals
    std::uint64_t caught = 0;      // false positives repaired without a renewal
    std::uint64_t asked = 0;       // caught keys asked again within their epoch
    std::uint64_t violations = 0;  // of those that were false positives again
    void add(const property_seen& other) {
        add_counts(*this, other, &property_seen::epochs, &property_seen::caught, &property_seen::asked,
                   &property_seen::violations);
    }
};

// A filter of one bin, so that its count of renewals numbers the epochs. Keys are erased, inserted
// again and replaced; after each step every key that was caught in this epoch is asked again.
template <class Filter, class Options>
[[nodiscard]] property_seen try_to_collide_again(const Options& of_one_bin, std::uint64_t steps, std::uint64_t seed) {
    broom_workload<Filter> w{of_one_bin};
    std::mt19937_64 chance{seed};
    constexpr std::uint64_t members = 30;
    std::vector<std::uint64_t> inside, outside, caught;
    for (std::uint64_t key = 0; key < 2 * members; ++key) (key < members ? inside : outside).push_back(key);
    for (const std::uint64_t key : inside) w.insert(key);
    std::uint64_t epoch = w.filter().stats().renewals;
    property_seen seen;
    const auto forget_if_renewed = [&] {
        const std::uint64_t now = w.filter().stats().renewals;
        if (now != epoch) {
            ++seen.epochs;
            caught.clear();
        }
        epoch = now;
    };
    for (std::uint64_t step = 0; step < steps; ++step) {
        const std::uint64_t dice = chance() % 4;
        if (dice == 0 && !inside.empty()) {
            std::swap(inside[chance() % inside.size()], inside.back());
            w.erase(inside.back());
            outside.push_back(inside.back());
            inside.pop_back();
        } else if (dice == 1 && !outside.empty()) {
            // The key that was erased last is inserted first: delete and reinsert.
            if (chance() % 2 == 0) std::swap(outside[chance() % outside.size()], outside.back());
            w.insert(outside.back());
            inside.push_back(outside.back());
            outside.pop_back();
        } else if (inside.size() > members / 2) {
            // Repaired by a renewal: the hash function changed with it, and nothing is promised.
            w.attack(1, [&](std::uint64_t key) {
                if (w.filter().stats().renewals != epoch) return;
                caught.push_back(key);
                ++seen.caught;
            });
        }
        forget_if_renewed();
        for (const std::uint64_t key : caught) {
            ++seen.asked;
            seen.violations += w.filter().may_contain(key) ? 1u : 0u;
        }
    }
    return seen;
}

struct reinsertion_seen {
    std::uint64_t search_guesses = 0, search_wins = 0;  // while looking for y
    std::uint64_t rounds = 0, rounds_won = 0;           // look up x, delete y, insert y, with the y found
    std::uint64_t targets = 0, partners_found = 0;
    void add(const reinsertion_seen& other) {
        add_counts(*this, other, &reinsertion_seen::search_guesses, &reinsertion_seen::search_wins,
                   &reinsertion_seen::rounds, &reinsertion_seen::rounds_won, &reinsertion_seen::targets,
                   &reinsertion_seen::partners_found);
    }
    [[nodiscard]] std::uint64_t guesses() const { return search_guesses + rounds; }
    [[nodiscard]] std::uint64_t wins() const { return search_wins + rounds_won; }
};

struct reinsertion_plan {
    std::uint64_t guesses = 0;          // about how many in all
    std::uint64_t rounds = 0;           // with a partner once found
    std::uint64_t targets_at_once = 1;  // 1: the attack as in the paper
};

// The timing attack of [broom18 §4.3]. For a false positive x: delete and reinsert the stored keys
// of its bin one by one until x is a false positive again, then continue with that key for some
// rounds. All look-ups are guesses. With several targets at once the search asks for all of them
// after each reinsertion, which makes many guesses cheap.
template <class Filter, class Options>
[[nodiscard]] reinsertion_seen delete_and_reinsert(const Options& options, const reinsertion_plan& plan,
                                                   const std::function<void(double)>& progress) {
    broom_workload<Filter> w{options};
    const std::uint64_t bins = w.filter().details().bins;
    const std::uint64_t members = keys_at_load(w.filter(), 0.85);
    w.load(0, members);
    const auto bin_of = [&](std::uint64_t key) { return scale(w.filter().hash()(key).position, bins); };
    std::vector<std::vector<std::uint64_t>> members_of(bins), targets_of(bins);
    for (std::uint64_t key = 0; key < members; ++key) members_of[bin_of(key)].push_back(key);

    reinsertion_seen seen;
    const auto reinsert = [&](std::uint64_t y) {
        w.erase(y);
        w.insert(y);
    };
    // The key whose return made x a false positive again.
    const auto find_partner = [&](std::uint64_t x, const std::vector<std::uint64_t>& targets,
                                  const std::vector<std::uint64_t>& candidates) -> std::optional<std::uint64_t> {
        for (const std::uint64_t y : candidates) {
            reinsert(y);
            bool won = false;
            for (const std::uint64_t each : targets) {
                const bool hit = w.query_absent_key(each);
                ++seen.search_guesses;
                seen.search_wins += hit ? 1u : 0u;
                won = won || (hit && each == x);
            }
            if (won) return y;
        }
        return std::nullopt;
    };
    while (seen.guesses() < plan.guesses) {
        std::uint64_t bin = 0;
        w.attack(1, [&](std::uint64_t key) {
            bin = bin_of(key);
            targets_of[bin].push_back(key);
        });
        if (targets_of[bin].size() < plan.targets_at_once) continue;
        const std::uint64_t x = targets_of[bin].back();
        ++seen.targets;
        if (const auto y = find_partner(x, targets_of[bin], members_of[bin]); y) {
            ++seen.partners_found;
            for (std::uint64_t round = 0; round < plan.rounds; ++round) {
                reinsert(*y);
                ++seen.rounds;
                seen.rounds_won += w.query_absent_key(x) ? 1u : 0u;
            }
        }
        targets_of[bin].erase(targets_of[bin].begin());
        progress(static_cast<double>(seen.guesses()) / static_cast<double>(plan.guesses));
    }
    return seen;
}

// ---- replay: false positives are found and repaired, then asked again, round after round --------

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

// ---- growth: checked all the while --------------------------------------------------------------

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

// ---- space: fresh absent keys, each false positive repaired -------------------------------------
//
// For broom filters of either variant and for any other filter that learns. *Limits*: an attack
// adds at most `most_added_bits` a key, an eighth of what a filter of rate 2^-8 has, so that a
// defect of 15 % of all bits exceeds it; and the last third of the attack has added no more than
// the second, within `added_flat_within` bits a key and one page.

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
    // Memory is counted by pages, of which one is a third of a bit a key at 10^5 keys: a step by
    // one page is no drift.
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
