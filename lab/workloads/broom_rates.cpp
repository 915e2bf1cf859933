// See broom_rates.hpp.
#include "lab/workloads/broom_rates.hpp"

#include <algorithm>

#include "genista/filters/broom.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/broom_workload.hpp"

namespace genista::lab {
namespace {

using workload = broom_workload<broom_filter>;

struct asked {
    std::uint64_t queries = 0, hits = 0, allowed = 0;
    [[nodiscard]] bool kept() const { return hits <= allowed; }
    [[nodiscard]] double rate() const { return static_cast<double>(hits) / static_cast<double>(queries); }
};

asked ask(const broom_filter& filter, double judged_as, const std::function<void(double)>& progress) {
    asked seen;
    seen.queries = trials_for(judged_as);
    seen.allowed = most_plausible_hits(seen.queries, judged_as);
    constexpr std::uint64_t piece = 4'000'000;
    for (std::uint64_t done = 0; done < seen.queries; done += piece) {
        seen.hits += count_positives(filter, first_stranger + done, std::min(piece, seen.queries - done));
        progress(static_cast<double>(done) / static_cast<double>(seen.queries));
    }
    return seen;
}

// Tails exist, have the length that ε asks for, and are read: or none of it.
bool design_is(const broom_filter& filter, bool tails) {
    const line_use seen = trace_strangers(filter, first_stranger, 200'000);
    const bool read = seen.left_the_line > seen.read_side;
    const broom_details parts = filter.details();
    return tails ? parts.tail_bytes > 0 && read : parts.tail_bytes == 0 && !read;
}

}  // namespace

rate_result measure_rates(const rate_plan& plan, const run_options& options) {
    rate_result out;
    double all_work = 0;
    for (const double rate : plan.rates) all_work += 3 / rate;
    double done_work = 0;
    for (const double rate : plan.rates) {
        for (const unsigned load_percent : {50u, 90u, 100u}) {
            workload w{seeded<broom_options>(plan.capacity, rate, options.seed)};
            w.load(0, plan.capacity * load_percent / 100);
            const asked seen = ask(w.filter(), rate, [&](double share) {
                options.progress(0.95 * (done_work + share / rate) / all_work);
            });
            const bool design = load_percent < 100 || design_is(w.filter(), plan.tails);
            out.series.push_back({{"rate_promised", rate},
                                  {"rate_served", w.filter().rate()},
                                  {"load_percent", load_percent},
                                  {"keys", w.filter().stats().keys},
                                  {"tail_bytes", w.filter().details().tail_bytes},
                                  {"queries", seen.queries},
                                  {"false_positives", seen.hits},
                                  {"allowed", seen.allowed},
                                  {"rate_measured", seen.rate()},
                                  {"kept", seen.kept()}});
            out.kept = out.kept && seen.kept();
            out.designs_right = out.designs_right && design;
            out.worst_share = std::max(out.worst_share, seen.rate() / rate);
            out.queries += seen.queries;
            done_work += 1 / rate;
        }
    }
    workload coarse{seeded<broom_options>(plan.capacity, plan.control_rate, options.seed)};
    coarse.load(0, plan.capacity);
    const asked control = ask(coarse.filter(), plan.control_judged_as, [](double) {});
    out.control_failed = !control.kept();
    out.control = {{"what", "a full filter of a larger rate, judged by a smaller one"},
                   {"rate_of_filter", plan.control_rate},
                   {"judged_as", plan.control_judged_as},
                   {"false_positives", control.hits},
                   {"allowed", control.allowed},
                   {"failed_as_it_must", out.control_failed}};
    return out;
}

outcome rate_outcome(const rate_plan& plan, const run_options& options, const std::string& design) {
    rate_result seen = measure_rates(plan, options);
    std::string rates;
    for (const double rate : plan.rates) rates += (rates.empty() ? "" : ", ") + shown_rate(rate);
    outcome out;
    out.promised =
        "ε = " + rates + " leads to " + design + ", and the rate is kept at 50, 90 and 100 % of the capacity";
    out.measured = std::string{seen.designs_right ? "that design" : "ANOTHER design"} +
                   " for each; the highest rate is " + shown(seen.worst_share, 3) + " of the one promised, in " +
                   std::to_string(seen.queries) + " queries";
    out.kept = seen.kept && seen.designs_right && seen.control_failed;
    out.control = std::move(seen.control);
    out.parameters = {{"seed", options.seed},
                      {"quick", options.quick},
                      {"capacity", plan.capacity},
                      {"rates", plan.rates},
                      {"load_percents", {50, 90, 100}}};
    out.series = std::move(seen.series);
    return out;
}

}  // namespace genista::lab
