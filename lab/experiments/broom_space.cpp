// broom-space: all local bits stay within log2(1/ε) and a constant a key, for every n and however
// long the attack [broom18 Thm 6, Lemmas 9, 14-16].
//
// Ours. *Fork*: a tail lies beside every slot, used or not, so a bit of ε below 2^-8 costs 1.06
// bits.
//
// Two measurements. (1) Full filters of growing size, before any repair: all that the filter
// allocates, a key, over log2(1/measured rate). (2) An endless attack: fresh absent keys, each
// false positive repaired, up to 20 repairs a key. The bits it adds must stay small and stop
// growing: the last third of the attack is compared with the second.
//
// Controls, all of which run: a Bloom filter made for the measured rate, filled and asked like the
// broom filter, pays 0.44 log2(1/ε) over the optimum, which is no constant; a whitelist (a Bloom
// filter and a list of the false positives found) under the same attack grows without end; and so
// does a broom filter that never uses the memory of a side block again (faults.hpp). Smallest
// defects seen: 0.06 bits a key of the full filter, 1.5 bits a key (15 % of all is 1.8) and 0.05 a
// third under attack.
//
// The structure of the paper: (1 + o(1)) n log(1/ε) + O(n) local bits. All that the filter
// allocates, a key, is split into the two terms:
//
//     bits a key = (1 + α(n)) r + rest(n)       r = ⌈log(1/ε)⌉
//
// α, what a further bit of r costs beyond itself, is measured as a difference between two filters
// of the large design. It must fall with n and follow b · sqrt(log log n / log n), the paper's
// form; b is fitted and reported. The rest (metadata, second level or backyard, room for strings)
// must stay below a constant and not rise with n. Then an endless attack on full filters, each
// false positive repaired: alone, and with a replacement (an erase and an insert) for every repair.
// That leaves ghosts, and makes a phase longer, since the new keys lie above all others, ahead of
// the frontier. After the first phases nothing more may be added.
//
// Controls, which run: Bloom filters, where a bit of r costs 1.44 bits for every n; and the same
// filter under the same attack that never rehashes anything (rehash_rule::never), whose adaptivity
// bits grow with the attack.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "lab/controls/controls.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/two_brooms.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/broom_runs.hpp"
#include "papers/whitelist.hpp"

namespace genista::lab {
namespace {

constexpr double most_over_optimal = 3.8;     // bits a key at ε = 2^-8, at 10^6 keys and more
constexpr double most_over_a_tail_bit = 0.1;  // and for each bit of a tail: all slots have one, 94 % of them are used
constexpr std::uint64_t space_judged_from = 1'000'000;

// A Bloom filter made for this rate, filled and asked.
double bloom_over_optimal(std::uint64_t n, double rate, std::uint64_t trials, const hasher& hash) {
    bloom_filter bloom = must(bloom_filter::make({.capacity = n, .false_positive_rate = rate, .hash = hash}));
    for (std::uint64_t key = 0; key < n; ++key) (void)bloom.insert(key);
    const auto hits = static_cast<double>(count_positives(bloom, first_absent_key, trials));
    return 8.0 * static_cast<double>(bloom.stats().local_bytes) / static_cast<double>(n) -
           std::log2(static_cast<double>(trials) / std::max(hits, 1.0));
}

struct space_run {
    const run_options& options;
    nlohmann::json series = nlohmann::json::array();
    bool static_kept = true, bloom_failed = false;
    double worst_over = 0, over_with_tails = 0, bloom_over = 0;

