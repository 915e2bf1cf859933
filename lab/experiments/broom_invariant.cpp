// broom-invariant: at no time is one stored fingerprint a prefix of another [broom18 Inv. 7].
//
// Chance drives small filters beside an exact set: inserts, erases, returning keys, absent keys
// that are repaired and asked again. After every operation the audit checks the whole filter.
//
// Our layout keeps more: all bases of a bin differ, live and dead, so no fingerprint can be a
// prefix of another, extended or not (docs/filters/broom.md, law L3). Driven for rates with and
// without tails, every history, with and without growth. The audit checks every bin: bases and tags
// differ, every stored key owns a slot or an entry, counts agree. Control: colliding inserts that
// extend instead of renewing; the audit must find two slots with one base. Two keys have to meet in
// one base first, so up to 40 filters are driven, quick or not, until the audit of one fails.
//
// The paper's structure keeps it for each level, whichever hash function made a fingerprint. Driven
// in both designs, with every rule for ghosts and for rehashing. The audit takes the hash of every
// stored key and counts the fingerprints that are prefixes of it: only its own. Control: the same
// keys with fingerprints that are never extended, quotient and remainder alone: two of them must be
// equal.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lab/controls/controls.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/two_brooms.hpp"
#include "lab/workloads/broom_runs.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t control_steps = 2'000, control_filters = 40;
constexpr std::uint64_t invariant_keys = 180;

nlohmann::json invariant_row(double rate, const invariant_seen& seen) {
    return {{"rate", rate},
            {"operations", seen.operations},
            {"inserts", seen.inserts},
            {"erases", seen.erases},
            {"adapts", seen.adapts},
            {"audits_failed", seen.audits_failed},
            {"false_negatives", seen.false_negatives}};
}

std::string told_of_invariant(const invariant_seen& all, std::size_t kinds, const std::string& renewals = "") {
    return std::to_string(all.audits_failed) + " audits failed and " + std::to_string(all.false_negatives) +
           " false negatives in " + std::to_string(all.operations) + " operations (" + std::to_string(all.inserts) +
           " inserts, " + std::to_string(all.erases) + " erases, " + std::to_string(all.adapts) + " repairs" +
           renewals + ") over " + std::to_string(kinds) + " kinds of filter" +
           (all.kept() ? "" : "; first: " + all.first_complaint);
}

outcome measure_invariant(const run_options& options) {
    const std::vector<double> rates = {0x1p-8, 0x1p-10, 0x1p-13, 0x1p-20};
    const std::vector<std::pair<broom_history, const char*>> histories = {
        {broom_history::tombstone, "tombstone"}, {broom_history::renew, "renew"}, {broom_history::soft, "soft"}};
    const std::uint64_t steps = options.quick ? 2'000 : 40'000;
    outcome out;
    invariant_seen all;
    double done = 0;
    for (const double rate : rates) {
        for (const auto& [history, history_name] : histories) {
            for (const bool grows : {false, true}) {
                auto with = seeded<broom_options>(grows ? 45 : 180, rate, options.seed + 1, grows);
                with.history = history;
                const invariant_seen seen = drive_and_audit<broom_filter>(with, steps, options.seed);
                nlohmann::json row = invariant_row(rate, seen);
                row["history"] = history_name;
                row["grows"] = grows;
                row["renewals"] = seen.renewals;
                row["growths"] = seen.growths;
                out.series.push_back(std::move(row));
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
    out.measured = told_of_invariant(all, out.series.size(), ", " + std::to_string(all.renewals) + " renewals");
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

// Keys inserted until two baseline fingerprints are equal; 0 if they never are.
std::uint64_t inserts_until_equal(double rate, std::uint64_t seed) {
    const paper_workload w{seeded_paper(invariant_keys, rate, seed)};
    const auto now = w.filter().details();
    std::set<std::uint64_t> baselines;
    for (std::uint64_t key = 0; key < invariant_keys; ++key) {
        const std::uint64_t baseline = scale(w.filter().hash()(key).position, now.bins << now.remainder_bits);
        if (!baselines.insert(baseline).second) return key + 1;
    }
    return 0;
}

outcome measure_paper_invariant(const run_options& options) {
    const std::vector<double> rates = {0x1p-3, 0x1p-5, 0x1p-8, 0x1p-12};
    const std::vector<std::pair<ghost_rule, const char*>> ghosts = {{ghost_rule::whole_match, "whole match"},
                                                                    {ghost_rule::first_difference, "first difference"}};
    const std::vector<std::pair<rehash_rule, const char*>> rules = {{rehash_rule::frontier, "frontier"},
                                                                    {rehash_rule::at_once, "at once"}};
    const std::uint64_t steps = options.quick ? 1'000 : 15'000;
    outcome out;
    invariant_seen all;
    double done = 0;
    for (const double rate : rates) {
        for (const auto& [ghost, ghost_name] : ghosts) {
            for (const auto& [rule, rule_name] : rules) {
                auto with = seeded_paper(invariant_keys, rate, options.seed + 1);
                with.ghosts = ghost;
                with.rehashing = rule;
                paper_workload w{with};
                const invariant_seen seen = drive_and_audit(w, invariant_keys, steps, options.seed);
                const broom_paper_details now = w.filter().details();
                nlohmann::json row = invariant_row(rate, seen);
                row["design"] = now.is_large ? "large" : "small";
                row["ghosts"] = ghost_name;
                row["rehashing"] = rule_name;
                row["phases"] = now.phases;
                row["rebuilds"] = now.rebuilds;
                out.series.push_back(std::move(row));
                all.add(seen);
                options.progress(++done / 16);
            }
        }
    }
    const std::uint64_t equal_at = inserts_until_equal(0x1p-3, options.seed);
    out.promised = "after every operation no stored fingerprint of a level is a prefix of another";
    out.measured = told_of_invariant(all, out.series.size());
    out.control = {{"what", "fingerprints that are never extended"},
                   {"inserts_until_two_were_equal", equal_at},
                   {"failed_as_it_must", equal_at != 0}};
    out.kept = all.kept() && equal_at != 0;
    out.parameters = {{"filter", broom_paper_filter::name},
                      {"operations_each", steps},
                      {"rates", rates},
                      {"capacity", invariant_keys}};
    return out;
}

const registration broom_invariant_experiment("broom-invariant", 103,
                                              "At no time is one stored fingerprint a prefix of another.",
                                              "broom18 Inv. 7", either<measure_invariant, measure_paper_invariant>,
                                              {.quick_seconds = 1.5, .full_minutes = 1},
                                              {.filters = {"broom", "broom_paper"}});

}  // namespace
}  // namespace genista::lab
