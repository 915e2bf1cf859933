// broom-small and broom-large: ε alone decides the design of a broom filter, and the rate is kept
// at every load.
//
// broom-small: for ε of 2^-8 and above our own filter takes the design for short remainders
// [broom18 §5.3]: 14 bits of base in the bin's line, nothing beside it. broom_paper: r ≤ 2 log log
// n leads to two levels.
//
// broom-large: below ε = 2^-8 our own filter splits a remainder into signature and tail [broom18
// §5.4]: the 14 bits in the line are the signature, the other bits lie beside it and are read after
// a signature has matched. broom_paper: r > 2 log log n leads to signatures of 2 log log n bits and
// a backyard of whole hashes.
//
// Filters at 50, 90 and 100 % of their capacity are asked for fresh absent keys, nothing is
// repaired, and the one rule for rates (statistics/binomial.hpp) judges.
//
// Control: a full filter judged by half its rate must fail. (The true rate of a full 2^-8 filter is
// about 0.75 · 2^-8: a bin is not always full.)
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/experiments/two_brooms.hpp"
#include "lab/statistics/binomial.hpp"

namespace genista::lab {
namespace {

struct rate_plan {
    std::vector<double> rates;     // asked for; the design follows from them alone
    bool tails = false;            // the design that each of them must lead to: tails, or the paper's large remainders
    double control_rate = 0;       // a filter of this rate …
    double control_judged_as = 0;  // … must fail when it is judged by this one
    std::uint64_t capacity = 0;
};

struct rate_result {
    bool kept = true;           // every rate, by the rule
    bool designs_right = true;  // tails where they must be, and nowhere else
    bool control_failed = false;
    double worst_share = 0;  // of the promised rate
    std::uint64_t queries = 0;
    nlohmann::json series = nlohmann::json::array();
    nlohmann::json control;
};

struct rate_asked {
    std::uint64_t queries = 0, hits = 0, allowed = 0;
    [[nodiscard]] bool kept() const { return hits <= allowed; }
    [[nodiscard]] double rate() const { return static_cast<double>(hits) / static_cast<double>(queries); }
};

template <class Filter>
rate_asked ask_absent_keys(const Filter& filter, double judged_as, const std::function<void(double)>& progress) {
    rate_asked seen;
    seen.queries = trials_for(judged_as);
    seen.allowed = most_plausible_hits(seen.queries, judged_as);
    constexpr std::uint64_t piece = 4'000'000;
    for (std::uint64_t done = 0; done < seen.queries; done += piece) {
        seen.hits += count_positives(filter, first_absent_key + done, std::min(piece, seen.queries - done));
        progress(static_cast<double>(done) / static_cast<double>(seen.queries));
    }
    return seen;
}

// What the two filters call their designs.
struct our_layout {
    using workload = our_workload;
    using options = broom_options;
    // Tails exist, have the length that ε asks for, and are read; or none of this holds.
    static bool design_is(const broom_filter& filter, bool tails) {
        const line_use seen = trace_absent_keys(filter, first_absent_key, 200'000);
        const bool read = seen.left_the_line > seen.read_side;
        const broom_details parts = filter.details();
        return tails ? parts.tail_bytes > 0 && read : parts.tail_bytes == 0 && !read;
    }
    static void describe(nlohmann::json& row, const broom_filter& filter) {
        row["tail_bytes"] = filter.details().tail_bytes;
    }
};

struct papers_structure {
    using workload = paper_workload;
    using options = broom_paper_options;
    // Large iff r > 2 log log n, and then signatures of that length [broom18 §5.4].
    static bool design_is(const broom_paper_filter& filter, bool large) {
        const broom_paper_details parts = filter.details();
        const double log_log = std::log2(std::log2(static_cast<double>(filter.stats().capacity)));
        const bool must_be_large = parts.remainder_bits > 2 * log_log;
        const auto signature =
            large ? std::min(static_cast<unsigned>(std::ceil(2 * log_log)), parts.remainder_bits - 1) : 0;
        return parts.is_large == large && large == must_be_large && parts.signature_bits == signature;
    }
    static void describe(nlohmann::json& row, const broom_paper_filter& filter) {
        const broom_paper_details parts = filter.details();
        row["remainder_bits"] = parts.remainder_bits;
        row["signature_bits"] = parts.signature_bits;
        row["overflow_keys"] = parts.overflow_keys;
    }
};

template <class Kind>
rate_result measure_rates(const rate_plan& plan, const run_options& options) {
    rate_result out;
    double all_work = 0;
    for (const double rate : plan.rates) all_work += 3 / rate;
    double done_work = 0;
    for (const double rate : plan.rates) {
        for (const unsigned load_percent : {50u, 90u, 100u}) {
            typename Kind::workload w{seeded<typename Kind::options>(plan.capacity, rate, options.seed)};
            w.load(0, plan.capacity * load_percent / 100);
            const rate_asked seen = ask_absent_keys(w.filter(), rate, [&](double share) {
                options.progress(0.95 * (done_work + share / rate) / all_work);
            });
            const bool design = load_percent < 100 || Kind::design_is(w.filter(), plan.tails);
            nlohmann::json row{
                {"rate_promised", rate},           {"rate_served", w.filter().rate()}, {"load_percent", load_percent},
                {"keys", w.filter().stats().keys}, {"queries", seen.queries},          {"false_positives", seen.hits},
                {"allowed", seen.allowed},         {"rate_measured", seen.rate()},     {"kept", seen.kept()}};
            Kind::describe(row, w.filter());
            out.series.push_back(std::move(row));
            out.kept = out.kept && seen.kept();
            out.designs_right = out.designs_right && design;
            out.worst_share = std::max(out.worst_share, seen.rate() / rate);
            out.queries += seen.queries;
            done_work += 1 / rate;
        }
    }
    typename Kind::workload coarse{seeded<typename Kind::options>(plan.capacity, plan.control_rate, options.seed)};
    coarse.load(0, plan.capacity);
    const rate_asked control = ask_absent_keys(coarse.filter(), plan.control_judged_as, [](double) {});
    out.control_failed = !control.kept();
    out.control = {{"what", "a full filter of a larger rate, judged by a smaller one"},
                   {"rate_of_filter", plan.control_rate},
                   {"judged_as", plan.control_judged_as},
                   {"false_positives", control.hits},
                   {"allowed", control.allowed},
                   {"failed_as_it_must", out.control_failed}};
    return out;
}

template <class Kind>
outcome rate_outcome(const rate_plan& plan, const run_options& options, const std::string& design) {
    rate_result seen = measure_rates<Kind>(plan, options);
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
    out.parameters = {{"capacity", plan.capacity}, {"rates", plan.rates}, {"load_percents", {50, 90, 100}}};
    out.series = std::move(seen.series);
    return out;
}

template <class Kind>
outcome measure_small(const run_options& options, const char* design) {
    return rate_outcome<Kind>({.rates = {0.02, 0x1p-7, 0x1p-8},
                               .tails = false,
                               .control_rate = 0x1p-8,
                               .control_judged_as = 0x1p-9,
                               .capacity = options.quick ? 100'000u : 1'000'000u},
                              options, design);
}

outcome measure_our_small(const run_options& options) {
    return measure_small<our_layout>(options, "the design without tails");
}

outcome measure_paper_small(const run_options& options) {
    return measure_small<papers_structure>(options, "two levels");
}

outcome measure_our_large(const run_options& options) {
    rate_plan plan{.rates = {0x1p-10, 0x1p-12},
                   .tails = true,
                   .control_rate = 0x1p-10,
                   .control_judged_as = 0x1p-11,
                   .capacity = 100'000};
    if (!options.quick) plan.rates.push_back(0x1p-16);
    return rate_outcome<our_layout>(plan, options, "signatures with tails");
}

outcome measure_paper_large(const run_options& options) {
    rate_plan plan{.rates = {0x1p-9, 0x1p-10},
                   .tails = true,
                   .control_rate = 0x1p-9,
                   .control_judged_as = 0x1p-10,
                   .capacity = 100'000};
    if (!options.quick) plan.rates.insert(plan.rates.end(), {0x1p-12, 0x1p-16});
    return rate_outcome<papers_structure>(plan, options, "signatures and a backyard");
}

const registration broom_small_experiment("broom-small", 110, "Large ε: the design for short remainders.",
                                          "broom18 §5.3", either<measure_our_small, measure_paper_small>,
                                          {.quick_seconds = 0.4, .full_minutes = 2},
                                          {.filters = {"broom", "broom_paper"}});

const registration broom_large_experiment("broom-large", 111,
                                          "Small ε: the design that splits a remainder into signature and tail.",
                                          "broom18 §5.4", either<measure_our_large, measure_paper_large>,
                                          {.quick_seconds = 1.7, .full_minutes = 3},
                                          {.filters = {"broom", "broom_paper"}});

}  // namespace
}  // namespace genista::lab
