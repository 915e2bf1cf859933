// daisy-lb: no filter for these distributions does with fewer than LB - 1 - 6n bits, LB = n Σ p_x k_x [daisy Thm 6].
//
// A bound on all filters cannot be measured; that the calculator says what the theorem does, and that no filter at hand contradicts it, can.
// Worlds: everything alike, Zipf's law for what is stored or asked, two classes. n = 10^4 to 10^6 (10^5 with --quick), ε = 2^-8 and 2^-16.
// *Judged*:
//
//   1  LB from groups of keys and from 10^5 draws of the stored agree within a hundredth of log(1/ε), and LB ≤ n log(1/ε), which
//      is what a world of which nothing is known costs (its LB is that, exactly) [§1.1];
//   2  Bloom and Cleary filters of the distinct keys, sized for the rate ε over the queries, take more bits than LB - 1 - 6n.
//
// *Control*: a Bloom filter of the distinct keys in LB - 1 - 6n bits, where that is more than nothing, must miss the rate.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "genista/filters/cleary.hpp"
#include "lab/experiments/experiments.hpp"
#include "lab/workloads/experiment_run.hpp"
#include "lab/workloads/number_set.hpp"
#include "lab/workloads/odds_world.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t bound_samples = 100'000;

struct bound_seen {
    std::string world;
    double keys = 0, rate = 0;
    double bound = 0, proved = 0, sampled = 0;  // bits a draw
    double distinct = 0, bloom = 0, cleary = 0;
    double control_rate = 0;  // of a Bloom filter at the bound; 0 where the bound is nothing
    [[nodiscard]] double full() const { return -std::log2(rate); }
    [[nodiscard]] bool kept() const {
        return std::abs(sampled - bound) <= full() / 100 && bound <= full() + 1e-9 && bloom >= proved &&
               cleary >= proved;
    }
    [[nodiscard]] nlohmann::json row() const {
        return {{"world", world},
                {"keys", keys},
                {"rate", rate},
                {"lower_bound_bits_per_draw", bound},
                {"proved_bits_per_draw", proved},
                {"from_samples", sampled},
                {"distinct_per_draw", distinct},
                {"bloom_bits_per_draw", bloom},
                {"cleary_bits_per_draw", cleary},
                {"control_rate", control_rate},
                {"kept", kept()}};
    }
};

// The share of the queries that must not be let through: those for keys that are not stored. Filters of the distinct keys may have
// the rate ε over all queries, so ε over this share among the others.
bound_seen measure_bound(const odds_world& world, double n, double rate, std::uint64_t seed) {
    const daisy_terms terms{n, rate};
    const std::vector<odds_group> groups = world.groups();
    const daisy_plan plan = must(plan_for_groups(terms, groups));
    bound_seen seen{.world = world.name(), .keys = n, .rate = rate};
    seen.bound = plan.lower_bound_bits() / n;
    seen.proved = plan.proved_bound_bits() / n;
    auto stored = world.stored_draws(seed);
    for (std::uint64_t i = 0; i < bound_samples; ++i)
        seen.sampled += daisy_bits(world.odds(stored()), terms) / static_cast<double>(bound_samples);
    number_set distinct;
    for (double i = 0; i < n; ++i) distinct.insert(stored());
    seen.distinct = static_cast<double>(distinct.size()) / n;
    double absent = 0;
    for (const double share : plan.asked_share) absent += share;
    const double allowed = std::min(0.5, rate / std::max(absent, 1e-9));
    seen.bloom = static_cast<double>(must(bloom_filter::bits_for(distinct.size(), allowed))) / n;
    seen.cleary = static_cast<double>(must(cleary_filter::bits_for(distinct.size(), allowed))) / n;
    if (seen.proved > 0)
        seen.control_rate =
            absent * bloom_filter::fpr_for(distinct.size(), static_cast<std::uint64_t>(seen.proved * n));
    return seen;
}

std::vector<odds_world> worlds_of(double n, double rate) {
    const auto universe = static_cast<std::uint64_t>(2 * n / rate);  // n Σ p q ≤ ε wherever one side is even
    return {odds_world::two_classes(universe, universe / 2, 0.5, 0.5), odds_world::zipf_stored(universe, 1.0),
            odds_world::zipf_stored(universe, 1.2), odds_world::zipf_asked(universe, 1.0),
            odds_world::two_classes(universe, universe / 2, 0.9, 0.1)};
}

outcome measure_daisy_lb(const run_options& options) {
    outcome out;
    bool kept = true;
    std::uint64_t controls = 0, controls_failed = 0;
    std::string told;
    report::line_chart chart{"The bound over n",
                             "Bits a draw that no filter does without, up to 6; ε = 2^-8.",
                             {"draws, n", true, report::unit::number},
                             {"bits a draw", false, report::unit::number},
                             {},
                             {}};
    const double largest = options.quick ? 100'000 : 1'000'000;
    for (const double rate : {0x1p-8, 0x1p-16}) {
        for (double n = 10'000; n <= largest; n *= 10) {
            if (rate == 0x1p-8) chart.at.push_back(n);
            const std::vector<odds_world> worlds = worlds_of(n, rate);
            for (std::size_t w = 0; w < worlds.size(); ++w) {
                bound_seen seen = measure_bound(worlds[w], n, rate, options.seed);
                if (w == 0) seen.world = "all alike";
                const bool alike_is_full = w != 0 || std::abs(seen.bound - seen.full()) < 1e-6;
                kept = kept && seen.kept() && alike_is_full;
                if (seen.control_rate > 0) {
                    ++controls;
                    controls_failed += seen.control_rate > rate ? 1u : 0u;
                }
                out.series.push_back(seen.row());
                if (rate == 0x1p-8) {
                    if (chart.lines.size() <= w) chart.lines.push_back({seen.world, {}});
                    chart.lines[w].y.push_back(seen.bound);
                }
                if (n == largest && rate == 0x1p-8)
                    told += (told.empty() ? "" : "; ") + seen.world + " " + shown(seen.bound, 3) + " (Bloom " +
                            shown(seen.bloom, 3) + ")";
            }
            options.progress(rate == 0x1p-8 ? 0.3 : 0.8);
        }
    }
    out.promised = "no filter below LB - 1 - 6n bits; LB = n log(1/ε) where nothing is known, and never more";
    out.measured =
        std::string{kept ? "so" : "NOT so"} + "; LB in bits a draw at n = " + shown(largest, 7) + ", ε = 2^-8: " + told;
    const bool failed = controls > 0 && controls_failed == controls;
    out.control = {{"what", "a Bloom filter of the distinct keys in LB - 1 - 6n bits"},
                   {"worlds", controls},
                   {"missed_the_rate", controls_failed},
                   {"failed_as_it_must", failed}};
    out.kept = kept && failed;
    out.parameters = {{"seed", options.seed}, {"quick", options.quick}, {"samples", bound_samples}};
    out.figures.push_back({"What the distributions leave to be kept", "", {std::move(chart)}});
    return out;
}

}  // namespace

result<outcome> run_daisy_lb(const run_options& options) {
    if (const auto refused = refuse_filter("daisy-lb", options); !refused) return refused.error();
    return run_experiment("daisy-lb", options, [&] { return measure_daisy_lb(options); });
}

}  // namespace genista::lab
