// ppr-spectral: a reported multiplicity is never too small, and too large with probability at most
// ε [ppr05 §6.1].
//
// spectral_filter with n different keys, drawn ten times as often by Zipf (s = 1): few keys have
// large counts, many have count 1. *Judged*:
//
//   1  over mixed inserts and erases beside exact counts (10^8 in full) no count is too small;
//   2  counts that are too large, of 10^4/ε different keys, stored (with known exact counts)
//      and absent keys (zero): the rule for rates;
//   3  bits: at most 1.3 Σ n_i log(3e · u/n_i), the paper's own sum [§4], from n = 10^5 on. Both
//      n_i and u come from the exact counts and from the promise, not from the filter: a counter
//      that only counted up is binary, so n_i is the number of keys with a count of at least
//      2^(i-1), and u = n/ε.
//
// Smallest defect of 3 that is seen: 1.3 over the measured bits, reported as `bits_over_bound`.
// *Control* of 3: the same filter made for ε/4, two bits more a digit (about 15 %): must break 3.
//
// *Control*: the same filter made for 2ε, judged at ε: must break 2.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "genista/filters/optimal_filter.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/ppr_limits.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/broom_workload.hpp"
#include "lab/workloads/counted_model.hpp"
#include "lab/workloads/experiment_run.hpp"
#include "lab/workloads/queries.hpp"