    void static_row(std::uint64_t n, double rate) {
        our_workload w{seeded<broom_options>(n, rate, options.seed)};
        w.load(0, n);
        const std::uint64_t trials = trials_for(rate);
        const std::uint64_t hits = count_positives(w.filter(), first_absent_key, trials);
        const double measured = static_cast<double>(hits) / static_cast<double>(trials);
        const double over = w.bits_per_key() - std::log2(1 / measured);
        const double allowed = most_over_optimal + most_over_a_tail_bit * std::log2(0x1p-8 / rate);
        const bool honest = hits <= most_plausible_hits(trials, rate);
        const double over_of_bloom = bloom_over_optimal(n, measured, trials, w.filter().hash());
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
        if (n < space_judged_from) return;  // small filters have few keys for their fixed costs
        static_kept = static_kept && over <= allowed;
        if (rate == 0x1p-8) worst_over = std::max(worst_over, over);
        if (rate != 0x1p-8) over_with_tails = over;
        bloom_failed = bloom_failed || over_of_bloom > allowed;
        bloom_over = std::max(bloom_over, over_of_bloom);
    }
};

attack_added attack_row(space_run& run, std::uint64_t n, double adapts_per_key, double from, double to) {
    attack_added seen = attack_broom<broom_filter, broom_options>(
        n, adapts_per_key, run.options.seed,
        [&](std::uint64_t point, const attack_added& so_far, const broom_filter& filter) {
            const broom_details parts = filter.details();
            run.series.push_back({{"what", "attack"},
                                  {"keys", n},
                                  {"adapts", so_far.adapts},
                                  {"bits_added_per_key", so_far.added.back()},
                                  {"side_bytes", parts.side_bytes},
                                  {"extended_slots", parts.extended_slots},
                                  {"long_salts", parts.long_salts},
                                  {"renewals", filter.stats().renewals}});
            run.options.progress(from + (to - from) * static_cast<double>(point) / attack_checkpoints);
        });
    if (!seen.sound) throw workload_error{"the filter fails its audit after the attack"};
    return seen;
}

// A Bloom filter and a list of its mistakes, under the same attack.
attack_added attack_whitelist(std::uint64_t n, double adapts_per_key, std::uint64_t seed) {
    whitelist_filter filter = must(whitelist_filter::make(
        {.capacity = n, .false_positive_rate = 0x1p-8, .hash = hasher{hash_key::from_seed(seed)}}));
    memory_map remote;
    for (std::uint64_t key = 0; key < n; ++key) {
        (void)must(remote.put(filter.hash()(key), integer_key{key}.view()));
        (void)filter.insert(key);
    }
    std::uint64_t next = first_absent_key;
    return watch_attack(
        n, adapts_per_key,
        [&](std::uint64_t wanted) {
            if (wanted == 0) return;
            next += scan(filter, next, std::uint64_t{1} << 60, [&](std::uint64_t key) {
                (void)must(filter.adapt(key, remote));
                return --wanted > 0;
            });
        },
        [&] { return 8.0 * static_cast<double>(filter.stats().local_bytes) / static_cast<double>(n); },
        [](std::uint64_t, const attack_added&) {});
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
    double most_added = 0, most_drift = 0;
    bool attacks_kept = true;
    std::string summary;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const double share = 0.7 / static_cast<double>(plans.size());
        const attack_added seen =
            attack_row(run, plans[i].keys, plans[i].adapts_per_key, 0.3 + share * static_cast<double>(i),
                       0.3 + share * static_cast<double>(i + 1));
        attacks_kept = attacks_kept && seen.kept();
        most_added = std::max(most_added, seen.most());
        most_drift = std::max(most_drift, seen.drift());
        summary += (summary.empty() ? "" : ", ") + std::to_string(seen.adapts) + " repairs at " +
                   std::to_string(plans[i].keys) + " keys";
    }

    const std::uint64_t control_keys = 100'000;  // with fewer, a page is more than 1.5 bits a key
    const attack_added list = attack_whitelist(control_keys, 0.3, options.seed);
    const attack_added leak = attack_leaking_broom(control_keys, 0.05, options.seed);
    const bool list_failed = !list.stays_small() && !list.stops(), leak_failed = !leak.stays_small() && !leak.stops();

