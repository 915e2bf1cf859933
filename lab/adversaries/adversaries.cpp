// Every adversary of the lab. A new one needs a line here and a declaration in attacks.hpp.
#include <algorithm>
#include <array>

#include "lab/adversaries/attacks.hpp"

namespace genista::lab {
namespace {

constexpr std::array adversaries{
    adversary{"fresh", "a new absent key every time", many_bins, ask_fresh},
    adversary{"fresh-crowded", "the same where the bound is tight: a bin and its backyard, both full", crowded_bin,
              ask_fresh},
    adversary{"repeat-one", "a false positive, again and again", one_bin, repeat_one},
    adversary{"pool-replay", "collects false positives and asks for all of them in every pass", many_bins, replay_pool},
    adversary{"rounds", "as many absent keys as stored keys, then in each round the false positives of the last",
              many_bins, play_rounds},
    adversary{"adapt-exhaustion", "false positives without end: the older ones after the newest", one_bin,
              exhaust_adapts},
    adversary{"swap", "x collides with y: erases all keys, inserts x, is y a false positive?", one_bin,
              swap_with_members, true},
    adversary{"pool-cross", "erases all keys, inserts half of the false positives, asks for the other half", one_bin,
              cross_pool, true},
    adversary{"frontier-cross", "the same without a deletion, after every key has got a new hash", half_empty_bin,
              cross_frontier, true},
    adversary{"pool-cross-wide", "pool-cross with a pool that grows with the stored keys", few_hundred,
              cross_pool_of_a_phase, true},
    adversary{"frontier-cross-wide", "frontier-cross, in the middle of a phase of a filter that rehashes in turn",
              few_hundred, cross_frontier_of_a_phase, true},
    adversary{"delete-and-reinsert", "erases all keys and inserts them again: do the false positives return?", one_bin,
              delete_and_reinsert},
    adversary{"toggle-two", "inserts and erases two keys in turn: does a former state return?", one_bin, toggle_two},
    adversary{"known-members", "keys that were just erased, and keys close to stored keys", few_bins,
              ask_known_members},
    adversary{"insert-probing",
              "an insert that costs a read has collided: asks for keys that collided with the same key before",
              half_empty_bin, probe_by_inserts, true},
    adversary{"chosen-inserts",
              "learns which absent keys share a bin, fills that bin with half of them, asks for the others", few_bins,
              pollute_one_bin},
    adversary{"exclusion", "tests absent keys and stored keys against many erased keys", one_bin, exclude_by_erased},
    adversary{"backyard-toggle",
              "toggles keys of an overfull bin, asks for those in the backyard and for old false positives",
              crowded_bin, toggle_backyard},
    adversary{"backyard-probing",
              "erases a key that collided with a visible read and overflowed: is it a false positive?", crowded_bin,
              probe_backyard},
    adversary{"lasting-tags", "false positives of an overfull bin that returned once should return again", crowded_bin,
              hunt_lasting_tags},
    adversary{"renewal-replay", "collects false positives, renews the bin, asks again", one_bin,
              replay_across_renewals},
    adversary{"salt-cycling", "renews a bin without end and recognises an epoch that returns by its false positives",
              one_bin, cycle_salts},
    adversary{"growth-replay", "collects false positives, makes the filter grow, asks again", one_bin,
              replay_across_growth},
    adversary{"restart-replay",
              "false positives of renewals after a snapshot; then a restart from it, and the same renewals", one_bin,
              replay_across_restart},
    adversary{"exhaust-choices", "asks for an absent key so often that a filter with few choices has tried them all",
              few_bins, exhaust_choices},
    adversary{"unfixable-sets", "looks for absent keys whose repairs exclude each other, and asks for them in turn",
              few_bins, find_unfixable_sets},
};

// They need refusals, failures and restores; only some arenas have them.
constexpr std::array adversaries_of_failures{
    adversary{"refusal-probing", "an insert that costs a read and is refused has collided: is it a false positive?",
              full_bin, probe_by_refusals},
    adversary{"outage-probing",
              "while R cannot be read, a key whose insert fails or reads has collided: is it a false positive?",
              one_bin, probe_during_outage},
    adversary{"outage-probing-full", "the same in a bin that has no room left", full_bin, probe_during_outage},
    adversary{"refused-in-store", "leaves refused keys in R and asks for a false positive twice", full_bin,
              leave_refused_keys},
    adversary{"empty-restart", "fills an empty bin, restarts from the snapshot and fills it again", one_bin,
              refill_after_restart},
    adversary{"copy-rebuilt", "false positives of a filter, asked of a copy that was rebuilt", one_bin,
              ask_rebuilt_copy},
};

// It wins against every filter that continues from a snapshot; the broom filter does not promise
// otherwise.
constexpr std::array adversaries_of_copies{
    adversary{"copy", "mistakes of a filter, asked of its copy", one_bin, ask_copy},
};

}  // namespace

void fill(arena& at, std::uint64_t keys) {
    at.fill(keys);
}

std::span<const adversary> all_adversaries() noexcept {
    return adversaries;
}

std::span<const adversary> failure_adversaries() noexcept {
    return adversaries_of_failures;
}

const adversary* find_adversary(std::string_view name) noexcept {
    for (const std::span<const adversary> list :
         {std::span<const adversary>{adversaries}, std::span<const adversary>{adversaries_of_failures},
          std::span<const adversary>{adversaries_of_copies}}) {
        const auto found = std::ranges::find(list, name, &adversary::name);
        if (found != list.end()) return &*found;
    }
    return nullptr;
}

}  // namespace genista::lab
