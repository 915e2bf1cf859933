// growth: a broom filter grows past its capacity bin by bin, with no false negative and no pause
// longer than one bin. Ours.
//
// A filter made for 1,000 keys gets many times as many, with erases in between. Stored keys are
// asked all the while, all of them at each stage of a doubling; the range reads of every insert are
// counted: one if its base is taken, one for the bin that the sweep moves, no more. The audit
// checks every bin at the end.
//
// Control: a sweep that leaves one bin of each table behind must lose keys.
#include <string>
#include <vector>

#include "genista/filters/broom.hpp"
#include "lab/controls/controls.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/broom_runs.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t most_growth_reads = 2;
constexpr std::uint64_t first_capacity = 1'000;

nlohmann::json growth_json(const growth_seen& seen) {
    return {{"inserts", seen.inserts},
            {"erases", seen.erases},
            {"doublings", seen.doublings},
            {"bins_at_the_end", seen.bins},
            {"members_asked", seen.asked},
            {"times_all_were_asked", seen.full_checks},
            {"false_negatives", seen.false_negatives},
            {"most_range_reads_of_an_insert", seen.most_reads},
            {"most_keys_read_by_an_insert", seen.most_keys_read},
            {"range_reads_per_insert", seen.reads_per_insert},
            {"audit_sound", seen.sound}};
}

outcome measure_growth(const run_options& options) {
    const std::uint64_t keys = options.quick ? 150'000 : 3'000'000;
    const std::vector<double> rates = {0x1p-8, 0x1p-12};
    outcome out;
    bool kept = true;
    growth_seen total;
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const growth_seen seen = grow_and_watch<broom_filter>(
            seeded<broom_options>(first_capacity, rates[i], options.seed, true), keys, options.seed, [&](double share) {
                options.progress((static_cast<double>(i) + share) * 0.95 / static_cast<double>(rates.size()));
            });
        out.series.push_back(growth_json(seen));
        out.series.back()["rate"] = rates[i];
        kept = kept && seen.kept(most_growth_reads) && seen.doublings >= 5;
        total.doublings += seen.doublings;
        total.asked += seen.asked;
        total.false_negatives += seen.false_negatives;
        total.most_reads = std::max(total.most_reads, seen.most_reads);
        total.most_keys_read = std::max(total.most_keys_read, seen.most_keys_read);
        total.sound = (i == 0 || total.sound) && seen.sound;
    }
    const growth_seen control = grow_and_watch_skipping_a_bin(first_capacity, 20'000, options.seed);
    const bool control_failed = control.false_negatives > 0 && !control.sound;
    out.promised = "no false negative while growing, and at most " + std::to_string(most_growth_reads) +
                   " range reads an insert: its own, and one for the bin that is moved";
    out.measured = std::to_string(total.false_negatives) + " false negatives in " + std::to_string(total.asked) +
                   " questions over " + std::to_string(total.doublings) + " doublings from " +
                   std::to_string(first_capacity) + " to " + std::to_string(keys) + " keys; an insert reads at most " +
                   std::to_string(total.most_reads) + " ranges and " + std::to_string(total.most_keys_read) +
                   " keys; the audit " + (total.sound ? "finds nothing" : "FAILS");
    out.control = growth_json(control);
    out.control["what"] = "a sweep that leaves one bin behind";
    out.control["failed_as_it_must"] = control_failed;
    out.kept = kept && control_failed;
    out.parameters = {{"capacity", first_capacity}, {"keys", keys}, {"rates", rates}, {"erase_after_inserts", 8}};
    return out;
}

const registration growth_experiment(
    "growth", 505,
    "A broom filter grows beyond its capacity one bin at a time, without a false negative or a long pause.", "ours",
    measure_growth, {.quick_seconds = 0.7, .full_minutes = 2}, {.filters = {"broom"}});

}  // namespace
}  // namespace genista::lab
