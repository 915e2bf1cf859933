// acf-support: what a fixed sequence of n queries costs the cuckooing filter depends on how many
// different keys it has [acf Thm 1].
//
// See acf_support.hpp for the sequences, the limits and their origin. Filters with hash keys of
// their own, n = 10^4 to 10^6, tables of N = 1.2 n and N = n bins, |Q| = 1, 10, .. n; at every |Q|
// as many sets Q as give about 6,000 first mistakes.
//
// Control: the plain cuckoo filter plays the same sequences. It is never repaired, so it must
// exceed the limit of `again` wherever a key is asked for twice; where none is (|Q| = n) it keeps
// all limits.
#include "lab/experiments/acf_support.hpp"

#include <mutex>

#include "genista/filters/cuckooing.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/parallel.hpp"
#include "papers/cuckoo_family.hpp"

namespace genista::lab {
namespace {

constexpr double support_firsts_wanted = 6'000;
constexpr std::uint64_t control_shares = 8;  // the control plays on this many times fewer filters

struct support_size {
    std::uint64_t keys, filters;
    double bins_per_key;
    [[nodiscard]] std::string name() const { return bins_per_key > 1 ? "1.2 n" : "n"; }
};

struct support_point {
    support_law law;
    std::string bins;
    support_seen learns{}, plain{};
};

std::vector<support_size> support_sizes(bool quick) {
    std::vector<support_size> sizes;
    for (const double bins : {1.2, 1.0}) {
        if (!quick) sizes.push_back({1'000'000, 4, bins});
        sizes.push_back({100'000, 16, bins});
        sizes.push_back({10'000, 64, bins});
    }
    return sizes;
}

// One filter asks for an equal share of the keys of each |Q|.
std::uint64_t keys_a_filter(const support_law& law, std::uint64_t filters) {
    return static_cast<std::uint64_t>(support_firsts_wanted / law.initial_rate() / static_cast<double>(filters)) + 1;
}

template <class Filter>
void play_support(const std::vector<support_point*>& points, const support_size& size, std::uint64_t seed,
                  std::mutex& adding, support_seen support_point::*into) {
    support_world<Filter> world{size.keys, size.bins_per_key, seed};
    for (support_point* const each : points) {
        const support_seen seen = world.play(each->law, keys_a_filter(each->law, size.filters));
        const std::lock_guard held{adding};
        each->*into += seen;
    }
}

report::section draw_support(const std::vector<support_point>& all) {
    report::section section{"Support optimality", "", {}};
    for (const char* bins : {"1.2 n", "n"}) {
        report::line_chart chart;
        chart.title = std::string{"False positives of n queries, N = "} + bins;
        chart.caption =
            "Mean of whole sequences. The cuckooing filter pays for different keys, the plain one for queries.";
        chart.x = {"different keys asked, |Q|", true, report::unit::number};
        chart.y = {"false positives", true, report::unit::number};
        std::uint64_t largest = 0;
        for (const support_point& each : all) largest = std::max(largest, each.law.keys);
        for (std::uint64_t support = 1; support <= largest; support *= 10)
            chart.at.push_back(static_cast<double>(support));
        for (std::uint64_t keys = 10'000; keys <= largest; keys *= 10) {
            report::series line{"n = " + std::to_string(keys), {}};
            for (const support_point& each : all) {
                if (each.law.keys == keys && each.bins == bins) line.y.push_back(each.learns.mean_total());
            }
            chart.lines.push_back(std::move(line));
        }
        report::series law{"ε|Q|", {}};
        for (const double support : chart.at) law.y.push_back(support_rate * support);
        chart.lines.push_back(std::move(law));
        section.figures.emplace_back(std::move(chart));
    }
    return section;
}

struct support_summary {
    bool kept = true, control_failed = true, control_can_win = true;
    double most_first = 0, most_again = 0, most_total = 0;  // of their limits
    double least_first_seen = 0, least_again_seen = 0;      // the smallest defects seen, at the worst point
    double least_control_again = 1;
    nlohmann::json series = nlohmann::json::array();

    void add(const support_point& point) {
        const support_verdict ours = judge_support(point.law, point.learns),
                              plain = judge_support(point.law, point.plain);
        const auto share = [](auto seen, auto most) {
            return static_cast<double>(seen) / std::max(static_cast<double>(most), 1.0);
        };
        kept = kept && ours.kept();
        most_first = std::max(most_first, share(point.learns.first, ours.most_first));
        most_total = std::max(most_total, share(point.learns.mean_total(), point.law.most_total()));
        least_first_seen = std::max(least_first_seen, ours.least_first_seen);
        if (point.law.rounds() > 1) {
            most_again = std::max(most_again, share(point.learns.again, ours.most_again));
            least_again_seen = std::max(least_again_seen, ours.least_again_seen);
            control_failed = control_failed && !plain.again_kept;
            least_control_again = std::min(least_control_again, share(point.plain.again, point.plain.first));
        } else {
            control_can_win = control_can_win && plain.kept();
        }
        series.push_back(
            {{"keys", point.law.keys},
             {"support", point.law.support},
             {"bins_per_table", point.bins},
             {"filters", point.law.filters},
             {"sequences", point.learns.sequences},
             {"keys_asked", point.learns.asked},
             {"first_mistakes", point.learns.first},
             {"first_mistakes_at_most", ours.most_first},
             {"again", point.learns.again},
             {"again_at_most", ours.most_again},
             {"false_positives_mean", point.learns.mean_total()},
             {"false_positives_at_most", point.law.most_total()},
             {"epsilon_n_over_N_times_support", point.law.initial_rate() * static_cast<double>(point.law.support)},
             {"smallest_excess_seen", ours.least_first_seen},
             {"smallest_share_of_vain_repairs_seen", ours.least_again_seen},
             {"false_negatives", point.learns.false_negatives},
             {"kept", ours.kept()},
             {"control_keys_asked", point.plain.asked},
             {"control_first", point.plain.first},
             {"control_again", point.plain.again},
             {"control_false_positives_mean", point.plain.mean_total()},
             {"control_kept", plain.kept()}});
    }
};

outcome measure_support(const run_options& options) {
    const std::vector<support_size> sizes = support_sizes(options.quick);
    std::vector<support_point> all;
    struct support_job {
        const support_size* size;
        std::uint64_t seed;
        bool learns;
    };
    std::vector<support_job> jobs;  // the largest first, so that no processor is left with one of them at the end
    for (const support_size& size : sizes) {
        for (std::uint64_t support = 1; support <= size.keys; support *= 10)
            all.push_back({{size.keys, support, size.bins_per_key, size.filters}, size.name()});
        for (std::uint64_t i = 0; i < size.filters; ++i) jobs.push_back({&size, options.seed * 1000 + i, true});
        for (std::uint64_t i = 0; i < std::max<std::uint64_t>(size.filters / control_shares, 1); ++i)
            jobs.push_back({&size, options.seed * 1000 + i, false});
    }
    std::mutex adding;
    parallel(
        jobs.size(),
        [&](std::size_t i) {
            const support_job& job = jobs[i];
            std::vector<support_point*> points;
            for (support_point& each : all) {
                if (each.law.keys == job.size->keys && each.law.bins_per_key == job.size->bins_per_key)
                    points.push_back(&each);
            }
            if (job.learns) {
                play_support<cuckooing_filter>(points, *job.size, job.seed, adding, &support_point::learns);
            } else {
                play_support<cuckoo_filter>(points, *job.size, job.seed, adding, &support_point::plain);
            }
        },
        options.progress);

    support_summary sum;
    for (const support_point& each : all) sum.add(each);
    outcome out;
    out.promised =
        "n queries of |Q| different absent keys, |Q| = 1 to n: first mistakes by the rule for rates at ε n/N (1 + 4 "
        "ε|Q|/N), "
        "hardly a repaired key mistaken again, and in all at most that and 10 (N = 1.2 n) or 2 log² n (N = n)";
    out.measured = "first mistakes at most " + shown(sum.most_first, 3) +
                   " of their limit, repaired keys mistaken again " + shown(sum.most_again, 3) +
                   ", the mean of whole sequences " + shown(sum.most_total, 3) + "; " + std::to_string(all.size()) +
                   " points. The smallest defects seen at every point: " + shown(100 * sum.least_first_seen, 3) +
                   " % more first mistakes, " + shown(100 * sum.least_again_seen, 3) + " % of the repairs in vain";
    out.kept = sum.kept && sum.control_failed && sum.control_can_win;
    out.control = {
        {"what",
         "the plain cuckoo filter under the same sequences: mistaken again beyond the limit wherever keys are "
         "repeated, and within all limits where none is"},
        {"least_share_mistaken_again", sum.least_control_again},
        {"failed_as_it_must", sum.control_failed},
        {"kept_without_repetitions", sum.control_can_win}};
    out.parameters = {
        {"seed", options.seed}, {"quick", options.quick}, {"fingerprint_bits", support_fingerprint_bits},
        {"tables", 2},          {"bin_slots", 1},         {"first_mistakes_wanted", support_firsts_wanted}};
    out.series = std::move(sum.series);
    out.figures.push_back(draw_support(all));
    return out;
}

result<outcome> run_acf_support(const run_options& options) {
    if (const auto refused = refuse_filter("acf-support", options); !refused) return refused.error();
    return run_experiment("acf-support", options, [&] { return measure_support(options); });
}

const registration acf_support_experiment{{
    .id = "acf-support",
    .order = 401,
    .promise = "Over any n queries that were fixed beforehand the cuckooing filter has about one false positive for "
               "each of ε|Q| keys; repeated queries cost almost nothing.",
    .where = "acf Thm 1",
    .run = run_acf_support,
    .takes = {.quick_seconds = 4.5, .full_minutes = 1},
}};

}  // namespace
}  // namespace genista::lab