    outcome out;
    out.promised =
        "at most " + shown(most_over_optimal) +
        " bits a key over log2(1/rate) at 10^6 keys and more (and 0.1 a tail bit); an endless attack adds at most " +
        shown(most_added_bits) + " bits a key and stops adding";
    out.measured = "+" + shown(run.worst_over) + " bits a key over log2(1/rate) at worst, +" +
                   shown(run.over_with_tails) + " with tails of 4 bits; the attack (" + summary + ") added at most " +
                   shown(most_added) + " bits a key, the last third of it " + shown(most_drift, 2) +
                   " more than the second (beyond one page)";
    out.control = {{"what",
                    "a Bloom filter made for the measured rate; a whitelist under three repairs for ten keys; a broom "
                    "filter that never uses side memory again, under one repair for 20 keys"},
                   {"bloom_bits_over_optimal", run.bloom_over},
                   {"whitelist_bits_added_per_key", list.most()},
                   {"leaking_broom_bits_added_per_key", leak.most()},
                   {"leaking_broom_drift", leak.drift()},
                   {"failed_as_they_must", run.bloom_failed && list_failed && leak_failed}};
    out.kept = run.static_kept && attacks_kept && run.bloom_failed && list_failed && leak_failed;
    out.parameters = {{"rates", {0x1p-8, 0x1p-12}},
                      {"attack_rate", 0x1p-8},
                      {"checkpoints", attack_checkpoints},
                      {"flat_within_bits", added_flat_within},
                      {"judged_from_keys", space_judged_from}};
    for (const plan& each : plans)
        out.parameters["attacks"].push_back({{"keys", each.keys}, {"adapts_per_key", each.adapts_per_key}});
    out.series = std::move(run.series);
    return out;
}

constexpr double most_for_a_bit = 1.3;     // bits a key for one bit of r, from n = 10^4 on
constexpr double fit_within = 0.01;        // of 1 + α
constexpr double most_rest = 12;           // bits a key beside (1 + α) r
constexpr double rest_may_rise_by = 0.1;   // bits a key, from one n to a larger one
constexpr double most_adaptivity = 1;      // adaptivity bits a key, ghosts included
constexpr double most_attack_memory = 20;  // bits a key that their memory takes: tags, blocks, pools that never shrink
constexpr double adaptivity_flat_within = 0.05;  // adaptivity bits a key between the second and the last third
constexpr double memory_flat_within = 0.5;       // and bits of memory: a pool grows by an eighth
// The bits of a repair do not depend on ε, and at this rate false positives are found soon.
constexpr double paper_attack_rate = 0x1p-5;
constexpr double far_rate = 0x1p-20;  // the other end of the difference

struct paper_size_row {
    std::uint64_t keys = 0;
    double for_a_bit = 0;                   // 1 + α
    double small_rest = 0, large_rest = 0;  // bits a key
    double small_over = 0, large_over = 0;  // bits a key over log2(1/measured rate)
    double bloom_for_a_bit = 0;
    bool rates_kept = true;
    [[nodiscard]] double form() const {
        const double log = std::log2(static_cast<double>(keys));
        return std::sqrt(std::log2(log) / log);
    }
};

struct built_paper {
    double bits = 0, over = 0;
    bool rate_kept = true;
};

// A full filter. Without queries `over` is not set.
built_paper build_paper(std::uint64_t n, double rate, std::uint64_t queries, std::uint64_t seed) {
    paper_workload w{seeded_paper(n, rate, seed)};
    w.load(0, n);
    built_paper made{.bits = w.bits_per_key()};
    if (queries == 0) return made;
    const std::uint64_t hits = count_positives(w.filter(), first_absent_key, queries);
    made.rate_kept = hits <= most_plausible_hits(queries, rate);
    made.over =
        made.bits - std::log2(static_cast<double>(queries) / static_cast<double>(std::max<std::uint64_t>(hits, 1)));
    return made;
}

paper_size_row measure_paper_size(std::uint64_t n, const run_options& options) {
    paper_size_row row{.keys = n};
    const built_paper small = build_paper(n, paper_small_rate, trials_for(paper_small_rate), options.seed);
    const built_paper large =
        build_paper(n, paper_large_rate, options.quick ? 2'000'000 : trials_for(paper_large_rate), options.seed);
    const built_paper far = build_paper(n, far_rate, 0, options.seed);
    const double small_r = std::log2(1 / paper_small_rate), large_r = std::log2(1 / paper_large_rate);
    row.for_a_bit = (far.bits - large.bits) / (std::log2(1 / far_rate) - large_r);
    row.small_rest = small.bits - row.for_a_bit * small_r;
    row.large_rest = large.bits - row.for_a_bit * large_r;
    row.small_over = small.over;
    row.large_over = large.over;
    row.rates_kept = small.rate_kept && large.rate_kept;
    const auto bloom = [&](double rate) {
        const bloom_filter built = must(bloom_filter::make({.capacity = n, .false_positive_rate = rate}));
        return 8.0 * static_cast<double>(built.stats().local_bytes) / static_cast<double>(n);
    };
    row.bloom_for_a_bit = (bloom(far_rate) - bloom(paper_large_rate)) / (std::log2(1 / far_rate) - large_r);
    return row;
}

struct paper_attack_seen {
    double most_bits = 0, bits_drift = 0;      // adaptivity bits a key
    double most_memory = 0, memory_drift = 0;  // bits of memory that hold them
    double most_ghosts = 0;                    // a key
    std::uint64_t adapts = 0, rebuilds = 0;
    std::vector<double> bits, memory;
    [[nodiscard]] bool kept() const {
        return most_bits <= most_adaptivity && bits_drift <= adaptivity_flat_within &&
               most_memory <= most_attack_memory && memory_drift <= memory_flat_within && rebuilds == 0;
    }
};

paper_attack_seen attack_paper(std::uint64_t n, double adapts_per_key, bool replaces, const run_options& options,
                               double from, nlohmann::json& series, rehash_rule rule = rehash_rule::frontier) {
    broom_paper_options with = seeded_paper(n, paper_attack_rate, options.seed);
    with.rehashing = rule;
    paper_workload w{with};
    w.load(0, n);
    const double before = w.bits_per_key();
    const std::uint64_t rebuilds = w.filter().details().rebuilds;
    const auto all = static_cast<std::uint64_t>(adapts_per_key * static_cast<double>(n));
    paper_attack_seen seen;
    std::uint64_t oldest = 0, next = n;
    for (std::uint64_t point = 1; point <= attack_checkpoints; ++point) {
        const std::uint64_t due = all * point / attack_checkpoints;
        const std::uint64_t piece = replaces ? 16 : due;  // replacements between pieces of the attack
        while (seen.adapts < due) {
            const std::uint64_t wanted = std::min(piece, due - seen.adapts);
            w.attack(wanted, [](std::uint64_t) {});
            seen.adapts += wanted;
            for (std::uint64_t i = 0; replaces && i < wanted; ++i) {
                w.erase(oldest++);
                w.insert(next++);
            }
        }
        const broom_paper_details parts = w.filter().details();
        const auto keys = static_cast<double>(n);
        seen.bits.push_back(static_cast<double>(parts.extension_bits + parts.ghost_bits) / keys);
        seen.memory.push_back(w.bits_per_key() - before);
        seen.most_ghosts = std::max(seen.most_ghosts, static_cast<double>(parts.ghosts) / keys);
        seen.rebuilds = parts.rebuilds - rebuilds;
        const char* const name = replaces ? "attack with replacements" : "attack";
        series.push_back({{"what", rule == rehash_rule::never ? "control: nothing is ever rehashed" : name},
                          {"keys", n},
                          {"adapts", seen.adapts},
                          {"phases", parts.phases},
                          {"adaptivity_bits_per_key", seen.bits.back()},
                          {"ghosts", parts.ghosts},
                          {"ghost_bits", parts.ghost_bits},
                          {"bits_added_per_key", seen.memory.back()}});
        options.progress(from + 0.25 * static_cast<double>(point) / attack_checkpoints);
    }
    if (!w.sound()) throw workload_error{"the filter fails its audit after the attack"};
    seen.most_bits = *std::max_element(seen.bits.begin(), seen.bits.end());
    seen.most_memory = *std::max_element(seen.memory.begin(), seen.memory.end());
    seen.bits_drift = rise_of_last_third(seen.bits);
    seen.memory_drift = rise_of_last_third(seen.memory);
    return seen;
}

// Least squares through the origin: α = b · form(n).
double fitted(const std::vector<paper_size_row>& rows) {
    double products = 0, squares = 0;
    for (const paper_size_row& each : rows) {
        products += (each.for_a_bit - 1) * each.form();
        squares += each.form() * each.form();
    }
    return products / squares;
}

report::section drawn_paper_space(const std::vector<paper_size_row>& rows, double b, const paper_attack_seen& plain,
                                  const paper_attack_seen& mixed, std::uint64_t keys) {
    report::line_chart bit{"What one more bit of r costs",
                           "The text's form is fitted: 1 + b sqrt(log log n / log n).",
                           {"keys, n", true, report::unit::number},
                           {"bits a key", false, report::unit::number},
                           {},
                           {}};
    report::line_chart over{"Bits a key over log2(1/measured rate)", "", bit.x, bit.y, {}, {}};
    bit.lines = {{"broom_paper", {}}, {"fitted", {}}, {"bloom", {}}};
    over.lines = {{"small design", {}}, {"large design", {}}};
    for (const paper_size_row& each : rows) {
        bit.at.push_back(static_cast<double>(each.keys));
        bit.lines[0].y.push_back(each.for_a_bit);
        bit.lines[1].y.push_back(1 + b * each.form());
        bit.lines[2].y.push_back(each.bloom_for_a_bit);
        over.lines[0].y.push_back(each.small_over);
        over.lines[1].y.push_back(each.large_over);
    }
    over.at = bit.at;
    report::line_chart endless{"Adaptivity bits under an endless attack",
                               "Ghosts included. One phase is a third of a repair a key.",
                               {"repairs a key", false, report::unit::number},
                               {"adaptivity bits a key", false, report::unit::number},
                               {},
                               {}};
    for (std::uint64_t point = 1; point <= attack_checkpoints; ++point)
        endless.at.push_back(static_cast<double>(point * plain.adapts) / attack_checkpoints /
                             static_cast<double>(keys));
    endless.lines = {{"attack", plain.bits}, {"attack with replacements", mixed.bits}};
    return {"Space", "", {std::move(bit), std::move(over), std::move(endless)}};
}

outcome measure_paper_space(const run_options& options) {
    outcome out;
    std::vector<std::uint64_t> sizes = {10'000, 100'000, 1'000'000};
    if (!options.quick) sizes.push_back(10'000'000);
    std::vector<paper_size_row> rows;
    bool kept = true, bloom_failed = true;
    for (const std::uint64_t n : sizes) {
        rows.push_back(measure_paper_size(n, options));
        const paper_size_row& row = rows.back();
        kept = kept && row.rates_kept && row.for_a_bit <= most_for_a_bit &&
               std::max(row.small_rest, row.large_rest) <= most_rest;
        bloom_failed = bloom_failed && row.bloom_for_a_bit > most_for_a_bit;
        if (rows.size() > 1) {
            const paper_size_row& smaller = rows[rows.size() - 2];
            kept = kept && row.for_a_bit < smaller.for_a_bit &&
                   row.small_rest <= smaller.small_rest + rest_may_rise_by &&
                   row.large_rest <= smaller.large_rest + rest_may_rise_by;
        }
        options.progress(0.5 * static_cast<double>(rows.size()) / static_cast<double>(sizes.size()));
    }
    const double b = fitted(rows);
    for (const paper_size_row& row : rows) {
        kept = kept && std::abs(1 + b * row.form() - row.for_a_bit) <= fit_within * row.for_a_bit;
        out.series.push_back({{"what", "full, no attack"},
                              {"keys", row.keys},
                              {"bits_for_a_bit_of_r", row.for_a_bit},
                              {"fitted", 1 + b * row.form()},
                              {"small_rest", row.small_rest},
                              {"large_rest", row.large_rest},
                              {"small_bits_over_optimal", row.small_over},
                              {"large_bits_over_optimal", row.large_over},
                              {"rates_kept", row.rates_kept},
                              {"control_bloom_bits_for_a_bit", row.bloom_for_a_bit}});
    }
    const std::uint64_t n = options.quick ? 30'000 : 100'000;
    const double adapts_per_key = options.quick ? 3 : 20;
    const paper_attack_seen plain = attack_paper(n, adapts_per_key, false, options, 0.5, out.series);
    const paper_attack_seen mixed = attack_paper(n, adapts_per_key, true, options, 0.75, out.series);
    kept = kept && plain.kept() && mixed.kept();
    const paper_attack_seen never = attack_paper(10'000, 1.5, false, options, 1 - 0.25, out.series, rehash_rule::never);
    const bool never_failed = !never.kept() && never.most_bits > most_adaptivity;
    out.promised = "(1 + α) log(1/ε) + O(1) bits a key: α falls like sqrt(log log n / log n), the rest is at most " +
                   shown(most_rest) + " bits; an endless attack, deletions or not, adds at most " +
                   shown(most_adaptivity) + " adaptivity bits a key in " + shown(most_attack_memory) +
                   " bits of memory, and stops adding after a phase";
    out.measured = "α = " + shown(b, 3) + " sqrt(log log n / log n): " + shown(rows.front().for_a_bit - 1, 3) + " to " +
                   shown(rows.back().for_a_bit - 1, 3) + " over n = 10^4 to " + (options.quick ? "10^6" : "10^7") +
                   ", the rest " + shown(rows.back().small_rest, 3) + " bits (small) and " +
                   shown(rows.back().large_rest, 3) + " (large) at the largest n; " + std::to_string(plain.adapts) +
                   " repairs left at most " + shown(plain.most_bits, 3) + " adaptivity bits a key in " +
                   shown(plain.most_memory, 3) + " bits of memory, with replacements " + shown(mixed.most_bits, 3) +
                   " in " + shown(mixed.most_memory, 3) + " and " + shown(mixed.most_ghosts, 3) +
                   " ghosts; the last third of the attacks is " + shown(plain.bits_drift, 2) + " and " +
                   shown(mixed.bits_drift, 2) + " above the second";
    out.control = {
        {"what", "a bit of r in Bloom filters that are built; the same filter, which never rehashes anything"},
        {"bloom_bits_for_a_bit", rows.back().bloom_for_a_bit},
        {"never_rehashed_bits_per_key", never.most_bits},
        {"never_rehashed_ran_full", never.rebuilds > 0},
        {"failed_as_they_must", bloom_failed && never_failed}};
    out.kept = kept && bloom_failed && never_failed;
    out.parameters = {{"filter", broom_paper_filter::name},
                      {"sizes", sizes},
                      {"rates", {paper_small_rate, paper_large_rate, far_rate}},
                      {"attack_rate", paper_attack_rate},
                      {"attack_keys", n},
                      {"adapts_per_key", adapts_per_key},
                      {"alpha_constant", b}};
    out.figures.push_back(drawn_paper_space(rows, b, plain, mixed, n));
    return out;
}

const registration broom_space_experiment("broom-space", 106,
                                          "All local bits together stay within lower-order terms of n log(1/ε) plus a "
                                          "constant for each key, however long the attack.",
                                          "broom18 Thm 6, Lemmas 9, 14–16", either<measure_space, measure_paper_space>,
                                          {.quick_seconds = 4.8, .full_minutes = 3},
                                          {.filters = {"broom", "broom_paper"}});

}  // namespace
}  // namespace genista::lab
