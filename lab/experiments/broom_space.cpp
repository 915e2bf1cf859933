// broom-space: all local bits stay within log2(1/ε) and a constant a key, for every n and however long the attack
// [broom18 Thm 6, Lemmas 9, 14-16].
//
// *Fork*: a tail lies beside every slot, used or not, so a bit of ε below 2^-8 costs 1.06 bits.
//
// Two measurements. (1) Full filters of growing size, before anybody adapts: everything the filter allocates, a key, over
// log2(1/measured rate). (2) An endless attack: fresh strangers, each false positive repaired, up to 20 repairs a key. The
// bits it adds must stay small and stop growing: the last third of the attack is compared with the second.
//
// Controls: a Bloom filter of the same rate pays 0.44 log2(1/ε) over the optimum, which is no constant; a list of the false
// positives found, 64 bits each, grows as long as the attack does.
#include <algorithm>
#include <cmath>
#include <vector>

#include "genista/base/buffer.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "lab/experiments/broom_paper.hpp"
#include "lab/experiments/experiments.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/our_workload.hpp"

namespace genista::lab {
namespace {

constexpr double most_over_optimal = 3.8;     // bits a key at ε = 2^-8, at 10^6 keys and more
constexpr double most_over_a_tail_bit = 0.1;  // and for each bit of a tail: all slots have one, 94 % of them are used
constexpr double most_added_bits = 1.5;       // bits a key that an attack may add
constexpr double added_flat_within = 0.05;    // bits a key between the second and the last third of an attack
constexpr std::uint64_t space_judged_from = 1'000'000;
constexpr std::uint64_t attack_checkpoints = 30;

struct space_run {
    const run_options& options;
    nlohmann::json series = nlohmann::json::array();
    bool static_kept = true, bloom_failed = false;
    double worst_over = 0, over_with_tails = 0, bloom_over = 0;

