// one-line: a negative look-up of the broom filter reads hardly more than one cache line, whatever
// ε is. Ours.
//
// Filters with 90 % of their slots in use, for ε from 2^-8 to 2^-24, are asked for absent keys;
// each look-up reports what it touched (bins, tails and side blocks; the few words that all
// look-ups share stay in the cache and do not count). Judged after a build; reported after single
// inserts, which choose less well the keys that leave the line, and for full filters.
//
// Controls: a filter with more keys than slots must fail the bound, and so does a cuckoo filter,
// which reads two bins.
#include <algorithm>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/experiments/two_brooms.hpp"

namespace genista::lab {
namespace {

constexpr double most_lines = 1.08;
constexpr double judged_load = 0.9;
constexpr double lines_of_cuckoo = 2;  // an absent key is compared with both of its bins

outcome measure_one_line(const run_options& options) {
    const std::uint64_t capacity = options.quick ? 100'000 : 1'000'000;
    const std::uint64_t queries = options.quick ? 400'000 : 4'000'000;
    outcome out;
    const auto row = [&](const our_workload& w, const char* how, double rate, double load) {
        const line_use seen = trace_absent_keys(w.filter(), first_absent_key, queries);
        out.series.push_back({{"how", how},
                              {"rate", rate},
                              {"load", load},
                              {"keys", w.filter().stats().keys},
                              {"negatives", seen.negatives},
                              {"lines_per_negative", seen.mean_lines()},
                              {"share_reading_a_side_block", seen.side_share()},
                              {"share_leaving_the_line", seen.leaving_share()}});
        return seen.mean_lines();
    };
    double worst = 0, worst_singly = 0, worst_full = 0, best = 9;
    const std::vector<double> rates = {0x1p-8, 0x1p-10, 0x1p-12, 0x1p-16, 0x1p-20, 0x1p-24};
    for (std::size_t i = 0; i < rates.size(); ++i) {
        for (const double load : {judged_load, 0.94}) {
            our_workload w{seeded<broom_options>(capacity, rates[i], options.seed)};
            w.load(0, keys_at_load(w.filter(), load));
            const double lines = row(w, "built at once", rates[i], load);
            double& into = load == judged_load ? worst : worst_full;
            into = std::max(into, lines);
            if (load == judged_load) best = std::min(best, lines);
        }
        our_workload singly{seeded<broom_options>(capacity, rates[i], options.seed)};
        const std::uint64_t keys = keys_at_load(singly.filter(), judged_load);
        for (std::uint64_t key = 0; key < keys; ++key) singly.insert(key);
        worst_singly = std::max(worst_singly, row(singly, "inserted one by one", rates[i], judged_load));
        options.progress(static_cast<double>(i + 1) / static_cast<double>(rates.size() + 1));
    }
    our_workload crowded{seeded<broom_options>(capacity, 0x1p-8, options.seed)};
    crowded.load(0, keys_at_load(crowded.filter(), 1.1));
    const double control = row(crowded, "control: 110 % of the slots", 0x1p-8, 1.1);
    const bool controls_failed = control > most_lines && lines_of_cuckoo > most_lines;

    out.promised = "at most " + shown(most_lines) + " cache lines a negative look-up at 90 % load, for every ε";
    out.measured = shown(best, 5) + " to " + shown(worst, 5) +
                   " lines over ε = 2^-8 to 2^-24 after a build; at worst " + shown(worst_singly, 5) +
                   " after inserts one by one, " + shown(worst_full, 5) + " built with 94 % of the slots";
    out.control = {
        {"what", "a filter with more keys than slots; a cuckoo filter, which reads both bins of an absent key"},
        {"crowded_lines", control},
        {"cuckoo_lines", lines_of_cuckoo},
        {"failed_as_they_must", controls_failed}};
    out.kept = worst <= most_lines && controls_failed;
    out.parameters = {{"capacity", capacity}, {"queries_per_row", queries}, {"rates", rates}, {"load", judged_load}};
    return out;
}

const registration one_line_experiment(
    "one-line", 501, "A negative look-up in the broom filter reads hardly more than one cache line, whatever ε is.",
    "ours", measure_one_line, {.quick_seconds = 0.9, .full_minutes = 2}, {.filters = {"broom"}});

}  // namespace
}  // namespace genista::lab