namespace genista::lab {
namespace {

constexpr double spectral_rate = 0x1p-8;
constexpr double most_spectral_share = 1.3;
constexpr std::uint64_t draws_a_key = 10;

struct spectrum_seen {
    std::uint64_t keys = 0, size = 0, asked = 0, too_large = 0, too_small = 0, most = 0;
    double bits = 0, bound = 0;
    [[nodiscard]] bool rate_kept() const { return too_large <= most_plausible_hits(asked, spectral_rate); }
    [[nodiscard]] bool small() const { return bits <= most_spectral_share * bound; }
    [[nodiscard]] bool kept() const { return rate_kept() && too_small == 0 && (keys < ppr_judged_from || small()); }
    [[nodiscard]] nlohmann::json row() const {
        return {{"keys", keys},   {"size", size},           {"largest_count", most},
                {"asked", asked}, {"too_large", too_large}, {"too_small", too_small},
                {"bits", bits},   {"bound", bound},         {"bits_over_bound", bits / bound},
                {"kept", kept()}};
    }
};

spectral_filter spectral_for(std::uint64_t n, double made_rate, std::uint64_t seed) {
    return must(spectral_filter::make({n, made_rate, hasher{hash_key::from_seed(seed)}}));
}

double bound_of(const std::vector<std::uint64_t>& exact) {
    const double universe = static_cast<double>(exact.size()) / spectral_rate;
    double sum = 0;
    for (std::uint64_t least = 1;; least *= 2) {
        const auto n = static_cast<double>(std::ranges::count_if(exact, [&](std::uint64_t c) { return c >= least; }));
        if (n == 0) return sum;
        sum += n * std::log2(3 * std::numbers::e * universe / n);
    }
}

spectrum_seen measure_spectrum(std::uint64_t n, double made_rate, std::uint64_t seed) {
    spectral_filter filter = spectral_for(n, made_rate, seed);
    std::vector<std::uint64_t> exact(n);
    auto draw = must(zipf_queries::make({.exponent = 1, .over = {0, n}, .seed = seed}));
    const auto put = [&](std::uint64_t key) {
        if (filter.insert(key) != insert_outcome::inserted) throw workload_error{"the filter is full"};
        ++exact[key];
    };
    for (std::uint64_t key = 0; key < n; ++key) put(key);  // all of them once: it is full
    for (std::uint64_t i = 0; i < draws_a_key * n; ++i) put(draw());
    spectrum_seen seen{.keys = n, .size = filter.stats().keys, .most = *std::ranges::max_element(exact)};
    seen.bits = 8 * static_cast<double>(filter.stats().local_bytes);
    seen.bound = bound_of(exact);
    for (std::uint64_t key = 0; key < n; ++key) {
        const std::uint64_t said = filter.count(key);
        seen.too_small += said < exact[key] ? 1u : 0u;
        seen.too_large += said > exact[key] ? 1u : 0u;
    }
    const std::uint64_t absent_keys = std::max<std::uint64_t>(trials_for(spectral_rate), n) - n;
    seen.too_large += count_positives(filter, first_absent_key, absent_keys);
    seen.asked = n + absent_keys;
    return seen;
}

outcome measure_ppr_spectral(const run_options& options) {
    outcome out;
    std::vector<spectrum_seen> all;
    const std::uint64_t largest = options.quick ? 100'000 : 10'000'000;
    for (std::uint64_t n = 10'000; n <= largest; n *= 10) {
        all.push_back(measure_spectrum(n, spectral_rate, options.seed));
        options.progress(0.12 * static_cast<double>(all.size()));
    }
    const std::uint64_t mixed_keys = 1'000'000, operations = options.quick ? 2'000'000 : 100'000'000;
    spectral_filter mixed = spectral_for(mixed_keys, spectral_rate, options.seed);
    std::vector<std::uint64_t> exact(mixed_keys);
    auto draw = must(zipf_queries::make({.exponent = 1, .over = {0, mixed_keys}, .seed = options.seed + 1}));
    const model_seen model = play_mixed(mixed, exact, operations, 3 * mixed_keys, options.seed, [&] { return draw(); });
    options.progress(0.9);
    bool kept = model.too_small == 0 && model.refused == 0;
    double worst = 0;
    for (const spectrum_seen& each : all) {
        kept = kept && each.kept();
        out.series.push_back(each.row());
        if (each.keys >= ppr_judged_from) worst = std::max(worst, each.bits / each.bound);
    }
    const spectrum_seen control = measure_spectrum(ppr_judged_from, 2 * spectral_rate, options.seed);
    const spectrum_seen large = measure_spectrum(ppr_judged_from, spectral_rate / 4, options.seed);
    const bool control_failed = !control.rate_kept() && !large.small();
    const spectrum_seen& last = all.back();
    out.promised = "a count is never too small, and too large with probability at most 2^-8; at most " +
                   shown(most_spectral_share) + " Σ n_i log(3e u/n_i) bits";
    out.measured = std::string{kept ? "so" : "NOT so"} + ": " + std::to_string(model.operations) +
                   " mixed operations, " + std::to_string(model.too_small) +
                   " counts too small; at n = " + std::to_string(last.keys) + " " + std::to_string(last.too_large) +
                   " of " + std::to_string(last.asked) + " too large; " + shown(worst, 3) +
                   " of the sum at most, counts up to " + std::to_string(last.most);
    out.control = {{"what", "made for 2ε: the rate; made for ε/4: the bits"},
                   {"bits_over_bound", large.bits / large.bound},
                   {"too_large", control.too_large},
                   {"allowed", most_plausible_hits(control.asked, spectral_rate)},
                   {"failed_as_it_must", control_failed}};
    out.kept = kept && control_failed;
    out.parameters = {{"filter", spectral_filter::name}, {"seed", options.seed},
                      {"quick", options.quick},          {"rate", spectral_rate},
                      {"draws_a_key", draws_a_key},      {"mixed_operations", operations}};
    return out;
}

result<outcome> run_ppr_spectral(const run_options& options) {
    if (const auto refused = refuse_filter("ppr-spectral", options); !refused) return refused.error();
    return run_experiment("ppr-spectral", options, [&] { return measure_ppr_spectral(options); });
}

const registration ppr_spectral_experiment{{
    .id = "ppr-spectral",
    .order = 206,
    .promise = "Reported multiplicities are never too small, and too large with probability at most ε.",
    .where = "ppr05 §6.1",
    .run = run_ppr_spectral,
    .takes = {.quick_seconds = 3, .full_minutes = 4},
}};

}  // namespace
}  // namespace genista::lab
