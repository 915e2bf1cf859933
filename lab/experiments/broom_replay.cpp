// broom-replay: replaying hundreds of thousands of known false positives wastes next to no reads
// from the second round on. Ours. Other adaptive filters run out of room here.
//
// A filter with 90 % of 2^22 slots in use meets 300,000, then 600,000 false positives, each
// repaired when it is found: one for every six keys. Then all of them are asked again in rounds. A
// false positive that a renewal has forgotten returns with probability ε, once.
//
// Controls: the same filter without repairs, and a Bloom filter; both waste a read on each of them
// in every round.
#include <algorithm>
#include <string>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "lab/controls/controls.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/broom_runs.hpp"

namespace genista::lab {
namespace {

constexpr double replay_rate = 0x1p-8;
constexpr double replay_load = 0.9;
constexpr double most_replayed_in_round_one = 0.005;
constexpr double most_replayed_afterwards = 0.0001;
constexpr std::size_t replay_rounds = 6;

// Slots of a filter made for this many keys (94 % of them in use).
std::uint64_t capacity_with_slots(std::uint64_t slots) {
    return slots * 94 / 100;
}

double bloom_share(std::uint64_t keys, std::uint64_t wanted, std::uint64_t seed) {
    bloom_filter bloom = must(bloom_filter::make(
        {.capacity = keys, .false_positive_rate = replay_rate, .hash = hasher{hash_key::from_seed(seed)}}));
    for (std::uint64_t key = 0; key < keys; ++key) (void)bloom.insert(key);
    std::vector<std::uint64_t> found;
    scan(bloom, first_absent_key, std::uint64_t{1} << 60, [&](std::uint64_t key) {
        found.push_back(key);
        return found.size() < wanted;
    });
    const auto again =
        std::count_if(found.begin(), found.end(), [&](std::uint64_t key) { return bloom.may_contain(key); });
    return static_cast<double>(again) / static_cast<double>(found.size());
}

outcome measure_replay(const run_options& options) {
    const std::uint64_t slots = std::uint64_t{1} << (options.quick ? 18 : 22);
    const std::uint64_t scale_down = (std::uint64_t{1} << 22) / slots;
    const std::vector<std::uint64_t> sizes = {300'000 / scale_down, 600'000 / scale_down};
    outcome out;
    double first = 0, later = 0, added_bits = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const replay_seen seen = find_and_replay<broom_filter>(
            seeded<broom_options>(capacity_with_slots(slots), replay_rate, options.seed), replay_load, sizes[i],
            replay_rounds, [&](double share) { options.progress(0.45 * (static_cast<double>(i) + share)); });
        out.series.push_back({{"keys", seen.keys},
                              {"false_positives", seen.found},
                              {"queries_to_find_them", seen.queries},
                              {"wasted_reads_by_round", seen.wasted},
                              {"share_in_round_one", seen.share(0)},
                              {"worst_share_afterwards", seen.worst_share_after(1)},
                              {"bits_per_key_before", seen.bits_per_key_before},
                              {"bits_per_key_after", seen.bits_per_key_after}});
        first = std::max(first, seen.share(0));
        later = std::max(later, seen.worst_share_after(1));
        added_bits = std::max(added_bits, seen.bits_per_key_after - seen.bits_per_key_before);
    }
    const std::uint64_t control_slots = std::uint64_t{1} << 16;
    const replay_seen unrepaired =
        find_and_replay_without_adapting(capacity_with_slots(control_slots), replay_load, 5'000, 2, options.seed);
    const double bloom = bloom_share(control_slots, 5'000, options.seed);
    const bool controls_failed = unrepaired.share(1) > most_replayed_in_round_one && bloom > most_replayed_in_round_one;

    out.promised = "replaying " + std::to_string(sizes[0]) + " and " + std::to_string(sizes[1]) +
                   " found false positives at 0.9 · 2^" + (options.quick ? "18" : "22") +
                   " keys wastes at most 0.5 % of the reads in round one and 0.01 % in every later one";
    out.measured = shown(100 * first, 3) + " % in round one, at most " + shown(100 * later, 3) + " % in rounds 2 to " +
                   std::to_string(replay_rounds) + "; the repairs took " + shown(added_bits, 3) + " bits a key";
    out.control = {{"what", "the same without repairs, and a Bloom filter"},
                   {"unrepaired_share_in_round_two", unrepaired.share(1)},
                   {"bloom_share", bloom},
                   {"failed_as_they_must", controls_failed}};
    out.kept = first <= most_replayed_in_round_one && later <= most_replayed_afterwards && controls_failed;
    out.parameters = {{"slots", slots},          {"load", replay_load},      {"rate", replay_rate},
                      {"rounds", replay_rounds}, {"false_positives", sizes}, {"control_slots", control_slots}};
    return out;
}

const registration broom_replay_experiment(
    "broom-replay", 502,
    "A replay of hundreds of thousands of known false positives wastes almost no reads from the second round on.",
    "ours", measure_replay, {.quick_seconds = 0.7, .full_minutes = 2}, {.filters = {"broom"}});

}  // namespace
}  // namespace genista::lab
