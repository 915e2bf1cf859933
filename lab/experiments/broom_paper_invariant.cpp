// broom-invariant for the paper's structure: no fingerprint of a level is a prefix of another,
// whichever hash function made it [broom18 Inv. 7].
//
// Chance drives small filters beside an exact set, in both designs, with every rule for ghosts and
// for rehashing. After every operation the audit takes the hash of every stored key and counts the
// fingerprints that are prefixes of it: only its own.
//
// Control: the same keys with fingerprints that are never extended, quotient and remainder alone:
// two of them must be equal.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lab/experiments/broom_paper.hpp"
#include "lab/workloads/invariant_run.hpp"
#include "lab/workloads/paper_workload.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t invariant_keys = 180;

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

}  // namespace

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
                out.series.push_back({{"rate", rate},
                                      {"design", now.is_large ? "large" : "small"},
                                      {"ghosts", ghost_name},
                                      {"rehashing", rule_name},
                                      {"operations", seen.operations},
                                      {"inserts", seen.inserts},
                                      {"erases", seen.erases},
                                      {"adapts", seen.adapts},
                                      {"phases", now.phases},
                                      {"rebuilds", now.rebuilds},
                                      {"audits_failed", seen.audits_failed},
                                      {"false_negatives", seen.false_negatives}});
                all.add(seen);
                options.progress(++done / 16);
            }
        }
    }
    const std::uint64_t equal_at = inserts_until_equal(0x1p-3, options.seed);
    out.promised = "after every operation no stored fingerprint of a level is a prefix of another";
    out.measured = std::to_string(all.audits_failed) + " audits failed and " + std::to_string(all.false_negatives) +
                   " false negatives in " + std::to_string(all.operations) + " operations (" +
                   std::to_string(all.inserts) + " inserts, " + std::to_string(all.erases) + " erases, " +
                   std::to_string(all.adapts) + " repairs) over " + std::to_string(out.series.size()) +
                   " kinds of filter" + (all.kept() ? "" : "; first: " + all.first_complaint);
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

}  // namespace genista::lab