    void static_row(std::uint64_t n, double rate) {
        our_workload w{seeded<broom_options>(n, rate, options.seed)};
        w.load(0, n);
        const std::uint64_t trials = trials_for(rate);
        const std::uint64_t hits = count_positives(w.filter(), first_stranger, trials);
        const double measured = static_cast<double>(hits) / static_cast<double>(trials);
        const double over = w.bits_per_key() - std::log2(1 / measured);
        const double allowed = most_over_optimal + most_over_a_tail_bit * std::log2(0x1p-8 / rate);
        const bool honest = hits <= most_plausible_hits(trials, rate);
        const auto bloom_bits = static_cast<double>(must(bloom_filter::bits_for(n, measured)));
        const double over_of_bloom = bloom_bits / static_cast<double>(n) - std::log2(1 / measured);
        const broom_details parts = w.filter().details();
        series.push_back({{"what", "full, no attack"},
                          {"keys", n},
                          {"rate_promised", rate},
                          {"rate_measured", measured},
                          {"queries", trials},
                          {"rate_kept", honest},
                          {"bits_per_key", w.bits_per_key()},
                          {"bits_over_optimal", over},
                          {"allowed_over_optimal", allowed},
                          {"line_bytes", parts.line_bytes},
                          {"tail_bytes", parts.tail_bytes},
                          {"side_bytes", parts.side_bytes},
                          {"other_bytes", parts.other_bytes},
                          {"control_bloom_bits_over_optimal", over_of_bloom}});
        static_kept = static_kept && honest;
        if (n < space_judged_from) return;  // small filters carry their fixed costs on few keys
        static_kept = static_kept && over <= allowed;
        if (rate == 0x1p-8) worst_over = std::max(worst_over, over);
        if (rate != 0x1p-8) over_with_tails = over;
        bloom_failed = bloom_failed || over_of_bloom > allowed;
        bloom_over = std::max(bloom_over, over_of_bloom);
    }
};

struct attack_result {
    double added = 0;  // most bits a key over the filter before the attack, at any checkpoint
    double drift = 0;  // mean of the last third less mean of the second, and less a page
    double list = 0;   // what the list control has added at the end
    bool list_flat = true;
    std::uint64_t adapts = 0;
};

attack_result attack_row(space_run& run, std::uint64_t n, double adapts_per_key, double from, double to) {
    our_workload w{seeded<broom_options>(n, 0x1p-8, run.options.seed)};
    w.load(0, n);
    const double before = w.bits_per_key();
    const auto all = static_cast<std::uint64_t>(adapts_per_key * static_cast<double>(n));
    std::vector<double> added;
    attack_result seen;
    std::uint64_t asked = 0;
    for (std::uint64_t point = 1; point <= attack_checkpoints; ++point) {
        const std::uint64_t due = all * point / attack_checkpoints;
        asked += w.attack(due - seen.adapts, [](std::uint64_t) {});
        seen.adapts = due;
        added.push_back(w.bits_per_key() - before);
        const broom_details parts = w.filter().details();
        run.series.push_back(
            {{"what", "attack"},
             {"keys", n},
             {"adapts", seen.adapts},
             {"queries", asked},
             {"bits_added_per_key", added.back()},
             {"side_bytes", parts.side_bytes},
             {"extended_slots", parts.extended_slots},
             {"long_salts", parts.long_salts},
             {"renewals", w.filter().stats().renewals},
             {"control_list_bits_added_per_key", 64.0 * static_cast<double>(seen.adapts) / static_cast<double>(n)}});
        run.options.progress(from + (to - from) * static_cast<double>(point) / attack_checkpoints);
    }
    const auto mean = [&](std::size_t first, std::size_t last) {
        double sum = 0;
        for (std::size_t i = first; i < last; ++i) sum += added[i];
        return sum / static_cast<double>(last - first);
    };
    seen.added = *std::max_element(added.begin(), added.end());
    // Memory is counted by pages, of which one is a third of a bit a key at 10^5 keys: a step by one page is no drift.
    const double page = 8.0 * buffer::page / static_cast<double>(n);
    const double rise =
        mean(2 * attack_checkpoints / 3, attack_checkpoints) - mean(attack_checkpoints / 3, 2 * attack_checkpoints / 3);
    seen.drift = std::max(rise - page, 0.0);
    seen.list = 64.0 * adapts_per_key;
    seen.list_flat =
        64.0 * adapts_per_key / 3 <= added_flat_within;  // means of adjacent thirds differ by a third of the whole
    if (!w.sound()) throw workload_error{"the filter fails its audit after the attack"};
    return seen;
}

outcome measure_space(const run_options& options) {
    space_run run{options};
    std::vector<std::uint64_t> sizes = {10'000, 100'000, 1'000'000};
    if (!options.quick) sizes.push_back(10'000'000);
    for (const std::uint64_t n : sizes) run.static_row(n, 0x1p-8);
    options.progress(0.2);
    run.static_row(1'000'000, 0x1p-12);
    options.progress(0.3);

    struct plan {
        std::uint64_t keys;
        double adapts_per_key;
    };
    const std::vector<plan> plans =
        options.quick ? std::vector<plan>{{100'000, 3}} : std::vector<plan>{{100'000, 20}, {1'000'000, 4}};
    attack_result worst;
    double list = 0;
    bool list_failed = true;
    std::string told;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const double share = 0.7 / static_cast<double>(plans.size());
        const attack_result seen =
            attack_row(run, plans[i].keys, plans[i].adapts_per_key, 0.3 + share * static_cast<double>(i),
                       0.3 + share * static_cast<double>(i + 1));
        worst.added = std::max(worst.added, seen.added);
        worst.drift = std::max(worst.drift, seen.drift);
        list = std::max(list, seen.list);
        list_failed = list_failed && seen.list > most_added_bits && !seen.list_flat;
        told += (told.empty() ? "" : ", ") + std::to_string(seen.adapts) + " repairs at " +
                std::to_string(plans[i].keys) + " keys";
    }

    outcome out;
    out.promised =
        "at most " + shown(most_over_optimal) +
        " bits a key over log2(1/rate) at 10^6 keys and more (and 0.1 a tail bit); an endless attack adds at most " +
        shown(most_added_bits) + " bits a key and stops adding";
    out.measured = "+" + shown(run.worst_over) + " bits a key over log2(1/rate) at worst, +" +
                   shown(run.over_with_tails) + " with tails of 4 bits; the attack (" + told + ") added at most " +
                   shown(worst.added) + " bits a key, the last third of it " + shown(worst.drift, 2) +
                   " more than the second (beyond one page)";
    out.control = {{"what", "a Bloom filter of the measured rate, and a list of the false positives found"},
                   {"bloom_bits_over_optimal", run.bloom_over},
                   {"list_bits_added_per_key", list},
                   {"failed_as_they_must", run.bloom_failed && list_failed}};
    out.kept = run.static_kept && worst.added <= most_added_bits && worst.drift <= added_flat_within &&
               run.bloom_failed && list_failed;
    out.parameters = {{"seed", options.seed},
                      {"quick", options.quick},
                      {"rates", {0x1p-8, 0x1p-12}},
                      {"attack_rate", 0x1p-8},
                      {"checkpoints", attack_checkpoints},
                      {"flat_within_bits", added_flat_within},
                      {"judged_from_keys", space_judged_from}};
    for (const plan& each : plans)
        out.parameters["attacks"].push_back({{"keys", each.keys}, {"adapts_per_key", each.adapts_per_key}});
    out.series = std::move(run.series);
    return out;
}

}  // namespace

result<outcome> run_broom_space(const run_options& options) {
    return run_on_either(
        "broom-space", options, [&] { return measure_space(options); }, [&] { return measure_paper_space(options); });
}

}  // namespace genista::lab
