// daisy-k: the number of bits for a key [daisy §1.1], at and around every boundary between the
// regimes.
//
// The library tests the cases in the order of U_0 .. U_4. Here every case of the paper stands by
// itself, with its own condition, as printed; n from 1 to 10^9, ε from 1/2 to 2^-24, and p and q on
// each boundary (ε p, 1/n, ε/n, p itself), one step of a double above and below it, and by factors
// of two around it. *Judged*:
//
//   1  exactly one of the cases holds for every pair of odds;
//   2  k_x is the value of that case, within 10^-9; ⌈k_x⌉ is the paper's number of hashes;
//   3  0 ≤ k_x ≤ log(1/ε) [Observation 13], never fewer bits for a key that is asked for more,
//      never more for one more likely stored.
//
// *Control*: the same table against a version that lacks the fourth case and gives likely keys all
// bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "genista/oracles/daisy_plan.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/experiment_run.hpp"

namespace genista::lab {
namespace {

constexpr double bits_tolerance = 1e-9;

struct case_of_the_text {
    bool holds = false;
    double bits = 0;
};

// The cases as printed, first to fourth.
std::array<case_of_the_text, 4> cases_of(const key_odds& odds, const daisy_terms& terms) {
    const double n = terms.draws, rate = terms.rate, p = odds.stored, q = odds.asked;
    const double full = std::log2(1 / rate);
    return {{{p > 1 / n || q <= rate * p, 0},
             {p <= 1 / n && rate * p < q && q <= std::min(p, rate / n), std::log2(1 / rate * (q / p))},
             {q > p && p <= rate / n && q > rate * p, full},
             {q > rate / n && rate / n < p && p <= 1 / n && q > rate * p, std::log2(1 / (n * p))}}};
}

struct case_counts {
    std::uint64_t pairs = 0, not_one_case = 0, other_bits = 0, out_of_range = 0, not_monotone = 0;
    std::uint64_t control_differs = 0;
    std::array<std::uint64_t, 4> in_case{};
    [[nodiscard]] bool kept() const {
        return not_one_case + other_bits + out_of_range + not_monotone == 0 &&
               std::ranges::none_of(in_case, [](std::uint64_t count) { return count == 0; });
    }
};

void look_at(const key_odds& odds, const daisy_terms& terms, case_counts& seen) {
    ++seen.pairs;
    const auto cases = cases_of(odds, terms);
    const double bits = daisy_bits(odds, terms), full = std::log2(1 / terms.rate);
    int holding = 0;
    double promised = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!cases[i].holds) continue;
        ++holding;
        ++seen.in_case[i];
        promised = cases[i].bits;
    }
    seen.not_one_case += holding == 1 ? 0u : 1u;
    const bool same =
        std::abs(bits - promised) <= bits_tolerance && daisy_class(odds, terms) == std::ceil(bits - bits_tolerance);
    seen.other_bits += same ? 0u : 1u;
    seen.out_of_range += bits >= 0 && bits <= full + bits_tolerance ? 0u : 1u;
    const bool monotone = daisy_bits({odds.stored, std::min(1.0, odds.asked * 2)}, terms) >= bits - bits_tolerance &&
                          daisy_bits({std::min(1.0, odds.stored * 2), odds.asked}, terms) <= bits + bits_tolerance;
    seen.not_monotone += monotone ? 0u : 1u;
    seen.control_differs += cases[3].holds && std::abs(full - bits) > bits_tolerance ? 1u : 0u;
}

// On a boundary, beside it, and by factors of two around it.
std::vector<double> around(double boundary) {
    std::vector<double> values;
    for (int power = -12; power <= 12; ++power) values.push_back(std::ldexp(boundary, power));
    for (const double toward : {0.0, 1.0}) values.push_back(std::nextafter(boundary, toward));
    std::erase_if(values, [](double value) { return value > 1; });
    return values;
}

void look_around(const daisy_terms& terms, case_counts& seen) {
    std::vector<double> stored{0, 1};
    for (const double boundary : {1 / terms.draws, terms.rate / terms.draws, 1e-12}) {
        for (const double p : around(boundary)) stored.push_back(p);
    }
    for (const double p : stored) {
        std::vector<double> asked{0, 1};
        for (const double boundary : {terms.rate * p, terms.rate / terms.draws, p}) {
            if (boundary == 0) continue;
            for (const double q : around(boundary)) asked.push_back(q);
        }
        for (const double q : asked) look_at({p, q}, terms, seen);
    }
}

outcome measure_daisy_k(const run_options& options) {
    outcome out;
    case_counts seen;
    for (const double rate : {0.5, 0x1p-4, 0.01, 0x1p-8, 0x1p-12, 1e-5, 0x1p-24}) {
        for (const double draws : {1.0, 1000.0, 1e6, 1e9}) look_around({draws, rate}, seen);
    }
    out.promised = "k_x as in the paper's four cases, exactly one of which holds; 0 ≤ k_x ≤ log(1/ε)";
    out.measured = std::to_string(seen.pairs) + " pairs of odds: " + std::to_string(seen.not_one_case) +
                   " in no or several cases, " + std::to_string(seen.other_bits) + " with other bits, " +
                   std::to_string(seen.out_of_range) + " out of range, " + std::to_string(seen.not_monotone) +
                   " not monotone";
    out.control = {{"what", "a version without the fourth case"},
                   {"pairs_with_other_bits", seen.control_differs},
                   {"failed_as_it_must", seen.control_differs > 0}};
    out.kept = seen.kept() && seen.control_differs > 0;
    out.parameters = {{"seed", options.seed}, {"quick", options.quick}, {"tolerance", bits_tolerance}};
    for (std::size_t i = 0; i < seen.in_case.size(); ++i)
        out.series.push_back({{"case", i + 1}, {"pairs", seen.in_case[i]}});
    return out;
}

result<outcome> run_daisy_k(const run_options& options) {
    if (const auto refused = refuse_filter("daisy-k", options); !refused) return refused.error();
    return run_experiment("daisy-k", options, [&] { return measure_daisy_k(options); });
}

const registration daisy_k_experiment{{
    .id = "daisy-k",
    .order = 301,
    .promise = "The number of probes of a key follows from p_x, q_x, n and ε by four cases.",
    .where = "daisy §1.1",
    .run = run_daisy_k,
    .takes = {.quick_seconds = 0.02, .full_minutes = 0.1},
}};

}  // namespace
}  // namespace genista::lab
