// broom-invariant: at no time is one stored fingerprint a prefix of another [broom18 Inv. 7]. Our
// layout keeps more: all bases of a bin differ, live and dead, so no fingerprint can be a prefix of
// another, extended or not (docs/filters/broom.md, law L3).
//
// Chance drives small filters beside an exact set: inserts, erases, returning keys, absent keys
// that are repaired and asked again, for rates with and without tails, every history, with and
// without growth. After every operation the audit checks every bin: bases and tags differ, every
// stored key owns a slot or an entry, counts agree.
//
// Control: colliding inserts that extend instead of renewing; the audit must find two slots with
// one base. Two keys have to meet in one base first, so up to 40 filters are driven, quick or not,
// until the audit of one fails.
#include <string>
#include <vector>

#include "genista/filters/broom.hpp"
#include "lab/controls/invariant_control.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/broom_paper.hpp"
#include "lab/workloads/invariant_run.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t control_steps = 2'000, control_filters = 40;

struct named_history {
    broom_history history;
    const char* name;
};

outcome measure_invariant(const run_options& options) {
    const std::vector<double> rates = {0x1p-8, 0x1p-10, 0x1p-13, 0x1p-20};
    const std::vector<named_history> histories = {
        {broom_history::tombstone, "tombstone"}, {broom_history::renew, "renew"}, {broom_history::soft, "soft"}};
    const std::uint64_t steps = options.quick ? 2'000 : 40'000;
    outcome out;
    invariant_seen all;
    double done = 0;
    for (const double rate : rates) {
        for (const named_history& each : histories) {
            for (const bool grows : {false, true}) {
                auto with = seeded<broom_options>(grows ? 45 : 180, rate, options.seed + 1, grows);
                with.history = each.history;
                const invariant_seen seen = drive_and_audit<broom_filter>(with, steps, options.seed);
                out.series.push_back({{"rate", rate},
                                      {"history", each.name},
                                      {"grows", grows},
                                      {"operations", seen.operations},
                                      {"inserts", seen.inserts},
                                      {"erases", seen.erases},
                                      {"adapts", seen.adapts},
                                      {"renewals", seen.renewals},
                                      {"growths", seen.growths},
                                      {"audits_failed", seen.audits_failed},
                                      {"false_negatives", seen.false_negatives}});
                all.add(seen);
                options.progress(0.95 * ++done / 24);
            }
        }
    }
    invariant_seen control;
    for (std::uint64_t i = 0; i < control_filters && control.audits_failed == 0; ++i)
        control.add(drive_and_audit_extending_inserts(0x1p-8, control_steps, options.seed + i));
    const bool control_failed = control.audits_failed > 0;
    out.promised = "after every operation no stored fingerprint is a prefix of another: all bases of a bin differ";
    out.measured = std::to_string(all.audits_failed) + " audits failed and " + std::to_string(all.false_negatives) +
                   " false negatives in " + std::to_string(all.operations) + " operations (" +
                   std::to_string(all.inserts) + " inserts, " + std::to_string(all.erases) + " erases, " +
                   std::to_string(all.adapts) + " repairs, " + std::to_string(all.renewals) + " renewals) over " +
                   std::to_string(out.series.size()) + " kinds of filter" +
                   (all.kept() ? "" : "; first: " + all.first_complaint);
    out.control = {{"what", "colliding inserts extend both keys instead of renewing the bin"},
                   {"operations_until_the_audit_failed", control.operations},
                   {"complaint", control.first_complaint},
                   {"failed_as_it_must", control_failed}};
    out.kept = all.kept() && control_failed;
    out.parameters = {{"operations_each", steps},
                      {"rates", rates},
                      {"histories", {"tombstone", "renew", "soft"}},
                      {"capacity", 180},
                      {"capacity_where_it_grows", 45}};
    return out;
}

const registration broom_invariant_experiment{{
    .id = "broom-invariant",
    .order = 103,
    .promise = "At no time is one stored fingerprint a prefix of another.",
    .where = "broom18 Inv. 7",
    .measure = either<measure_invariant, measure_paper_invariant>,
    .filters = {"broom", "broom_paper"},
    .takes = {.quick_seconds = 1.5, .full_minutes = 1},
}};

}  // namespace
}  // namespace genista::lab
