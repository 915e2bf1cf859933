// Property 10, in two ways: as a property that chance tries to break, and as the attack that breaks
// filters without history.
//
// [broom18 Prop. 10] x, once a false positive because it collides with y, cannot collide with y
// again until a hash function changes, even if y is deleted and inserted again. In our layout a
// hash function changes when its bin is renewed, and the law promises more: a key that was caught
// is no false positive at all until then (docs/filters/broom.md, Lemma 2).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "lab/workloads/broom_workload.hpp"

namespace genista::lab {

struct property_seen {
    std::uint64_t epochs = 0;      // between renewals
    std::uint64_t caught = 0;      // false positives repaired without a renewal
    std::uint64_t asked = 0;       // caught keys asked again within their epoch
    std::uint64_t violations = 0;  // of those that were false positives again
    void add(const property_seen& other) {
        epochs += other.epochs;
        caught += other.caught;
        asked += other.asked;
        violations += other.violations;
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
        search_guesses += other.search_guesses;
        search_wins += other.search_wins;
        rounds += other.rounds;
        rounds_won += other.rounds_won;
        targets += other.targets;
        partners_found += other.partners_found;
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

}  // namespace genista::lab
