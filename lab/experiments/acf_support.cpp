// acf-support: what a fixed sequence of n queries costs the cuckooing filter depends on how many different keys it has [acf Thm 1].
//
// Two tables of single slots, fingerprints of f = 8 bits, ε = 2^-8. A sequence asks for each of |Q| absent keys once, then for keys of
// Q at random, n queries in all; every false positive is repaired. Promised: ε|Q| + O(ε²|Q| + log⁴ n) false positives. Judged, the
// mean over the seeds:
//     N = 1.2 n bins a table       at most 1.1 ε|Q| + 10
//     N = n, the theorem's size    at most 1.1 ε|Q| + 2 log² n: there every fourth or fifth build needs new hash functions
//
// Control: the plain cuckoo filter pays for repetitions: at least 0.5 ε n for |Q| ≥ 10/ε (for fewer chance decides).
#include <cmath>

#include "lab/experiments/experiments.hpp"
#include "lab/games/contenders.hpp"
#include "lab/workloads/experiment_run.hpp"
#include "lab/workloads/parallel.hpp"
#include "lab/workloads/queries.hpp"

namespace genista::lab {
namespace {

constexpr unsigned support_fingerprint_bits = 8;
constexpr double support_rate = 0x1p-8;

struct size_of_tables {
    const char* name;
    double load;
    double allowed(double keys) const noexcept { return load < 0.5 ? 10 : 2 * std::log2(keys) * std::log2(keys); }
};
constexpr size_of_tables table_sizes[] = {{"1.2 n", 1 / 2.4}, {"n", 0.5}};

struct support_point {
    std::uint64_t keys;
    std::uint64_t support;
    std::size_t size;  // of sizes
    bool learns;
    std::vector<double> false_positives{};  // by seed
    std::uint64_t false_negatives = 0;
    [[nodiscard]] double mean() const noexcept {
        double sum = 0;
        for (const double each : false_positives) sum += each;
        return sum / static_cast<double>(false_positives.size());
    }
    [[nodiscard]] double promised() const noexcept {
        return 1.1 * support_rate * static_cast<double>(support) + table_sizes[size].allowed(static_cast<double>(keys));
    }
};

score ask_for_support(const support_point& at, std::uint64_t seed) {
    contender_plan plan;
    plan.keys = at.keys;
    plan.fingerprint_bits = support_fingerprint_bits;
    plan.tables = 2;
    plan.bin_slots = 1;
    plan.load = table_sizes[at.size].load;
    plan.seed = seed;
    const std::unique_ptr<arena> filter = make_contender(at.learns ? "cuckooing" : "cuckoo", plan);
    for (std::uint64_t i = 0; i < at.support; ++i) filter->query(first_stranger + i);
    auto draw = must(uniform_queries::make({first_stranger, at.support}, seed));
    for (std::uint64_t i = at.support; i < at.keys; ++i) filter->query(draw());
    return filter->counted();
}

std::vector<support_point> support_points(bool quick) {
    std::vector<support_point> all;
    for (std::uint64_t keys = 10'000; keys <= (quick ? 100'000u : 1'000'000u); keys *= 10) {
        for (std::size_t size = 0; size < std::size(table_sizes); ++size) {
            for (std::uint64_t support = 1; support <= keys; support *= 10) {
                all.push_back({keys, support, size, true});
                if (static_cast<double>(support) >= 10 / support_rate) all.push_back({keys, support, size, false});
            }
        }
    }
    return all;
}

outcome measure_support(const run_options& options) {
    const std::size_t seeds = options.quick ? 4 : 10;
    std::vector<support_point> all = support_points(options.quick);
    for (support_point& each : all) each.false_positives.resize(seeds);
    std::vector<score> scores(all.size() * seeds);
    // The largest first, so that no processor is left alone with one of them.
    parallel(
        scores.size(),
        [&](std::size_t i) {
            const std::size_t job = scores.size() - 1 - i;
            scores[job] = ask_for_support(all[job / seeds], options.seed * 1000 + job % seeds);
        },
        options.progress);

    outcome out;
    bool kept = true, control_failed = true;
    double worst = 0;
    const support_point* worst_at = nullptr;
    double least_control = 1e9;
    for (std::size_t i = 0; i < all.size(); ++i) {
        support_point& each = all[i];
        for (std::size_t seed = 0; seed < seeds; ++seed) {
            each.false_positives[seed] = static_cast<double>(scores[i * seeds + seed].false_positives);
            each.false_negatives += scores[i * seeds + seed].false_negatives;
        }
        const double repeated = 0.5 * support_rate * static_cast<double>(each.keys);
        if (each.learns) {
            kept = kept && each.mean() <= each.promised() && each.false_negatives == 0;
            if (each.mean() / each.promised() > worst) {
                worst = each.mean() / each.promised();
                worst_at = &each;
            }
        } else {
            control_failed = control_failed && each.mean() >= repeated;
            least_control = std::min(least_control, each.mean() / (support_rate * static_cast<double>(each.keys)));
        }
        out.series.push_back({{"filter", each.learns ? "cuckooing" : "cuckoo"},
                              {"keys", each.keys},
                              {"support", each.support},
                              {"bins_per_table", table_sizes[each.size].name},
                              {"false_positives_mean", each.mean()},
                              {"false_positives", each.false_positives},
                              {"promised_at_most", each.learns ? nlohmann::json(each.promised()) : nlohmann::json{}},
                              {"epsilon_times_support", support_rate * static_cast<double>(each.support)},
                              {"false_negatives", each.false_negatives}});
    }
    out.promised =
        "n queries of |Q| different absent keys: at most 1.1 ε|Q| + 10 false positives (N = 1.2 n), 1.1 ε|Q| + 2 log² "
        "n (N = n)";
    out.measured = "at most " + shown(worst, 3) + " of that, at n = " + std::to_string(worst_at->keys) +
                   ", |Q| = " + std::to_string(worst_at->support) + ", N = " + table_sizes[worst_at->size].name + ": " +
                   shown(worst_at->mean()) + " of " + shown(worst_at->promised()) + "; " + std::to_string(seeds) +
                   " seeds each, " + std::to_string(all.size()) + " points";
    out.kept = kept && control_failed;
    out.control = {{"what", "the plain cuckoo filter pays at least 0.5 ε n"},
                   {"least_share_of_epsilon_n", least_control},
                   {"failed_as_it_must", control_failed}};
    out.parameters = {{"seed", options.seed}, {"quick", options.quick},
                      {"seeds", seeds},       {"fingerprint_bits", support_fingerprint_bits},
                      {"tables", 2},          {"bin_slots", 1}};
    for (const size_of_tables& size : table_sizes) {
        report::line_chart chart;
        chart.title = std::string{"False positives of n queries, N = "} + size.name;
        chart.caption = "Mean over the seeds. The cuckooing filter pays for different keys, the plain one for queries.";
        chart.x = {"different keys asked, |Q|", true, report::unit::number};
        chart.y = {"false positives", true, report::unit::number};
        for (std::uint64_t support = 1; support <= all.back().keys; support *= 10)
            chart.at.push_back(static_cast<double>(support));
        for (std::uint64_t keys = 10'000; keys <= all.back().keys; keys *= 10) {
            report::series line{"n = " + std::to_string(keys), {}};
            for (const support_point& each : all) {
                if (each.learns && each.keys == keys && table_sizes[each.size].name == size.name)
                    line.y.push_back(each.mean());
            }
            chart.lines.push_back(std::move(line));
        }
        report::series law{"ε|Q|", {}};
        for (const double support : chart.at) law.y.push_back(support_rate * support);
        chart.lines.push_back(std::move(law));
        if (out.figures.empty()) out.figures.push_back({"Support optimality", "", {}});
        out.figures.front().figures.emplace_back(std::move(chart));
    }
    return out;
}

}  // namespace

result<outcome> run_acf_support(const run_options& options) {
    if (const auto refused = refuse_filter("acf-support", options); !refused) return refused.error();
    return run_experiment("acf-support", options, [&] { return measure_support(options); });
}

}  // namespace genista::lab
